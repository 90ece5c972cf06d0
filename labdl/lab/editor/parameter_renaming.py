"""Renaming of entries in a parameter file when the layers of its document are renamed or grouped."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from labdl.bounded.atomic_write import replace_files
from labdl.errors import FileFormatError
from labdl.graph.graph import Graph
from labdl.saving import structure
from labdl.saving.parameters import ParameterFile, write_parameters

log = logging.getLogger(__name__)

_TRIES = 3


def follow(file: Path | None, before: bytes, after: bytes) -> dict[str, str]:
    """Rename entries of a document's parameter file as its layers were renamed between two structure files.

    Returns the renamed layers. A file that is broken or cannot be written stays unchanged: the error is reported where it is
    used. If a training writes the file meanwhile, it is read again; a running training keeps writing the names with which
    it started.
    """
    if file is None:
        return {}
    try:
        old, new = structure.decode(before, "before"), structure.decode(after, "after")
        names = find_renamed(old, new)
        if names:
            _rename(file, names, [node.name for node in old.nodes.values()])
        return names
    except (FileFormatError, OSError) as error:
        log.warning("%s keeps its names: %s", file.name, error)
        return {}


def find_renamed(before: Graph, after: Graph) -> dict[str, str]:
    """Map old names of layers to new ones.

    A layer is the same if its id, type and settings are equal. If hardly any layer is, the file was replaced by another
    document whose ids are equal by chance.
    """
    same = [
        (node, after.nodes[at])
        for at, node in before.nodes.items()
        if at in after.nodes and _alike(node, after.nodes[at])
    ]
    if 2 * len(same) < len(before.nodes):
        return {}
    return {old.name: new.name for old, new in same if old.name != new.name}


def _alike(one, other) -> bool:
    return (one.type, dict(one.params), one.shares) == (other.type, dict(other.params), other.shares)


def _rename(file: Path, names: Mapping[str, str], layers: list[str]) -> None:
    for _ in range(_TRIES):
        with ParameterFile(file) as entries:
            told = {entry: _new_name(entry, names, layers) for entry in entries}
            moved = {new for entry, new in told.items() if new != entry}
            if not moved:
                return
            # entries of removed layers give way
            kept = {entry: new for entry, new in told.items() if new != entry or entry not in moved}
            opened = _state(file)
            try:
                with replace_files(file) as (target,):
                    write_parameters(target, ((new, entries[entry]) for entry, new in kept.items()), note=entries.note)
                    if _state(file) != opened:
                        raise _ChangedError
                return
            except _ChangedError:
                continue
    log.warning("%s keeps its names: it is being written repeatedly", file.name)


def _new_name(entry: str, names: Mapping[str, str], layers: list[str]) -> str:
    """The new name of an entry: its layer is the one with the longest name that is a prefix."""
    owner = max((layer for layer in layers if entry.startswith(f"{layer}/")), key=len, default=None)
    return entry if owner is None else names.get(owner, owner) + entry[len(owner) :]


def _state(file: Path) -> tuple[int, int, int]:
    status = os.stat(file)
    return status.st_ino, status.st_mtime_ns, status.st_size


class _ChangedError(Exception):
    """The file changed while it was copied."""
