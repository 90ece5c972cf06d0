"""Files of the built front end."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"


def read_static(name: str) -> str:
    """Read a file of the built front end, which is not in the source tree. Raises FileNotFoundError."""
    path = STATIC / name
    if not path.is_file():
        raise FileNotFoundError(f"the front end of labdl has not been built ({path} is missing): run `make lab`")
    return path.read_text(encoding="utf-8")
