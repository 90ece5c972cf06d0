"""Names of nodes and blocks: words joined by "/", as in the names of parameters."""

from __future__ import annotations

import re
from collections import Counter

NAME = re.compile(r"[A-Za-z0-9_]+(/[A-Za-z0-9_]+)*")
LONGEST = 1_000  # characters
DEEPEST = 64  # words; what reads a graph lists the blocks around each node, and models have a dozen at most


def fault_of(name: object) -> str | None:
    """The fault of the name of a node or the path of a block, None for a valid one."""
    if not isinstance(name, str):
        return f"{name!r:.80}: use letters, digits and _"
    words = name.count("/") + 1
    if len(name) > LONGEST or words > DEEPEST:
        return (
            f"{name[:40]!r}... of {len(name):,} characters and {words:,} words: "
            f"use at most {LONGEST:,} characters and {DEEPEST} words"
        )
    return None if NAME.fullmatch(name) else f"{name!r}: use letters, digits and _"


class UnusedNames:
    """Unused names: one that is taken gets the next number, counted for each name, so that many equal names are fast."""

    def __init__(self, *taken: str):
        self.taken = set(taken)
        self._last: Counter[str] = Counter()

    def new(self, name: str) -> str:
        """The name, or the name with a number; it is taken from now on."""
        word = name
        while word in self.taken:
            self._last[name] += 1
            word = f"{name}_{self._last[name]}"
        self.taken.add(word)
        return word
