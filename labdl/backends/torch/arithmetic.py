"""PyTorch implementations of elementwise operators: arithmetic, functions, comparisons, complex numbers."""

import functools
import math

import numpy as np
import torch

from labdl.backends.torch.tensors import checking_values, dtype, spec_of
from labdl.spec import promote

_Tensor = torch.Tensor
_ARRAYS = (np.ndarray, list)  # torch.compile cannot make a union of them


def promote_operands(*values):
    """Tensors of one dtype, as LabDL promotes: torch decides by the number of axes, and accepts few Python numbers."""
    first = values[0]
    kind = first.dtype if isinstance(first, _Tensor) else None
    for v in values:  # a loop takes half the time of all()
        if not isinstance(v, _Tensor) or v.dtype is not kind:
            break
    else:
        return values
    values = [
        v.item() if isinstance(v, np.generic) else torch.as_tensor(v) if isinstance(v, _ARRAYS) else v for v in values
    ]
    common = dtype(promote(*(spec_of(v).dtype if isinstance(v, _Tensor) else v for v in values)))
    device = next((v.device for v in values if isinstance(v, _Tensor)), None)
    return [v.to(common) if isinstance(v, _Tensor) else torch.tensor(v, dtype=common, device=device) for v in values]


def _pair(function):
    """For functions of two tensors that do not accept numbers."""

    def call(x, y):
        if x.__class__ is y.__class__ and x.dtype is y.dtype:
            return function(x, y)
        return function(*promote_operands(x, y))

    return call


_REAL_NUMBERS = (float, int)  # some kernels reject True where they accept 1; torch.compile has no __class__ of an array


def _infix(function):
    """For functions of two tensors that take a number as the second."""

    def call(x, y):
        if x.__class__ is y.__class__:
            if x.dtype is y.dtype:
                return function(x, y)
        elif type(y) in _REAL_NUMBERS and x.dtype is not torch.bool and isinstance(x, _Tensor):
            return function(x, y)
        return function(*promote_operands(x, y))

    return call


add, subtract, multiply, divide = map(_infix, (torch.add, torch.sub, torch.mul, torch.div))
remainder, fmod = map(_infix, (torch.remainder, torch.fmod))
equal, not_equal = _infix(torch.eq), _infix(torch.ne)
less, less_equal, greater, greater_equal = map(_infix, (torch.lt, torch.le, torch.gt, torch.ge))
maximum, minimum, atan2 = map(_pair, (torch.maximum, torch.minimum, torch.atan2))
copysign, nextafter = map(_pair, (torch.copysign, torch.nextafter))
gcd, complex = _pair(torch.gcd), _pair(torch.complex)
logical_and, logical_or, logical_xor = map(_pair, (torch.logical_and, torch.logical_or, torch.logical_xor))
bitwise_and, bitwise_or, bitwise_xor = map(_pair, (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor))
bitwise_left_shift, bitwise_right_shift = _pair(torch.bitwise_left_shift), _pair(torch.bitwise_right_shift)
bitwise_invert = torch.bitwise_not


@_pair
def hypot(x, y):
    """torch's gradient is NaN where both are 0."""
    if x.requires_grad or y.requires_grad:
        nothing = (x == 0) & (y == 0)
        x, y = (torch.where(nothing, t.detach(), t) for t in (x, y))
    return torch.hypot(x, y)


@_infix
def floor_divide(x, y):
    """torch gives NaN and -1 beside infinities, where the standard has the quotient."""
    whole = torch.floor_divide(x, y)
    if not whole.is_floating_point():
        return whole
    infinite = torch.isinf(x) | (torch.isinf(y) if isinstance(y, _Tensor) else math.isinf(y))
    return torch.where(infinite, torch.floor(x / y), whole)


def pow(x, y):
    if x.__class__ is y.__class__:
        if x.dtype is y.dtype:
            return torch.pow(x, y) if x.is_floating_point() else _exact_power(x, y)
    elif type(y) in _REAL_NUMBERS and x.dtype is not torch.bool and isinstance(x, _Tensor):
        return torch.pow(x, y)
    return _exact_power(*promote_operands(x, y))


def _exact_power(x, y):
    """torch gives numbers for negative powers of integers, and NaN for a complex 0 to the power of 0."""
    if x.is_complex():
        x = torch.where((x == 0) & (y == 0), 1, x)
    elif not x.is_floating_point() and not torch.compiler.is_compiling():
        with checking_values():
            if (y < 0).any():
                raise ValueError("integers have no negative integer powers: convert with ops.astype")
    return torch.pow(x, y)


def clip(x, min=None, max=None):
    if isinstance(min, _Tensor) or isinstance(max, _Tensor):
        x = x if min is None else maximum(x, min)  # torch.clamp does not grow the tensor it limits
        return x if max is None else minimum(x, max)
    return x if min is None and max is None else torch.clamp(x, min, max)


def where(condition, x, y):
    condition = torch.as_tensor(condition)
    if isinstance(x, _Tensor) and isinstance(y, _Tensor) and x.dtype is y.dtype:
        return torch.where(condition, x, y)
    return torch.where(condition, *promote_operands(x, y))


def sign(x):
    """torch returns 0 for NaN."""
    if x.is_floating_point():
        return torch.where(torch.isnan(x), x, torch.sign(x))
    return torch.sgn(x)


def round(x):
    return torch.complex(torch.round(x.real), torch.round(x.imag)) if x.is_complex() else torch.round(x)


def nan_to_num(x, *, nan=0.0, posinf=None, neginf=None):
    return torch.nan_to_num(x, nan, posinf, neginf)


def real(x):
    return torch.real(x) if x.is_complex() else x


def conj(x):
    """torch only marks a tensor as conjugated: resolved, for other libraries."""
    return torch.conj_physical(x)


def _floating(function):
    """For functions that do not accept integers."""

    @functools.wraps(function)
    def call(x):
        return function(x if x.is_floating_point() or x.is_complex() else x.float())

    return call


def logaddexp(x, y):
    x, y = promote_operands(x, y)
    return torch.logaddexp(*(v if v.is_floating_point() else v.float() for v in (x, y)))


erfinv, digamma, lgamma, i0 = map(_floating, (torch.erfinv, torch.digamma, torch.lgamma, torch.special.i0))
sqrt, rsqrt, reciprocal = torch.sqrt, torch.rsqrt, torch.reciprocal
