"""MindSpore implementations of activations."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportOperatorIssue=false

from functools import lru_cache

from mindspore import nn, ops
from mindspore.ops import operations as P
from mindspore.ops.auto_generate import ReluGrad

from labdl.backends.mindspore.dtypes import ALL_REALS, FRACTIONS, HALF, HALVES, float64, through

_maximum, _relu_gradient, _stop = P.Maximum(), ReluGrad(), ops.stop_gradient
_sum, _largest = P.ReduceSum(True), P.ReduceMax(True)


class _Relu(nn.Cell):
    """The maximum keeps NaN, but has the slope 1/2 at 0."""

    def construct(self, x):
        return _maximum(0, x)  # in this order: of NaN and 0 it returns the second operand

    def bprop(self, x, result, gradient):
        return (_relu_gradient(gradient, result),)


_relu = through(_Relu(), ALL_REALS, HALF)


def relu(x):
    """MindSpore returns 0 for NaN."""
    return _relu(x)


def _elementwise(kernel):
    return through(kernel, FRACTIONS, HALF)


silu, hardsigmoid, softsign = map(_elementwise, (ops.silu, ops.hardsigmoid, ops.softsign))
_hardswish = _elementwise(lambda x: x * ops.hardsigmoid(x))


def hardswish(x):
    """MindSpore returns 0 for minus infinity instead of NaN."""
    return _hardswish(x)


def _but_float64(kernel):
    """For kernels whose constants have the precision of float32: in float64 the composite computes."""
    run = through(kernel, FRACTIONS[:2], HALF)

    def call(x, *args, **options):
        return NotImplemented if x.dtype is float64 else run(x, *args, **options)

    return call


_tanh_gelu = _but_float64(P.GeLU())


class _Softplus(nn.Cell):
    """The kernel gives infinity for NaN, with a slope of its own."""

    def construct(self, x):
        return _maximum(ops.softplus(x), x)  # of a number and NaN it returns the second operand

    def bprop(self, x, result, gradient):
        return (gradient * ops.sigmoid(x),)


_softplus = _but_float64(_Softplus())
_exact_gelu = _but_float64(lambda x: 0.5 * x * (1 + ops.erf(x * 0.7071067811865476)))  # GeluExt has no CPU kernel


def softplus(x, beta=1.0):
    """In float64, MindSpore computes with the precision of float32; of NaN it gives infinity."""
    return _softplus(x) if beta == 1 else NotImplemented


def gelu(x, approximate="none"):
    """In float64, MindSpore computes with the precision of float32."""
    kernel = {"none": _exact_gelu, "tanh": _tanh_gelu}.get(approximate)
    return NotImplemented if kernel is None else kernel(x)


@lru_cache(None)
def _logarithms(axis):
    return P.LogSoftmax(axis)


def _check_axis(x, axis: int) -> None:
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of range for {x.ndim} axes")


class _Softmax(nn.Cell):
    """Without the kernel, in which a row of minus infinity spoils other rows; that of the logarithm has float32 only.

    The gradient is that of the result: the rows of the logarithm's kernel sum to 1 with five digits only.
    """

    def __init__(self, axis):
        super().__init__()
        self.axis, self.logarithms = axis, _logarithms(axis)

    def construct(self, x):
        shares = ops.exp(x - _largest(x, self.axis) if x.dtype == float64 else self.logarithms(x))
        return ops.div(
            shares, _sum(shares, self.axis)
        )  # in rows with NaN or infinity, the kernel gives numbers beside NaN

    def bprop(self, x, result, gradient):
        return (result * (gradient - _sum(gradient * result, self.axis)),)


_softmax_of = lru_cache(None)(_Softmax)


_softmax = through(lambda x, axis: _softmax_of(axis)(x), FRACTIONS[1:], HALVES)


def softmax(x, axis=-1):
    """In MindSpore, NaN affects its own element only, and a row of minus infinity other rows."""
    _check_axis(x, axis)
    return _softmax(x, axis) if x.size else x.copy()


def _log_shares(x, axis):
    found = _logarithms(axis)(x)
    total = _stop(_sum(found, axis))
    return ops.where(ops.equal(total, total), found, total)  # in a row with NaN or infinity, all is NaN


_log_softmax = through(_log_shares, ("float32",), HALVES)


def log_softmax(x, axis=-1):
    """MindSpore computes float64 in float32, and gives minus infinity beside NaN."""
    _check_axis(x, axis)
    return NotImplemented if x.dtype is float64 or not x.size else _log_softmax(x, axis)
