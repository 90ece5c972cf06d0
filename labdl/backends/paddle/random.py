"""Paddle's random numbers."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportPrivateImportUsage=false

import numpy as np
import paddle
from paddle.base import core

from labdl.backends.paddle.arithmetic import greater_equal, less, logical_and, where
from labdl.backends.paddle.tensors import dtype_name


def seed(value: int) -> None:
    paddle.seed(value)


def _wide(name):
    """Paddle's CPU kernels sample float32 and float64; narrower dtypes are rounded from float32."""
    return name if name in ("float32", "float64") else "float32"


def random_uniform(shape, low, high, name):
    drawn = paddle.uniform(list(shape), _wide(name), low, high).astype(name)
    if name == _wide(name):
        return drawn
    return where(less(drawn, high), drawn, low)  # values that were rounded up to the excluded end


def random_normal(shape, mean, std, name):
    wide = _wide(name)
    return (paddle.randn(list(shape), wide) * std + mean).astype(name)


def random_integers(shape, low, high, name):
    """Paddle samples 31 bits: larger ranges use the remainder of 63 bits."""
    if low >= -(2**31) and high < 2**31:
        return paddle.randint(low, high, list(shape), "int64").astype(name)
    top, middle, bottom = (paddle.randint(0, 2**bits, list(shape), "int64") for bits in (3, 30, 30))
    drawn = (top * 2**60 + middle * 2**30 + bottom) % paddle.full([], min(high - low, 2**63 - 1), "int64")
    return (drawn + paddle.full([], low, "int64")).astype(name)


def random_permutation(n):
    return paddle.randperm(n, "int64")


def random_uniform_like(x, low=0.0, high=1.0):
    return random_uniform(x.shape, low, high, dtype_name(x))


def random_normal_like(x, mean=0.0, std=1.0):
    return random_normal(x.shape, mean, std, dtype_name(x))


_NORMAL = float(2**30)


def poisson(x):
    """Paddle raises for a tensor with negative rates, does not end for rates above 2**31, and samples float32 and float64."""
    wide = x.astype(_wide(dtype_name(x)))
    fine = logical_and(greater_equal(wide, 0.0), less(wide, _NORMAL))
    # the distribution of a larger rate is the normal one, up to a skewness of 3e-5; NaN for a negative rate
    normal = paddle.round(wide + paddle.sqrt(wide) * paddle.randn(wide.shape, wide.dtype))
    return where(fine, paddle.poisson(where(fine, wide, 0.0)), normal).astype(x.dtype)


def _generators():
    """The generators of Paddle's kernels, by device."""
    found = {"cpu": core.default_cpu_generator()}
    if paddle.is_compiled_with_cuda():
        count = paddle.device.cuda.device_count()
        found.update({f"cuda:{i}": core.default_cuda_generator(i) for i in range(count)})
    return found


def random_state():
    """For each device the seed, the offset of a GPU, and the state of the CPU's Mersenne twister."""
    state = {}
    for device, generator in _generators().items():
        place, seed, offset, engine = generator.get_state().__getstate__()
        state[device] = {
            "place": place,
            "seed": seed,
            "offset": offset,
            "engine": np.array(bytes(engine).split(), "uint64"),
        }
    return state


_WORDS = 312  # of the twister, followed by its position


def set_random_state(state) -> None:
    if "cpu" not in state:
        raise ValueError("the random state of paddle wants a generator for 'cpu'")
    for device, generator in _generators().items():
        if device not in state:
            continue
        engine = np.asarray(state[device]["engine"])
        # Paddle does not validate the state, and would read beyond it
        if (engine.shape, engine.dtype) != ((_WORDS + 1,), "uint64") or engine[-1] > _WORDS:
            raise ValueError(
                f"the random state of paddle wants {_WORDS} words and a position up to {_WORDS} for {device!r}"
            )
        place, seed, offset = (int(state[device][key]) for key in ("place", "seed", "offset"))
        made = core.GeneratorState.__new__(core.GeneratorState)
        made.__setstate__((place, seed, offset, list(" ".join(map(str, engine.tolist())).encode())))
        generator.set_state(made)
