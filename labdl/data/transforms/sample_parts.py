"""Access to one part of a sample by the name that it has in a dictionary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labdl.data.parts import Part, TokenIds
from labdl.data.transforms.transform import Transform
from labdl.errors import DataError, suggest_name


def part_at(owner: Transform, sample: Any, key: str) -> Any:
    """The part ``key`` of a dictionary. Raises DataError that lists the parts there are."""
    name = type(owner).__name__
    if not isinstance(sample, dict):
        raise DataError(f"{name} with key={key!r} wants a dictionary, received {type(sample).__name__}: leave key out")
    if key not in sample:
        listed = ", ".join(map(str, sample)) or "none"
        raise DataError(f"{name} wants the part {key!r}, the sample has: {listed:.200}{suggest_name(key, sample)}")
    return sample[key]


def select(owner: Transform, sample: Any, key: str | None) -> Any:
    """The part ``key``; without a key the sample itself, or the first item of a tuple such as (input, label)."""
    if key is not None:
        return part_at(owner, sample, key)
    if type(sample) in (tuple, list) and sample:
        return sample[0]
    if isinstance(sample, dict):
        listed = ", ".join(map(str, sample))
        raise DataError(
            f"{type(owner).__name__} wants a key, to know which part of the dictionary to change: {listed:.200}"
        )
    return sample


def replace(sample: Any, key: str | None, value: Any) -> Any:
    """The sample with another value in the place that `select` reads."""
    if key is not None:
        return {**sample, key: value}
    if type(sample) in (tuple, list) and sample:
        return type(sample)([value, *sample[1:]])
    return value


def change(owner: Transform, sample: Any, key: str | None, function: Callable[[Any], Any]) -> Any:
    """The sample with a function of one of its parts."""
    return replace(sample, key, function(select(owner, sample, key)))


def apply_at(owner: Transform, sample: Any, key: str | None, rng: np.random.Generator) -> Any:
    """The transform of all parts of its kinds, or of the part ``key`` of a dictionary alone."""
    if key is None:
        return Transform.apply(owner, sample, rng)
    return {**sample, key: Transform.apply(owner, part_at(owner, sample, key), rng)}


def like(part: Any, value: np.ndarray) -> Any:
    """An array as the typed part that it was made of, where it still fits."""
    if not isinstance(part, Part):
        return value
    fits = value.ndim == part.ndim and value.dtype.kind == part.dtype.kind and part.canvas is None
    return part.like(value) if fits and (not isinstance(part, TokenIds) or value.dtype == np.int64) else value


def array_of(owner: Transform, part: Any) -> np.ndarray:
    """A part as an array. Raises DataError for texts, dictionaries and ragged lists."""
    if isinstance(part, dict | str | bytes) or part is None:
        raise DataError(f"{type(owner).__name__} wants an array or a number, received {type(part).__name__}")
    try:
        array = part.array if isinstance(part, Part) else np.asarray(part)
    except ValueError:
        raise DataError(
            f"{type(owner).__name__} wants an array, received a list of different lengths: T.RaggedToPadded makes one of it"
        ) from None
    return array
