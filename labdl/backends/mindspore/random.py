"""MindSpore's random numbers."""

import importlib
import math
import secrets

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.ops import operations as P

from labdl.backends.mindspore.kinds import name_of
from labdl.backends.mindspore.runtime import dtype, seed

_least = P.Minimum()
_counters = importlib.import_module("mindspore.common.seed")  # the package has a function of this name


def _below(high, name):
    """The largest number of a dtype below another one."""
    if name != "bfloat16":
        return np.nextafter(np.array(high, name), np.array(-math.inf, name))
    bits = np.nextafter(np.float32(high), np.float32(-math.inf)).view("uint32")
    return (bits + (0xFFFF if high <= 0 else 0) & 0xFFFF0000).astype("uint32").view("float32")  # rounded down


def random_uniform(shape, low, high, name):
    drawn = ops.rand(*shape, dtype=mindspore.float32)
    kind = mindspore.float64 if name == "float64" else mindspore.float32
    if name == "float64":  # two draws, for each has 24 bits
        drawn = drawn.astype(kind) + ops.rand(*shape, dtype=mindspore.float32).astype(kind) * 2.0**-24
    drawn = drawn.reshape(shape) * Tensor(high - low, kind) + Tensor(low, kind)  # of no axes MindSpore makes one
    if high > low:  # rounding may reach the end
        drawn = _least(drawn, Tensor(_below(high, name), kind))
    return drawn.astype(dtype(name))


def random_normal(shape, mean, std, name):
    kind = mindspore.float64 if name == "float64" else mindspore.float32
    drawn = ops.randn(*shape, dtype=kind).reshape(shape)
    return (drawn * Tensor(std, kind) + Tensor(mean, kind)).astype(dtype(name))


def random_integers(shape, low, high, name):
    count = high - low
    if count < 2**31:
        drawn = _integers(count, shape)
    else:  # MindSpore draws 31 bits: from 63 the remainder
        top, middle, bottom = (_integers(2**bits, shape) for bits in (3, 30, 30))
        drawn = (top * 2**60 + middle * 2**30 + bottom) % Tensor(min(count, 2**63 - 1), mindspore.int64)
    return (drawn + Tensor(low, mindspore.int64)).astype(dtype(name))


def _integers(count, shape):
    if 0 in shape:
        return ops.zeros(shape, mindspore.int64)
    return ops.randint(0, count, shape or (1,)).astype(mindspore.int64).reshape(shape)


def random_permutation(n):
    return (
        ops.argsort(ops.rand(n, dtype=mindspore.float32)).astype(mindspore.int64) if n else Tensor([], mindspore.int64)
    )


def random_uniform_like(x, low=0.0, high=1.0):
    return random_uniform(x.shape, low, high, name_of(x))


def random_normal_like(x, mean=0.0, std=1.0):
    return random_normal(x.shape, mean, std, name_of(x))


def random_state():
    """The seed, and for each kernel the number that its next draw takes from there.

    Without a seed every draw begins anew, and there is nothing to go on from: MindSpore gets one now.
    """
    if _counters.get_seed() is None:
        seed(secrets.randbits(32))
    drawn = {kernel: count for (kernel, own), count in _counters._KERNEL_SEED.items() if own == 0}
    return {"seed": _counters.get_seed(), "drawn": drawn}


def set_random_state(state) -> None:
    drawn = {str(kernel): int(count) for kernel, count in state["drawn"].items()}
    if not 0 <= int(state["seed"]) < 2**32 or min(drawn.values(), default=0) < 0:
        raise ValueError("the random state of mindspore wants a seed of 32 bits and counts that are not negative")
    seed(int(state["seed"]))  # which sets the counts back
    _counters._KERNEL_SEED.update({(kernel, 0): count for kernel, count in drawn.items()})
