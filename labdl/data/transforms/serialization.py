"""Transforms as dictionaries of plain values, which files and forms hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.transforms.inner import inner_setting, path_text, walk
from labdl.data.transforms.transform import TRANSFORMS, Transform
from labdl.errors import ConfigError, suggest_name

DEEPEST = 16  # transforms inside of each other
MOST = 10_000  # transforms in a file, those inside of others too


def to_dict(transform: Transform) -> dict[str, Any]:
    """The name of a transform, its settings that are not the default, and what it has been fitted to.

    Raises ConfigError for functions and for classes without the decorator `transform`, which cannot be saved.
    """
    values = {"type": type(transform).__name__, **settings_of(transform)}
    state = getattr(transform, "state_dict", None)
    if state is not None and (fitted := state()):
        values["state"] = _plain(fitted, type(transform).__name__, "state")
    return values


def to_dicts(transforms: Sequence[Transform]) -> list[dict[str, Any]]:
    """The dictionaries of a list of transforms. Raises ConfigError with the path of the first that cannot be saved."""
    try:
        return [to_dict(one) for one in transforms]
    except ConfigError:
        for path, one in walk(transforms):
            setting = inner_setting(type(one))
            try:
                settings_of(one, without=setting and setting.name)
            except ConfigError as error:
                raise ConfigError(f"step {path_text(path)}: {error}") from None
        raise


def settings_of(transform: Transform, *, without: str | None = None) -> dict[str, Any]:
    """The settings of a transform that are not the default, but for one of them, as plain values.

    Raises ConfigError as `to_dict`.
    """
    cls = type(transform)
    known = TRANSFORMS.get(cls.__name__)
    # a class of a cell that has run again is another one of the same name
    if known is None or (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ConfigError(f"{cls.__name__} cannot be saved: give the class the decorator T.transform")
    values: dict[str, Any] = {}
    for field in dataclasses.fields(transform):  # type: ignore[arg-type]
        value = getattr(transform, field.name)
        if field.name != without and (field.default is dataclasses.MISSING or not _same(value, field.default)):
            values[field.name] = _plain(value, cls.__name__, field.name)
    return values


def from_dict(values: Mapping[str, Any], _depth: int = 0) -> Transform:
    """The transform of a dictionary of `to_dict`. Raises ConfigError for unknown names and settings."""
    if not isinstance(values, Mapping) or not isinstance(values.get("type"), str):
        raise ConfigError(f'a transform is a dictionary with its name as "type", received {values!r:.200}')
    if _depth >= DEEPEST:
        raise ConfigError(f"transforms are nested more than {DEEPEST} deep")
    name = values["type"]
    if name not in TRANSFORMS:
        raise ConfigError(
            f"there is no transform {name!r:.80}{suggest_name(name, TRANSFORMS)}; one of a notebook has to be defined before "
            "the file is read"
        )
    cls = TRANSFORMS[name]
    settings = {key: _restore(value, _depth) for key, value in values.items() if key not in ("type", "state")}
    transform = cls(**settings)
    if "state" in values:
        load = getattr(transform, "load_state_dict", None)
        if load is None:
            raise ConfigError(f"{name} is not fitted to data and has no state")
        load(values["state"])
    return transform


def check_size(transforms: Sequence[Any]) -> None:
    """Raise ConfigError for a list of dictionaries of `to_dict` with more transforms, inner ones too, than a file holds."""
    pending, count = list(transforms), 0
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            count += isinstance(value.get("type"), str)
            pending += [setting for name, setting in value.items() if name != "state"]
        elif isinstance(value, list):
            pending += value
        if count > MOST:
            raise ConfigError(f"a pipeline has at most {MOST:,} transforms, those inside of others counted too")


def _restore(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping) and isinstance(value.get("type"), str):
        return from_dict(value, depth + 1)
    if isinstance(value, list):
        return tuple(_restore(v, depth) for v in value)
    return value


def _plain(value: Any, owner: str, name: str) -> Any:
    if isinstance(value, Transform):
        return to_dict(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(v, owner, name) for key, v in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(v, owner, name) for v in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    function = getattr(value, "__name__", None)
    shown = f"{name}={value!r:.80}" if function is None else f"the function {function:.80}"
    raise ConfigError(
        f"{shown} of {owner} cannot be saved: write it as a class with the decorator T.transform, and use that class"
    )


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and value == default
