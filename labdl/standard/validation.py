"""Validation of arguments of the standard's interfaces: dictionaries of settings, and objects of its constructors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from labdl.errors import ConfigError, LabDLError

Kind = TypeVar("Kind")


def read(config: Any, name: str, allowed: Iterable[str] | None = None, needed: Iterable[str] = ()) -> dict[str, Any]:
    """Copy a configuration. Raises ConfigError unless it is a dictionary, and for unknown and missing keys."""
    if not isinstance(config, Mapping):
        raise ConfigError(f"{name} wants a dictionary of settings, received {type(config).__name__}")
    wanted = None if allowed is None else [*needed, *(key for key in allowed if key not in needed)]
    for key in config:
        if wanted is not None and key not in wanted:
            raise ConfigError(f"{name} has the keys {', '.join(wanted)}, received {key!r}")
    missing = [key for key in needed if key not in config]
    if missing:
        raise ConfigError(f"{name} needs {' and '.join(missing)}, received {', '.join(map(str, config)) or 'nothing'}")
    return dict(config)


def count(config: Mapping[str, Any], key: str, default: int, name: str) -> int:
    """A setting that is an integer at least 1. Raises ConfigError."""
    value = config.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name}: {key} wants an integer at least 1, received {value!r}")
    return value


def flag(config: Mapping[str, Any], key: str, default: bool, name: str) -> bool:
    """A setting that is True or False. Raises ConfigError."""
    value = config.get(key, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{name}: {key} wants True or False, received {value!r}")
    return value


@contextmanager
def naming(config: str, *keys: str) -> Iterator[None]:
    """Raise errors of settings under the keys that the configuration has for them, where the message has none of these.

    Errors of Python, which a value of a wrong type gives in code that does not check it, become ConfigError.
    """
    try:
        yield
    except LabDLError as error:
        if any(key in str(error) for key in keys):
            raise
        raise type(error)(f"{config}: {', '.join(keys)}: {error}") from error
    except (TypeError, ValueError, OverflowError, LookupError, AttributeError) as error:
        raise ConfigError(f"{config}: {', '.join(keys)}: {error}") from error


def check_instance(value: Any, kind: type[Kind], name: str, maker: str) -> Kind:
    """Return an object created by an interface of the standard. Raises ConfigError for any other, naming the interface."""
    if not isinstance(value, kind):
        raise ConfigError(f"{name} wants a result of {maker}, received {type(value).__name__}")
    return value
