"""Steps before and after a detector of the zoo: from a picture in any form to its input, and back to the picture's pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from labdl import models
from labdl.data.vision.resampling import resize
from labdl.infer.inference_plan import InferencePlan
from labdl.infer.postprocess.base import get_postprocessor
from labdl.infer.prepared_sample import PreparedSample
from labdl.models.vision.detector_form import MARGIN, MULTIPLE, DetectorForm
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks.detection_pipeline import detector_form, resized_form
from labdl.tasks.samples import read_picture

TASKS_OF_DETECTORS = ("object detection", "instance segmentation")  # as the zoo names them


def plan_detector(
    model: Module,
    weights: Any,
    *,
    size: tuple[int, int] | None,
    backend: str | None,
    settings: Mapping[str, Any],
) -> InferencePlan:
    """The steps before and after a detector, which knows them itself; ``settings`` are those of its post-processor.

    Raises ConfigError for a model that is no detector of the zoo.
    """
    form = resized_form(detector_form(model), size)
    if model.unbuilt:
        sides = (None, None) if form.resize == "shorter" else form.size
        model.build(Spec((None, 3, *sides)), backend=backend)
    if weights is not None:
        models.load_public(model, weights)
    # pictures keep their proportions, so two of them may not fit into one batch
    count = 1 if form.resize == "shorter" else 32
    return InferencePlan(
        model, [preparation(form)], steps_after(form, {**_names(model), **settings}), count, compiled=False
    )


def _names(model: Module) -> dict[str, Any]:
    return {"names": tuple(model.class_names)} if model.class_names else {}


def _as_shares(pixels: np.ndarray) -> np.ndarray:
    """A picture of bytes, or of floating-point numbers from 0 to 1, as float32 from 0 to 1."""
    if pixels.dtype.kind == "u":
        return pixels.astype("float32") / np.iinfo(pixels.dtype).max
    return pixels.astype("float32")


def preparation(form: DetectorForm) -> Callable[[Any], Any]:
    """A function from a picture to the input of a detector of this form, with the sizes for its post-processor."""

    def prepare(sample: Any) -> PreparedSample:
        image = _as_shares(read_picture(sample).view(np.ndarray))
        inner, whole, at = _sizes(form, image.shape[0], image.shape[1])
        pixels = resize(image, inner, antialias=False)
        pixels = (pixels - np.array(form.mean, "float32")) / np.array(form.deviation, "float32")
        canvas = np.full((*whole, 3), MARGIN if form.resize == "letterbox" else 0.0, "float32")
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
    whole = tuple(math.ceil(n / MULTIPLE) * MULTIPLE for n in inner)
    return inner, whole, (0, 0)


def steps_after(form: DetectorForm, settings: Mapping[str, Any]) -> list[Any]:
    """The steps after a detector of this form, with other settings where they are given."""
    resized = {"resize": "letterbox"} if form.resize == "letterbox" else {}
    return [form.read, get_postprocessor({**form.settings, **resized, **settings, "name": form.postprocess})]
