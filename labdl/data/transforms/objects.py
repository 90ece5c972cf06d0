"""Objects of a sample: rows of its boxes and of the labels, masks and key points beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.boxes import convert_boxes
from labdl.data.parts import Audio, BoundingBoxes, Image, KeyPoints, Mask, Part, Spectrogram, Video


def keep_objects(sample: Any, owner: Part, kept: np.ndarray) -> Any:
    """The sample with the rows ``kept`` of its part ``owner``, and of what is in the same dictionary, tuple or list.

    What has a row for each object is an array or a list with as many rows; pictures, masks (height, width) and sounds have
    none.
    """
    if isinstance(sample, Mapping):
        inside = any(value is owner for value in sample.values())
        return {name: _keep(value, owner, kept, inside) for name, value in sample.items()}
    if type(sample) in (tuple, list):
        inside = any(value is owner for value in sample)
        return type(sample)(_keep(value, owner, kept, inside) for value in sample)
    return _keep(sample, owner, kept, sample is owner)


def join_objects(samples: Sequence[Any]) -> Any:
    """The first sample with the objects of all: its boxes, and the rows of labels, masks and key points beside them.

    Boxes take the format of the first. Samples that are no dictionaries with boxes stay as the first is.
    """
    first = samples[0]
    if not isinstance(first, Mapping):
        return first
    name = next((key for key, value in first.items() if isinstance(value, BoundingBoxes)), None)
    if name is None or not all(isinstance(sample.get(name), BoundingBoxes) for sample in samples):
        return dict(first)
    joined = dict(first)
    for key, value in first.items():
        if not all(key in sample and _has_rows(sample[key], len(sample[name])) for sample in samples):
            continue
        values = [sample[key] for sample in samples]
        if isinstance(value, BoundingBoxes):
            values = [convert_boxes(boxes.array, boxes.format, value.format) for boxes in values]
        if type(value) is list:
            joined[key] = [item for items in values for item in items]
        else:
            rows = np.concatenate([np.asarray(rows) for rows in values])
            joined[key] = value.like(rows) if isinstance(value, Part) else rows
    return joined


def _keep(value: Any, owner: Part, kept: np.ndarray, inside: bool) -> Any:
    if inside and _has_rows(value, len(kept)):
        return [v for v, keep in zip(value, kept, strict=True) if keep] if type(value) is list else value[kept]
    return keep_objects(value, owner, kept) if isinstance(value, Mapping | tuple | list) else value


def _has_rows(value: Any, count: int) -> bool:
    if type(value) is list:
        return len(value) == count and not any(isinstance(v, Part) for v in value)
    if not isinstance(value, np.ndarray) or value.ndim == 0 or len(value) != count:
        return False
    if isinstance(value, Mask | KeyPoints):
        return value.ndim == 3
    return isinstance(value, BoundingBoxes) or not isinstance(value, Image | Video | Audio | Spectrogram)
