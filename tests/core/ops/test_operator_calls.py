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


@pytest.mark.parametrize(
    ("name", "args", "options", "message"),
    [
        (
            "cross_entropy",
            (Spec((2, 3)), Spec((2,), "int64")),
            {"weight": 0},
            "cross_entropy wants a tensor for weight",
        ),
        ("searchsorted", (Spec((3,)), Spec((2,))), {"sorter": 0}, "searchsorted wants a tensor for sorter, received 0"),
        ("softplus", (Spec((3,)), 0), {}, "softplus wants beta: a number above 0, received 0"),
        ("celu", (Spec((3,)), 0), {}, "celu wants alpha: a number above 0, received 0"),
        ("affine_grid", (Spec((1, 2, 3)), (0, 3)), {}, "affine_grid wants sizes of 1 or more"),
        ("depthwise_conv1d", (Spec((2, 0, 6)), Spec((0, 1, 3))), {}, "conv"),
    ],
)
def test_malformed_calls_have_a_sentence(name, args, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        OPERATORS[name].function(*args, **options)
