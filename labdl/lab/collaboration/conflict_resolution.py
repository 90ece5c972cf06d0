"""Resolve conflicts between concurrent edits of a graph.

For example, one person removes a layer while another connects it, or both add a layer of the same name. The rules are
those of labextension/src/editor/model/conflict-resolution.ts for the canvas; this module is for the file, which is also
written when no page is open.
"""

from __future__ import annotations

import math
import re
from typing import Any

from labdl.errors import ModelError
from labdl.graph.graph import Graph
from labdl.graph.note import Note
from labdl.nn.names import LONGEST, fault_of, valid_path

_LONGEST = LONGEST - 100  # of a name to which a number is appended
_PORTS = ("source", "source_port", "target", "target_port")


def resolve_conflicts(data: dict[str, Any]) -> Graph:
    """Build a valid graph from shared data; what a file cannot hold is dropped or renamed."""
    nodes = dict(_entries(data, "nodes", "type", "name"))
    taken = {node["name"] for node in nodes.values()}
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    for node in nodes.values():
        name = node["name"]
        if name in seen or fault_of(name):
            name = unique(name, taken, numbers)
        node["name"] = name
        shares = node.pop("shares", "")
        if _is_text(shares) and shares in nodes:
            node["shares"] = shares
        node["params"] = _integers(node["params"]) if isinstance(node.get("params"), dict) else {}
        seen.add(name)
        taken.add(name)
    edges = dict(_entries(data, "edges", *_PORTS))
    edges = {key: edge for key, edge in edges.items() if edge["source"] in nodes and edge["target"] in nodes}
    positions = {key: place for key, place in data.get("positions", {}).items() if _is_text(key) and _is_place(place)}
    groups = {path: word for path, word in _words(data, "groups").items() if not fault_of(path)}
    name = data.get("name")
    return Graph.from_dict(
        {
            "name": name if _is_text(name) and name else "model",
            "nodes": nodes,
            "edges": edges,
            "positions": positions,
            "groups": groups,
            "ties": _words(data, "ties"),
            "notes": {key: note for key, note in _entries(data, "notes", "text") if _is_note(note)},
        }
    )


def unique(wanted: str, taken: set[str], numbers: dict[str, int]) -> str:
    """An unused name like `wanted`, with a higher number at the end; ``numbers`` keeps the next one of each name."""
    path = valid_path(wanted[-_LONGEST:])
    home, stroke, word = path.rpartition("/")
    if word.isdecimal():
        stem, number = home + stroke, int(word)
    elif path not in taken:
        return path
    else:
        stem, number = f"{home}{stroke}{re.sub(r'_[0-9]+$', '', word) or 'layer'}_", 1
    number = max(number, numbers.get(stem, 0))
    while f"{stem}{number}" in taken:
        number += 1
    numbers[stem] = number
    return f"{stem}{number}"


def _integers(value: Any) -> Any:
    """Convert integral floats to integers: maps hold integers as floats, and floats of undeclared type as strings."""
    if isinstance(value, dict):
        return {key: _integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _entries(data: dict[str, Any], part: str, *texts: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries of a part that have these string fields."""
    entries = data.get(part)
    return [
        (key, dict(entry))
        for key, entry in (entries.items() if isinstance(entries, dict) else ())
        if _is_text(key) and isinstance(entry, dict) and all(_is_text(entry.get(text)) for text in texts)
    ]


def _words(data: dict[str, Any], part: str) -> dict[str, str]:
    table = data.get(part)
    entries = table.items() if isinstance(table, dict) else ()
    return {key: word for key, word in entries if _is_text(key) and _is_text(word)}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_place(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(
            isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
            for number in value
        )
    )


def _is_note(value: dict[str, Any]) -> bool:
    try:
        Note.from_dict(value)
    except (ModelError, KeyError, TypeError, ValueError):
        return False
    return True
