"""Transforms of pictures and their objects to the inputs of a detector, and the size that a trained detector has by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labdl.data import transforms as T
from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError
from labdl.models.vision.detector_form import MARGIN, MULTIPLE, DetectorForm
from labdl.nn.module import Module
from labdl.spec import show
from labdl.tasks.task import join_phases


def detector_form(model: Module) -> DetectorForm:
    """The form of a detector, with the size of its inputs in training, which its ``preprocessing`` says.

    Raises ConfigError for a model that is none.
    """
    form = getattr(model, "detector_form", None)
    if not isinstance(form, DetectorForm):
        raise ConfigError(
            f"{type(model).__name__} is no detector of the zoo: give a model of labdl.models.list_models('object detection'), "
            "or a module with a detector_form"
        )
    for one in getattr(model.preprocessing, "transforms", ()):
        if isinstance(one, T.ResizeWithPad if form.resize == "letterbox" else T.Resize) and form.resize != "shorter":
            return replace(form, size=one.size)
        if isinstance(one, T.ResizeShortestSize) and form.resize == "shorter":
            return replace(form, size=(one.min_size, one.max_size))
    return form


def resized_form(form: DetectorForm, size: int | Sequence[int] | None) -> DetectorForm:
    """The form for another size of pictures, one number or two, see `DetectorForm`. Raises ConfigError if it cannot have it."""
    if size is None:
        return form
    sides = (size, size) if isinstance(size, int) else tuple(size)
    if len(sides) != 2 or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in sides):
        raise ConfigError(f"size wants one number of pixels or two, received {size!r:.60}")
    if form.resize == "stretch" and sides != form.size:
        raise ConfigError(f"this detector takes pictures of {show(form.size)}, received {show(sides)}: leave size out")
    if form.resize == "letterbox" and any(n % MULTIPLE for n in sides):
        raise ConfigError(f"size of this detector wants multiples of {MULTIPLE}, received {show(sides)}")
    if form.resize == "shorter" and sides[0] > sides[1]:
        raise ConfigError(
            f"size of this detector wants the shorter side and the longest that the other may be, received {show(sides)}"
        )
    return replace(form, size=sides)


def canvas_of(form: DetectorForm) -> tuple[int, int]:
    """Height and width of the inputs in training, into which every picture fits."""
    if form.resize != "shorter":
        return form.size
    side = math.ceil(form.size[1] / MULTIPLE) * MULTIPLE
    return side, side


def create_pipeline(form: DetectorForm) -> Pipeline:
    """The transforms of a form, of pictures with boxes and masks; half of the pictures are mirrored in training.

    Those of "shorter" have no padding, which a batch needs.
    """
    resize: list[Any]
    if form.resize == "letterbox":
        resize = [T.ToFloat(), T.ResizeWithPad(form.size, antialias=False, fill=MARGIN)]
    elif form.resize == "stretch":
        resize = [T.Resize(form.size, antialias=False)]
    else:
        resize = [T.ResizeShortestSize(*form.size, antialias=False)]
    colors = [] if form.resize == "letterbox" else [T.Normalize(form.mean, form.deviation)]
    return join_phases(training=[T.HorizontalFlip()], evaluation=[], always=[*resize, *colors])
