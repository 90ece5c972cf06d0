"""What a forward may write gives the same called, traced, saved and loaded, and as source of the framework alone.

Each expression of Python's syntax with tensors, from the tables of `labdl.ops.infix`, is one output of a model.
"""

import operator

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.ops import infix
from labdl.saving.parameters import save_parameters
from labdl.saving.source_export import to_source
from labdl.spec import Spec

METHODS = infix.BINARY | infix.COMPARISONS
PYTHON = {s: getattr(operator, {"and": "and_", "or": "or_"}.get(s, s)) for s in METHODS | infix.UNARY}


def in_place(short):
    changed = getattr(operator, f"i{short}")

    def forward(x, y):
        before = x
        x = changed(x, y)
        return before, x  # another name of the tensor keeps its values

    return forward


def unpacked(x, y):
    first, *_, last = y
    return first, last


BITS = ("and", "or", "xor", "lshift", "rshift")
ELEMENTWISE = [short for short in METHODS if short != "matmul"]
OPERATOR = {short: getattr(ops, name) for short, name in (METHODS | infix.UNARY).items()}
# each expression, and the same in calls of operators, which run on NumPy
WITH_SYMBOLS = {
    **{short: (lambda x, y, f=PYTHON[short]: f(x, y), OPERATOR[short]) for short in METHODS},
    **{
        f"{short} with a number": (
            lambda x, y, f=PYTHON[short]: f(x, 2),
            lambda x, y, f=OPERATOR[short]: f(x, 2),
        )
        for short in ELEMENTWISE
    },
    **{
        f"a number {short}": (lambda x, y, f=PYTHON[short]: f(3, x), lambda x, y, f=OPERATOR[short]: f(3, x))
        for short in infix.BINARY
        if short != "matmul"
    },
    **{f"{short} in place": (in_place(short), lambda x, y, f=OPERATOR[short]: (x, f(x, y))) for short in infix.BINARY},
    **{short: (lambda x, y, f=PYTHON[short]: f(x), lambda x, y, f=OPERATOR[short]: f(x)) for short in infix.UNARY},
}
EXPRESSIONS = {
    **WITH_SYMBOLS,
    "round": (lambda x, y: round(x * 0.3), lambda x, y: ops.round(ops.multiply(x, 0.3))),
    "divmod": (divmod, lambda x, y: (ops.floor_divide(x, y), ops.remainder(x, y))),
    "a number divmod": (lambda x, y: divmod(7, x), lambda x, y: (ops.floor_divide(7, x), ops.remainder(7, x))),
    "a number compared": (lambda x, y: 2 < x, lambda x, y: ops.greater(x, 2)),  # noqa: SIM300
    "not itself": (lambda x, y: x != x, lambda x, y: ops.not_equal(x, x)),
    "where equal": (
        lambda x, y: ops.where(x == 1, 5.0, ops.astype(x, "float32")),
        lambda x, y: np.where(x == 1, 5, x).astype("float32"),
    ),
    "a number on the left": (lambda x, y: ops.where(0 != x, x, y), lambda x, y: np.where(x == 0, y, x)),  # noqa: SIM300
    "compared with nothing": (
        lambda x, y: x + (0 if x == None else 1) + (1 if x != None else 0),  # noqa: E711
        lambda x, y: x + 2,
    ),
    "an array of NumPy on the left": (
        lambda x, y: np.arange(2) * x,
        lambda x, y: (np.arange(2) * x).astype(x.dtype),
    ),
    "a row": (lambda x, y: y[0],) * 2,
    "from the end": (lambda x, y: y[..., -1:, None],) * 2,
    "the length": (lambda x, y: x * len(y), lambda x, y: x * 2),
    "a loop over rows": (lambda x, y: sum(row * at for at, row in enumerate(y)),) * 2,
    "rows from the last": (lambda x, y: next(iter(reversed(y))),) * 2,
    "unpacked rows": (unpacked,) * 2,
    "attributes": (lambda x, y: x * y.shape[0] * y.ndim, lambda x, y: x * 4),
}
FLOATS = [name for name in EXPRESSIONS if not {*name.split()} & {*BITS, "invert"}]
TWO = {*(f"{short} in place" for short in infix.BINARY), "divmod", "a number divmod", "unpacked rows"}


def several(result):
    return result if isinstance(result, list | tuple) else [result]


class Written(nn.Module):
    """The results of expressions, in one tuple."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def forward(self, x, y):
        return tuple(result for name in self.names for result in several(EXPRESSIONS[name][0](x, y)))


def assert_same(results, expected, names, way):
    titles = [name for name in names for _ in range(1 + (name in TWO))]
    for name, result, e in zip(titles, results, expected, strict=True):
        actual = labdl.to_numpy(result)
        assert (actual.shape, actual.dtype) == (e.shape, e.dtype), f"{name}, {way}"
        np.testing.assert_allclose(actual, e, rtol=1e-5, atol=1e-6, err_msg=f"{name}, {way}")


@pytest.mark.sample(backends=2)
@pytest.mark.parametrize(("dtype", "names"), [("float32", FLOATS), ("int64", [*EXPRESSIONS])], ids=["float32", "int64"])
def test_every_expression_in_every_form(dtype, names, backend, tmp_path):
    x, y = np.array([[1, 2], [3, 1]], dtype), np.array([[2, 2], [1, 3]], dtype)
    specs = (Spec((2, 2), dtype),) * 2
    expected = [np.asarray(result) for name in names for result in several(EXPRESSIONS[name][1](x, y))]
    model = Written(names).build(*specs, backend=backend.name)

    def check(called, way):
        tensors = backend.tensor(x), backend.tensor(y)
        assert_same(called(*tensors), expected, names, way)
        np.testing.assert_array_equal(labdl.to_numpy(tensors[0]), x, err_msg=way)

    check(model, "called")
    graph = labdl.trace(model)
    check(graph.to_module().build(backend=backend.name), "traced")
    labdl.save(model, tmp_path / "net")
    check(labdl.load(tmp_path / "net", backend=backend.name), "saved and loaded")
    check(from_source(graph).build(*specs, backend=backend.name), "as LabDL's source")
    text, values = to_source(model)
    save_parameters(values, tmp_path / "net.weights.npz")
    space = {"__file__": str(tmp_path / "net.py"), "__name__": "net"}
    exec(text, space)
    check(space["Written"](), "as source of the framework")


def from_source(graph):
    space = {}
    exec(graph.to_python(), space)
    return space[graph.name]()
