"""Random numbers on MindSpore, sampled by NumPy: MindSpore creates a kernel for each call, which takes 3 ms on a CPU."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportCallIssue=false

import math

import mindspore
import numpy as np
from mindspore import Tensor

from labdl.backends.mindspore.call_recorder import draws_random_numbers
from labdl.backends.mindspore.dtypes import name_of
from labdl.backends.mindspore.tensors import dtype

_generator = np.random.default_rng()


def seed(value: int) -> None:
    """Seed the generator of LabDL, and MindSpore's own for native code."""
    global _generator
    _generator = np.random.default_rng(value)
    mindspore.set_seed(value % 2**32)


def random_state():
    return {"generator": dict(_generator.bit_generator.state)}


def set_random_state(state) -> None:
    _generator.bit_generator.state = state["generator"]


def _fraction(name) -> str:
    """The dtype in which NumPy samples values for another one."""
    return "float64" if name == "float64" else "float32"


def _below(high, name):
    """The largest number of a dtype below another one."""
    if name != "bfloat16":
        return np.nextafter(np.array(high, name), np.array(-math.inf, name))
    bits = np.nextafter(np.float32(high), np.float32(-math.inf)).view("uint32")
    return (bits + (0xFFFF if high <= 0 else 0) & 0xFFFF0000).astype("uint32").view("float32")  # rounded down


@draws_random_numbers
def random_uniform(shape, low, high, name):
    kind = _fraction(name)
    drawn = _generator.random(shape, kind) * np.array(high - low, kind) + np.array(low, kind)
    if high > low:  # rounding may reach the excluded end
        drawn = np.minimum(drawn, _below(high, name))
    return Tensor(np.asarray(drawn, kind)).astype(dtype(name))


@draws_random_numbers
def random_normal(shape, mean, std, name):
    kind = _fraction(name)
    drawn = _generator.standard_normal(shape, kind) * np.array(std, kind) + np.array(mean, kind)
    return Tensor(np.asarray(drawn, kind)).astype(dtype(name))


@draws_random_numbers
def random_integers(shape, low, high, name):
    return Tensor(np.asarray(_generator.integers(low, high, shape))).astype(dtype(name))


@draws_random_numbers
def random_permutation(n):
    return Tensor(_generator.permutation(n).astype("int64"))


@draws_random_numbers
def dropout_mask(shape, rate):
    """1 / (1 - rate) for kept elements and 0 for the rest, in float32."""
    kept = _generator.random(shape, "float32") >= rate
    return Tensor(np.multiply(kept, np.float32(1 / (1 - rate)), dtype="float32"))


def random_uniform_like(x, low=0.0, high=1.0):
    return random_uniform(x.shape, low, high, name_of(x))


def random_normal_like(x, mean=0.0, std=1.0):
    return random_normal(x.shape, mean, std, name_of(x))
