"""Graph data in the maps of a shared document, laid out as the editor has it (labextension/src/editor/model/document.ts)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from pycrdt import Doc, Map

from labdl.errors import FileFormatError

ENTRIES = ("nodes", "edges", "notes")  # a map for each entry, so that two people can change different fields
ROOTS = (*ENTRIES, "positions", "meta")
_ORDERED = ("nodes", "edges")  # the order of inputs and of edges into a port matters, and maps have none
_TABLES = ("groups", "ties")
_EXACT = 2**53  # largest exact integer of JavaScript
_LONGEST = 2**63


def roots(doc: Doc) -> dict[str, Map]:
    return {name: doc.get(name, type=Map) for name in ROOTS}


def write(maps: Mapping[str, Map], data: Mapping[str, Any]) -> None:
    """Update the maps from graph data, touching only what differs; unknown keys are kept."""
    data = shareable(data)
    for name in ENTRIES:
        entries = data.get(name, {})
        _drop_others(maps[name], entries)
        for order, (key, values) in enumerate(entries.items()):
            ranked = values | {"order": float(order)} if name in _ORDERED else values
            _write_entry(maps[name], key, ranked)
            if name == "nodes" and "shares" not in values:
                maps[name][key].pop("shares", None)
    _drop_others(maps["positions"], data["positions"])
    _set_all(maps["positions"], data["positions"])
    _set_all(maps["meta"], {key: data[key] for key in ("name", "version", *_TABLES) if key in data})


def read(maps: Mapping[str, Map]) -> dict[str, Any]:
    """Read the data of the maps in a deterministic order; conflicts are not resolved."""
    found: dict[str, Any] = {name: dict(_sorted(maps[name].to_py() or {})) for name in (*ENTRIES, "positions")}
    meta = maps["meta"].to_py() or {}
    ranks = {key: rank for rank, key in enumerate(found["nodes"])}
    places = sorted(found["positions"].items(), key=lambda item: ranks.get(item[0], len(ranks)))
    tables = {name: dict(_sorted(meta[name])) for name in _TABLES if isinstance(meta.get(name), dict)}
    return found | meta | tables | {"positions": dict(places)}


def _sorted(entries: dict[str, Any]) -> list[tuple[str, Any]]:
    """Sort by the order field; equal ones (added at the same time) by key."""

    def rank(item: tuple[str, Any]) -> tuple[float, str]:
        key, entry = item
        order = entry.get("order") if isinstance(entry, dict) else None
        return (order if isinstance(order, float) and not math.isnan(order) else math.inf), key

    return sorted(entries.items(), key=rank)


def shareable(value: Any) -> Any:
    """Convert JSON data for the maps, integers to floats. Raises FileFormatError for values that maps cannot hold."""
    if isinstance(value, dict):
        return {shareable(key): shareable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [shareable(item) for item in value]
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise FileFormatError(f"This file cannot be shared: it holds {value!r:.80}, which is not Unicode") from None
    elif isinstance(value, int) and not isinstance(value, bool):
        if not -_LONGEST <= value < _LONGEST:
            raise FileFormatError("This file cannot be shared: it holds an integer of more than 64 bits")
        return float(value) if -_EXACT <= value <= _EXACT else value
    return value


def _write_entry(entries: Map, key: str, values: dict[str, Any]) -> None:
    if not isinstance(entries.get(key), Map):
        entries[key] = Map()
    entry = entries[key]
    for name, value in values.items():
        if name == "params":
            if not isinstance(entry.get(name), Map):
                entry[name] = Map()
            _drop_others(entry[name], value)
            _set_all(entry[name], value)
        else:
            _set_all(entry, {name: value})


def _set_all(entries: Map, values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if key not in entries or not _same(entries[key], value):
            entries[key] = value


def _same(held: Any, value: Any) -> bool:
    try:
        return json.dumps(held, sort_keys=True) == json.dumps(value, sort_keys=True)
    except TypeError:  # a map that another page has put there
        return False


def _drop_others(entries: Map, wanted: Mapping[str, Any]) -> None:
    for key in list(entries.keys()):
        if key not in wanted:
            del entries[key]
