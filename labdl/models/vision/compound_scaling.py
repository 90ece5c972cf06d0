"""Channels and depths of a network in several sizes: those of its largest table, times a width and a depth."""

from __future__ import annotations

import math


def scale_channels(channels: float, width: float, *, divisor: int = 8) -> int:
    """Multiply channels by a width, up to the next multiple of ``divisor``: ``scale_channels(64, 0.75)`` is 48."""
    return math.ceil(channels * width / divisor) * divisor


def scale_depth(blocks: int, depth: float) -> int:
    """Multiply a number of blocks by a depth, rounded, and at least 1: ``scale_depth(3, 0.33)`` is 1."""
    return max(round(blocks * depth), 1) if blocks > 1 else blocks
