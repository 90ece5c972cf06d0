"""Settings in pixels: counts, and sizes that are one number or (height, width)."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

Pixels = Annotated[int, Ge(1)]
Offset = Annotated[int, Ge(0)]
Size = Pixels | tuple[Pixels, Pixels]


def pair(size: int | tuple[int, int]) -> tuple[int, int]:
    """Height and width of a size that is one number for both, or a pair."""
    return (size, size) if isinstance(size, int) else size
