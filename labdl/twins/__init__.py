"""What parameters are called, and how they lie, in each framework's own layer of the same kind.

One file a framework, found by its name, which imports nothing of it: a file of one framework becomes a file of another where
neither is installed. ``LAYERS`` of such a file has for a kind of layer its links, or a function of the layer that gives them.
What has no line there, a module of a user's own for one, has the same names and axes in the framework.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from labdl.twins.layout import Link, Part, joined, same

__all__ = ["Level", "Link", "Part", "held", "joined", "layers_of", "level", "links"]

Layers = Mapping[str, tuple[Link | Part, ...] | Callable[[Any], list[Link | Part]]]


def layers_of(framework: str) -> Layers:
    """The table of a framework."""
    return importlib.import_module(f"labdl.twins.{framework}").LAYERS


class Level(NamedTuple):
    """What a layer holds itself, and its parts: by the framework's name LabDL's name and the part."""

    links: list[Link]
    parts: dict[str, tuple[str, Any]]


def level(layers: Layers, branch) -> Level:
    """A layer as the framework has it; ``branch`` is a `labdl.nn.native.Branch`."""
    # a module of somebody else's may be called Linear, too
    entry = layers.get(branch.kind, ()) if type(branch.settings).__module__.startswith("labdl.nn.") else ()
    there, covered, found = set(_paths(branch)), set(), Level([], {})
    for item in entry(branch) if callable(entry) else entry:
        if isinstance(item, Part):
            part = _part(branch, item.own)
            if part is not None:
                found.parts[item.native] = item.own, part
                covered.update(joined(item.own, path) for path in _paths(part))
        elif there.issuperset(item.own):  # a layer without a bias has no link for it
            found.links.append(item)
            covered.update(item.own)
    own = [name for name in branch.parameters if name not in covered]
    found.links.extend(same(name) for name in sorted(own, key=lambda n: not branch.parameters[n].learnable))
    for name, part in branch.parts.items():
        inside = [joined(name, path) for path in _paths(part)]
        if not inside or not covered.issuperset(inside):
            found.parts.setdefault(name, (name, part))
    return found


def links(layers: Layers, branch, own: str = "", native: str = "") -> Iterator[Link]:
    """All links of a model, with whole names; a layer that stands in two places is met in both."""
    here = level(layers, branch)
    for link in here.links:
        yield link._replace(
            own=tuple(joined(own, n) for n in link.own),
            native=tuple(joined(native, n) for n in link.native),
            also=tuple(joined(native, n) for n in link.also),
        )
    for name, (path, part) in here.parts.items():
        yield from links(layers, part, joined(own, path), joined(native, name))


def held(here: Level, branch) -> Iterator[tuple[str, Any]]:
    """Where a native module of the framework keeps a layer's parameters: under the framework's names, where they are alike.

    What the framework packs or splits keeps LabDL's names, because the variables are the model's very own.
    """
    for link in here.links:
        for own, name in zip(link.own, link.native if link.direct else link.own, strict=False):
            home, _, word = own.rpartition("/")
            yield name or "value", _part(branch, home).parameters[word]


def _paths(branch) -> Iterator[str]:
    yield from branch.parameters
    for name, part in branch.parts.items():
        for path in _paths(part):
            yield joined(name, path)


def _part(branch, path: str) -> Any:
    for word in path.split("/") if path else ():
        branch = None if branch is None else branch.parts.get(word)
    return branch
