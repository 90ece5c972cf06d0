"""Regular expressions with a limit of time: a pattern of a user or a file cannot hold up a thread."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from labdl.errors import ConfigError, DataError

SECONDS = 5.0  # for one text
_LONGEST = 10_000  # characters of a pattern

Result = TypeVar("Result")


@functools.lru_cache(256)
def compile_pattern(owner: str, pattern: str) -> Any:
    """A compiled pattern of the package ``regex``: the syntax of ``re``, with Unicode properties such as ``\\p{Han}``.

    Raises ConfigError for a pattern that cannot be parsed.
    """
    import regex

    if len(pattern) > _LONGEST:
        raise ConfigError(f"{owner} wants a pattern of at most {_LONGEST:,} characters, received {len(pattern):,}")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"{owner} wants a regular expression, received {pattern!r:.80}: {error}") from None


def limit_time(owner: str, search: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
    """The result of a method of a pattern. Raises DataError when it takes more than ``SECONDS`` for one text."""
    try:
        return search(*arguments, timeout=SECONDS, **options)
    except TimeoutError:
        raise DataError(
            f"{owner} has searched a text for {SECONDS:g} seconds and was stopped: write the pattern without repetitions "
            "inside of repetitions, such as (a+)+"
        ) from None
