"""The call of a framework's class that computes the same as a layer of LabDL: the tables of names, read backwards.

A call is a guess from the layer's settings that `Entry.translate` confirms: it gives a layer with all settings of this one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labdl.errors import LabDLError
from labdl.interop.names import FRAMEWORKS, classes, recurrent_call
from labdl.interop.names.entry import Entry, parse_signature
from labdl.nn.schema import LAYERS, fields
from labdl.spec import Spec

_TRIALS = 200  # calls that are tried for a class
_STARTS = re.compile(r"(_init|_initializer)$")  # settings of first values, which are replaced
_INPUT_SIZES = ("in_features", "in_channels")  # None where LabDL takes them from the input
_RECURRENT = ("RNN", "GRU", "LSTM")


class FrameworkCall(NamedTuple):
    """A class by its full name, and its arguments: by place, and by name."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_tuple: bool = False
    """Whether the layer's first output is the first element of the result."""

    @classmethod
    def of(
        cls, name: str, required: Sequence[str], given: Mapping[str, Any], *, is_tuple: bool = False
    ) -> FrameworkCall:
        """A call whose ``required`` arguments stand by place."""
        args = tuple(given[word] for word in required)
        return cls(name, args, {k: v for k, v in given.items() if k not in required}, is_tuple)

    @property
    def source(self) -> str:
        words = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        return f"{self.name}({', '.join(words)})"


def framework_call(framework: str, layer: Any, x: Spec) -> FrameworkCall | None:
    """The call for a built layer whose input is like ``x``; None where no class computes the same."""
    kind, sizes = type(layer).__name__, _sizes(layer, x)
    module = FRAMEWORKS[framework].modules[0]
    if kind in _RECURRENT:
        return _recurrent(framework, layer, sizes)
    matches = [(name, entry) for name, entry in classes(framework).items() if entry.ours == kind and entry.equal]
    for name, entry in sorted(matches, key=lambda item: (_is_alias(item[0]), item[0] != kind)):
        if not name.startswith("Lazy") and _fits(name, x):
            guess = next(filter(lambda given: _means(entry, given, layer), _guesses(entry, layer, sizes)), None)
            if guess is not None:
                return FrameworkCall.of(f"{module}.{name}", _needs(entry), _without_defaults(entry, guess))
    return None


def _is_alias(name: str) -> bool:
    """Whether a framework with names such as Conv2D has this one too, Conv2d."""
    return re.search(r"\dd$", name) is not None


def _fits(name: str, x: Spec) -> bool:
    """Whether a class whose name tells the number of spatial axes takes the input."""
    rank = re.search(r"(\d)[dD]", name)
    return rank is None or int(rank[1]) == max(x.ndim - 2, 1)


def _sizes(layer: Any, x: Spec) -> dict[str, Any]:
    """Arguments that are sizes, which LabDL takes from the input."""
    last = x.shape[-1] if x.ndim else None
    axis = -1 if getattr(layer, "data_format", "") == "channels_last" else 1
    channels = x.shape[axis] if x.ndim > 1 else None
    axes = getattr(layer, "axes", 1)
    table = next((p.shape[0] for p in layer._parameters.values() if len(p.shape) == 2), None)
    shape = tuple(x.shape[-axes:]) if isinstance(axes, int) else None
    return {
        **dict.fromkeys(("in_features", "input_size"), last),
        **dict.fromkeys(("in_channels", "num_features", "num_channels"), channels),
        "normalized_shape": shape,
        "num_embeddings": table,
        "vocab_size": table,
    }


def _settings(layer: Any) -> dict[str, Any]:
    return {name: getattr(layer, name) for name in fields(type(layer)) if not _STARTS.search(name)}


def _needs(entry: Entry) -> tuple[str, ...]:
    parameters = parse_signature(entry.signature).parameters.values()
    return tuple(p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD)


def _guesses(entry: Entry, layer: Any, sizes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments that may give the layer; those with the fewest words first."""
    settings, options = _settings(layer), {}
    for name, parameter in parse_signature(entry.signature).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        rule, default = entry.rule(name), parameter.default
        if name in sizes:
            options[name] = [sizes[name]]
        elif callable(rule):
            options[name] = _unique([default, *_inverses(name, settings)], parameter.empty)
        elif rule in settings:
            options[name] = [settings[rule]]
        elif default is parameter.empty:
            return
    for values in itertools.islice(itertools.product(*options.values()), _TRIALS):
        yield dict(zip(options, values, strict=True))


def _inverses(name: str, settings: Mapping[str, Any]) -> list[Any]:
    """Values that a rule may turn into one of the settings."""
    candidates = []
    for setting, value in settings.items():
        if setting == name or setting in name or name in setting or setting in ("axis", "rate", "size", "scale"):
            candidates.append(value)
        if setting == "momentum" and name == "momentum":
            candidates.append(round(1 - value, 12))
        if setting == "padding" and isinstance(value, tuple):
            pairs = [(n, n) if isinstance(n, int) else tuple(n) for n in value]
            candidates.append(tuple(itertools.chain(*reversed(pairs))))
    if settings.get("use_bias") is False or settings.get("affine") is False:
        candidates.append(False)
    if name in ("data_format", "data_layout") and settings.get("data_format") == "channels_last":
        candidates += ["NLC", "NHWC", "NDHWC"]
    return candidates


def _unique(values: list[Any], nothing: Any) -> list[Any]:
    positional: list[Any] = []
    for value in values:
        if value is not nothing and not any(type(value) is type(other) and value == other for other in positional):
            positional.append(value)
    return positional


def _means(entry: Entry, given: Mapping[str, Any], layer: Any) -> bool:
    """Whether arguments of the class are the layer, with each of its settings."""
    try:
        steps = entry.translate((), given)
        if len(steps) != 1 or any(size is None for size in _flat(given, entry)):
            return False
        twin = LAYERS[steps[0][0]](**steps[0][1])
    except (LabDLError, TypeError, ValueError):
        return False
    expected, actual = _settings(layer), _settings(twin)
    return all(actual[name] == value or (value is None and name in _INPUT_SIZES) for name, value in expected.items())


def _flat(given: Mapping[str, Any], entry: Entry) -> Iterator[Any]:
    """The values of the arguments that have no default, which are sizes."""
    for name in _needs(entry):
        value = given.get(name)
        yield from value if isinstance(value, tuple) else (value,)


def _without_defaults(entry: Entry, given: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {p.name: p.default for p in parse_signature(entry.signature).parameters.values()}
    return {k: v for k, v in given.items() if type(v) is not type(defaults[k]) or v != defaults[k]}


def _recurrent(framework: str, layer: Any, sizes: Mapping[str, Any]) -> FrameworkCall | None:
    """The class of a recurrent layer, which the tables call different for its outputs: (output, states)."""
    rule = recurrent_call(framework)
    if rule is None:
        return None
    name, arguments = rule(layer)
    stacked = (
        {"num_layers": layer.layers, **({"dropout": layer.rate} if layer.rate else {})} if layer.layers > 1 else {}
    )
    required = {"input_size": sizes["input_size"], "hidden_size": layer.hidden_size}
    return FrameworkCall.of(
        f"{FRAMEWORKS[framework].modules[0]}.{name}", tuple(required), required | stacked | arguments, is_tuple=True
    )
