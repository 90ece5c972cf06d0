"""The functions that a pickle of parameters may call, and what stands for each: data, never an import or a call.

The table is the whole of what is allowed, for every format whose files hold pickles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from labdl.errors import FileFormatError
from labdl.saving.native.formats.dtypes import MOST_AXES


class Name(NamedTuple):
    """A name of a Python module that a pickle refers to."""

    module: str
    name: str


class CallRecord:
    """A call in a pickle that would build an object: function, arguments, and the state set afterwards."""

    def __init__(self, function: Name, arguments: tuple):
        self.function, self.arguments, self.state = function, arguments, None


class StorageView(NamedTuple):
    """A tensor as a strided view of a storage beside the pickle."""

    storage: Any
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


NUMPY_DTYPE, NUMPY_ARRAY = Name("numpy", "dtype"), Name("numpy", "ndarray")


def check_key(key: Any) -> None:
    """Raise FileFormatError for a key of a dictionary that is neither a text nor an integer of 64 bits.

    Frameworks write no others, and the hash of a tuple may take for ever or all of the stack.
    """
    if type(key) is not str and not (type(key) is int and -(2**63) <= key < 2**63):
        raise FileFormatError(f"a dictionary in it has a {type(key).__name__} as a key, not a text or a small integer")


def _dictionary(items: Iterable = ()) -> dict:
    if isinstance(items, Mapping):
        return dict(items)
    pairs = [(key, value) for key, value in items]
    for key, _ in pairs:
        check_key(key)
    return dict(pairs)


def _bytes(text: str, coding: str) -> bytes:
    if type(text) is not str:
        raise TypeError("its bytes are not written as a text")
    return text.encode("latin1")


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> StorageView:
    if type(shape) is not tuple or type(strides) is not tuple or not len(shape) == len(strides) <= MOST_AXES:
        raise FileFormatError("one of its tensors has an impossible shape")
    if not all(type(n) is int and 0 <= n < 2**63 for n in (offset, *shape, *strides)):
        raise FileFormatError("one of its tensors has an impossible shape")
    return StorageView(storage, offset, shape, strides)


def _record(function: Name) -> Callable[..., CallRecord]:
    return lambda *arguments: CallRecord(function, arguments)


CALLS: dict[Name, Callable[..., Any]] = {
    Name("collections", "OrderedDict"): _dictionary,
    Name("builtins", "tuple"): lambda items=(): tuple(items),
    Name("_codecs", "encode"): _bytes,  # bytes, as protocol 2 writes them
    Name("torch._utils", "_rebuild_tensor"): _tensor,
    Name("torch._utils", "_rebuild_tensor_v2"): _tensor,
    Name("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
    Name("torch", "Size"): lambda sizes=(): tuple(sizes),
    Name("torch", "device"): _record(Name("torch", "device")),
    NUMPY_DTYPE: _record(NUMPY_DTYPE),
    Name("numpy.core.multiarray", "_reconstruct"): _record(NUMPY_ARRAY),
    Name("numpy._core.multiarray", "_reconstruct"): _record(NUMPY_ARRAY),
    Name("numpy.core.multiarray", "scalar"): _record(Name("numpy", "scalar")),
    Name("numpy._core.multiarray", "scalar"): _record(Name("numpy", "scalar")),
}

_NUMBERS = ("b1", "f2", "f4", "f8", "c8", "c16", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)))


def dtype_of_record(record: CallRecord) -> np.dtype:
    """The NumPy dtype of numbers that a call in a pickle describes. Raises FileFormatError for any other."""
    match record.arguments, record.state:
        case (str(name), *_), (int(), "<" | ">" | "|" | "=" as order, None, None, None, *_) if name in _NUMBERS:
            return np.dtype(name).newbyteorder(order)
        case (str(name), *_), None if name in _NUMBERS:
            return np.dtype(name)
    raise FileFormatError("an array of it is not one of numbers")
