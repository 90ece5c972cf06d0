"""Attributes under which a module of a graph holds its children: plain ones, or items of lists and dictionaries.

They have the names of the graph, as its parameters do. What is no identifier of Python is written ``setattr(self, "1conv",
…)`` and ``getattr(self, "1conv")``.
"""

from __future__ import annotations

import json
import keyword
import unicodedata
from collections.abc import Iterator

from labdl.graph.codegen.calls import Names, identifier
from labdl.graph.codegen.module_tree import Unit
from labdl.graph.graph import Graph
from labdl.nn.module import is_reserved

_LISTS, _DICTIONARIES = ("ModuleList", "ParameterList"), ("ModuleDict", "ParameterDict")


class Layout:
    """Attributes of the items of one unit, and the statements that create them."""

    def __init__(self, graph: Graph, unit: Unit):
        self.groups, self.prefix = graph.groups, f"{unit.path}/" if unit.path else ""
        self.attributes: dict[str, str] = {}
        self.lists: dict[str, str] = {}  # attribute of a list or dictionary by its path in this unit
        held = [
            n for n, item in unit.items.items() if not (item.shares if isinstance(item, Unit) else _calls(graph, item))
        ]
        names = Names()
        for name in held:
            words = name.split("/")
            if len(words) == 2 and self._lists(words[0], held) and not is_reserved(words[0]):
                if words[0] not in self.lists:
                    self.lists[words[0]] = names.new(words[0])
                key = words[1] if self._kind(words[0]) in _LISTS else repr(words[1])
                self.attributes[name] = f"{self.lists[words[0]]}[{key}]"
            else:
                word = names.new(name) if _is_attribute(name) else name
                while is_reserved(word):
                    word = names.new(f"{word}_layer")
                self.attributes[name] = word

    def _kind(self, word: str) -> str:
        return self.groups.get(self.prefix + word, "")

    def _lists(self, word: str, held: list[str]) -> bool:
        """True when the items under this name can be written as a list or dictionary."""
        inner = [n.split("/")[1:] for n in held if n.startswith(f"{word}/")]
        if identifier(word) != word or word in held or any(len(words) != 1 for words in inner):
            return False
        if self._kind(word) in _LISTS:
            return sorted(words[0] for words in inner) == sorted(str(n) for n in range(len(inner)))
        return self._kind(word) in _DICTIONARIES

    def attribute(self, owner: str, name: str) -> str:
        """The source of a child of ``owner``."""
        word = self.attributes[name]
        is_item = word.endswith("]")
        return f"{owner}.{word}" if is_item or _is_attribute(word) else f"getattr({owner}, {_text(word)})"

    def statements(self, builds: dict[str, str]) -> Iterator[str]:
        """Statements that set the attributes to the sources of ``builds``; a list is at the place of its first element."""
        for word, text in self._values(builds):
            yield f"self.{word} = {text}" if _is_attribute(word) else f"setattr(self, {_text(word)}, {text})"

    def _values(self, builds: dict[str, str]) -> Iterator[tuple[str, str]]:
        done = set()
        for name, text in builds.items():
            word = name.split("/")[0]
            if word not in self.lists or name not in self.attributes or "[" not in self.attributes[name]:
                yield self.attributes[name], text
            elif word not in done:
                done.add(word)
                inner = {n.split("/")[1]: t for n, t in builds.items() if n.startswith(f"{word}/")}
                kind = self._kind(word)
                if kind in _LISTS:
                    ordered = [inner[key] for key in sorted(inner, key=int)]
                    yield self.lists[word], f"nn.{kind}([{_lines(ordered)}])"
                else:
                    yield self.lists[word], f"nn.{kind}({{{_lines([f'{k!r}: {t}' for k, t in inner.items()])}}})"


def _is_attribute(name: str) -> bool:
    """Whether ``self.name`` is an attribute of this name: Python changes some identifiers."""
    return (
        name.isidentifier()
        and not keyword.iskeyword(name)
        and not (name.startswith("__") and not name.endswith("__"))
        and unicodedata.normalize("NFKC", name) == name
    )


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _lines(parts: list[str]) -> str:
    """Join parts on one line if they fit, else one per line."""
    if sum(map(len, parts)) < 80:
        return ", ".join(parts)
    return "".join(f"\n            {part}," for part in parts) + "\n        "


def _calls(graph: Graph, node_id: str) -> bool:
    """Nodes that need no attribute: operators, inputs, and layers that are called again."""
    node = graph.nodes[node_id]
    return bool(node.shares) or node.type.startswith("ops.") or node.type == "Input"
