"""Docstrings of transforms in their parts: a line for menus, details, and the source of the meaning."""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

_SOURCE = re.compile(r"\s*Source:\s(.+?)\.?\s*(?=\n\n|\Z)", re.DOTALL)  # to the end of its paragraph


class Documentation(NamedTuple):
    """The parts of a docstring; ``details`` and ``source`` are empty where it has none."""

    summary: str
    details: str
    source: str


def documentation(cls: type) -> Documentation:
    """The parts of a transform's docstring."""
    text = inspect.cleandoc(cls.__doc__ or "")
    source = _SOURCE.search(text)
    summary, _, details = _SOURCE.sub("", text, count=1).partition("\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in details.split("\n\n")]
    return Documentation(
        summary.strip(), "\n\n".join(filter(None, paragraphs)), " ".join(source[1].split()) if source else ""
    )
