"""The line of a person's code that calls an operator, for error messages."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import labdl
from labdl.nn.module import Module

_ROOT = Path(labdl.__file__).parent
# between an operator and the line that called it: the operator, and the observers of a search
_MACHINERY = tuple(
    str(_ROOT / part)
    for part in ("ops", "backends", "dispatch.py", "train/nonfinite_origin.py", "train/source_location.py")
)
_MODELS = _ROOT / "models"  # their code is read like a person's own


@dataclass(frozen=True)
class Location:
    """A line of source, and the module whose forward it belongs to; None if it belongs to none."""

    file: str
    line: int
    module: Module | None

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.line).strip()
        # the files of cells have numbers for names
        cell = "ipykernel_" in self.file or self.file.startswith("<")
        place = f"line {self.line} of {'a cell' if cell else Path(self.file).name}"
        return f"{place}, `{text[:120]}`" if text else place


def caller_location() -> Location | None:
    """The line that called the operator that is running; None if a layer, a loss or a graph of LabDL called it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_MACHINERY):
        frame = frame.f_back
    if frame is None:
        return None
    file = Path(frame.f_code.co_filename)
    if file.is_relative_to(_ROOT) and not file.is_relative_to(_MODELS):
        return None
    return Location(str(file), frame.f_lineno, _module_of(frame))


def _module_of(frame: FrameType | None) -> Module | None:
    while frame is not None:
        owner: Any = frame.f_locals.get("self")
        if frame.f_code.co_name == "forward" and isinstance(owner, Module):
            return owner
        frame = frame.f_back
    return None
