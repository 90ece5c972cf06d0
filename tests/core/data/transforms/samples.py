"""Samples of every kind for the contract of transforms: the first that a transform changes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from labdl.data.parts import Audio, BoundingBoxes, Image, KeyPoints, Mask, Spectrogram, Text, TokenIds, Tokens
from labdl.data.transforms.transform import Transform


@functools.cache
def picture() -> np.ndarray:
    """48 × 64 × 3: a gradient with two rectangles and some noise."""
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:48, :64]
    image = np.stack([rows * 4, columns * 3, (rows + columns) * 2], -1).astype("float64")
    image[10:25, 12:40] = [220, 30, 60]
    image[30:44, 45:60] = [20, 200, 90]
    return np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype("uint8")


def vision_sample() -> dict[str, Any]:
    masks = np.zeros((2, 48, 64), "uint8")
    masks[0, 10:25, 12:40] = 1
    masks[1, 30:44, 45:60] = 1
    return {
        "image": Image(picture()),
        "boxes": BoundingBoxes([[12, 10, 40, 25], [45, 30, 60, 44]], canvas_size=(48, 64)),
        "masks": Mask(masks),
        "keypoints": KeyPoints([[[12, 10], [39, 24]], [[45, 30], [59, 43]]], canvas_size=(48, 64)),
        "labels": np.array([1, 2]),
        "label": 1,
        "name": "two rectangles",
    }


def audio_sample() -> dict[str, Any]:
    time = np.arange(4000) / 8000
    wave = 0.5 * np.sin(2 * np.pi * 440 * time) + 0.1 * np.random.default_rng(1).normal(size=4000)
    return {
        "audio": Audio(np.stack([wave, wave[::-1]]).astype("float32"), sample_rate=8000),
        "label": 2,
        "name": "tone",
    }


def spectrogram_sample() -> dict[str, Any]:
    values = np.random.default_rng(2).uniform(0.1, 4, (1, 40, 50)).astype("float32")
    return {"audio": Spectrogram(values, sample_rate=8000, hop_length=100), "label": 0, "name": "noise"}


SAMPLES = {
    Audio: audio_sample,
    Spectrogram: spectrogram_sample,
    Text: lambda: {"text": Text("The quick brown fox jumps over the lazy dog, twice."), "label": 1, "name": "fox"},
    Tokens: lambda: {
        "text": Tokens(["the", "quick", "brown", "fox", "jumps", "over", "the", "dog"]),
        "label": 1,
        "name": "fox",
    },
    TokenIds: lambda: {"text": TokenIds([4, 8, 15, 16, 23, 42]), "label": 1, "name": "numbers"},
}


def mixed_sample() -> dict[str, Any]:
    """Parts of several kinds, for transforms that name one of them."""
    return {
        "text": Text("The quick brown fox"),
        "tokens": Tokens(["the", "quick", "brown", "fox"]),
        "ids": TokenIds([4, 8, 15]),
        "labels": np.array([1, 2, 2]),
        "sequences": [np.array([1, 2, 3]), np.array([4])],
        "scores": np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.4]]),
        "number": Text("3.5"),
        "label": 1,
        "name": "mixed",
    }


def rows() -> list[dict[str, Any]]:
    ages, cities = (20.0, 31.0, 47.0, 25.0), ("Rome", "Oslo", "Rome", "Bonn")
    days = "2026-01-31", "2026-02-28", "2025-12-24", "2024-02-29"
    return [
        {"age": age, "city": city, "day": day, "label": at % 2, "name": "row"}
        for at, (age, city, day) in enumerate(zip(ages, cities, days, strict=True))
    ]


def prepared(cls: type[Transform]) -> Transform:
    """A transform of its example settings, fitted where it has to be."""
    transform = cls(**cls.example)
    if transform.category.startswith("table"):
        if not hasattr(transform, "kind"):
            transform.columns = ("age", "city", "day")
            return transform.fit(rows())
        transform.columns = ({"number": "age", "category": "city", "date": "day"}[transform.kind],)
        return transform.fit(rows())
    if hasattr(transform, "fit") and not getattr(transform, "vocabulary", getattr(transform, "vocab", ())):
        transform.vocab_size = 300 if transform.kind == "bpe" or not transform.kind else 40
        return transform.fit(
            ["The quick brown fox jumps over the lazy dog, twice.", "A fox and a dog are no friends."] * 5
        )
    return transform


def complex_sample() -> dict[str, Any]:
    values = np.random.default_rng(3).normal(size=(2, 1, 40, 50)) * np.exp(1j * np.arange(50))
    return {"audio": Spectrogram(values[0].astype("complex64"), sample_rate=8000, hop_length=20), "name": "noise"}


def record_sample() -> dict[str, Any]:
    return {"audio": Audio(audio_sample()["audio"].array, sample_rate=44_100), "label": 1, "name": "record"}


# transforms that want a sample of their own
OWN = {
    "InverseSpectrogram": complex_sample,
    "DeemphBiquad": record_sample,
    "RiaaBiquad": record_sample,
    "CutMix": lambda: [{"image": Image(picture()), "label": i, "name": "rectangles"} for i in (1, 2)],
    "LinearTransformation": lambda: {"image": Image(picture()[:4, :3]), "label": 1, "name": "corner"},
}


def sample_for(transform: Transform) -> Any:
    """A sample that a transform changes; one of its own (``sample`` of its example class) comes first."""
    if type(transform).__name__ in OWN:
        return OWN[type(transform).__name__]()
    kinds = transform.kinds()
    if transform.category.startswith("table"):
        return rows()[1]
    if not kinds and transform.category.startswith(("text", "general.arrays", "general.padding")):
        return mixed_sample()
    sample = SAMPLES[kinds[0]]() if kinds and kinds[0] in SAMPLES else vision_sample()
    return [sample] * (transform.others + 1) if transform.others else sample
