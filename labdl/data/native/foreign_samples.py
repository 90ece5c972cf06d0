"""Samples of other libraries as arrays and pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from labdl.data.parts import Image


def has_numbers(columns: Iterable[str]) -> bool:
    """Whether columns are named "column_0", "column_1" and so on, as those of tuples are."""
    return all(name == f"column_{i}" for i, name in enumerate(columns))


def as_tuple(row: Mapping[str, Any]) -> Any:
    """The tuple of a row whose columns have numbers, one value alone; other rows as they are."""
    if not row or not has_numbers(row):
        return row
    return tuple(row.values()) if len(row) > 1 else next(iter(row.values()))


def convert_sample(value: Any, convert: Any) -> Any:
    """A sample with arrays in place of the tensors of another library, and `Image` in place of Pillow's pictures."""
    if isinstance(value, Mapping):
        return {name: convert_sample(v, convert) for name, v in value.items()}
    if isinstance(value, tuple):
        parts = [convert_sample(v, convert) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [convert_sample(v, convert) for v in value]
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    pillow = sys.modules.get("PIL.Image")
    if pillow is not None and isinstance(value, pillow.Image):
        return as_picture(value)
    value = convert(value)
    if type(value) is np.ndarray and value.ndim == 0:
        return str(value) if value.dtype.kind == "U" else value[()]
    return value


_MODES = {"1": "L", "LA": "RGBA", "PA": "RGBA", "P": "RGB", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB", "LAB": "RGB"}


def as_picture(picture: Any) -> Image:
    """A picture of Pillow: gray, 16 bits, RGB and RGBA as they are, others as RGB."""
    if picture.mode == "P" and "transparency" in picture.info:
        return Image(np.array(picture.convert("RGBA")))
    return Image(np.array(picture.convert(_MODES[picture.mode]) if picture.mode in _MODES else picture))
