"""MindSpore's spelling of array operators that differ in name or meaning; the rest are found in mindspore.ops by name."""

import builtins

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, mint, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.runtime import dtype

_FLOATS = (mindspore.float32, mindspore.float64, mindspore.float16, mindspore.bfloat16)


def _operand(value, other):
    """A NumPy array beside a tensor takes the tensor's dtype, unless it is a float beside integers."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    if value.dtype.kind == "f":
        return Tensor(np.array(value), other.dtype if other.dtype in _FLOATS else mindspore.float32)
    return Tensor(np.array(value))


def _operands(function):
    def call(x, y):
        if not isinstance(x, Tensor):
            x = _operand(x, y)
        elif not isinstance(y, Tensor):
            y = _operand(y, x)
        return function(x, y)

    return call


add, subtract, multiply, divide = _operands(ops.add), _operands(ops.sub), _operands(ops.mul), _operands(ops.div)
floor_divide, remainder, pow = _operands(ops.floor_divide), _operands(P.FloorMod()), _operands(ops.pow)
maximum, minimum = _operands(ops.maximum), _operands(ops.minimum)
equal, not_equal = _operands(ops.equal), _operands(ops.not_equal)
less, less_equal = _operands(ops.less), _operands(ops.less_equal)
greater, greater_equal = _operands(ops.greater), _operands(ops.greater_equal)
logical_and, logical_or, logical_xor = map(_operands, (ops.logical_and, ops.logical_or, ops.logical_xor))


def _floating(function):
    """MindSpore's transcendental kernels know no integers."""

    def call(x):
        return function(x if x.dtype in _FLOATS else x.astype(mindspore.float32))

    return call


def _accurate(function):
    """The float32 kernels compute exp(x) - 1 and log(1 + x) literally; those of float64 are right near zero."""

    def call(x):
        kind = x.dtype if x.dtype in _FLOATS else mindspore.float32
        return function(x.astype(mindspore.float64)).astype(kind)

    return call


expm1, log1p = _accurate(ops.expm1), _accurate(ops.log1p)
exp, log, log2 = map(_floating, (ops.exp, ops.log, ops.log2))
sqrt, rsqrt, reciprocal = map(_floating, (ops.sqrt, ops.rsqrt, ops.reciprocal))
sin, cos, tan, sinh, cosh, tanh = map(_floating, (ops.sin, ops.cos, ops.tan, ops.sinh, ops.cosh, ops.tanh))
asin, acos, atan = map(_floating, (ops.asin, ops.acos, ops.atan))
sigmoid, erf = map(_floating, (ops.sigmoid, ops.erf))
negative, relu = ops.neg, P.ReLU()
silu, softplus, hardswish, hardsigmoid, softsign = ops.silu, ops.softplus, ops.hardswish, ops.hardsigmoid, ops.softsign


def leaky_relu(x, negative_slope=0.01):
    return ops.leaky_relu(x, negative_slope)


def _whole(function):
    """Rounding leaves integers as they are, which have no kernel."""

    def call(x):
        return function(x) if x.dtype in _FLOATS else x

    return call


floor, ceil, round = map(_whole, (ops.floor, ops.ceil, ops.round))


def clip(x, low=None, high=None):
    return x if low is None and high is None else ops.clamp(x, low, high)


def where(condition, x, y):
    condition = Tensor(np.array(condition)) if isinstance(condition, np.ndarray) else condition
    other = next((v for v in (x, y) if isinstance(v, Tensor)), None)
    if other is not None:
        x, y = _operand(x, other), _operand(y, other)
    return ops.where(condition, x, y)


def _reduce(function):
    def call(x, axis=None, keepdims=False):
        return function(x, tuple(range(x.ndim)) if axis is None else axis, keepdims)

    return call


sum, mean, max, min = map(_reduce, (mint.sum, ops.mean, ops.amax, ops.amin))


def _reduce_one(function):
    def call(x, axis=None, keepdims=False):
        if axis is not None:
            return function(x, axis, keepdims)
        result = function(x.reshape(-1), 0, False)
        return result.reshape((1,) * x.ndim) if keepdims else result

    return call


def _argmin(x, axis, keepdims):
    return ops.argmin(x, axis, keepdims).astype(mindspore.int64)


prod, argmax, argmin, any, all = map(_reduce_one, (ops.prod, ops.argmax, _argmin, mint.any, mint.all))


def var(x, axis=None, keepdims=False, correction=0):
    centred = x - mean(x, axis, True)
    total = sum(centred * centred, axis, keepdims)
    return total / (x.size // (total.size or 1) - correction)


def std(x, axis=None, keepdims=False, correction=0):
    return ops.sqrt(var(x, axis, keepdims, correction))


def logsumexp(x, axis=None, keepdims=False):
    return ops.logsumexp(x, tuple(range(x.ndim)) if axis is None else axis, keepdims)


def cumulative_sum(x, axis):
    return ops.cumsum(x, axis)


def permute_dims(x, axes):
    return ops.permute(x, axes)


def expand_dims(x, axis=0):
    return ops.expand_dims(x, axis)


def squeeze(x, axis):
    return ops.squeeze(x, axis)


def concat(xs, axis=0):
    return ops.cat(tuple(xs), axis)


def stack(xs, axis=0):
    if builtins.any(isinstance(x, Parameter) for x in xs):  # Stack rejects a parameter beside a tensor, Concat takes it
        return ops.cat([ops.expand_dims(x, axis) for x in xs], axis)
    return ops.stack(tuple(xs), axis)


def split(x, sections, axis=0):
    return ops.split(x, x.shape[axis] // sections if isinstance(sections, int) else list(sections), axis)


def flip(x, axis):
    return ops.flip(x, (axis,))


def roll(x, shift, axis):
    shift %= x.shape[axis] or 1  # Roll has no CPU kernel
    return ops.cat(ops.split(x, [x.shape[axis] - shift, shift], axis)[::-1], axis) if shift else x


def pad(x, padding, value=0.0):
    return ops.pad(x, [n for pair in reversed(padding) for n in pair], value=value)


def take(x, indices, axis=0):
    indices = Tensor(np.array(indices)) if isinstance(indices, np.ndarray) else indices
    return ops.gather(x, indices, axis % x.ndim)


def getitem(x, index):
    items = index if isinstance(index, tuple) else (index,)
    if not builtins.any(isinstance(item, slice) and item.step not in (None, 1) for item in items):
        return x[index]
    # the gradient of a slice with a step writes out of bounds from four axes on: gather the elements instead
    if Ellipsis in items:
        at, named = items.index(Ellipsis), len(items) - 1 - items.count(None)
        items = (*items[:at], *(slice(None),) * (x.ndim - named), *items[at + 1 :])
    rest, axis = [], 0
    for item in items:
        if isinstance(item, slice) and item.step not in (None, 1):
            x = ops.gather(x, Tensor(np.arange(x.shape[axis])[item]), axis)
            item = slice(None)
        rest.append(item)
        axis += item is not None
    return x[tuple(rest)]


def astype(x, name):
    return x.astype(dtype(name))


_one, _zero, _one_hot = Tensor(1.0, mindspore.float32), Tensor(0.0, mindspore.float32), P.OneHot()


def one_hot(x, classes):
    return _one_hot(x, classes, _one, _zero)
