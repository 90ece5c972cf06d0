"""Lists, pandas frames and series, and other array-like objects as NumPy arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from labdl.errors import ConfigError

_NUMBERS = "biufc"


def as_array(value: Any, name: str = "data") -> np.ndarray:
    """Convert a value to an array: numbers, or text (dtype kind U).

    Frames of pandas become (rows, columns) in the common dtype of their columns, with NaN for missing values. An array of
    Python objects that are neither numbers nor text is returned as it is. Raises ConfigError for rows of different
    lengths, for columns of a frame that are not numbers, and for objects that are no arrays, such as generators.
    """
    if type(value) is np.ndarray and value.dtype.kind not in "OS":
        return native_order(value)
    if is_table(value):
        return _table(value, name)
    advice = advice_for(value)
    if advice is not None:
        raise ConfigError(f"wanted an array of data, received {type(value).__name__}: {advice}")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:  # ragged lists; tensors on a device or with gradients
        raise ConfigError(f"{name} cannot be read as an array: {error}") from None
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    return _objects(array) if array.dtype.kind == "O" else array


def advice_for(value: Any) -> str | None:
    """How to write data of a kind that is not taken: sparse matrices, loaders, generators and sets; None for others."""
    if hasattr(value, "toarray") and hasattr(value, "nnz"):
        return "a sparse matrix becomes an array by .toarray()"
    if hasattr(value, "batch_size") and hasattr(value, "dataset"):
        return "give its dataset and batch_size=, the batches are made here"
    if hasattr(value, "__iter__") and not hasattr(value, "__getitem__") and not hasattr(value, "__array__"):
        return "collect its samples first, as list(…), or as arrays x and y"
    return None


def as_inputs(value: Any, samples: int | None = None) -> Any:
    """A list of arrays of as many samples each, one for each input as in Keras, as a tuple; other values as they are.

    A list of as many arrays as there are ``samples`` is one array, of a row for each sample.
    """
    if type(value) is not list or not value or not all(_is_array(v) for v in value):
        return value
    lengths = {len(v) for v in value}
    wanted = samples if samples is not None else next(iter(lengths))
    return tuple(value) if lengths == {wanted} and len(value) != wanted else value


def _is_array(value: Any) -> bool:
    return is_table(value) or (hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0)


def native_order(array: np.ndarray) -> np.ndarray:
    """The array in the byte order of this machine, the only one that frameworks take."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def is_table(value: Any) -> bool:
    """Whether an object is a frame, series or index of pandas, which is not imported for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame | pandas.Series | pandas.Index)


def _table(value: Any, name: str) -> np.ndarray:
    if value.ndim == 1:
        return _columns(value.to_frame(), name)[:, 0]
    return _columns(value, name)


def _columns(frame: Any, name: str) -> np.ndarray:
    kinds = [_column_dtype(dtype) for dtype in frame.dtypes]
    others = [str(column) for column, kind in zip(frame.columns, kinds, strict=True) if kind.kind not in _NUMBERS]
    if not others:
        missing = bool(frame.isna().to_numpy().any())
        common = np.result_type(*kinds, *(["float32"] if missing else []))
        return frame.to_numpy(common, **({"na_value": np.nan} if missing else {}))
    if len(kinds) == 1:  # text labels
        return _objects(frame.to_numpy(object))
    raise ConfigError(
        f"{name}: columns of the frame are not numbers: {', '.join(others[:5])}{' …' if len(others) > 5 else ''}; encode "
        "them, for example with pandas.get_dummies(frame), or leave them out"
    )


def _column_dtype(dtype: Any) -> np.dtype:
    """The NumPy dtype of the values of a column: extension dtypes and categories hold another one."""
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    dtype = getattr(dtype, "numpy_dtype", dtype)
    return dtype if isinstance(dtype, np.dtype) else np.dtype(object)


def _objects(array: np.ndarray) -> np.ndarray:
    """An array of Python objects as text or numbers, if all are; else the array itself."""
    kinds = {type(v) for v in array.flat}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return array.astype(np.str_)
    if kinds and all(issubclass(kind, int | float | complex | np.number | np.bool_) for kind in kinds):
        found = np.array(array.tolist())
        return found if found.shape == array.shape and found.dtype.kind in _NUMBERS else array
    return array
