"""Conversion between the parameters of public implementations and LabDL's standard names and shapes.

A model has one table: groups of `WeightMapping`, whose ``native`` names are the public ones and whose ``own`` names are the
standard ones. ``{}`` in a name is a placeholder for a number, equal in all names of a mapping. `from_public` and `to_public`
convert in both directions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from labdl.errors import StateDictError
from labdl.interop.weights.mapping import WeightMapping, concatenate, rename, transpose

Values = dict[str, np.ndarray]
Numbers = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Mappings that occur together or not at all, once for each combination of numbers; ``needed`` ones in every model."""

    mappings: tuple[WeightMapping, ...]
    needed: bool

    def __init__(self, *mappings: Iterable[WeightMapping], needed: bool = False):
        object.__setattr__(self, "mappings", tuple(mapping for part in mappings for mapping in part))
        object.__setattr__(self, "needed", needed)


def plain(public: str, ours: str) -> list[WeightMapping]:
    """A parameter in the same shape."""
    return [rename(ours, public)]


def linear(public: str, ours: str, use_bias: bool = True) -> list[WeightMapping]:
    """A linear layer, whose public weight is (out, in)."""
    kernel = transpose(f"{ours}/kernel:0", f"{public}.weight", (1, 0))
    return [kernel, *plain(f"{public}.bias", f"{ours}/bias:0")] if use_bias else [kernel]


def convolution(public: str, ours: str, use_bias: bool = True, *, axes: int = 2) -> list[WeightMapping]:
    """A convolution over so many axes, whose public weight is (out, in, *window)."""
    kernel = transpose(f"{ours}/kernel:0", f"{public}.weight", (axes + 1, axes, *range(axes)))
    return [kernel, *plain(f"{public}.bias", f"{ours}/bias:0")] if use_bias else [kernel]


def embedding(public: str, ours: str) -> list[WeightMapping]:
    """A table of vectors."""
    return plain(f"{public}.weight", f"{ours}/embeddings:0")


def norm(public: str, ours: str) -> list[WeightMapping]:
    """A normalization with a scale and an offset."""
    return [rename(f"{ours}/gamma:0", f"{public}.weight"), rename(f"{ours}/beta:0", f"{public}.bias")]


def batch_norm(public: str, ours: str) -> list[WeightMapping]:
    """A batch normalization with its running statistics."""
    return [
        *norm(public, ours),
        rename(f"{ours}/moving_mean:0", f"{public}.running_mean"),
        rename(f"{ours}/moving_variance:0", f"{public}.running_var"),
    ]


def packed_attention(public: str, ours: str) -> list[WeightMapping]:
    """torch.nn.MultiheadAttention, which has query, key and value in one matrix (3 * features, features)."""
    parts = ("query", "key", "value")
    return [
        concatenate(tuple(f"{ours}/{part}/kernel:0" for part in parts), f"{public}.in_proj_weight"),
        concatenate(tuple(f"{ours}/{part}/bias:0" for part in parts), f"{public}.in_proj_bias"),
        *linear(f"{public}.out_proj", f"{ours}/projection"),
    ]


def from_public(
    weights: Mapping[str, np.ndarray],
    groups: Iterable[Group],
    *,
    ignored: str | None = None,
    copies: Mapping[str, str] | None = None,
) -> Values:
    """Standard names and shapes of public weights.

    ``ignored`` matches unused names; ``copies`` are names that may repeat another parameter (tied weights). Raises
    StateDictError naming unexpected and missing public names, and copies that differ from the original.
    """
    left = {name: np.asarray(value) for name, value in weights.items() if not (ignored and re.fullmatch(ignored, name))}
    problems = [
        f"{copy} should equal {original}, but differs"
        for copy, original in (copies or {}).items()
        if copy in left and original in left and not np.array_equal(left.pop(copy), left[original])
    ]
    result: Values = {}
    for group in groups:
        matches: dict[Numbers, set[str]] = defaultdict(set)
        for mapping in group.mappings:
            (public,) = mapping.native
            for name, numbers in _matches(public, left):
                matches[numbers].add(public)
                arrays = _convert(mapping.from_native, name, left.pop(name))
                result.update(zip((_fill(own, numbers) for own in mapping.own), arrays, strict=True))
        if group.needed and not matches:
            matches[("0",) * group.mappings[0].native[0].count("{}")] = set()
        problems += [
            f"missing {_fill(mapping.native[0], numbers)}"
            for numbers in _with_gaps(matches)
            for mapping in group.mappings
            if mapping.native[0] not in matches.get(numbers, ())
        ]
    problems += [f"unexpected {name}" for name in left]
    if problems:
        raise StateDictError(f"weights are not those of this model: {'; '.join(problems)}")
    return {name: np.ascontiguousarray(array) for name, array in result.items()}


def to_public(values: Mapping[str, np.ndarray], groups: Iterable[Group]) -> Values:
    """Public names and shapes of parameters under their standard names; parameters without a mapping are omitted."""
    result: Values = {}
    for group in groups:
        for mapping in group.mappings:
            for _, numbers in _matches(mapping.own[0], values):
                arrays = mapping.to_native(*(np.asarray(values[_fill(own, numbers)]) for own in mapping.own))
                result.update(zip((_fill(name, numbers) for name in mapping.native), arrays, strict=True))
    return {name: np.ascontiguousarray(array) for name, array in result.items()}


def _matches(pattern: str, names: Iterable[str]) -> list[tuple[str, Numbers]]:
    """The names that match a pattern, with the numbers at its ``{}``."""
    expression = re.compile(re.escape(pattern).replace(r"\{\}", r"(\d+)"))
    return [(name, match.groups()) for name in names if (match := expression.fullmatch(name))]


def _convert(convert: Callable, name: str, array: np.ndarray):
    try:
        return convert(array)
    except ValueError as error:
        raise StateDictError(f"{name} has shape {array.shape}, which does not fit: {error}") from error


def _fill(name: str, numbers: Numbers) -> str:
    for number in numbers:
        name = name.replace("{}", number, 1)
    return name


def _with_gaps(found: Mapping[Numbers, set[str]]) -> list[Numbers]:
    """The combinations of numbers that occur, and missing ones before them: the last number counts from 0."""
    last: dict[Numbers, int] = {}
    for numbers in found:
        if numbers:
            last[numbers[:-1]] = max(int(numbers[-1]), last.get(numbers[:-1], 0))
    return [(*lead, str(at)) for lead, top in last.items() for at in range(top + 1)] or list(found)
