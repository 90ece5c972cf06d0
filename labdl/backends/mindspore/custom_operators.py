"""Custom operators on MindSpore: NumPy functions as differentiable cells, in PyNative mode and in mindspore.jit."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportOptionalCall=false

import functools
import inspect

from mindspore import Tensor, nn, ops
from mindspore.common.dtype import TensorType
from mindspore.ops.primitive import jit_context

from labdl.backends.mindspore.tensors import _NAMES, dtype
from labdl.spec import Spec


class _Eager(nn.Cell):
    """The function in PyNative mode: the arrays are the tensors' own memory, and errors keep their type."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.gradient = _Eager(function.gradient) if function.gradient is not None else None

    def construct(self, *tensors):
        arrays = []
        for t in tensors:  # plain loops: bytecode capture does not support generators
            arrays.append(t.asnumpy())
        results = []
        for a in self.function.run(*arrays):
            results.append(Tensor(a))
        return _single_or_tuple(results)

    def bprop(self, *given):
        *tensors, results, gradients = given
        if self.gradient is None:
            self.function.run()  # a missing gradient raises when it is computed
        return _as_tuple(self.gradient(*tensors, *_as_tuple(results), *_as_tuple(gradients)))


def _as_tuple(values):
    return tuple(values) if isinstance(values, list | tuple) else (values,)


def _single_or_tuple(values):
    return tuple(values) if len(values) > 1 else values[0]


class _Host(ops.Custom):
    """The function in a compiled graph. Its inputs have one more axis, because MindSpore passes 0-d ones as floats."""

    def __init__(self, function, count: int):
        def run(*arrays):
            return _single_or_tuple(function.run(*(a[0] for a in arrays)))

        # MindSpore counts the parameters
        run.__signature__ = inspect.Signature(
            [inspect.Parameter(f"x{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(count)]
        )
        self.function = function
        super().__init__(run, lambda *shapes: shapes, lambda *dtypes: dtypes, "pyfunc")

    def __infer__(self, *given):
        if any(0 in g["shape"] for g in given):
            raise ValueError(
                "mindspore.jit passes no empty tensors to Python functions: call the operator outside of it"
            )
        specs = self.function.specs(
            *(
                Spec(tuple(None if n < 0 else n for n in g["shape"][1:]), _NAMES[g["dtype"].element_type()])
                for g in given
            )
        )
        shapes = [tuple(-1 if n is None else n for n in s.shape) for s in specs]
        dtypes = [TensorType(dtype(s.dtype)) for s in specs]
        return {"shape": _single_or_tuple(shapes), "dtype": _single_or_tuple(dtypes), "value": None}


class _Cell(nn.Cell):
    """Called in PyNative mode; mindspore.jit compiles ``construct`` and ``bprop`` and counts their parameters."""

    def __init__(self, function, count: int):
        super().__init__()
        self.eager = _Eager(function)
        self.several = function.results > 1
        self.host = _Host(function, count)
        self.pull = _Host(function.gradient, count + 2 * function.results)
        self.lift = ops.ExpandDims()

    def __call__(self, *tensors):
        # in trace capture, values read here would become constants of the graph
        return super().__call__(*tensors) if jit_context() else self.eager(*tensors)

    def forward(self, tensors):
        given = ()
        for t in tensors:
            given = (*given, self.lift(t, 0))
        return self.host(*given)

    def backward(self, tensors, results, gradients):
        given = ()
        for t in tensors:
            given = (*given, self.lift(t, 0))
        if self.several:
            for t in results:
                given = (*given, self.lift(t, 0))
            for t in gradients:
                given = (*given, self.lift(t, 0))
        else:
            given = (*given, self.lift(results, 0), self.lift(gradients, 0))
        return self.pull(*given)


class _Cell1(_Cell):
    def construct(self, a):
        return self.forward((a,))

    def bprop(self, a, out, dout):
        return (self.backward((a,), out, dout),)


class _Cell2(_Cell):
    def construct(self, a, b):
        return self.forward((a, b))

    def bprop(self, a, b, out, dout):
        return self.backward((a, b), out, dout)


class _Cell3(_Cell):
    def construct(self, a, b, c):
        return self.forward((a, b, c))

    def bprop(self, a, b, c, out, dout):
        return self.backward((a, b, c), out, dout)


class _Cell4(_Cell):
    def construct(self, a, b, c, d):
        return self.forward((a, b, c, d))

    def bprop(self, a, b, c, d, out, dout):
        return self.backward((a, b, c, d), out, dout)


class _Cell5(_Cell):
    def construct(self, a, b, c, d, e):
        return self.forward((a, b, c, d, e))

    def bprop(self, a, b, c, d, e, out, dout):
        return self.backward((a, b, c, d, e), out, dout)


class _Cell6(_Cell):
    def construct(self, a, b, c, d, e, f):
        return self.forward((a, b, c, d, e, f))

    def bprop(self, a, b, c, d, e, f, out, dout):
        return self.backward((a, b, c, d, e, f), out, dout)


_CELLS = {1: _Cell1, 2: _Cell2, 3: _Cell3, 4: _Cell4, 5: _Cell5, 6: _Cell6}


def host_function(bind):
    @functools.cache
    def native(options):
        function = bind(options)
        cell = _CELLS.get(function.inputs)
        # with more inputs, or any number of them, it runs in PyNative mode only
        return _Eager(function) if cell is None else cell(function, function.inputs)

    return native
