"""Deterministic kernels."""

from __future__ import annotations

from typing import Protocol


class Determinism(Protocol):
    """The switch of a framework for kernels that give the same bits each time."""

    def set_deterministic(self, mode: bool, warn_only: bool) -> None:
        """Switch deterministic kernels of the current device on or off; ``warn_only`` warns of those that have no such form.

        Raises BackendError if that cannot be promised, or not be taken back.
        """
        ...
