"""Checks of the settings of an operator before it has data: its declared options, and shape inference on trial tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError
from labdl.ops.operator import Operator, Sample
from labdl.ops.operator.options import Dependent, Flag
from labdl.spec import COMPLEX, DTYPES, INTEGERS, Spec

_AXES = 7  # numbers of axes of the trial tensors: 0 to 6
_PLAIN = (bool, int, float, complex, str, slice, NoneType, EllipsisType, np.ndarray, np.generic)
_NEVER_EMPTY = ("axis", "padding", "sections")
_TEXTS = ("equation",)  # options that depend on the tensors and are no numbers
_DTYPES = ("float32", "int64", "bool", "complex64", "string")


def check_settings(entry: Operator, settings: Mapping[str, Any]) -> None:
    """Raise ConfigError for settings with which an operator computes nothing, whatever its tensor is."""
    for key, value in settings.items():
        wanted = None if value is entry.signature.parameters[key].default else option_description(entry, key, value)
        if wanted is not None:
            raise ConfigError(f"op_config: {entry.name}: {key} wants {wanted}, received {value!r:.60}")
    if not settings:
        return
    first: Exception | None = None
    for tensor in _trial_tensors(entry):
        try:
            _infer(entry, tensor, settings)
        except Exception as error:  # bodies and rules raise anything for a value of a wrong type
            first = first or error
        else:
            return
    raise ConfigError(f"op_config: {entry.name} with {', '.join(settings)}: {first}") from first


def option_description(entry: Operator, key: str, value: Any) -> str | None:
    """Description of the values of a setting; None if the value may be right."""
    domain, leaves = entry.options.get(key), list(_flat(value))
    if not all(isinstance(leaf, _PLAIN) or dispatch.owner_of_type(type(leaf)) is not None for leaf in leaves):
        return "a number, a text, a tensor or a list of these"
    if any(isinstance(leaf, int) and abs(leaf) >= 1 << 63 for leaf in leaves):
        return "integers of at most 64 bits"
    if domain is None:
        return tensor_description(entry, key, value)
    if key == "dtype":
        return None if isinstance(value, str) and value in DTYPES else f"one of {', '.join(DTYPES)}"
    if isinstance(domain, Flag):
        return None if isinstance(value, bool | np.bool_) else "True or False"
    default = entry.signature.parameters[key].default
    empty = value is None or (isinstance(value, list | tuple) and not value)
    if empty and isinstance(domain, Dependent) and (default is not None if value is None else key in _NEVER_EMPTY):
        return str(domain)
    if type(domain) is Dependent and key not in _TEXTS and not all(map(_is_amount, leaves)):
        return "a number or a list of numbers"
    if entry.random and any(isinstance(leaf, float) and not math.isfinite(leaf) for leaf in leaves):
        return "a finite number"
    return None if domain.accepts(value) else str(domain)


def tensor_description(entry: Operator, key: str, value: Any) -> str | None:
    """Description of the values of a parameter that takes a tensor; None if the value may be right."""
    roles = entry.roles.get(key, set())
    if isinstance(value, list | tuple) and key != "index" and not entry.inputs.get(key):
        return "a tensor, such as labdl.tensor(...), or a number"
    if isinstance(value, complex) and not set(COMPLEX) & {*roles, *(entry.takes if "free" in roles else ())}:
        return "a tensor or a real number"
    if isinstance(value, float | str | complex) and key != "index" and roles and roles <= {"bool", *INTEGERS}:
        return "a tensor of integers or an integer"
    return None


def _is_amount(value: Any) -> bool:
    if value is None or not isinstance(value, bool | int | float | complex | str | slice | EllipsisType):
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def tuples(entry: Operator, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the lists of options as tuples, which NumPy and the frameworks take."""
    return {key: _as_tuple(value) if key in entry.options else value for key, value in settings.items()}


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def _infer(entry: Operator, tensor: Any, settings: Mapping[str, Any]) -> None:
    own = list(entry.signature.parameters.values())[1:]
    places = [settings[p.name] for p in own if p.kind is p.POSITIONAL_ONLY]
    entry.infer(
        (tensor, *places), {key: v for key, v in settings.items() if key not in {p.name for p in own[: len(places)]}}
    )


def _trial_tensors(entry: Operator) -> Iterator[Any]:
    """Specs in place of the tensor: those of the operator's samples, then of each number of axes and of unknown sizes."""
    name = next(iter(entry.signature.parameters))
    for args, kwargs in entry.samples:
        arguments = entry.signature.bind(*args, **kwargs).arguments
        if name in arguments:
            yield _as_specs(arguments[name])
    roles = entry.roles.get(name, set())
    dtypes = [d for d in _DTYPES if d in roles or ("free" in roles and d in entry.takes)]
    for axes in range(_AXES):
        for dtype in dtypes:
            spec = Spec((None,) * axes, dtype)
            yield [spec, spec] if entry.inputs.get(name) else spec


def _as_specs(value: Any) -> Any:
    if isinstance(value, Sample):
        return Spec(value.shape, value.dtype)
    return type(value)(map(_as_specs, value)) if isinstance(value, list | tuple) else value


def _flat(value: Any) -> Iterator[Any]:
    for item in value if isinstance(value, list | tuple) else (value,):
        if isinstance(item, list | tuple):
            yield from _flat(item)
        else:
            yield item
