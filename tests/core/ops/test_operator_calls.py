"""Calls of operators: the table of implementations by type."""

import dataclasses

import pytest

from labdl.ops.operator import OPERATORS
from labdl.ops.operator.call import make_function
from labdl.spec import Spec


class FilledMeanwhile(dict):
    """A table to which another thread adds the type between a look-up that fails and the search that follows."""

    def __missing__(self, kind):
        self[kind] = lambda *args, **kwargs: "implementation"
        raise KeyError(kind)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("relu", (Spec((2, 3)),)),
        ("add", (Spec((2, 3)), Spec((2, 3)))),
        ("max_pool2d", (Spec((2, 3, 8, 8)), 2)),
        ("concat", ([Spec((2, 3)), Spec((2, 3))],)),
    ],
)
def test_first_call_in_two_threads(name, args):
    entry = dataclasses.replace(OPERATORS[name])
    entry.implementations = FilledMeanwhile()
    result = make_function(entry)(*args)
    assert isinstance(result, Spec)
    assert result == OPERATORS[name].function(*args)
