"""MindSpore implementations of limits to a range."""

from functools import lru_cache

import mindspore
from mindspore import Tensor, nn, ops

from labdl.backends.mindspore.arithmetic import maximum, minimum
from labdl.backends.mindspore.dtypes import FRACTIONS, HALVES, is_floating, promote_operands, through


def _within(x, low, high):
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


class _Clip(nn.Cell):
    """Between two numbers: `maximum` and `minimum` have the slope 1/2 there, where that of PyTorch is 1."""

    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def construct(self, x):
        return _within(x, self.low, self.high)

    def bprop(self, x, result, gradient):
        return (ops.where(ops.equal(x, result), gradient, ops.zeros_like(gradient)),)


class _HardTanh(_Clip):
    """With the slope 0 at the limits."""

    def bprop(self, x, result, gradient):
        inside = ops.logical_and(ops.greater(x, self.low), ops.less(x, self.high))
        return (ops.where(inside, gradient, ops.zeros_like(gradient)),)


@lru_cache(1000)
def _limit(cell, low, high, kind):
    if kind is not mindspore.float32:  # MindSpore rounds numbers to float32
        low, high = (None if n is None else Tensor(n, kind) for n in (low, high))
    return cell(low, high)


_restricted = through(lambda x, cell, low, high: _limit(cell, low, high, x.dtype)(x), FRACTIONS[1:], HALVES)
_BOUNDS = {int, float, type(None)}


def clip(x, /, min=None, max=None):
    """MindSpore converts NaN to a number."""
    if min is None and max is None:
        return x
    if is_floating(x) and {min.__class__, max.__class__} <= _BOUNDS:
        return _restricted(x, _Clip, min, max)
    given = iter(promote_operands(*(v for v in (x, min, max) if v is not None)))
    return _within(next(given), None if min is None else next(given), None if max is None else next(given))


def hardtanh(x, low=-1.0, high=1.0):
    """MindSpore converts NaN to a number."""
    numbers = is_floating(x) and {low.__class__, high.__class__} <= {int, float}
    return _restricted(x, _HardTanh, low, high) if numbers else NotImplemented


def relu6(x):
    """MindSpore converts NaN to a number."""
    return hardtanh(x, 0.0, 6.0)
