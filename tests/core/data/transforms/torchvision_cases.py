"""Reference outputs of torchvision: cases of operations, with pictures as (height, width, channels)."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labdl.data.parts import BoundingBoxes, Image, KeyPoints, Mask

_FILE = Path(__file__).parents[3] / "oracles" / "transforms" / "torchvision.npz"
CANVAS = (37, 53)


@functools.cache
def _arrays() -> dict[str, np.ndarray]:
    with np.load(_FILE, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@functools.cache
def _cases() -> dict[str, dict[str, Any]]:
    return json.loads(str(_arrays()["cases"]))


def cases_of(*operations: str) -> list[Any]:
    """Cases of operations."""
    return [pytest.param(name, id=name) for name, case in _cases().items() if case["op"] in operations]


def read(name: str) -> tuple[dict[str, Any], np.ndarray]:
    """A case and its output."""
    return _cases()[name], _arrays()[f"y:{name}"]


def array(name: str) -> np.ndarray:
    """An input."""
    return _arrays()[f"x:{name}"]


def part(name: str) -> Any:
    """An input as a part of a sample."""
    value = array(name)
    if name in ("u8", "f32"):
        return Image(value.transpose(1, 2, 0))
    if name == "mask":
        return Mask(value)
    if name.startswith("points"):
        return KeyPoints(value, canvas_size=CANVAS)
    return BoundingBoxes(value, format=name.partition("_")[2] if name != "boxes_wild" else "xyxy", canvas_size=CANVAS)
