"""Configuration from environment variables, then the project's labdl.toml, then the user's.

::

    # labdl.toml, in the working directory or a folder above it; or in the user's configuration folder
    backend = "paddle"                        # the default backend;                   LABDL_BACKEND=paddle
    device = "cuda:0"                         # where the frameworks compute;          LABDL_DEVICE=cuda:0
    backends = ["mindspore", "paddle"]        # loaded together, in a safe order;      LABDL_BACKENDS=mindspore,paddle

Files are read lazily and once per process: edits take effect on restart.
"""

from __future__ import annotations

import functools
import os
import reprlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labdl.bounded.files import read_file
from labdl.errors import ConfigError

FILE = "labdl.toml"
_LARGEST = 1 << 14  # bytes: the memory of a key of many parts grows with the square of their number
# each key with an example, whose type is the expected one
KEYS: dict[str, Any] = {"backend": "torch", "device": "cuda:0", "backends": ["paddle", "tensorflow"]}


@dataclass(frozen=True)
class Setting:
    """A value, a string or a tuple of strings, and its origin for error messages."""

    value: Any
    origin: str


def setting(key: str) -> Setting | None:
    """Value of a key from the environment, the project's file or the user's file, in this order; None if none has it.

    Raises ConfigError for an invalid file.
    """
    variable = f"LABDL_{key.upper()}"
    text = os.environ.get(variable, "").strip()
    if text:
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        return Setting(names if isinstance(KEYS[key], list) else text, variable)
    for path in _files(_folder()):
        found = _read(path)
        if key in found:
            return Setting(found[key], f"{key} in {path}")
    return None


def user_file() -> Path:
    """Path of the user's configuration file."""
    import platformdirs  # imported lazily: only used here

    return platformdirs.user_config_path("labdl", appauthor=False) / FILE


def _folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the working directory has been deleted
        return None


@functools.cache
def _files(folder: str | None) -> tuple[Path, ...]:
    """Configuration files for a working directory, the project's before the user's."""
    above = () if folder is None else (Path(folder), *Path(folder).parents)
    project = next((path for path in (f / FILE for f in above) if path.is_file()), None)
    user = user_file()
    return tuple(dict.fromkeys(path for path in (project, user if user.is_file() else None) if path is not None))


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    """Read and validate a configuration file. Raises ConfigError."""
    import tomllib  # imported lazily: most processes have no file

    try:
        found = tomllib.loads(read_file(path, _LARGEST, "configuration").decode())
    except RecursionError:
        raise ConfigError(f"{path} cannot be read as TOML: it is nested too deeply") from None
    except (OSError, ValueError) as error:  # unreadable; not TOML, or not UTF-8
        raise ConfigError(f'{path} cannot be read as TOML: {error}; write for example backend = "torch"') from None
    for key, value in found.items():
        if key not in KEYS:
            raise ConfigError(f"{path}: unknown key {key!r:.80}: remove it, or use one of {', '.join(KEYS)}")
        example, texts = KEYS[key], value if isinstance(value, list) else [value]
        if type(value) is not type(example) or not all(isinstance(t, str) and t.strip() for t in texts):
            kind = "a list of texts" if isinstance(example, list) else "a text"
            shown = repr(example).replace("'", '"')
            raise ConfigError(f"{path}: {key} wants {kind}, received {_show(value)}: write for example {key} = {shown}")
    return {key: tuple(value) if isinstance(value, list) else value for key, value in found.items()}


def _show(value: Any) -> str:
    """A value in short, whatever its depth and size."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python does not write integers of thousands of digits
        return "an integer of thousands of digits"
