"""One backend a process: `pytest tests/backend --backend torch`. Known gaps of a framework stand in tests/xfails."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the cases beside the tests


def pytest_configure(config):
    import labdl

    labdl.use(config.getoption("--backend"))  # a missing backend fails the run, it is never skipped
    config.addinivalue_line("markers", "backends(*names): the test is about something that only these backends have")


def pytest_report_header(config):
    return f"labdl backend: {config.getoption('--backend')}"


@pytest.fixture(autouse=True)
def stale_memory(backend):
    """Leave NaN in the memory that the test's tensors will lie in: a kernel that leaves elements unwritten shows at once.

    MindSpore cuts its tensors out of a pool of its own; what the others take from malloc, scripts/test.sh has perturbed.
    """
    if backend.__name__.endswith("mindspore"):
        spoilt = [backend.tensor(np.full(n, np.nan, "float32")) for n in (5, 300)]
        results = [x + x for _ in range(4) for x in spoilt]
        results[-1].asnumpy()  # all are written


@pytest.fixture
def held(backend):
    """Starts runs that make a step when they are told to."""
    from runs import holding

    with holding(backend) as make:
        yield make


def known_gaps(backend: str) -> dict[str, str]:
    """Test id (a trailing * stands for any ending) and reason, from lines ``id  # reason, link``."""
    file = Path(__file__).parents[1] / "xfails" / f"{backend}.txt"
    gaps = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        name, _, reason = line.partition("  # ")
        if name.strip() and not name.startswith("#"):
            assert reason.strip(), f"{file.name}: {name} has no reason"
            gaps[name.strip()] = reason.strip()
    return gaps


def pytest_collection_modifyitems(config, items):
    """Leave out what is about other backends, and mark the known gaps: each must fail, and each line must name a test."""
    for item in [*items]:
        about = item.get_closest_marker("backends")
        if about and config.getoption("--backend") not in about.args:
            items.remove(item)
    gaps = known_gaps(config.getoption("--backend"))
    unused = set(gaps)
    starts = [(g[:-1], g) for g in gaps if g.endswith("*")]
    for item in items:
        name = item.name
        gap = name if name in gaps else next((g for start, g in starts if name.startswith(start)), None)
        if gap:
            unused.discard(gap)
            item.add_marker(pytest.mark.xfail(reason=gaps[gap], strict=True))
    files = {item.path.name for item in items}  # a selection of tests cannot use every line
    whole = len(items) > 5000 and all(file.name in files for file in Path(__file__).parent.glob("test_*.py"))
    if whole and unused:
        raise pytest.UsageError(f"tests/xfails names tests that do not exist: {', '.join(sorted(unused))}")
