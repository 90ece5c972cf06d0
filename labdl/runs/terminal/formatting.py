"""Formatting of numbers and durations."""

from __future__ import annotations

import math
import time


def figure(value: float | None) -> str:
    """Four significant digits; very small and very large numbers in powers of ten."""
    if value is None or math.isnan(value):
        return "NaN"
    size = abs(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if size and (size < 1e-3 or size >= 1e6):
        return f"{value:.2e}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:#.4g}".rstrip(".")


def duration(seconds: float) -> str:
    """7 is 0:07, 83 is 1:23, 3723 is 1:02:03."""
    minutes, rest = divmod(max(0, round(min(seconds, 1e12))), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def age(seconds: float) -> str:
    """A time span in its largest unit: 40 s, 12 min, 3 h, 5 d."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


def moment(seconds: float | None) -> str:
    """Local date and time of seconds since 1970."""
    try:
        return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):  # a time outside of the calendar
        return ""


def printable(text: str, limit: int) -> str:
    """A text on one line without control characters, cut at a limit."""
    line = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def pluralize(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"
