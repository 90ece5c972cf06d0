"""The functions that a pickle of parameters may call, and what stands for each: data, never an import or a call.

The table is the whole of what is allowed, for every format whose files hold pickles. Any other call is kept as a record, which
does nothing: a training's settings or random generators may be objects of any class, its weights may not.
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
    """A call in a pickle that would build an object: function, arguments, and the state set afterwards. It stays a record."""

    __slots__ = ("arguments", "function", "state")

    def __init__(self, function: Name, arguments: tuple):
        self.function, self.arguments, self.state = function, arguments, None


class StorageView(NamedTuple):
    """A tensor as a strided view of a storage beside the pickle."""

    storage: Any
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


NUMPY_DTYPE, NUMPY_ARRAY = Name("numpy", "dtype"), Name("numpy", "ndarray")


class OtherKey:
    """A key of a dictionary that no weight has. It is equal to itself alone."""

    __slots__ = ("kind",)

    def __init__(self, kind: str):
        self.kind = kind


def key_of(key: Any) -> str | int | OtherKey:
    """A text or an integer of 64 bits as it is; the hash of others, such as tuples, may take for ever or all of the stack."""
    is_plain = type(key) is str or (type(key) is int and -(2**63) <= key < 2**63)
    return key if is_plain else OtherKey(type(key).__name__)


def _dictionary(items: Iterable = ()) -> dict:
    if isinstance(items, Mapping):
        return dict(items)
    return {key_of(key): value for key, value in items}


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
    Name("collections", "defaultdict"): lambda *_: {},
    Name("builtins", "tuple"): lambda items=(): tuple(items),
    Name("__builtin__", "tuple"): lambda items=(): tuple(items),  # in protocol 2
    Name("_codecs", "encode"): _bytes,  # bytes, as protocol 2 writes them
    Name("torch._utils", "_rebuild_tensor"): _tensor,
    Name("torch._utils", "_rebuild_tensor_v2"): _tensor,
    Name("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
    Name("torch._utils", "_rebuild_parameter_with_state"): lambda tensor, *_: tensor,
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
