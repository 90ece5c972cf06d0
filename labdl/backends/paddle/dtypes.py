"""Operands for Paddle's kernels: promoted to one dtype, or to a wider one where the CPU has no kernel."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportOptionalCall=false, reportPrivateImportUsage=false

import functools

import numpy as np
import paddle

from labdl.backends.paddle import kernels
from labdl.backends.paddle.tensors import TENSORS, dtype, dtype_name
from labdl.spec import promote

FLOAT32, INT64, BOOL = paddle.float32, paddle.int64, paddle.bool
HALVES = (paddle.float16, paddle.bfloat16)
SMALL = (paddle.int8, paddle.int16, paddle.uint8)
INTEGERS = (*SMALL, paddle.int32, paddle.int64)
COMPLEX = (paddle.complex64, paddle.complex128)
DOUBLES = (paddle.float64, paddle.complex128)
# Dtypes without most CPU kernels, and the wider ones: results are exact, or rounded once.
WIDER = {**dict.fromkeys(HALVES, paddle.float32), **dict.fromkeys((paddle.bool, *SMALL), paddle.int32)}
# for functions with floating-point results
FRACTIONS = {**dict.fromkeys(HALVES, paddle.float32), **dict.fromkeys((paddle.bool, *INTEGERS), paddle.float32)}
HALF_ONLY = {kind: FLOAT32 for kind in HALVES}
WITHOUT_BOOL = {kind: wide for kind, wide in WIDER.items() if kind != BOOL}
# for sums: integers and bool give int64
LONG = {**HALF_ONLY, **dict.fromkeys((paddle.bool, *INTEGERS), paddle.int64)}

cast = kernels.cast


def expected_place():
    return paddle.framework._current_expected_place()


def full_tensor(shape, value, kind):
    return kernels.full(list(shape), value, kind, expected_place())


def integer_range(*bounds):
    """A tensor of integers, as `range`."""
    return paddle.arange(*bounds, dtype="int64")


def diagonal_mask(size, offset=0):
    at = integer_range(0, size)
    return kernels.equal(kernels.scale(kernels.unsqueeze(at, [-1]), 1.0, float(offset), True), at)


def as_tensor(value):
    return value if isinstance(value, TENSORS) else paddle.to_tensor(np.asarray(value))


def promote_operands(*values):
    """Tensors of one dtype, as LabDL promotes: Paddle decides by the number of axes, and accepts few Python numbers."""
    first = values[0]
    if isinstance(first, TENSORS) and all(isinstance(v, TENSORS) and v.dtype == first.dtype for v in values):
        return list(values)
    values = [
        v.item() if isinstance(v, np.generic) else paddle.to_tensor(v) if isinstance(v, np.ndarray) else v
        for v in values
    ]
    common = dtype(promote(*(dtype_name(v) if isinstance(v, TENSORS) else v for v in values)))
    return [in_dtype(v, common) if isinstance(v, TENSORS) else full_tensor([], v, common) for v in values]


def in_dtype(x, kind):
    return x if x.dtype is kind or x.dtype == kind else cast(x, kind)


def is_fraction(kind):
    """True for real floating-point dtypes."""
    return kind == FLOAT32 or kind == paddle.float64 or kind in HALVES


def is_complex(kind):
    return kind in COMPLEX


def same(x, y):
    """Elementwise equality; Paddle's own treats floats less than 1e-15 apart as equal."""
    if is_complex(x.dtype):
        parts = ((part(x), part(y)) for part in (paddle.real, paddle.imag))
        return kernels.logical_and(*(same(*pair) for pair in parts))
    if is_fraction(x.dtype):
        return kernels.logical_and(kernels.less_equal(x, y), kernels.greater_equal(x, y))
    return kernels.equal(x, y)


def _wider(kind, x, table):
    """The dtype to compute in, None to keep it: other devices have kernels for half precision."""
    wide = table.get(kind)
    return None if wide is None or (kind in HALVES and not on_cpu(x)) else wide


def on_cpu(x):
    place = x.place or expected_place()
    return place.is_cpu_place()


def refuse(kind, refused):
    if kind in refused:
        raise TypeError(f"no {str(kind).rpartition('.')[2]} here")  # the operator gives the full message


def in_wider_dtype(function, table=WIDER, returned=True, refused=()):
    """A function of one tensor, computed in a wider dtype where ``table`` says so.

    ``returned``: results are cast back to the tensor's dtype, except floats of integers. ``refused``: dtypes that the kernel
    accepts but the operator does not.
    """

    @functools.wraps(function)
    def call(x, *args, **kwargs):
        kind = x.dtype
        if kind is FLOAT32:
            return function(x, *args, **kwargs)
        refuse(kind, refused)
        wide = _wider(kind, x, table)
        if wide is None:
            return function(x, *args, **kwargs)
        result = function(cast(x, wide), *args, **kwargs)
        return _to_narrow_dtype(result, kind) if returned and _goes_back(kind, table) else result

    return call


def _goes_back(kind, table):
    return table is not FRACTIONS or kind in HALVES


def _to_narrow_dtype(result, kind):
    return tuple(cast(r, kind) for r in result) if isinstance(result, tuple | list) else cast(result, kind)


def each(kernel, table=WIDER, returned=True, straight=None, refused=()):
    """For kernels of one tensor: float32 is passed directly, or to ``straight``."""
    general, straight = in_wider_dtype(kernel, table, returned, refused), straight or kernel

    def call(x):
        return straight(x) if x.dtype is FLOAT32 else general(x)

    return call


def fractions(kernel, straight=None, refused=()):
    """As `single` for functions with floating-point results: float32 for integers."""
    return functools.update_wrapper(each(kernel, FRACTIONS, straight=straight, refused=refused), kernel)


def pair(kernel, table=WIDER, returned=True, number=None, straight=None, refused=()):
    """For kernels of two tensors of one dtype: float32 is passed directly, others are promoted.

    ``number(x, y)``: a faster function of a float32 tensor and a Python number. ``straight``: the function for float32.
    """
    straight = straight or kernel

    def general(x, y):
        x, y = promote_operands(x, y)
        kind = x.dtype
        refuse(kind, refused)
        wide = _wider(kind, x, table)
        if wide is None:
            return kernel(x, y)
        result = kernel(cast(x, wide), cast(y, wide))
        return cast(result, kind) if returned and _goes_back(kind, table) else result

    def call(x, y):
        try:
            if x.dtype is FLOAT32 and y.dtype is FLOAT32:
                return straight(x, y)
        except AttributeError:  # a Python number
            pass
        return general(x, y)

    def call_with_number(x, y):
        if y.__class__ is float or y.__class__ is int:
            return number(x, y) if x.dtype is FLOAT32 else general(x, y)
        return call(x, y)

    return call if number is None else call_with_number
