"""Settings of nodes as JSON data and back, with the number types that their layers declare."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labdl.errors import ConfigError, ModelError
from labdl.nn.schema import LAYERS, layer_declaration
from labdl.settings import is_float, types_at, types_of_values

_LONGEST = 40  # characters of a float
_MOST_BITS = 1023  # of an integer: those within the range of floats, which JavaScript writes as their digits
LARGEST = 2**53 - 1  # up to here JSON's numbers are whole numbers exactly in every program
_DEEPEST = 32  # levels of lists in a setting: those of layers are at most lists of lists


def to_json(node_type: str, params: Mapping[str, Any], *, tagged: bool = False) -> dict[str, Any]:
    """The settings of a node as JSON data. Floats that JSON lacks are written ``{"float": "inf"}``.

    With ``tagged``, for programs with one type of number such as JavaScript, so are floats that are whole numbers where the
    layer does not declare them as floats: settings of operators, constants, and of layers that are not imported.
    """
    settings = _settings_of(node_type)
    return {
        key: _encode(value, [] if settings is None else settings.types_of(key), tagged) for key, value in params.items()
    }


def from_json(node_type: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a node from JSON data: lists are tuples, and numbers have the types that the layer declares."""
    settings = _settings_of(node_type)
    values = {key: _decode(value, [] if settings is None else settings.types_of(key)) for key, value in params.items()}
    return values if settings is None else settings.restore_numbers(values)


def refuse_inexact(node_type: str, params: Mapping[str, Any]) -> None:
    """Raise ConfigError for a setting of a layer that is a whole number beyond those that JSON holds exactly."""
    if node_type not in LAYERS or node_type == "Constant":
        return
    for name, value in params.items():
        for number in _whole_numbers(value):
            if abs(number) > LARGEST:
                raise ConfigError(
                    f"{name} is {number}: files and the canvas hold whole numbers up to {LARGEST:,} exactly, so choose a "
                    "smaller one"
                )


def _whole_numbers(value: Any) -> Iterator[int]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _whole_numbers(item)
    elif isinstance(value, int):
        yield value


def _settings_of(node_type: str):
    cls = LAYERS.get(node_type)
    return None if cls is None else layer_declaration(cls)


def _encode(value: Any, allowed: Sequence[Any], tagged: bool) -> Any:
    if isinstance(value, float):
        is_untyped = tagged and value.is_integer() and not is_float(allowed)
        return {"float": str(value)} if is_untyped or not math.isfinite(value) else value
    if isinstance(value, Mapping):
        inner = types_of_values(allowed)
        return {key: _encode(item, inner, tagged) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(item, types_at(allowed, at, len(value)), tagged) for at, item in enumerate(value)]
    return value


def _decode(value: Any, allowed: Sequence[Any], depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise ModelError(f"a setting is nested more than {_DEEPEST} deep")
    if isinstance(value, dict):
        number, inner = _tagged_float(value), types_of_values(allowed)
        return {key: _decode(item, inner, depth + 1) for key, item in value.items()} if number is None else number
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError(
            f"a setting is a number of {value.bit_length():,} bits; numbers have at most {_MOST_BITS} bits"
        )
    if isinstance(value, list | tuple):
        return tuple([_decode(item, types_at(allowed, at, len(value)), depth + 1) for at, item in enumerate(value)])
    return value


def _tagged_float(value: dict[str, Any]) -> float | None:
    text = value.get("float") if len(value) == 1 else None
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    try:
        return float(text)
    except ValueError:  # a setting that has the same form
        return None
