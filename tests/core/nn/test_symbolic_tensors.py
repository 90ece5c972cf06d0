"""What stands for a tensor while a forward is read records what Python asks of it, or refuses with a sentence."""

import math
import operator

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ModelError, UnknownValueError
from labdl.graph.tracing.partial import Draft, Unknown
from labdl.ops import infix
from labdl.saving.onnx.exporter.file import encode
from labdl.spec import Spec
from labdl.symbolic import SymbolicTensor

ASKED = {
    "bool": bool,
    "if": lambda x: 1 if x else 2,
    "and": lambda x: x and 1,
    "not": lambda x: not x,
    "a chain of comparisons": lambda x: 0 < x < 1,
    "any": lambda x: any([x > 0]),
    "sorted": lambda x: sorted([x, x + 1]),
    "max": lambda x: max(x, x * 2),
    "float": float,
    "int": int,
    "complex": complex,
    "index": operator.index,
    "range": range,
    "a place in a list": lambda x: [1, 2][x],
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "sqrt": math.sqrt,
    "len": len,
    "iter": iter,
    "a loop over rows": lambda x: [row for row in x],
    "unpacked": lambda x: [*x],
    "zip": lambda x: list(zip(x, x, strict=False)),
    "sum": sum,
    "reversed": reversed,
    "in": lambda x: 1.0 in x,
    "a dictionary of others": lambda x: [x * 1, x * 2].index(x * 3),
    "to NumPy": np.asarray,
    "a function of NumPy": np.exp,
    "a sum of NumPy": np.sum,
    "digits": lambda x: f"{x:.2f}",
    "assigned": lambda x: x.__setitem__(0, 1.0),
    "deleted": lambda x: x.__delitem__(0),
}


class Asks(nn.Module):
    """A model whose forward does something with a tensor of an unknown number of rows."""

    def __init__(self, ask):
        super().__init__()
        self.ask = ask

    def forward(self, x):
        self.ask(x)
        return x


class AsksWhenBuilt(Asks):
    def forward(self, x):
        if type(x) is not Spec:
            self.ask(x)
        return x + 1


@pytest.mark.parametrize("question", ASKED)
def test_what_reads_values_is_refused_at_build_trace_and_export(question):
    refused = pytest.raises((ModelError, TypeError), match=r"tensor|ufunc")
    with refused:
        Asks(ASKED[question]).build((None, 3), backend="numpy")
    model = AsksWhenBuilt(ASKED[question]).build((None, 3), backend="numpy")
    with refused:
        labdl.trace(model)
    with refused:
        encode(model)


def test_rows_of_a_known_number_are_recorded():
    class Rows(nn.Module):
        def forward(self, x):
            first, second = x
            return first * len(x) + second

    x = np.arange(6, dtype="float32").reshape(2, 3)
    model = Rows().build((2, 3), backend="numpy")
    np.testing.assert_array_equal(labdl.trace(model).to_module().build(backend="numpy")(x), x[0] * 2 + x[1])


KINDS = [Spec]
for kind in KINDS:
    KINDS += kind.__subclasses__()
PROTOCOLS = [name for name, value in vars(SymbolicTensor).items() if name.startswith("__") and callable(value)]
OPERATORS = [*infix._methods]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_symbolic_tensor_has_the_operators_and_protocols(kind):
    """None falls back on Python's own, and none has another meaning of its own."""
    for name in {*PROTOCOLS, *OPERATORS} - {"__repr__"}:
        assert getattr(kind, name) is getattr(Spec, name), name


def test_python_knows_no_operator_that_a_symbolic_tensor_lacks():
    """Of all that has a function in `operator`, or that a number has; ``x += 1`` is ``x = x + 1`` without an own method."""
    of_functions = {name for name in dir(operator) if name.startswith("__") and not name.startswith("__i")}
    of_numbers = {name for kind in (bool, int, float, complex) for name in dir(kind) if name.startswith("__")}
    lacking = {name for name in of_functions | of_numbers if getattr(Spec, name, None) == getattr(object, name, None)}
    of_modules = {name for name in vars(operator) if not callable(getattr(operator, name))} | {"__loader__"}
    of_classes = {"__getnewargs__", "__getformat__", "__concat__", "__call__", "__inv__", "__not__", "__spec__"}
    assert lacking - {*dir(object)} - of_modules - of_classes == set()


def test_equality_is_of_elements_in_a_forward_and_of_values_outside():
    one, same, other = Spec((None, 3)), Spec((None, 3)), Spec((None, 4))
    assert one == same
    assert one != other
    assert one in [other, same]
    assert {one: 1}[same] == 1
    assert (one, None) == (same, None)
    assert bool(one)
    assert one.equals(same)
    assert not one.equals((None, 3))
    found = []

    class Compares(nn.Module):
        def forward(self, x, y):
            found.extend((x == y, y != 0, 1 == x, x.equals(y), x == None, x != "relu"))  # noqa: E711, SIM300
            return x

    Compares().build(one, same, backend="numpy")
    assert [getattr(v, "dtype", v) for v in found] == ["bool", "bool", "bool", True, False, True]


def test_weights_are_compared_before_they_are_built():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter((3,), "ones")

        def forward(self, x):
            return ops.where(self.weight == 1, x, 0.0)

    model = Masked().build((None, 3), backend="numpy")
    assert "ops.equal" in [n.type for n in labdl.trace(model).nodes.values()]


def test_composites_and_functions_of_shapes_compare_elements():
    x = Spec((4, 3))
    assert ops.isclose(x, x).dtype == "bool"
    assert ops.vmap(lambda row: row == 0)(x).equals(Spec((4, 3), "bool"))


def test_tensors_of_unknown_shape_refuse_as_well():
    unknown = Unknown(Draft(nn.Sequential(), "layers"), "n1", "output", "nothing is connected")
    for question in (len, list, bool, float, np.asarray):
        with pytest.raises(ModelError):
            question(unknown)


def test_a_refusal_is_an_error_of_the_model_and_of_the_type():
    assert issubclass(UnknownValueError, ModelError)
    assert issubclass(UnknownValueError, TypeError)
