"""Time limits of trainings."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from typing import Any

from labdl.errors import ConfigError

MaxTime = str | float | datetime.timedelta | Mapping[str, float]


def duration(value: MaxTime) -> float:
    """The seconds of ``max_time``: "DD:HH:MM:SS", a timedelta, ``{"hours": 2}`` with its keywords, or a number of seconds.

    Raises ConfigError for other values, and for a time that is not positive.
    """
    seconds = _seconds(value)
    if seconds is None or not 0 < seconds < math.inf:
        raise ConfigError(
            'Trainer: max_time wants "DD:HH:MM:SS", such as "00:12:00:00" for twelve hours, a timedelta, a dictionary such as '
            f'{{"hours": 12}}, or a number of seconds, received {value!r}'
        )
    return seconds


def _seconds(value: Any) -> float | None:
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        try:
            return datetime.timedelta(**value).total_seconds()
        except (TypeError, OverflowError):
            return None
    if isinstance(value, str):
        parts = re.fullmatch(r"(\d{1,6}):(\d\d):(\d\d):(\d\d)", value.strip())
        if parts is None:
            return None
        days, hours, minutes, seconds = map(int, parts.groups())
        return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
