"""The sample of `make test`: which tests and cases belong to it, and on which backend."""

from pathlib import Path
from types import SimpleNamespace

import hypothesis
import hypothesis.strategies
import pytest
from breadth import EXAMPLES, PAIRS, in_sample, limit_examples, sampled_cases

BACKENDS = [name for pair in PAIRS for name in pair]


def item(*marks, nodeid="tests/backend/test_a.py::test_b[c]", path="tests/backend/test_a.py", breadth="sample"):
    """An item of pytest, with what the choice looks at."""

    def iter_markers(name):
        return [mark.mark for mark in marks if mark.mark.name == name]

    return SimpleNamespace(
        nodeid=nodeid,
        path=Path(path),
        iter_markers=iter_markers,
        get_closest_marker=lambda name: next(iter(iter_markers(name)), None),
        config=SimpleNamespace(getoption=lambda name: breadth),
    )


def test_without_a_marker_everything_belongs_to_it():
    assert in_sample(item(), 7, "torch")


def test_nothing_or_each_nth_case():
    assert not in_sample(item(pytest.mark.sample(False)), 0, "torch")
    third = item(pytest.mark.sample(every=3))
    assert [index for index in range(7) if in_sample(third, index, "torch")] == [0, 3, 6]


@pytest.mark.parametrize(("own", "tried"), [(10 * EXAMPLES, EXAMPLES), (2, 2)])
def test_fewer_examples_of_a_property(own, tried):
    numbers = []

    @hypothesis.settings(max_examples=own, database=None)
    @hypothesis.given(hypothesis.strategies.integers())
    def check(number):
        numbers.append(number)

    limit_examples(SimpleNamespace(obj=check))
    check()
    assert len(numbers) == tried


def test_every_marker_of_a_test_counts():
    both = item(pytest.mark.sample(every=2), pytest.mark.sample(backends=["torch"]))
    assert in_sample(both, 2, "torch")
    assert not in_sample(both, 1, "torch")
    assert not in_sample(both, 2, "paddle")


@pytest.mark.parametrize("function", range(20))
@pytest.mark.parametrize("count", [1, 2])
def test_what_needs_any_backend_runs_on_as_many_as_it_says(function, count):
    any_backend = item(pytest.mark.sample(backends=count), nodeid=f"test_a.py::test_{function}[c]")
    counts = [sum(in_sample(any_backend, 0, backend) for backend in pair) for pair in PAIRS]
    assert counts == [1, 1][:count] + [0] * (2 - count)


@pytest.mark.parametrize("names", [("mindspore",), ("tensorflow", "mindspore")])
def test_it_runs_where_a_test_is_about_other_backends_only(names):
    marked = item(pytest.mark.sample(backends=1), pytest.mark.backends(*names))
    assert [backend for backend in BACKENDS if in_sample(marked, 0, backend)] in [[name] for name in names]


def test_all_cases_of_a_function_run_on_the_same_backend():
    mark = pytest.mark.sample(backends=1)
    chosen = {
        tuple(in_sample(item(mark, nodeid=f"test_a.py::test_b[{case}]"), 0, backend) for backend in BACKENDS)
        for case in range(9)
    }
    assert len(chosen) == 1


def test_cases_of_one_test():
    assert sampled_cases(item(pytest.mark.sample(cases=2)), [1, 2, 3]) == [1, 2]
    assert sampled_cases(item(pytest.mark.sample(every=2)), [1, 2, 3]) == [1, 2, 3]
    assert sampled_cases(item(pytest.mark.sample(cases=2), breadth="full"), [1, 2, 3]) == [1, 2, 3]


def test_notebooks_by_name():
    assert in_sample(item(path="notebooks/quickstart.ipynb"), 5, "torch")
    assert not in_sample(item(path="notebooks/data_video.ipynb"), 0, "torch")
