"""Operators of several tensors in dtypes for which Paddle has no kernel, and of tensors in different ones."""

import functools

from labdl.backends.paddle.dtypes import WIDER, cast, in_dtype, is_fraction
from labdl.backends.paddle.tensors import TENSORS, dtype, dtype_name
from labdl.spec import promote


def any_precision(function):
    """Wrap a function: on errors it is computed in the promoted dtype, or a wider one.

    There is no overhead if Paddle has the kernel, and devices with half precision use it.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (RuntimeError, ValueError) as found:
            error = found
        tensors = [t for t in (*args, *kwargs.values()) if _fractional(t)]
        if not tensors:
            raise error
        common = dtype(promote(*map(dtype_name, tensors)))
        wide = WIDER.get(common, common)
        if all(t.dtype == wide for t in tensors):
            raise error
        args = [in_dtype(t, wide) if _fractional(t) else t for t in args]
        kwargs = {name: in_dtype(t, wide) if _fractional(t) else t for name, t in kwargs.items()}
        result = function(*args, **kwargs)
        if wide == common:
            return result
        return (
            tuple(_narrow(r, wide, common) for r in result)
            if isinstance(result, tuple)
            else _narrow(result, wide, common)
        )

    return call


def _fractional(value):
    return isinstance(value, TENSORS) and is_fraction(value.dtype)


def _narrow(result, wide, kind):
    """Cast the result to the dtype of the operands, except positions and NotImplemented."""
    return cast(result, kind) if isinstance(result, TENSORS) and result.dtype == wide else result
