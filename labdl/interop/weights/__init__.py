"""Names and layouts of parameters in the corresponding layers of each framework.

One file per framework, found by its name, which does not import it: checkpoints can be converted without the frameworks.
``LAYERS`` has for each type of layer its mappings, or a function of the layer that returns them. Other layers, such as a
user's own modules, have the same names and axes in the framework.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from labdl.interop.weights.mapping import PartMapping, WeightMapping, join, rename

__all__ = [
    "LayerMapping",
    "PartMapping",
    "WeightMapping",
    "join",
    "layer_mapping",
    "layer_table",
    "mappings",
    "variables_of",
]

Layers = Mapping[str, tuple[WeightMapping | PartMapping, ...] | Callable[[Any], list[WeightMapping | PartMapping]]]


def layer_table(framework: str) -> Layers:
    """The table of a framework."""
    return importlib.import_module(f"labdl.interop.weights.{framework}").LAYERS


class LayerMapping(NamedTuple):
    """Mappings of a layer's own parameters, and its children: LabDL's name and the child by the framework's name."""

    mappings: list[WeightMapping]
    parts: dict[str, tuple[str, Any]]


def layer_mapping(layers: Layers, branch) -> LayerMapping:
    """The mapping of a layer for the framework; ``branch`` is a `labdl.nn.native.Branch`."""
    # a module of another package may be called Linear, too
    entry = layers.get(branch.kind, ()) if type(branch.settings).__module__.startswith("labdl.nn.") else ()
    there, covered, found = set(_paths(branch)), set(), LayerMapping([], {})
    for item in entry(branch) if callable(entry) else entry:
        if isinstance(item, PartMapping):
            part = _part(branch, item.own)
            if part is not None:
                found.parts[item.native] = item.own, part
                covered.update(join(item.own, path) for path in _paths(part))
        elif there.issuperset(item.own):  # a layer without a bias has no mapping for it
            found.mappings.append(item)
            covered.update(item.own)
    own = [name for name in branch.parameters if name not in covered]
    found.mappings.extend(rename(name) for name in sorted(own, key=lambda n: not branch.parameters[n].learnable))
    for name, part in branch.parts.items():
        inside = [join(name, path) for path in _paths(part)]
        if not inside or not covered.issuperset(inside):
            found.parts.setdefault(name, (name, part))
    return found


def mappings(layers: Layers, branch, own: str = "", native: str = "") -> Iterator[WeightMapping]:
    """All mappings of a model, with full names; a shared layer occurs at each of its paths."""
    here = layer_mapping(layers, branch)
    for mapping in here.mappings:
        yield mapping._replace(
            own=tuple(join(own, n) for n in mapping.own),
            native=tuple(join(native, n) for n in mapping.native),
            aliases=tuple(join(native, n) for n in mapping.aliases),
            earlier=tuple(join(native, n) for n in mapping.earlier),
        )
    for name, (path, part) in here.parts.items():
        yield from mappings(layers, part, join(own, path), join(native, name))


def variables_of(here: LayerMapping, branch) -> Iterator[tuple[str, Any]]:
    """A layer's parameters by the names in a native module: those of the framework where a mapping is direct.

    Parameters that the framework packs or splits keep LabDL's names, because the variables are those of the model.
    """
    for mapping in here.mappings:
        for own, name in zip(mapping.own, mapping.native if mapping.direct else mapping.own, strict=False):
            home, _, word = own.rpartition("/")
            yield name or "value", _part(branch, home).parameters[word]


def _paths(branch) -> Iterator[str]:
    yield from branch.parameters
    for name, part in branch.parts.items():
        for path in _paths(part):
            yield join(name, path)


def _part(branch, path: str) -> Any:
    for word in path.split("/") if path else ():
        branch = None if branch is None else branch.parts.get(word)
    return branch
