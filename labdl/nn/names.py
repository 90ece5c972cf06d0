"""Names of layers, nodes and blocks: words joined by "/", as in the names of parameters."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z0-9_]+(/[A-Za-z0-9_]+)*")
LONGEST = 1_000  # characters
DEEPEST = 64  # words; what reads a graph lists the blocks around each node, and models have a dozen at most


def fault_of(name: object) -> str | None:
    """The fault of the name of a node or the path of a block, None for a valid one."""
    if not isinstance(name, str):
        return f"{name!r:.80}: use letters, digits and _"
    words = name.count("/") + 1
    if len(name) > LONGEST or words > DEEPEST:
        return (
            f"{name[:40]!r}... of {len(name):,} characters and {words:,} words: "
            f"use at most {LONGEST:,} characters and {DEEPEST} words"
        )
    return None if NAME.fullmatch(name) else f"{name!r}: use letters, digits and _"
