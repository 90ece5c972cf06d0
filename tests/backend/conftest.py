"""One backend a process: `pytest tests/backend --backend torch`. Known gaps of a framework stand in tests/xfails."""

import functools
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the cases beside the tests


def pytest_configure(config):
    import labdl

    labdl.use(config.getoption("--backend"))  # a missing backend fails the run, it is never skipped


def pytest_report_header(config):
    return f"labdl backend: {config.getoption('--backend')}"


def fill_memory_with_nan(backend):
    """Leave NaN in the memory that the next tensors will lie in: a kernel that leaves elements unwritten shows at once.

    MindSpore cuts its tensors out of a pool of its own; what the others take from malloc, scripts/test.sh has perturbed.
    """
    if backend.__name__.endswith("mindspore"):
        spoilt = [backend.tensor(np.full(n, np.nan, "float32")) for n in (5, 300)]
        results = [x + x for _ in range(4) for x in spoilt]
        results[-1].asnumpy()  # all are written


@pytest.fixture(autouse=True)
def stale_memory(backend):
    fill_memory_with_nan(backend)


@pytest.fixture
def run_cases(subtests, request, backend):
    """Runs ``check(case)`` for each (name, case), a subtest each: a test apiece would take longer than what it checks.

    A failure is reported under the name of its case, and ``--case NAME`` runs that case alone. A known gap must fail.
    """
    gaps, test = known_gaps(request.config.getoption("--backend")), request.node.originalname
    only = request.config.getoption("--case")

    def run(cases, check):
        for name, case in cases:
            if only not in (None, name):
                continue
            fill_memory_with_nan(backend)
            with subtests.test(name):
                gap = gaps.get(f"{test}[{name}]")
                try:
                    check(case)
                except Exception:
                    if gap is None:
                        raise
                else:
                    assert gap is None, f"passes, though tests/xfails/{backend.name}.txt says: {gap}"

    return run


@pytest.fixture
def held(backend):
    """Starts runs that make a step when they are told to."""
    from runs import holding

    with holding(backend) as make:
        yield make


@functools.cache
def known_gaps(backend: str) -> dict[str, str]:
    """Id of a test or case, and the reason, from lines ``id  # reason, link``."""
    file = Path(__file__).parents[1] / "xfails" / f"{backend}.txt"
    gaps = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        name, _, reason = line.partition("  # ")
        if name.strip() and not name.startswith("#"):
            assert reason.strip(), f"{file.name}: {name} has no reason"
            gaps[name.strip()] = reason.strip()
    return gaps


def case_ids(item) -> list[str]:
    """Ids of the cases that a test consists of: its own, or those of the subtests that it runs with `run_cases`."""
    cases = item.callspec.params.get("cases") if hasattr(item, "callspec") else None
    return [item.name] if cases is None else [f"{item.originalname}[{name}]" for name, _ in cases]


def pytest_collection_modifyitems(config, items):
    """Leave out what is about other backends, and mark the known gaps: each must fail, and each line must name a case."""
    only = config.getoption("--case")
    for item in [*items]:
        about = item.get_closest_marker("backends")
        other_backend = about and config.getoption("--backend") not in about.args
        if other_backend or (only and not any(name.endswith(f"[{only}]") for name in case_ids(item))):
            items.remove(item)
    gaps = known_gaps(config.getoption("--backend"))
    ids = {name: item for item in items for name in case_ids(item)}
    for gap in gaps.keys() & ids.keys():
        if gap == ids[gap].name:  # the gap of a case is expected in `run_cases`
            ids[gap].add_marker(pytest.mark.xfail(reason=gaps[gap], strict=True))
    files = {item.path.name for item in items}  # a selection of tests cannot use every line
    whole = len(ids) > 5000 and all(file.name in files for file in Path(__file__).parent.rglob("test_*.py"))
    unused = gaps.keys() - ids.keys()
    if whole and unused:
        raise pytest.UsageError(f"tests/xfails names tests that do not exist: {', '.join(sorted(unused))}")
