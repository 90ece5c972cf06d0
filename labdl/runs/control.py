"""Commands to a run: validation, and how other processes send them through the folder control/ (docs/runs.md)."""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import orjson

from labdl.errors import ConfigError, message_of

CONTROL = "control"
LARGEST = 64 * 1024  # bytes of a command
MOST_EPOCHS = 10**9
LONGEST_PATH = 4096  # characters
_AT_ONCE = 200  # commands read at a time, so that a folder full of files cannot block the recording
_ABANDONED = 60.0  # seconds after which an unfinished file is attributed to a killed process
_IDENTITY = re.compile(r"[A-Za-z0-9_-]{1,64}")


# -- validation


def learning_rate(value: Any, name: str = "learning_rate") -> float:
    """Check a learning rate. Raises ConfigError."""
    try:
        rate = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # an integer beyond all floats
        rate = math.inf
    if not math.isfinite(rate) or rate < 0:
        raise ConfigError(f"{name} wants a number at least 0, received {_shorten(value)}")
    return rate


def more_epochs(value: Any, name: str = "add_epochs") -> int:
    """Check a number of epochs. Raises ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name} wants an integer at least 1, received {_shorten(value)}")
    if value > MOST_EPOCHS:
        raise ConfigError(f"{name} wants an integer up to {MOST_EPOCHS:,}, received {_shorten(value)}")
    return value


_BRANCHING = {"learning_rate": learning_rate, "epochs": more_epochs}


def branching(value: Any) -> dict[str, Any] | None:
    """Check the settings of a branch that differ from those of its parent; None for none. Raises ConfigError."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not all(key in _BRANCHING for key in value):
        raise ConfigError(
            f"branch wants an object of {' and '.join(_BRANCHING)}, or nothing, received {_shorten(value)}"
        )
    return {key: _BRANCHING[key](given, f"branch: {key}") for key, given in value.items() if given is not None} or None


def parameter_path(value: Any) -> str:
    """Check the path of a parameter file from the folder of a run. Raises ConfigError."""
    if not isinstance(value, str) or not value.endswith(".npz") or "\0" in value or len(value) > LONGEST_PATH:
        raise ConfigError(f"save_to wants the path of an .npz file from the run's folder, received {_shorten(value)}")
    return value


def _no_value(value: Any) -> None:
    """Ignore the value of a command that takes none."""


@dataclass(frozen=True)
class CommandType:
    """A command: its effect and its value in words, and the function that checks the value."""

    effect: str
    value: str = ""
    check: Callable[[Any], Any] = _no_value


COMMANDS = {
    "pause": CommandType("pause after the current step"),
    "resume": CommandType("continue"),
    "step": CommandType("while paused: run one step and pause again"),
    "stop": CommandType("end after the current step; the model keeps what it has learned"),
    "checkpoint": CommandType("save the training state"),
    "learning_rate": CommandType("learning rate from the next step on", "number at least 0", learning_rate),
    "add_epochs": CommandType("train for more epochs", "integer at least 1", more_epochs),
    "branch": CommandType(
        "start a second run from the current state",
        "object, optional: `learning_rate`, `epochs` (total)",
        branching,
    ),
    "save_to": CommandType(
        "write the parameters to this file from now on, because its model was renamed",
        "path of an .npz file from the folder of the run",
        parameter_path,
    ),
}


def check_command(command: Any, value: Any = None) -> Any:
    """Check a command and return its value, None for commands without one. Raises ConfigError."""
    if not isinstance(command, str) or command not in COMMANDS:
        raise ConfigError(f"command wants one of {', '.join(COMMANDS)}, received {_shorten(command)}")
    return COMMANDS[command].check(value)


def check_id(identity: Any) -> str:
    """Check the identity of a command, which is a part of a file name. Raises ConfigError."""
    if not isinstance(identity, str) or not _IDENTITY.fullmatch(identity):
        raise ConfigError(f"the id of a command wants 1 to 64 letters, digits, - and _, received {_shorten(identity)}")
    return identity


def _shorten(value: Any) -> str:
    try:
        return f"{value!r:.80}"
    except Exception:  # a number with too many digits for str(), or too deep nesting
        return f"a {type(value).__name__} that cannot be shown"


# -- transport


def append(folder: Path, command: Any, value: Any = None, identity: str | None = None) -> str:
    """Send a command to the run of a folder, and return the identity with which the run will answer.

    The file is written atomically. Raises ConfigError and OSError.
    """
    value, identity = check_command(command, value), secrets.token_hex(16) if identity is None else check_id(identity)
    control = folder / CONTROL
    if control.is_symlink():
        raise ConfigError(f"{control} is a link: a run reads its commands in its own folder only")
    control.mkdir(exist_ok=True)
    told = {"id": identity, "time": time.time(), "command": command, **({} if value is None else {"value": value})}
    name = f"{time.time_ns():020d}-{identity}"
    part = control / f".{name}.{secrets.token_hex(4)}.part"
    try:
        part.write_bytes(orjson.dumps(told))
        os.rename(part, control / f"{name}.json")
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return identity


@dataclass(frozen=True)
class Command:
    """A received command: to be carried out, or to be refused for the reason ``refusal``."""

    identity: str
    command: str
    value: Any = None
    refusal: str | None = None


class ControlFolder:
    """Reads and removes the commands to a run. Commands present at the start were for an earlier run in the folder."""

    def __init__(self, path: Path):
        self.path = path
        self._refused: set[str] = set()  # files that cannot be removed, reported once
        with contextlib.suppress(OSError):  # created with the first command
            path.mkdir()
        for name in self._names():
            with contextlib.suppress(OSError):
                (path / name).unlink()
        self._tidy()

    def commands(self) -> list[Command]:
        """Commands received since the last call, ordered by name."""
        found = []
        for name in sorted(self._names())[:_AT_ONCE]:
            command = self._take(name)
            if command is not None:
                found.append(command)
        return found

    def _names(self) -> list[str]:
        """Names of the command files; files that are still being written have hidden names."""
        try:
            # a link could lead to the commands of another run
            names = [] if self.path.is_symlink() else os.listdir(self.path)
        except OSError:
            return []  # none yet, or not readable now: the next call tries again
        return [name for name in names if name.endswith(".json") and name[0] != "." and name not in self._refused]

    def _take(self, name: str) -> Command | None:
        """Read a command file after removing it, so that no command is carried out twice."""
        path = self.path / name
        try:
            data = _read(path)
        except FileNotFoundError:
            return None  # another process removed it
        except (OSError, ValueError) as error:
            data = None
            why = message_of(error)
        try:
            path.unlink()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._refused.add(name)
            return Command(_of(name), "", refusal=f"{CONTROL}/{_of(name)} cannot be removed: {error.strerror or error}")
        return Command(_of(name), "", refusal=f"{CONTROL}/{_of(name)} {why}") if data is None else _parse(data, name)

    def _tidy(self) -> None:
        """Remove unfinished files of killed processes."""
        try:
            parts = [path for path in self.path.glob(".*.part") if not path.is_dir()]
        except OSError:
            return
        for path in parts:
            with contextlib.suppress(OSError):
                if time.time() - path.lstat().st_mtime > _ABANDONED:
                    path.unlink()


def _read(path: Path) -> bytes:
    """The bytes of a regular file. Raises ValueError for other and too large files, and OSError."""
    # links are not followed, and opening a pipe does not wait for a writer
    handle = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")))
    with open(handle, "rb") as file:
        told = os.fstat(handle)
        if not stat.S_ISREG(told.st_mode):
            raise ValueError("is not a regular file")
        if told.st_size > LARGEST:
            raise ValueError(f"is larger than any command ({told.st_size:,} bytes)")
        return file.read(LARGEST)


def _parse(data: bytes, name: str) -> Command:
    try:
        told = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return Command(_of(name), "", refusal=f"{CONTROL}/{_of(name)} is not JSON: {error!s:.200}")
    if not isinstance(told, dict):
        return Command(_of(name), "", refusal=f"{CONTROL}/{_of(name)} wants an object, received {_shorten(told)}")
    command = told.get("command")
    known = command if isinstance(command, str) and command in COMMANDS else ""
    try:
        identity = check_id(told["id"]) if told.get("id") is not None else _of(name)
    except ConfigError as error:
        return Command(_of(name), known, refusal=str(error))
    try:
        return Command(identity, str(command), check_command(command, told.get("value")))
    except ConfigError as error:
        return Command(identity, known, refusal=str(error))


def _of(name: str) -> str:
    """The identity of a command without its own: the name of its file."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name.removesuffix(".json"))[:64] or "_"
