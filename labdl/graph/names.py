"""Names that are not taken yet."""

from __future__ import annotations

from collections import Counter


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
