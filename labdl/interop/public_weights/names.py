"""A model's table of public names, and conversion with it in both directions.

The table has groups of `WeightMapping`, whose ``native`` names are the public ones and whose ``own`` names are the standard
ones. ``{}`` in a name is a placeholder for a number, equal in all names of a mapping.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from labdl.errors import StateDictError
from labdl.interop.public_weights.layers import KINDS
from labdl.interop.weights.mapping import WeightMapping

Values = dict[str, np.ndarray]
Numbers = tuple[str, ...]
_MOST = 20  # names of a kind in a message


@dataclass(frozen=True)
class Group:
    """Mappings that occur together or not at all, once for each combination of numbers.

    ``needed`` ones occur in every model, or, if it is an expression, where it matches a public name.
    """

    mappings: tuple[WeightMapping, ...]
    needed: bool | str

    def __init__(self, *mappings: Iterable[WeightMapping], needed: bool | str = False):
        object.__setattr__(self, "mappings", tuple(mapping for part in mappings for mapping in part))
        object.__setattr__(self, "needed", needed)


def inside(groups: Iterable[Group], public: str, ours: str) -> list[Group]:
    """The groups of a model that is part of another one, where its names begin with ``public`` and with ``ours``."""

    def within(mapping: WeightMapping) -> WeightMapping:
        return mapping._replace(
            own=tuple(ours + name for name in mapping.own),
            native=tuple(public + name for name in mapping.native),
            aliases=tuple(public + name for name in mapping.aliases),
        )

    return [
        Group(
            map(within, group.mappings),
            needed=re.escape(public) + group.needed if isinstance(group.needed, str) else group.needed,
        )
        for group in groups
    ]


@dataclass(frozen=True)
class PublicNames:
    """The public names of a family of models; a module class has them in ``public_names``.

    ``ignored`` matches names that are not used; ``copies`` maps names that may repeat another parameter (tied weights) to the
    other; ``spelling`` gives the current spelling of an older name.
    """

    groups: tuple[Group, ...]
    ignored: str | None = None
    copies: Mapping[str, str] = field(default_factory=dict)
    spelling: Callable[[str], str] = str

    def from_public(self, weights: Mapping[str, np.ndarray]) -> Values:
        """Standard names and shapes of public weights. Raises StateDictError naming what is missing or unexpected."""
        return self.convert(weights).result()

    def convert(self, weights: Mapping[str, np.ndarray]) -> Conversion:
        """As `from_public`, with the problems beside the values."""
        current = {self.spelling(name): value for name, value in weights.items()}
        return convert_public(current, self.groups, ignored=self.ignored, copies=self.copies)

    def to_public(self, values: Mapping[str, np.ndarray]) -> Values:
        """Public names and shapes of parameters under their standard names. Raises StateDictError for one without a name."""
        return to_public(values, self.groups)

    def public_shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """The public names of parameters, given by standard name and shape, and the shapes of their arrays there."""
        result: dict[str, tuple[int, ...]] = {}
        for group in self.groups:
            for mapping in group.mappings:
                for _, numbers in _matches(mapping.own[0], shapes) if mapping.own else ():
                    own = [_fill(name, numbers) for name in mapping.own]
                    if all(name in shapes for name in own):
                        # arrays that take no memory
                        arrays = mapping.to_native(*(np.broadcast_to(np.float32(1), shapes[name]) for name in own))
                        public = (_fill(name, numbers) for name in mapping.native)
                        result.update((name, np.shape(array)) for name, array in zip(public, arrays, strict=True))
        return result

    def check_layers(self, layers: Mapping[str, str]) -> None:
        """Raise StateDictError where a layer, given as ``{path: type}``, has another type than its mapping is for.

        Where both sizes are equal, the shapes of a convolution and of a transposed one do not differ.
        """
        for mapping in (mapping for group in self.groups for mapping in group.mappings if mapping.layers):
            for path, _ in _matches(mapping.own[0].rpartition("/")[0], layers):
                if layers[path] in KINDS and layers[path] not in mapping.layers:
                    raise StateDictError(
                        f"{path} is a {layers[path]}, but its public names are given as those of {mapping.layers[0]}: use "
                        f"public_weights.{KINDS[layers[path]]}"
                    )


@dataclass(frozen=True)
class Conversion:
    """Values under standard names, and the public names that were missing, unexpected, or contradict each other."""

    values: Values
    missing: list[str]
    unexpected: list[str]
    contradictions: list[str]

    def result(self) -> Values:
        """The values. Raises StateDictError if there is a problem."""
        problems = [*self.contradictions, *_some("missing", self.missing), *_some("unexpected", self.unexpected)]
        if problems:
            raise StateDictError(f"weights are not those of this model: {'; '.join(problems)}")
        return self.values


def _some(what: str, names: list[str]) -> list[str]:
    """The beginning of a list of names for a message."""
    more = [f"{len(names) - _MOST} more {what}"] if len(names) > _MOST else []
    return [f"{what} {name}" for name in names[:_MOST]] + more


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
    return convert_public(weights, groups, ignored=ignored, copies=copies).result()


def convert_public(
    weights: Mapping[str, np.ndarray],
    groups: Iterable[Group],
    *,
    ignored: str | None = None,
    copies: Mapping[str, str] | None = None,
) -> Conversion:
    """As `from_public`, with the problems beside the values. Raises StateDictError for arrays that cannot be converted."""
    left = {name: np.asarray(value) for name, value in weights.items() if not (ignored and re.fullmatch(ignored, name))}
    contradictions = [
        f"{copy} should equal {original}, but differs"
        for copy, original in (copies or {}).items()
        if copy in left and original in left and not np.array_equal(left.pop(copy), left[original])
    ]
    result: Values = {}
    missing: list[str] = []
    for group in groups:
        # asked before its names are taken out
        needed = (
            any(re.match(group.needed, name) for name in weights) if isinstance(group.needed, str) else group.needed
        )
        matches: dict[Numbers, set[str]] = defaultdict(set)
        for mapping in group.mappings:
            for numbers, names in _occurrences(mapping, left).items():
                arrays = [left.pop(name) for name in names.values()]
                if not mapping.own:
                    continue
                matches[numbers].update(names)
                if len(arrays) == len(mapping.native):
                    converted = _convert(mapping.from_native, [*names.values()], arrays)
                    result.update(zip((_fill(own, numbers) for own in mapping.own), converted, strict=True))
        if needed and not matches:
            matches[("0",) * group.mappings[0].native[0].count("{}")] = set()
        missing += [
            _fill(public, numbers)
            for numbers in _with_gaps(matches)
            for mapping in group.mappings
            for public in mapping.native
            if mapping.own and public not in matches.get(numbers, ())
        ]
    values = {name: np.ascontiguousarray(array) for name, array in result.items()}
    return Conversion(values, missing, list(left), contradictions)


def to_public(values: Mapping[str, np.ndarray], groups: Iterable[Group]) -> Values:
    """Public names and shapes of parameters under their standard names. Raises StateDictError for one without a mapping."""
    result: Values = {}
    left = dict.fromkeys(values)
    for group in groups:
        for mapping in group.mappings:
            for _, numbers in _matches(mapping.own[0], values) if mapping.own else ():
                own = [_fill(name, numbers) for name in mapping.own]
                if any(name not in values for name in own):
                    continue
                arrays = mapping.to_native(*(np.asarray(values[name]) for name in own))
                result.update(zip((_fill(name, numbers) for name in mapping.native), arrays, strict=True))
                for name in own:
                    left.pop(name, None)
    if left:
        raise StateDictError(f"there are no public names of {', '.join(left)}")
    return {name: np.ascontiguousarray(array) for name, array in result.items()}


def _occurrences(mapping: WeightMapping, names: Iterable[str]) -> dict[Numbers, dict[str, str]]:
    """For each combination of numbers the names that occur, by the pattern of ``native`` that they match."""
    found: dict[Numbers, dict[str, str]] = defaultdict(dict)
    for spelling in (mapping.native, mapping.aliases):
        for native, pattern in zip(mapping.native, spelling, strict=False):
            for name, numbers in _matches(pattern, names):
                found[numbers].setdefault(native, name)
    return {numbers: {n: by[n] for n in mapping.native if n in by} for numbers, by in found.items()}


def _matches(pattern: str, names: Iterable[str]) -> list[tuple[str, Numbers]]:
    """The names that match a pattern, with the numbers at its ``{}``."""
    expression = re.compile(re.escape(pattern).replace(r"\{\}", r"(\d+)"))
    return [(name, match.groups()) for name in names if (match := expression.fullmatch(name))]


def _convert(convert: Callable, names: list[str], arrays: list[np.ndarray]):
    try:
        return convert(*arrays)
    except ValueError as error:
        given = " and ".join(f"{name} has shape {array.shape}" for name, array in zip(names, arrays, strict=True))
        raise StateDictError(f"{given}, which does not fit: {error}") from error


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
