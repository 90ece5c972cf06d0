"""One backend a process: `pytest tests/backend --backend torch`. Known gaps of a framework stand in tests/xfails."""

import dataclasses
import functools
import importlib
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest
from breadth import sampled_cases

sys.path.insert(0, str(Path(__file__).parent))  # the cases beside the tests


def pytest_configure(config):
    import labdl

    labdl.use(config.getoption("--backend"))  # a missing backend fails the run, it is never skipped


def pytest_report_header(config):
    return f"labdl backend: {config.getoption('--backend')}"


def fill_memory_with_nan(backend):
    """Leave NaN in the memory that the next tensors will lie in: a kernel that leaves elements unwritten shows at once.

    MindSpore cuts its tensors out of a pool of its own; what the others take from malloc, scripts/run_stages.py has perturbed.
    """
    if backend.__name__.endswith("mindspore"):
        spoilt = [backend.tensor(np.full(n, np.nan, "float32")) for n in (5, 300)]
        results = [x + x for _ in range(4) for x in spoilt]
        results[-1].asnumpy()  # all are written


@pytest.fixture(autouse=True)
def stale_memory(backend):
    fill_memory_with_nan(backend)


EACH_COMPILES = {"mindspore": "_compile_each", "tensorflow": "_compile"}  # in the backend's `training`


@pytest.fixture(autouse=True, scope="module")
def default_mode(request, backend):
    """On backends that compile by default, tests train eagerly where they leave the mode to the backend.

    MindSpore compiles a step of three layers in half a second and runs it in a millisecond, and few tests are about that.
    Modules marked `default_mode` keep it, and all with `--compile`.
    """
    kept = request.node.get_closest_marker("default_mode") or request.config.getoption("--compile")
    if backend.name not in EACH_COMPILES or kept:
        yield
        return
    training = importlib.import_module(f"labdl.backends.{backend.name}.training")
    compile_ = getattr(training, EACH_COMPILES[backend.name])
    mode = inspect.signature(compile_)

    def eager(*args, **kwargs):
        given = mode.bind(*args, **kwargs)
        given.arguments["compiled"] = given.arguments.get("compiled") or False
        return compile_(*given.args, **given.kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, EACH_COMPILES[backend.name], eager)
        yield


@pytest.fixture(autouse=True)
def without_inductor(request, backend, monkeypatch):
    """On PyTorch, tests compile down to PyTorch's own operators; Inductor's C++ takes a compiler five seconds a model.

    Tests marked `inductor` use it, and all with `--compile`.
    """
    kept = request.node.get_closest_marker("inductor") or request.config.getoption("--compile")
    if backend.name == "torch" and not kept:
        import torch

        monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))


@pytest.fixture
def run_cases(subtests, request, backend):
    """Runs ``check(case)`` for each (name, case): a test apiece, or a subtest, would take longer than what it checks.

    A failure is reported under the name of its case, and ``--case NAME`` runs that case alone. A known gap must fail,
    unless that depends on the processor.
    """
    gaps, test = known_gaps(request.config.getoption("--backend")), request.node.originalname
    only = request.config.getoption("--case")

    def run(cases, check):
        for name, case in sampled_cases(request.node, cases):
            if only not in (None, name):
                continue
            fill_memory_with_nan(backend)
            gap = gaps.get(f"{test}[{name}]")
            error = None
            try:
                check(case)
            except (Exception, pytest.fail.Exception) as raised:
                error = raised if gap is None else None
            else:
                if gap is not None and not gap.may_pass:
                    error = AssertionError(f"passes, though tests/xfails/{backend.name}.txt says: {gap.reason}")
            if error is not None:
                with subtests.test(name):
                    raise error

    return run


@pytest.fixture(scope="session")
def kernel():
    """A Jupyter kernel that tests share."""
    from kernels import SharedKernel

    shared = SharedKernel()
    yield shared
    shared.end()


@pytest.fixture
def held(backend):
    """Starts runs that make a step when they are told to."""
    from runs import holding

    with holding(backend) as make:
        yield make


@dataclasses.dataclass(frozen=True)
class Gap:
    """A case that a framework computes in its own way: it must fail, or may where that depends on the processor."""

    reason: str
    may_pass: bool


@functools.cache
def known_gaps(backend: str) -> dict[str, Gap]:
    """Id of a test or case, and its gap, from lines ``id  # reason, link``, or ``? id  # …`` where it may also pass."""
    file = Path(__file__).parents[1] / "xfails" / f"{backend}.txt"
    gaps = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        name, _, reason = line.partition("  # ")
        if name.strip() and not name.startswith("#"):
            assert reason.strip(), f"{file.name}: {name} has no reason"
            gaps[name.removeprefix("? ").strip()] = Gap(reason.strip(), may_pass=name.startswith("? "))
    return gaps


def runs_here(item) -> bool:
    """Whether a test is about this backend."""
    about = item.get_closest_marker("backends")
    return not about or item.config.getoption("--backend") in about.args


def case_ids(item) -> list[str]:
    """Ids of the cases that a test consists of: its own, or those of the subtests that it runs with `run_cases`."""
    cases = item.callspec.params.get("cases") if hasattr(item, "callspec") else None
    return [item.name] if cases is None else [f"{item.originalname}[{name}]" for name, _ in cases]


def pytest_collection_modifyitems(config, items):
    """Leave out what is about other backends, and mark the known gaps: each must fail, and each line must name a case."""
    only, written = config.getoption("--case"), {name for item in items for name in case_ids(item)}
    chosen = [item for item in items if not only or any(name.endswith(f"[{only}]") for name in case_ids(item))]
    items[:] = [item for item in chosen if runs_here(item)]
    gaps = known_gaps(config.getoption("--backend"))
    ids = {name: item for item in items for name in case_ids(item)}
    for gap in gaps.keys() & ids.keys():
        if gap == ids[gap].name:  # the gap of a case is expected in `run_cases`
            ids[gap].add_marker(pytest.mark.xfail(reason=gaps[gap].reason, strict=not gaps[gap].may_pass))
    files = {item.path.name for item in items}  # a selection of tests cannot use every line
    whole = len(ids) > 5000 and all(file.name in files for file in Path(__file__).parent.rglob("test_*.py"))
    unused = gaps.keys() - written
    if whole and unused:
        raise pytest.UsageError(f"tests/xfails names tests that do not exist: {', '.join(sorted(unused))}")
