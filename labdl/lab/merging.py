"""What several people have made of a graph together, mended where each did what the others could not know of.

One removes a layer while another connects it; both add a layer of the same name. labextension/src/editor/merging.ts
mends the same on the canvas, by the same rules; this is for the file, which must be written whoever is there.
"""

from __future__ import annotations

import functools
import math
import re
import typing
from typing import Any

from labdl.errors import ModelError
from labdl.graph.graph import NAME, Graph
from labdl.graph.note import Note
from labdl.nn.schema import LAYERS

_PORTS = ("source", "source_port", "target", "target_port")


def mended(data: dict[str, Any]) -> Graph:
    """The graph of data from shared maps; what could not stand in a file is left out or renamed."""
    nodes = dict(_entries(data, "nodes", "type", "name"))
    taken = {node["name"] for node in nodes.values()}
    seen: set[str] = set()
    for node in nodes.values():
        name = node["name"]
        if name in seen or not NAME.fullmatch(name):
            name = unique(name, taken)
        node["name"] = name
        shares = node.pop("shares", "")
        if _is_text(shares) and shares in nodes:
            node["shares"] = shares
        node["params"] = typed(node["type"], node["params"]) if isinstance(node.get("params"), dict) else {}
        seen.add(name)
        taken.add(name)
    edges = dict(_entries(data, "edges", *_PORTS))
    edges = {key: edge for key, edge in edges.items() if edge["source"] in nodes and edge["target"] in nodes}
    positions = {key: place for key, place in data.get("positions", {}).items() if _is_text(key) and _is_place(place)}
    groups = {path: word for path, word in _words(data, "groups").items() if NAME.fullmatch(path)}
    name = data.get("name")
    return Graph.from_dict({
        "name": name if _is_text(name) and name else "model",
        "nodes": nodes,
        "edges": edges,
        "positions": positions,
        "groups": groups,
        "ties": _words(data, "ties"),
        "notes": {key: note for key, note in _entries(data, "notes", "text") if _is_note(note)},
    })  # fmt: skip


def unique(wanted: str, taken: set[str]) -> str:
    """A name like `wanted` that nobody has; numbers go on counting."""
    path = "/".join(re.sub(r"[^A-Za-z0-9_]", "_", word) or "layer" for word in wanted.split("/"))
    home, stroke, word = path.rpartition("/")
    if word.isdecimal():
        stem, number = home + stroke, int(word)
    elif path not in taken:
        return path
    else:
        stem, number = f"{home}{stroke}{re.sub(r'_[0-9]+$', '', word) or 'layer'}_", 1
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"


def typed(kind: str, params: dict[str, Any]) -> dict[str, Any]:
    """Settings with the numbers that their layer declares: the maps know only one kind of number."""
    declared = _kinds(LAYERS[kind]) if kind in LAYERS else {}
    return {key: _typed(value, declared.get(key, set())) for key, value in params.items()}


def _typed(value: Any, kinds: set[type]) -> Any:
    if isinstance(value, dict):
        return {key: _typed(item, kinds) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item, kinds) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if float in kinds and int not in kinds:
        return float(value)
    return int(value) if float(value).is_integer() else value


@functools.cache
def _kinds(layer: type) -> dict[str, set[type]]:
    """The kinds of values that each setting of a layer is made of."""

    def of(hint: Any) -> set[type]:
        inner = [of(part) for part in typing.get_args(hint) if part is not ...]
        return set().union(*inner) if inner else {hint} if isinstance(hint, type) else set()

    return {name: of(hint) for name, hint in typing.get_type_hints(layer).items()}


def _entries(data: dict[str, Any], part: str, *texts: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries of a part that have these texts."""
    entries = data.get(part)
    return [(key, dict(entry)) for key, entry in (entries.items() if isinstance(entries, dict) else ())
            if _is_text(key) and isinstance(entry, dict) and all(_is_text(entry.get(text)) for text in texts)]  # fmt: skip


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
