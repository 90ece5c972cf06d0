"""Parameters beside a document follow its layers to new names: a layer keeps its id when it is renamed or grouped."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from labdl.errors import FileFormatError
from labdl.graph.graph import Graph
from labdl.saving import structure
from labdl.saving.atomic_write import replacing
from labdl.saving.parameters import ParameterFile, write_parameters

log = logging.getLogger(__name__)

_TRIES = 3


def follow(file: Path | None, before: bytes, after: bytes) -> dict[str, str]:
    """Rename entries of a document's parameter file as its layers were renamed between two structure files.

    Gives the layers that were renamed. A file that is broken, or that cannot be written, stays as it is: what is wrong with
    it is said where it is used. One that a training writes meanwhile is read again; while a training goes on it keeps
    writing the names that it began with.
    """
    if file is None:
        return {}
    try:
        old, new = structure.decode(before, "before"), structure.decode(after, "after")
        names = renamed(old, new)
        if names:
            _rename(file, names, [node.name for node in old.nodes.values()])
        return names
    except (FileFormatError, OSError) as error:
        log.warning("%s keeps its names: %s", file.name, error)
        return {}


def renamed(before: Graph, after: Graph) -> dict[str, str]:
    """New names of layers by their old ones.

    It is the same layer where the id, the type and the settings are the same. Where hardly any layer is, one document was
    saved over another whose ids are alike by chance.
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
            # what a layer that is gone has left behind makes room
            kept = {entry: new for entry, new in told.items() if new != entry or entry not in moved}
            opened = _state(file)
            try:
                with replacing(file) as (target,):
                    write_parameters(target, ((new, entries[entry]) for entry, new in kept.items()), note=entries.note)
                    if _state(file) != opened:
                        raise _ChangedError
                return
            except _ChangedError:
                continue
    log.warning("%s keeps its names: it is being written all the time", file.name)


def _new_name(entry: str, names: Mapping[str, str], layers: list[str]) -> str:
    """The name of an entry whose layer, the one with the longest name that leads it, may have been renamed."""
    owner = max((layer for layer in layers if entry.startswith(f"{layer}/")), key=len, default=None)
    return entry if owner is None else names.get(owner, owner) + entry[len(owner) :]


def _state(file: Path) -> tuple[int, int, int]:
    status = os.stat(file)
    return status.st_ino, status.st_mtime_ns, status.st_size


class _ChangedError(Exception):
    """Another has written the file while it was copied."""
