"""Two pictures mixed into one, and their labels with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import cv2
import numpy as np
from annotated_types import Ge, Gt

from labdl.data.parts import BoundingBoxes, Image, KeyPoints, Mask, Video
from labdl.data.transforms.general.one_hot import one_hot
from labdl.data.transforms.objects import join_objects
from labdl.data.transforms.transform import Transform, transform
from labdl.data.vision.pixels import from_float, rows, to_float
from labdl.errors import ConfigError, DataError
from labdl.settings import Share

Positive = Annotated[float, Gt(0)]
Classes = Annotated[int, Ge(1)]


@transform({"num_classes": 10})
class MixUp(Transform):
    """Blend two pictures of one size with a share drawn from Beta(``alpha``, ``alpha``), and their labels alike.

    A class number becomes a row of ``num_classes`` shares (float32); it is ``label`` of a dictionary, or the second item of
    (image, label). Boxes, masks of objects, key points and their labels are those of both pictures.
    Source: torchvision.transforms.v2.MixUp; Zhang et al. 2018.
    """

    others = 1

    alpha: Positive = 1.0
    num_classes: Classes | None = None
    label: str = "label"
    p: Share = 1.0

    def apply_alone(self, sample: Any) -> Any:
        return _mix_labels(self, [sample], sample, 1.0)

    def apply_together(self, samples: Sequence[Any], rng: np.random.Generator) -> Any:
        share = float(rng.beta(self.alpha, self.alpha))
        first, second = _pictures(self, samples)
        mixed = _mix_labels(self, samples, join_objects(samples), share)
        return _put(mixed, _like(first, blend_pictures(np.asarray(first), np.asarray(second), share)))


@transform({"num_classes": 10})
class CutMix(Transform):
    """Replace a rectangle of a picture by that of another of the same size, and mix their labels by area.

    The area is 1 - Beta(``alpha``, ``alpha``) of the picture, its centre anywhere. Labels are as those of `MixUp`; masks
    (height, width) are cut alike. For boxes use `Mosaic` or `CopyPaste`.
    Source: torchvision.transforms.v2.CutMix; Yun et al. 2019.
    """

    others = 1

    alpha: Positive = 1.0
    num_classes: Classes | None = None
    label: str = "label"
    p: Share = 1.0

    def apply_alone(self, sample: Any) -> Any:
        return _mix_labels(self, [sample], sample, 1.0)

    def apply_together(self, samples: Sequence[Any], rng: np.random.Generator) -> Any:
        if any(isinstance(v, BoundingBoxes | KeyPoints) for s in samples if isinstance(s, dict) for v in s.values()):
            raise DataError("CutMix mixes class labels and would cut boxes apart: use T.Mosaic or T.CopyPaste for them")
        first, second = _pictures(self, samples)
        height, width = first.shape[-3:-1]
        half = 0.5 * np.sqrt(1 - rng.beta(self.alpha, self.alpha))
        y, x = int(rng.integers(height)), int(rng.integers(width))
        top, bottom = max(0, int(y - half * height)), min(height, int(y + half * height))
        left, right = max(0, int(x - half * width)), min(width, int(x + half * width))
        place = (..., slice(top, bottom), slice(left, right))
        result = np.array(first)
        result[(*place, slice(None))] = np.asarray(second)[(*place, slice(None))]
        share = 1 - (bottom - top) * (right - left) / (height * width)
        mixed = _mix_labels(self, samples, samples[0], share)
        if isinstance(mixed, dict):
            for key, value in mixed.items():
                if isinstance(value, Mask) and isinstance(samples[1].get(key), Mask) and value.ndim == 2:
                    mask = np.array(value)
                    mask[place] = np.asarray(samples[1][key])[place]
                    mixed[key] = value.like(mask)
        return _put(mixed, _like(first, result))


def blend_pictures(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    """``share`` of the first picture and the rest of the second; integers are rounded."""
    if first.dtype.name in ("uint8", "uint16", "float32", "float64"):
        return cv2.addWeighted(rows(first), share, rows(second), 1 - share, 0).reshape(first.shape)
    mixed = to_float(first) * share + to_float(second) * (1 - share)
    return mixed.astype(first.dtype) if first.dtype.kind == "f" else from_float(mixed, first.dtype, rounded=True)


def picture_key(sample: Any) -> Any:
    """The key of the picture of a dictionary, 0 for a tuple or list. Raises DataError for a sample without one."""
    if isinstance(sample, tuple | list) and sample and isinstance(sample[0], np.ndarray):
        return 0
    if isinstance(sample, dict):
        for kind in (Image, Video, np.ndarray):
            for key, value in sample.items():
                if isinstance(value, kind) and value.ndim > 2 and not isinstance(value, Mask | KeyPoints):
                    return key
    raise DataError("a sample wants to be a dictionary with an image, or (image, label), to be mixed with another")


def _pictures(owner: Transform, samples: Sequence[Any]) -> list[Any]:
    pictures = [sample[picture_key(sample)] for sample in samples]
    if len({(p.shape, p.dtype) for p in pictures}) > 1:
        raise DataError(
            f"{type(owner).__name__} wants pictures of one size and number type, received "
            f"{' and '.join(f'{p.shape} {p.dtype}' for p in pictures)}: write T.Resize((height, width)) before it"
        )
    return pictures


def _put(sample: Any, picture: Any) -> Any:
    key = picture_key(sample)
    if isinstance(sample, dict):
        return {**sample, key: picture}
    return type(sample)([picture, *sample[1:]])


def _like(picture: Any, values: np.ndarray) -> Any:
    return picture.like(values) if isinstance(picture, Image | Video) else values


def _mix_labels(owner: Any, samples: Sequence[Any], result: Any, share: float) -> Any:
    if isinstance(result, dict):
        key: Any = owner.label
        if not all(key in sample for sample in samples):
            return dict(result)
    else:
        key = 1
        if not all(len(sample) > 1 for sample in samples):
            return result
    row, *others = (_row(owner, sample[key]) for sample in samples)
    for other in others:
        row = row * np.float32(share) + other * np.float32(1 - share)
    if isinstance(result, dict):
        return {**result, key: row}
    return type(result)([result[0], row, *result[2:]])


def _row(owner: Any, label: Any) -> np.ndarray:
    row = np.asarray(label)
    if row.dtype.kind == "f" and row.ndim == 1:
        return row.astype("float32")
    if owner.num_classes is None:
        name = type(owner).__name__
        raise ConfigError(f"{name} wants the number of classes to mix labels: write T.{name}(num_classes=...)")
    return one_hot(row, owner.num_classes, type(owner).__name__)
