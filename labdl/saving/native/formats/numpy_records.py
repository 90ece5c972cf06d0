"""Arrays of NumPy in pickles, from the records of the calls that would build them."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.errors import FileFormatError
from labdl.saving.native.formats.dtypes import MOST_AXES, array_of
from labdl.saving.native.formats.pickle_calls import NUMPY_ARRAY, NUMPY_DTYPE, CallRecord, dtype_of_record


def is_numpy(value: Any) -> bool:
    return isinstance(value, CallRecord) and value.function == NUMPY_ARRAY


def shape_of_numpy(record: CallRecord) -> tuple[int, ...] | None:
    """The shape that the record of an array claims."""
    match record.state:
        case (_, tuple(shape), *_) if all(type(n) is int for n in shape):
            return shape
    return None


def numpy_array(name: str, record: CallRecord, copies: dict[int, bytearray]) -> np.ndarray:
    """The array of a record. ``copies`` keeps the bytes by identity: a pickle may give those of one array to many.

    Raises FileFormatError for one that does not hold numbers, or not as many as its shape says.
    """
    match record.state:
        case (int(), tuple(shape), CallRecord(function=function) as kind, bool(fortran), bytes(data)) if (
            function == NUMPY_DTYPE
        ):
            dtype = dtype_of_record(kind)
        case _:
            raise FileFormatError("an array of it is not one of numbers")
    if len(shape) > MOST_AXES or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise FileFormatError(f"{name:.200} in it has an impossible shape")
    if id(data) not in copies:
        copies[id(data)] = bytearray(data)
    array = array_of(name, copies[id(data)], dtype, shape[::-1] if fortran else shape)
    return array.transpose() if fortran else array
