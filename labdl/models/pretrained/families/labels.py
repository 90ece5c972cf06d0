"""The classes of a classifier in a config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.errors import ConfigError

_MOST = 1_000_000


def class_names(config: Mapping[str, Any]) -> list[str] | None:
    """The names of the classes by number, None where the config has none."""
    table = config.get("id2label")
    if not isinstance(table, dict) or not table:
        return None
    try:
        return [str(table.get(str(at), table.get(at))) for at in sorted(map(int, table))]
    except ValueError as error:
        raise ConfigError(f"config.json: id2label wants the numbers of classes as keys: {error!s:.100}") from None


def class_count(config: Mapping[str, Any]) -> int:
    """The number of classes: two where the config does not tell, as the public library has it."""
    names = class_names(config)
    count = config.get("num_labels", 2) if names is None else len(names)
    if not isinstance(count, int) or not 0 < count < _MOST:
        raise ConfigError(f"config.json: num_labels wants a number of classes, received {count!r:.80}")
    return count
