"""New names for the keys of a state dict: without a prefix, by a function, or by patterns.

`labdl.nn.Module.load_state_dict` and the readers of checkpoints take them from the user; nothing is assumed about the names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from labdl.errors import ConfigError, StateDictError

Value = TypeVar("Value")
Keys = Callable[[str], str | None] | Mapping[str, str | None] | Mapping[re.Pattern[str], str | None]


def map_keys(names: Iterable[str], prefix: str = "", keys: Keys | None = None) -> dict[str, str]:
    """``{name: new name}`` of the names that remain, in their order.

    With a ``prefix``, only names that begin with it remain, without it. ``keys`` is then a function of a name, or a
    dictionary of patterns: ``*`` stands for any text, which goes to the ``*`` of the new name in the same place, and everything
    else for itself; the first pattern that matches the whole name counts, and a name that none matches stays. A compiled
    regular expression may stand for a pattern (``r"\\1"`` in the new name is its first group). None leaves a name out.

        map_keys(["module.fc.weight", "step"], prefix="module.", keys={"fc.*": "head.*"})  # {"module.fc.weight": "head.weight"}

    Raises ConfigError for patterns or results that are not text, StateDictError where no name begins with the prefix and where
    two names become one.
    """
    rename = _function(keys)
    result: dict[str, str] = {}
    taken: dict[str, str] = {}
    given = list(names)
    inside = [name for name in given if name.startswith(prefix)]
    if prefix and given and not inside:
        raise StateDictError(f"no key begins with {prefix!r}: there are {', '.join(given[:5])}")
    for name in inside:
        new = rename(name[len(prefix) :])
        if new is None:
            continue
        if not isinstance(new, str):
            raise ConfigError(f"keys gives {new!r:.80} for {name!r}: give text, or None to leave it out")
        if new in taken:
            raise StateDictError(f"{taken[new]!r} and {name!r} both become {new!r}: change keys")
        taken[new], result[name] = name, new
    return result


def rename_keys(values: Mapping[str, Value], prefix: str = "", keys: Keys | None = None) -> dict[str, Value]:
    """The values under their new names; see `map_keys`."""
    return {new: values[name] for name, new in map_keys(values, prefix, keys).items()}


def _function(keys: Keys | None) -> Callable[[str], str | None]:
    if keys is None:
        return lambda name: name
    if not isinstance(keys, Mapping):
        if not callable(keys):
            raise ConfigError(f"keys is a function or a dictionary of patterns, received {type(keys).__name__}")
        return keys
    patterns = [_pattern(old, new) for old, new in keys.items()]

    def rename(name: str) -> str | None:
        for expression, target in patterns:
            if match := expression.fullmatch(name):
                return target if target is None else target(match)
        return name

    return rename


def _pattern(old: str | re.Pattern[str], new: str | None):
    """The expression of a pattern, and the function from its match to the new name."""
    if not isinstance(old, str | re.Pattern) or not isinstance(new, str | None):
        raise ConfigError(f"keys wants patterns and new names as text, received {old!r:.80}: {new!r:.80}")
    if isinstance(old, re.Pattern):
        return old, None if new is None else lambda match: match.expand(new)
    expression = re.compile("(.*)".join(map(re.escape, old.split("*"))), re.DOTALL)
    if new is None:
        return expression, None
    first, *rest = new.split("*")
    if len(rest) > old.count("*"):
        raise ConfigError(f"keys: {new!r} has more * than {old!r}")
    return (
        expression,
        lambda match: first + "".join(text + part for text, part in zip(match.groups(), rest, strict=False)),
    )
