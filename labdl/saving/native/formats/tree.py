"""Arrays in the nested dictionaries of a checkpoint, by path: those of a whole training hold much besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from labdl.errors import FileFormatError
from labdl.saving.native.formats.numpy_records import is_numpy, shape_of_numpy
from labdl.saving.native.formats.pickle_calls import CallRecord, Name, OtherKey, StorageView

Path = tuple[str, ...]
Choose = Callable[[dict[Path, Any]], dict[str, Any]]

_LEVELS = 12  # of dictionaries and modules that are looked into
_ITEMS = 1 << 22  # of them together; one dictionary may be there under many names
_LONGEST = 2000  # characters of a path
_NAMES, _NAME = (
    1 << 26,
    64,
)  # characters of all paths, each as often as it has keys, and those that one counts in addition
_LARGE = "its dictionaries hold more than any file of parameters needs"


def arrays_of(values: Any) -> dict[Path, Any]:
    """Arrays (and objects of unknown classes, which may stand in their place) by the keys that lead to each.

    Modules that were saved as a whole are dictionaries of their parameters, persistent buffers and submodules; a list or
    tuple of dictionaries is one whose keys are "0", "1" and so on. Raises FileFormatError where there is no array.
    """
    values = _by_number(values)
    if not isinstance(values, dict) and _children(values) is None:
        raise FileFormatError(f"it holds {describe(values)}, not a dictionary of parameters")
    found: dict[Path, Any] = {}
    left, names = _ITEMS, _NAMES
    waiting: list[tuple[Path, Any]] = [((), values)]
    while waiting:
        path, item = waiting.pop()
        for key, value in reversed((_children(item) or {}).items()) if len(path) < _LEVELS else ():
            left -= 1
            if left < 0:
                raise FileFormatError(_LARGE)
            if isinstance(key, OtherKey):
                continue
            if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and is_numpy(value[1]):
                value = value[1]  # a tensor of Paddle's: its name and its array
            if isinstance(value, dict) or is_array(value) or isinstance(value, CallRecord):
                waiting.append(((*path, str(key)), value))
        if path and (is_array(item) or (isinstance(item, CallRecord) and _children(item) is None)):
            length = sum(map(len, path))
            if length > _LONGEST:
                raise FileFormatError(f"{'.'.join(path)[:60]}… in it has too long a name")
            names -= len(path) * (length + _NAME)
            if names < 0:
                raise FileFormatError(_LARGE)
            found[path] = item
    if not any(map(is_array, found.values())):
        for item in found.values():
            raise_for(item)
        raise FileFormatError("it holds no arrays")
    return found


def _by_number(values: Any) -> Any:
    """A list that holds a dictionary or a module, as in torch.save((weights, optimizer_state), path), as a dictionary."""
    is_list = isinstance(values, list | tuple) and not isinstance(values, StorageView | Name)
    return dict(enumerate(values)) if is_list and any(_children(value) is not None for value in values) else values


def is_array(value: Any) -> bool:
    return isinstance(value, StorageView | np.ndarray) or is_numpy(value)


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape that an array claims."""
    return getattr(value, "shape", None) if not is_numpy(value) else shape_of_numpy(value)


def by_path(arrays: Mapping[Path, Any]) -> dict[str, Any]:
    """All arrays, their names joined by dots."""
    return {".".join(path): value for path, value in arrays.items() if is_array(value)}


def raise_for(value: Any) -> None:
    """Raise FileFormatError for an object in the place of an array."""
    if isinstance(value, CallRecord) and not is_numpy(value):
        raise FileFormatError(
            f"it asks to call {describe(value)}, which a file of parameters must not do; it was not called"
        )


def describe(value: Any) -> str:
    """The class of a value in a pickle."""
    if not isinstance(value, CallRecord):
        return type(value).__name__
    return f"{value.function.module}.{value.function.name}"[:200] if value.function.name else "something unnamed"


def _children(item: Any) -> dict[Any, Any] | None:
    if isinstance(item, dict):
        return item
    state = item.state if isinstance(item, CallRecord) else None
    if not isinstance(state, dict):
        return None
    parts = [state.get(key) for key in ("_parameters", "_buffers", "_modules")]
    if not all(isinstance(part, dict) for part in parts):
        return None
    passing = set(_texts(state.get("_non_persistent_buffers_set")))
    return {key: value for part in parts for key, value in part.items() if key not in passing}  # type: ignore[union-attr]


def _texts(value: Any) -> Iterator[str]:
    """The texts of a set, which protocol 2 writes as a call."""
    (items,) = value.arguments if isinstance(value, CallRecord) and len(value.arguments) == 1 else (value,)
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, str))
