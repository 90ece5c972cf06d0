"""The transforms that can be steps of a pipeline, with their forms."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from contextlib import suppress
from typing import Any

import numpy as np
import pydantic

from labdl.data import parts
from labdl.data.transforms.documentation import documentation
from labdl.data.transforms.inner import inner_setting
from labdl.data.transforms.transform import METHODS, TRANSFORMS, Transform
from labdl.settings import declaration, form_fields

_SIZE = 224  # pixels, of pictures for networks of ImageNet; the examples of transforms are as small as those of tests
_SIZED = ("image.crop", "image.letterbox", "image.mosaic", "image.resize", "image.resized_crop")


def transforms() -> dict[str, Any]:
    """The transforms whose settings a form can hold, in the order of their categories."""
    from labdl.data import transforms as loaded  # fills the registry

    del loaded
    return {"transforms": [_describe(cls) for cls in TRANSFORMS.values() if has_form(cls)]}


@functools.cache
def has_form(cls: type[Transform]) -> bool:
    """Whether each setting without a default is in the form or holds transforms, as functions and arrays do not."""
    inner = inner_setting(cls)
    if any(
        field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        for field in dataclasses.fields(cls)  # type: ignore[arg-type]
        if field.name not in form_fields(cls) and (inner is None or field.name != inner.name)
    ):
        return False
    try:
        _schema(cls)
    except (pydantic.PydanticUserError, NameError):  # a class of a notebook, with a setting of another type
        return False
    return True


def _schema(cls: type[Transform]) -> dict[str, Any]:
    """The JSON Schema of a transform's settings, but for that with the transforms inside of it."""
    declared, inner = declaration(cls), inner_setting(cls)
    if inner is not None:  # a class of a notebook may have it among those of the form
        annotations = {name: kind for name, kind in declared.annotations.items() if name != inner.name}
        declared = dataclasses.replace(declared, annotations=annotations)
    return declared.schema()


@functools.cache
def _describe(cls: type[Transform]) -> dict[str, Any]:
    schema = _schema(cls)
    inner, text = inner_setting(cls), documentation(cls)
    return {
        "name": cls.__name__,
        "category": cls.category,
        "summary": _plain(text.summary),
        "description": _plain(text.details),
        "source": _plain(text.source),
        "kinds": [METHODS[kind].removeprefix("apply_to_") for kind in cls.kinds()],
        "random": is_random(cls),
        "schema": schema,
        "initial": _initial(cls, schema["required"]),
        "inner": "none" if inner is None else "many" if inner.many else "one",
        "mixes": cls.others > 0,
    }


def _plain(text: str) -> str:
    return text.replace("`", "")


def _initial(cls: type[Transform], required: list[str]) -> dict[str, Any]:
    """Values for the settings of a new step that have no default."""
    values = {name: cls.example[name] for name in required if name in cls.example}
    if cls.category in _SIZED and "size" in values:
        values["size"] = _SIZE if isinstance(values["size"], int) else (_SIZE, _SIZE)
    return values


def is_random(cls: type[Transform]) -> bool:
    """Whether a transform draws random numbers with the settings of its example: it is tried with a small sample."""
    p = next((field.default for field in dataclasses.fields(cls) if field.name == "p"), 1.0)  # type: ignore[arg-type]
    if cls.others or (isinstance(p, int | float) and p < 1):
        return True
    if not any(
        "rng" in function.__code__.co_varnames
        for base in cls.__mro__[: cls.__mro__.index(Transform)]
        for function in vars(base).values()
        if inspect.isfunction(function)
    ):
        return False
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    for sample in _small_samples():
        with suppress(Exception):  # a transform that cannot be applied to this sample, or has to be fitted first
            cls(**cls.example).apply(sample, rng)
        if rng.bit_generator.state != before:
            return True
    return False


@functools.cache
def _small_samples() -> tuple[dict[str, Any], ...]:
    rng = np.random.default_rng(0)
    canvas = (48, 64)
    picture = {
        "image": parts.Image(rng.integers(0, 255, (*canvas, 3), np.uint8)),
        "boxes": parts.BoundingBoxes([[12, 10, 40, 25]], canvas_size=canvas),
        "labels": np.array([1]),
    }
    words = ["the", "quick", "brown", "fox", "jumps"]
    return (
        picture,
        {"image": parts.Image(np.float32(picture["image"]) / 255)},
        {"audio": parts.Audio(rng.uniform(-0.5, 0.5, (1, 4000)), sample_rate=8000)},
        {"audio": parts.Spectrogram(rng.random((1, 40, 50), np.float32), sample_rate=8000, hop_length=100)},
        {"text": parts.Text(" ".join(words))},
        {"text": parts.Tokens(words)},
        {"text": parts.TokenIds([4, 8, 15, 16, 23])},
    )
