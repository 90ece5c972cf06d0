"""From the parameters of public implementations to LabDL's standard names and shapes, by tables of patterns.

A row is a public name and what becomes of it: ``(public name, split)``, where ``split`` makes {standard name: array} of the
public array. ``{}`` in a name stands for a number, the same in both names. A `Group` is a set of rows that come together or
not at all, once for each choice of numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from labdl.errors import StateDictError

Values = dict[str, np.ndarray]
Row = tuple[str, Callable[[np.ndarray], Values]]


@dataclass(frozen=True)
class Group:
    """Rows that come together; ``needed`` where no model is without them."""

    rows: tuple[Row, ...]
    needed: bool

    def __init__(self, *rows: Iterable[Row], needed: bool = False):
        object.__setattr__(self, "rows", tuple(row for part in rows for row in part))
        object.__setattr__(self, "needed", needed)


def plain(public: str, ours: str) -> list[Row]:
    """A parameter in the same shape."""
    return [(public, lambda array: {ours: array})]


def linear(public: str, ours: str, use_bias: bool = True) -> list[Row]:
    """A linear layer, whose public weight is (out, in)."""
    rows: list[Row] = [(f"{public}.weight", lambda array: {f"{ours}/kernel:0": array.T})]
    return rows + plain(f"{public}.bias", f"{ours}/bias:0") if use_bias else rows


def convolution(public: str, ours: str, use_bias: bool = True) -> list[Row]:
    """A 2-d convolution, whose public weight is (out, in, height, width)."""
    rows: list[Row] = [(f"{public}.weight", lambda array: {f"{ours}/kernel:0": array.transpose(2, 3, 1, 0)})]
    return rows + plain(f"{public}.bias", f"{ours}/bias:0") if use_bias else rows


def norm(public: str, ours: str) -> list[Row]:
    """A normalisation with a scale and an offset."""
    return [*plain(f"{public}.weight", f"{ours}/gamma:0"), *plain(f"{public}.bias", f"{ours}/beta:0")]


def batch_norm(public: str, ours: str) -> list[Row]:
    """A batch normalisation with its running statistics."""
    return [*norm(public, ours), *plain(f"{public}.running_mean", f"{ours}/moving_mean:0"),
            *plain(f"{public}.running_var", f"{ours}/moving_variance:0")]  # fmt: skip


def packed_attention(public: str, ours: str) -> list[Row]:
    """torch.nn.MultiheadAttention, which keeps query, key and value in one matrix (3 * features, features)."""
    parts = ("query", "key", "value")

    def kernels(array):
        return {f"{ours}/{part}/kernel:0": piece.T for part, piece in zip(parts, np.split(array, 3), strict=True)}

    def biases(array):
        return {f"{ours}/{part}/bias:0": piece for part, piece in zip(parts, np.split(array, 3), strict=True)}

    return [(f"{public}.in_proj_weight", kernels), (f"{public}.in_proj_bias", biases),
            *linear(f"{public}.out_proj", f"{ours}/projection")]  # fmt: skip


def rename(weights: Mapping[str, np.ndarray], groups: Iterable[Group], *, ignored: str | None = None,
           copies: Mapping[str, str] | None = None) -> Values:  # fmt: skip
    """Standard names and shapes of public weights.

    ``ignored`` matches names of no meaning here; ``copies`` are names that may repeat another parameter (tied weights).
    Raises StateDictError naming unexpected and missing public names, and copies that differ from what they repeat.
    """
    copies = copies or {}
    left = {name: np.asarray(value) for name, value in weights.items() if not (ignored and re.fullmatch(ignored, name))}
    problems = []
    for copy, original in copies.items():
        if copy in left and original in left and not np.array_equal(left.pop(copy), left[original]):
            problems.append(f"{copy} should repeat {original}, and differs from it")
    result: Values = {}
    for group in groups:
        found: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = defaultdict(dict)
        for public, split in group.rows:
            pattern = re.escape(public).replace(r"\{\}", r"(\d+)")
            for name in [n for n in left if re.fullmatch(pattern, n)]:
                numbers = re.fullmatch(pattern, name).groups()  # type: ignore[union-attr]
                found[numbers][public] = numbers
                result.update({_filled(ours, numbers): part for ours, part in _parts(split, name, left.pop(name))})
        if group.needed and not found:
            found[("0",) * group.rows[0][0].count("{}")] = {}
        problems += [f"missing {_filled(public, numbers)}" for numbers in _with_gaps(found)
                     for public, _ in group.rows if public not in found.get(numbers, ())]  # fmt: skip
    problems += [f"unexpected {name}" for name in left]
    if problems:
        raise StateDictError(f"weights are not those of this model: {'; '.join(problems)}")
    return {name: np.ascontiguousarray(array) for name, array in result.items()}


def _parts(split, name: str, array: np.ndarray):
    try:
        return split(array).items()
    except ValueError as error:
        raise StateDictError(f"{name} has shape {array.shape}, which does not fit: {error}") from error


def _filled(name: str, numbers: tuple[str, ...]) -> str:
    for number in numbers:
        name = name.replace("{}", number, 1)
    return name


def _with_gaps(found) -> list[tuple[str, ...]]:
    """The choices of numbers that were found, and those before them: the last number counts from 0."""
    last: dict[tuple[str, ...], int] = {}
    for numbers in found:
        if numbers:
            last[numbers[:-1]] = max(int(numbers[-1]), last.get(numbers[:-1], 0))
    return [(*lead, str(at)) for lead, top in last.items() for at in range(top + 1)] or list(found)
