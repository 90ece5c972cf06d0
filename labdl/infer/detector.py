"""Steps before and after a detector of the zoo: from a picture in any form to its input, and back to the picture's pixels."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from labdl.data.codecs.image import decode_image
from labdl.data.vision.resampling import resize
from labdl.errors import DataError
from labdl.infer.postprocess.base import get_postprocessor
from labdl.infer.prepared_sample import PreparedSample
from labdl.models.vision.detector_form import DetectorForm

_MARGIN = 114 / 255  # the gray around pictures in letterboxes
_MULTIPLE = 32


def picture(sample: Any) -> np.ndarray:
    """A picture as float32 (height, width, 3) with values from 0 to 1.

    From a file name, a PIL picture, or an array (height, width), (height, width, 3) or (3, height, width) of uint8, or of
    floats from 0 to 1. Raises DataError for anything else.
    """
    if isinstance(sample, str | os.PathLike):
        sample = decode_image(os.fspath(sample))
    elif hasattr(sample, "convert"):  # PIL's pictures
        sample = sample.convert("RGB")
    array = np.asarray(sample)
    if array.ndim == 3 and array.shape[0] == 3 and array.shape[2] != 3:
        array = array.transpose(1, 2, 0)
    if array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 1):
        array = np.repeat(array.reshape(*array.shape[:2], 1), 3, axis=2)
    if array.ndim != 3 or array.shape[2] != 3 or not array.size or array.dtype.kind not in "uf":
        raise DataError(
            f"a detector wants a picture: a file name, a PIL picture, or an array (height, width, 3) of uint8 or of floats "
            f"from 0 to 1, received {type(sample).__name__} of shape {array.shape} and dtype {array.dtype}"
        )
    if array.dtype.kind == "u":
        return array.astype("float32") / np.iinfo(array.dtype).max
    return array.astype("float32")


def preparation(form: DetectorForm) -> Callable[[Any], Any]:
    """A function from a picture to the input of a detector of this form, with the sizes for its post-processor."""

    def prepare(sample: Any) -> PreparedSample:
        image = picture(sample)
        inner, whole, at = _sizes(form, image.shape[0], image.shape[1])
        pixels = resize(image, inner, antialias=False)
        pixels = (pixels - np.array(form.mean, "float32")) / np.array(form.deviation, "float32")
        canvas = np.full((*whole, 3), _MARGIN if form.resize == "letterbox" else 0.0, "float32")
        canvas[at[0] : at[0] + inner[0], at[1] : at[1] + inner[1]] = pixels
        x = np.ascontiguousarray(canvas.transpose(2, 0, 1))
        inputs = (x, np.array(inner, "float32")) if form.takes_sizes else x
        content = whole if form.resize == "letterbox" else inner
        return PreparedSample(inputs, {"image_size": content, "original_size": image.shape[:2]})

    return prepare


def _sizes(form: DetectorForm, height: int, width: int):
    """The size of the resized picture, that of the input, and where in it the picture begins."""
    if form.resize == "stretch":
        return form.size, form.size, (0, 0)
    if form.resize == "letterbox":
        scale = min(form.size[0] / height, form.size[1] / width)
        inner = max(1, round(height * scale)), max(1, round(width * scale))
        at = tuple(round((whole - part) / 2 - 0.1) for whole, part in zip(form.size, inner, strict=True))
        return inner, form.size, at
    shorter, longest = form.size
    scale = min(shorter / min(height, width), longest / max(height, width))
    inner = max(1, math.floor(height * scale)), max(1, math.floor(width * scale))
    whole = tuple(math.ceil(n / _MULTIPLE) * _MULTIPLE for n in inner)
    return inner, whole, (0, 0)


def steps_after(form: DetectorForm, settings: dict[str, Any]) -> list[Any]:
    """The steps after a detector of this form, with other settings where they are given."""
    resized = {"resize": "letterbox"} if form.resize == "letterbox" else {}
    return [form.read, get_postprocessor({**form.settings, **resized, **settings, "name": form.postprocess})]
