"""Inputs in the dtype and with the axes that a model was built for."""

from __future__ import annotations

import numpy as np

from labdl.data.conversion.arrays import native_order
from labdl.data.conversion.labels import is_text
from labdl.errors import ConfigError
from labdl.spec import INTEGERS, Spec

INDICES = ("int32", "int64")  # dtypes of indices and class numbers on every backend
_FLOATS = {"float16": np.dtype("float16"), "float32": np.dtype("float32"), "float64": np.dtype("float64")}


def fit_input(array: np.ndarray, spec: Spec | None, name: str = "the inputs") -> np.ndarray:
    """Convert an input to the dtype of a Spec; (N,) becomes (N, 1) where the Spec wants that.

    Raises ConfigError for text and objects, and for fractions where the model takes indices.
    """
    if spec is None:
        return array
    array = native_order(array)
    wanted = _FLOATS.get(spec.dtype)
    if array.dtype is not wanted:
        if is_text(array) or array.dtype.kind in "OmM":
            raise ConfigError(
                f"{name} hold {describe_objects(array)}, the model takes {spec.dtype}: convert them to numbers first"
            )
        if wanted is not None and array.dtype.kind in "fiub":
            array = array.astype(wanted, copy=False)
        elif spec.dtype in INTEGERS and array.dtype.kind == "f":
            array = whole_numbers(array, spec.dtype, f"{name} hold", f"the model takes indices ({spec.dtype})")
        elif array.dtype.kind in "iu" and array.dtype.name not in INDICES and array.dtype.name != spec.dtype:
            array = array.astype(spec.dtype if spec.dtype in INDICES else "int64")
    if array.ndim == 1 and len(spec.shape) == 2 and spec.shape[1] == 1:
        return array[:, None]
    return array


def whole_numbers(array: np.ndarray, dtype: str, came: str, wanted: str) -> np.ndarray:
    """Floating-point numbers as integers. Raises ConfigError that shows the first fraction."""
    converted = np.where(np.isfinite(array), array, 0).astype(dtype)
    wrong = np.flatnonzero((converted != array).reshape(-1))
    if wrong.size:
        raise ConfigError(f"{came} {array.reshape(-1)[wrong[0]]:g}, {wanted}: give whole numbers")
    return converted


def describe_objects(array: np.ndarray) -> str:
    """Describe the contents of an array that are no numbers, for error messages."""
    if is_text(array):
        return f"text such as {str(array.reshape(-1)[0])!r}" if array.size else "text"
    if array.dtype.kind != "O":
        return "dates"
    kinds = list(dict.fromkeys(type(v).__name__ for v in array.reshape(-1)[:1000]))
    return f"Python objects of the type {' and '.join(kinds[:3])}"
