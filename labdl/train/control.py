"""Commands to a run: what they may say, and how other processes pass them on by control.jsonl."""

from __future__ import annotations

import json
import math
import secrets
import time
from numbers import Real
from pathlib import Path
from typing import Any

from labdl.errors import ConfigError

PLAIN = ("pause", "resume", "stop", "checkpoint")  # commands without a value


def learning_rate(value: Any) -> float:
    """A learning rate that can be set while a run goes on. Raises ConfigError."""
    try:
        rate = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # an integer beyond all floats
        rate = math.inf
    if not math.isfinite(rate) or rate < 0:
        raise ConfigError(f"learning_rate wants a number at least 0, received {_shown(value)}")
    return rate


def more_epochs(value: Any) -> int:
    """A number of epochs that can be added. Raises ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"add_epochs wants an integer at least 1, received {_shown(value)}")
    return value


VALUED = {"learning_rate": learning_rate, "add_epochs": more_epochs}


def checked(command: Any, value: Any = None) -> Any:
    """The value with which a command is carried out, None for those without one. Raises ConfigError."""
    if command in PLAIN:
        return None
    if not isinstance(command, str) or command not in VALUED:
        raise ConfigError(f"command wants one of {', '.join((*PLAIN, *VALUED))}, received {_shown(command)}")
    return VALUED[command](value)


def _shown(value: Any) -> str:
    return f"{value!r:.80}"


CONTROL = "control.jsonl"


def append(folder: Path, command: Any, value: Any = None) -> None:
    """Leave a command for the run of a folder; appending is atomic for a line this short. Raises ConfigError and OSError."""
    value = checked(command, value)
    line = {"id": secrets.token_hex(16), "time": time.time(), "command": command}
    with open(folder / CONTROL, "a", encoding="utf-8") as file:
        file.write(json.dumps(line if value is None else {**line, "value": value}) + "\n")


class ControlFile:
    """Lines such as ``{"command": "pause"}`` and ``{"command": "learning_rate", "value": 1e-4}``, read as they come.

    What stands there already was meant for an earlier run in the same folder.
    """

    def __init__(self, path: Path):
        self.path = path
        self._read = path.stat().st_size if path.exists() else 0

    def commands(self) -> list[tuple[str, Any]]:
        """Those that have come since the last call, with their checked values (None for those without one)."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            self._read = 0  # none yet, or the folder has vanished: the next one begins anew
            return []
        except OSError:
            return []  # it cannot be read at this moment; it is asked for again soon
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return [command for line in whole.splitlines() if (command := _command(line)) is not None]


def _command(line: bytes) -> tuple[str, Any] | None:
    """The command in a line, None for what is none: the file is open to other writers."""
    try:
        given = json.loads(line)
        name = given.get("command")
        return name, checked(name, given.get("value"))
    except (ValueError, AttributeError, RecursionError):
        return None
