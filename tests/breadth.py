"""The breadth of a run of the tests: `make test` runs a sample of them, `make test-full` all.

The marker `sample` says which part of a test, or of the tests of a module, belongs to the sample. Without it, all of it does.

    @pytest.mark.sample(False)                # nothing
    @pytest.mark.sample(every=10)             # of the cases of a parametrized test each tenth, the first among them
    @pytest.mark.sample(cases=1)              # of the cases that a test runs with `run_cases` the first
    @pytest.mark.sample(backends=1)           # about LabDL's code above the backends: PyTorch or PaddlePaddle
    @pytest.mark.sample(backends=2)           # touches the backends' code: one of these two, and TensorFlow or MindSpore
    @pytest.mark.sample(backends=["torch"])   # on these backends

Of the examples that hypothesis draws, the sample tries the first.
"""

import zlib
from collections import Counter

import hypothesis
import pytest

# of whom one runs what need not run on each: first those that start and train in less time
PAIRS = (("torch", "paddle"), ("tensorflow", "mindspore"))

# of the notebooks, which nbval collects without markers
NOTEBOOKS = ("quickstart.ipynb", "data_images.ipynb")

# of each test of properties, which in full breadth tries as many as it says
EXAMPLES = 20

# the same run twice is the same; examples that a full run finds are printed with what reproduces them
hypothesis.settings.register_profile(
    "sample", max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, print_blob=True
)
hypothesis.settings.register_profile("full", deadline=None, print_blob=True)


def pytest_addoption(parser):
    parser.addoption("--breadth", choices=("sample", "full"), default="full", help="the sample of `make test`, or all")


def pytest_configure(config):
    config.addinivalue_line("markers", "sample(part, every, cases, backends): the part of a test that the sample runs")
    hypothesis.settings.load_profile(config.getoption("--breadth"))


@pytest.fixture(scope="session")
def full_breadth(pytestconfig) -> bool:
    """Whether everything runs, also what takes long."""
    return pytestconfig.getoption("--breadth") == "full"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if config.getoption("--breadth") == "full":
        return
    backend, counts, rest = config.getoption("--backend"), Counter(), []
    chosen = []
    for item in items:
        index = counts[item.nodeid.partition("[")[0]]
        counts[item.nodeid.partition("[")[0]] += 1
        (chosen if in_sample(item, index, backend) else rest).append(item)
    items[:] = chosen
    for item in items:
        limit_examples(item)
    config.hook.pytest_deselected(items=rest)


def limit_examples(item) -> None:
    """Let hypothesis try fewer examples than the test's own settings say, which come before those of a profile."""
    own = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)
    if own and own.max_examples > EXAMPLES:
        item.obj._hypothesis_internal_use_settings = hypothesis.settings(own, max_examples=EXAMPLES)


def in_sample(item, index: int, backend: str) -> bool:
    """Whether the sample runs a test, the ``index``-th case of its function."""
    if item.path.suffix == ".ipynb":
        return item.path.name in NOTEBOOKS
    return all(
        (not mark.args or mark.args[0])
        and index % mark.kwargs.get("every", 1) == 0
        and _on_backend(item, mark.kwargs.get("backends"), backend)
        for mark in item.iter_markers("sample")
    )


def _on_backend(item, backends: int | list[str] | None, backend: str) -> bool:
    if backends is None:
        return True
    if not isinstance(backends, int):
        return backend in backends
    about = item.get_closest_marker("backends")
    pairs = [[name for name in pair if not about or name in about.args] for pair in PAIRS]
    turn = zlib.crc32(item.nodeid.partition("[")[0].encode())
    return backend in [pair[(turn >> place) % len(pair)] for place, pair in enumerate(filter(None, pairs))][:backends]


def sampled_cases(item, cases: list) -> list:
    """The cases of a test with `run_cases` that run."""
    mark = item.get_closest_marker("sample")
    if item.config.getoption("--breadth") == "full" or not mark:
        return cases
    return cases[: mark.kwargs.get("cases", len(cases))]
