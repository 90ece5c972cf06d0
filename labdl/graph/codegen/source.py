"""Python source of a graph: one class for each kind of module."""

from __future__ import annotations

import re
import unicodedata

from labdl.graph.codegen.calls import Names
from labdl.graph.codegen.classes import Marks, ModuleWriter
from labdl.graph.codegen.module_tree import Unit
from labdl.graph.graph import Graph


def class_name(name: str) -> str:
    """The name of a model as the name of its class; words of any language stay."""
    parts = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name))
    words = "".join(w[:1].upper() + w[1:] for w in parts).lstrip("0123456789")
    if not words.isidentifier():
        words = "".join(c for c in words if c.isidentifier())
    return f"{words}Model" if words in ("None", "True", "False") else words or "Model"


def to_python(graph: Graph, *, sequential: bool = False) -> str:
    """Source text whose last class is a model with a trace equal to the graph. Raises ModelError for unknown layers.

    Modules of one class that differ in settings become one class with these settings as arguments; if they differ in structure,
    the second class is called Block_2. With ``sequential``, a chain of layers named 0, 1, … becomes
    ``model = nn.Sequential(…)`` in place of a class, whose attributes could not be called so.
    """
    writer = ModuleWriter(graph)
    names, body = Names("nn", "ops", "_"), []
    families: dict[object, list[Unit]] = {}
    for unit in writer.root.units():  # innermost first: others use their classes
        if unit.path and not unit.shares and unit.kind != "Sequential":
            families.setdefault(writer.skeleton(unit), []).append(unit)
    for units in families.values():
        keys = {name: {k for u in units for k in writer.settings_of(u, name)} for name in units[0].items}
        templates: dict[tuple[str, ...], list[tuple[Unit, Marks]]] = {}
        for unit in units:
            marks = Marks()
            templates.setdefault(tuple(writer.render(unit, keys, marks)), []).append((unit, marks))
        for lines, members in templates.items():
            word = names.new(members[0][0].kind)
            body += ["", "", f"class {word}(nn.Module):", *_class_of(writer, word, list(lines), members)]
    marks = Marks()
    rows = writer.sequential_rows(marks) if sequential else None
    if rows is None:
        lines = [f"class {names.new(class_name(graph.name))}(nn.Module):", *writer.render(writer.root, {}, marks)]
    else:
        lines = ["model = nn.Sequential(", *(f"    {row}," for row in rows), ")"]
    body += ["", "", *marks.fill(lines, [text for _, text, _ in marks.found])]
    text = "\n".join(body)
    used = [name for name in ("nn", "ops") if re.search(rf"\b{name}\.", text)]
    return "\n".join([*sorted({f"from labdl import {', '.join(used)}", *writer.imports}), *body, ""])


def _class_of(writer: ModuleWriter, word: str, lines: list[str], members: list[tuple[Unit, Marks]]) -> list[str]:
    """The lines of one class for several modules: settings in which they differ become its arguments."""
    taken = Names("self", "nn", "ops", *{w for line in lines for w in re.findall(r"self\.(\w+)", line)})
    arguments: dict[tuple[str, ...], str] = {}  # by the literals of the modules
    words, kept = [], []
    for at, (name, text, runs) in enumerate(members[0][1].found):
        values = tuple(marks.found[at][1] for _, marks in members)
        if len(set(values)) == 1:
            words.append(text)
            continue
        if values not in arguments:
            arguments[values] = taken.new(name)
        argument = arguments[values]
        words.append(f"self.{argument}" if runs else argument)
        if runs and argument not in kept:
            kept.append(argument)
    lines = Marks.fill(lines, words)
    lines[0] = f"    def __init__({', '.join(['self', *arguments.values()])}):"
    lines[2:2] = [f"        self.{argument} = {argument}" for argument in kept]
    for at, (unit, _) in enumerate(members):
        writer.made[unit.path] = (word, [(argument, values[at]) for values, argument in arguments.items()])
    return lines
