"""The values that the options of operators may have, declared once.

An option is a parameter that holds no tensor. `OPTIONS` declares names that mean the same in every operator; the decorator
declares what is its operator's own, such as ``options={"mode": Choice("mean", "sum", "max")}``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np

_WHOLE, _REAL = (int, np.integer), (int, float, np.integer, np.floating)
_NUMBERS = (int, float, complex, np.number, NoneType)


class Choice:
    """One of several words or numbers."""

    def __init__(self, *values):
        self.values = values

    def accepts(self, value) -> bool:
        return any(type(value) is type(v) and value == v for v in self.values)

    def wrong_values(self) -> Iterable[Any]:
        return ("meen", 37)

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.values))}"


@dataclass(frozen=True)
class Number:
    """A number from ``low`` to ``high``; ``above`` excludes ``low`` itself. Tensors of one element are not checked."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    integer: bool = False

    def accepts(self, value) -> bool:
        if not isinstance(value, _WHOLE if self.integer else _REAL) or (self.integer and isinstance(value, bool)):
            return not isinstance(value, (str, bytes, list, tuple, dict, *_NUMBERS))
        if self.low == -math.inf and self.high == math.inf:
            return True  # NaN too, which no comparison takes
        return bool((self.low < value if self.above else self.low <= value) and value <= self.high)

    def wrong_values(self) -> Iterable[Any]:
        yield "3"
        if self.low > -math.inf:
            yield int(self.low) if self.above else int(self.low) - 1
        if self.high < math.inf:
            yield int(self.high) + 1
        if self.integer:
            yield 1.5

    def __str__(self) -> str:
        kind = "an integer" if self.integer else "a number"
        if self.low == -math.inf:
            return kind if self.high == math.inf else f"{kind} of at most {self.high}"
        start = f"above {self.low}" if self.above else f"of {self.low} or more"
        if self.high == math.inf:
            return f"{kind} {start}"
        return (
            f"{kind} above {self.low} and up to {self.high}" if self.above else f"{kind} from {self.low} to {self.high}"
        )


@dataclass(frozen=True)
class Numbers:
    """A list or tuple of ``count`` numbers, of any length if it is None, each as ``each`` says."""

    each: Number
    count: int | None = None

    def accepts(self, value) -> bool:
        if not isinstance(value, list | tuple):
            return False
        return self.count in (None, len(value)) and all(map(self.each.accepts, value))

    def wrong_values(self) -> Iterable[Any]:
        yield from ("x", 1.5)
        yield from ((wrong,) * (self.count or 1) for wrong in self.each.wrong_values())

    def __str__(self) -> str:
        return f"{'' if self.count is None else self.count} numbers, each {self.each}".strip()


@dataclass(frozen=True)
class Sizes:
    """An integer, or one for each axis; with ``pairs`` also two for each; ``low`` is the least, ``words`` replace them."""

    low: int | None = 1
    pairs: bool = False
    words: tuple[str, ...] = ()

    def accepts(self, value) -> bool:
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, list | tuple):
            return all(self._is_size(v) or v is None or (self.pairs and self._is_pair(v)) for v in value)
        return self._is_size(value) or not isinstance(value, (dict, *_NUMBERS))

    def _is_size(self, value) -> bool:
        if isinstance(value, _WHOLE) and not isinstance(value, bool):
            return self.low is None or bool(value >= self.low)
        return not isinstance(value, (str, list, tuple, dict, *_NUMBERS))

    def _is_pair(self, value) -> bool:
        return isinstance(value, list | tuple) and len(value) == 2 and all(map(self._is_size, value))

    def wrong_values(self) -> Iterable[Any]:
        yield from ("circular", 1.5)
        if self.low is not None:
            yield from (self.low - 1, (self.low - 1,))

    def __str__(self) -> str:
        words = "".join(f'"{w}", ' for w in self.words)
        integer = "an integer" if self.low is None else f"an integer of {self.low} or more"
        return f"{words}{integer}, or one{' or a pair' if self.pairs else ''} for each axis"


@dataclass(frozen=True)
class Dependent:
    """An option whose right values depend on the tensors: the shape rule checks it; ``wrong`` values never are."""

    wrong: tuple = ()

    def accepts(self, value) -> bool:
        return True

    def wrong_values(self) -> Iterable[Any]:
        return self.wrong

    def __str__(self) -> str:
        return "a value that fits the tensors"


@dataclass(frozen=True)
class Axis(Dependent):
    """An axis by its number, or several, or with ``none`` all; whether the tensor has them is checked by the shape rule."""

    none: bool = False

    def accepts(self, value) -> bool:
        if value is None:
            return self.none
        if isinstance(value, list | tuple):
            return all(self._is_number(v) for v in value)
        return self._is_number(value)

    def _is_number(self, value) -> bool:
        return isinstance(value, _WHOLE) and not isinstance(value, bool)

    def wrong_values(self) -> Iterable[Any]:
        return (*self.wrong, 1.5, "x")

    def __str__(self) -> str:
        return "the number of an axis, or of several"


class Flag(Dependent):
    """True or False, or anything with a truth value."""


Domain = Choice | Number | Numbers | Sizes | Dependent

_AXIS, _RATE, _POSITIVE = Axis((99,)), Number(0, 1), Number(0, above=True)
_INTEGER, _COUNT, _SIZE = Number(integer=True), Number(0, integer=True), Number(1, integer=True)

OPTIONS: dict[str, Domain] = {
    "activation": Choice("tanh", "relu"),
    "alpha": Number(),
    "atol": Number(0),
    "axes": Dependent(((99, 98), "xy")),
    "axis": _AXIS,
    "axis1": _AXIS,
    "axis2": _AXIS,
    "base": _POSITIVE,
    "beta": Number(),
    "bins": _SIZE,
    "blank": _COUNT,
    "buckets": Number(2, integer=True),
    "channels": Number(2, integer=True),
    "classes": _COUNT,
    "correction": Number(),
    "data_format": Choice("channels_first", "channels_last"),
    "delta": _POSITIVE,
    "destination": Dependent((99,)),
    "dilation": Sizes(),
    "dtype": Dependent(("float33",)),
    "end_axis": _AXIS,
    "epsilon": Number(0),
    "eps": Number(0, 0.5),
    "equation": Dependent(("i,j,k->q",)),
    "factor": _SIZE,
    "features": _SIZE,
    "gamma": Number(),
    "groups": _SIZE,
    "high": Number(),
    "hop_length": _SIZE,
    "ignore_index": _INTEGER,
    "iou_threshold": _RATE,
    "k": _INTEGER,
    "kernel_size": Sizes(),
    "keys": _COUNT,
    "label_smoothing": _RATE,
    "length": _SIZE,
    "low": Number(),
    "lower": Number(),
    "margin": Number(),
    "max_distance": _SIZE,
    "mean": Number(),
    "minlength": _COUNT,
    "momentum": _RATE,
    "n": _INTEGER,
    "n_fft": _SIZE,
    "nan": Number(),
    "negative_slope": Number(),
    "neginf": Number(),
    "norm": Choice("backward", "ortho", "forward"),
    "offset": _INTEGER,
    "output_padding": Sizes(0),
    "output_size": Sizes(),
    "p": _POSITIVE,
    "padding": Sizes(0, pairs=True, words=("same", "valid")),
    "pieces": _SIZE,
    "posinf": Number(),
    "q": Dependent((1.5, -0.1, "0.5")),
    "range": Dependent(((1, 0),)),
    "rate": _RATE,
    "reduction": Choice("mean", "sum", "none"),
    "repetitions": Sizes(0),
    "rtol": Number(0),
    "s": Dependent(((0, 0, 0),)),
    "sampling_ratio": _INTEGER,
    "scale": Dependent(("x",)),
    "sections": Dependent((0,)),
    "segments": _COUNT,
    "shape": Dependent(((-5, -5),)),
    "shift": Sizes(None),
    "size": Dependent(("x",)),
    "sizes": Dependent(("x",)),
    "source": Dependent((99,)),
    "spatial_scale": _POSITIVE,
    "spatial_scales": Numbers(_POSITIVE),
    "start": _INTEGER,
    "start_axis": _AXIS,
    "std": Number(0),
    "step": _SIZE,
    "stride": Sizes(),
    "temperature": _POSITIVE,
    "threshold": Number(),
    "upper": Number(),
    "value": Number(),
    "window": _SIZE,
}


def declared_options(signature, tensors: Iterable[str], own: Mapping[str, Domain]) -> Mapping[str, Domain]:
    """The domain of each option of a body; that of an option without a declaration is missing."""
    found: dict[str, Domain] = {}
    for name, parameter in signature.parameters.items():
        if name in tensors or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in own:
            found[name] = own[name]
        elif isinstance(parameter.default, bool):
            found[name] = Flag()
        elif name in OPTIONS:
            found[name] = OPTIONS[name]
    return found


def check_option(operator: str, name: str, value, domain: Domain) -> None:
    """Raise ValueError if an option has a value that it cannot have."""
    if not domain.accepts(value):
        raise ValueError(f"{operator} wants {name}: {domain}, received {value!r:.60}")


__all__ = [
    "OPTIONS",
    "Axis",
    "Choice",
    "Dependent",
    "Domain",
    "Flag",
    "Number",
    "Numbers",
    "Sizes",
    "check_option",
    "declared_options",
]
