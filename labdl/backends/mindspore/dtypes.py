"""Dtypes in which MindSpore computes: its CPU kernels lack some, above all bfloat16, which use a wider one."""

from collections.abc import Sequence
from typing import Any

import mindspore
import numpy as np
from mindspore import Tensor

from labdl.backends.mindspore.tensors import _NAMES, dtype
from labdl.spec import COMPLEX, FLOATS, INTEGERS, REALS, promote

__all__ = ()  # no operators

FRACTIONS = ("float16", "float32", "float64")
FRACTIONS_AND_COMPLEX = (*FRACTIONS, *COMPLEX)
ALL_REALS = tuple(n for n in REALS if n != "bfloat16")
ALL_NUMBERS = (*ALL_REALS, *COMPLEX)
ALL = ("bool", *ALL_NUMBERS)

# dtype: (computing dtype, dtype of the result or None to keep it)
HALF = {"bfloat16": ("float32", "bfloat16")}
HALVES = {"float16": ("float32", "float16"), **HALF}
INTEGERS_INTO_FRACTIONS = {n: ("float32", None) for n in INTEGERS} | HALF
INTO_FRACTIONS = {n: ("float32", None) for n in ("bool", *INTEGERS)} | HALF
TRUTHS = {"bfloat16": ("float32", None)}
# functions whose float32 kernels are wrong in the fourth digit, or near zero
EXACT = {n: ("float64", n if n in FLOATS else "float32") for n in ("bool", *INTEGERS, "bfloat16", *FRACTIONS[:2])}

# by identity: hashing a dtype takes a microsecond, and comparing two takes four
_name_of = {id(kind): name for kind, name in _NAMES.items()}
float32, float64, bfloat16, int64 = mindspore.float32, mindspore.float64, mindspore.bfloat16, mindspore.int64


def identities(names) -> frozenset[int]:
    return frozenset(id(dtype(n)) for n in names)


_FLOATING, _COMPLEX = identities((*FRACTIONS, "bfloat16")), identities(COMPLEX)


def name_of(x) -> str:
    return _name_of[id(x.dtype)]


def is_floating(x) -> bool:
    return id(x.dtype) in _FLOATING


def is_complex(x) -> bool:
    return id(x.dtype) in _COMPLEX


def as_tensor(value, kind=None):
    """A tensor of a tensor, array, number or list."""
    if isinstance(value, Tensor):
        return value if kind is None or value.dtype is kind else value.astype(kind)
    if kind is bfloat16:
        return Tensor(np.array(value, "float32")).astype(kind)
    return Tensor(np.array(value, None if kind is None else _name_of[id(kind)]))


def promote_operands(*values) -> Sequence[Any]:
    """Tensors of one dtype, as LabDL promotes: MindSpore has other rules."""
    first = values[0]
    if isinstance(first, Tensor) and all(isinstance(v, Tensor) and v.dtype is first.dtype for v in values):
        return list(values)
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    values = [v if isinstance(v, bool | int | float | complex) else as_tensor(v) for v in values]
    common = dtype(promote(*(name_of(v) if isinstance(v, Tensor) else v for v in values)))
    return [as_tensor(v, common) for v in values]


def fits(a, b) -> bool:
    """Whether shapes broadcast, else a ValueError: MindSpore would raise it later, from another call."""
    for m, n in zip(reversed(a), reversed(b), strict=False):
        if m != n and m != 1 and n != 1:
            raise ValueError(f"shapes {tuple(a)} and {tuple(b)} do not broadcast: sizes {m} and {n} differ")
    return True


def broadcast(*shapes) -> tuple[int, ...]:
    """The broadcast shape of tensors. Raises ValueError."""
    result = ()
    for shape in shapes:
        fits(result, shape)
        long, short = (result, shape) if len(result) > len(shape) else (shape, result)
        ahead = len(long) - len(short)
        result = (*long[:ahead], *(n if m == 1 else m for m, n in zip(long[ahead:], short, strict=True)))
    return tuple(result)


def _wider_dtypes(wider):
    return {id(dtype(n)): (dtype(wide), result and dtype(result)) for n, (wide, result) in wider.items()}


def _no_kernel(kind):
    raise TypeError(f"MindSpore cannot compute with {_name_of[id(kind)]} here")


def to_narrow_dtype(result, wide, kind):
    """Results in the dtype ``kind`` where they were computed in ``wide``."""
    if kind is None:
        return result
    if isinstance(result, list | tuple):
        return tuple(to_narrow_dtype(r, wide, kind) for r in result)
    return result.astype(kind) if result.dtype is wide else result


def through(function, own, wider=HALF):
    """A function of one tensor; dtypes that are not its kernel's ``own`` are computed in a wider one."""
    direct, detours = identities(own), _wider_dtypes(wider)

    def call(x, *args, **options):
        kind = x.dtype
        if id(kind) in direct:
            return function(x, *args, **options)
        wide, result = detours.get(id(kind)) or _no_kernel(kind)
        return to_narrow_dtype(function(x.astype(wide), *args, **options), wide, result)

    return call


def pair(function, own, wider=HALF, *, numbers=True, parts=None):
    """A function of two tensors that promotes and broadcasts; ``parts`` computes it for complex ones.

    ``numbers``: whether its kernel takes a Python number beside float32.
    """
    direct, detours = identities(own) - (_COMPLEX if parts else frozenset()), _wider_dtypes(wider)
    scalars = (int, float) if numbers else ()

    def call(x, y):
        """MindSpore has other promotion rules."""
        if isinstance(x, Tensor):
            kind = x.dtype
            if isinstance(y, Tensor):
                if kind is y.dtype and id(kind) in direct:
                    a, b = x.shape, y.shape
                    if a == b or fits(a, b):
                        return function(x, y)
            elif kind is float32 and y.__class__ in scalars:
                return function(x, y)
        x, y = promote_operands(x, y)
        kind = x.dtype
        fits(x.shape, y.shape)
        if parts is not None and id(kind) in _COMPLEX:
            return parts(x, y)
        if id(kind) in direct:
            return function(x, y)
        wide, result = detours.get(id(kind)) or _no_kernel(kind)
        return to_narrow_dtype(function(x.astype(wide), y.astype(wide)), wide, result)

    return call
