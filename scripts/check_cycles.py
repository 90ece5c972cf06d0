#!/usr/bin/env python3
"""Find cycles of run-time imports between the Python modules of labdl; exits with 1 where there is one.

    python scripts/check_cycles.py [--root DIR] [--all] [--list]

Imports under ``if TYPE_CHECKING:`` do not count. Imports inside functions do: they postpone a cycle, they do not remove it.
A name that a package re-exports counts as an import of the module that defines it: ``from labdl.ops import relu`` is an
import of ``labdl.ops.activation``, and ``ops.relu`` after ``from labdl import ops`` is one too. ``ALLOWED`` lists, with
reasons, the function-level imports that close a cycle and stay.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

Edge = tuple[str, str]

# importer, imported: function-level imports that close a cycle and stay. Each needs a reason.
_METHOD = "a method of the class calls a function on the class, so that users need to know one name only"
ALLOWED: dict[Edge, str] = {
    ("labdl.graph.graph", "labdl.graph.analysis.check"): _METHOD,  # Graph.check
    ("labdl.graph.graph", "labdl.graph.analysis.cost"): _METHOD,  # Graph.summary
    ("labdl.graph.graph", "labdl.graph.codegen.source"): _METHOD,  # Graph.to_python
    ("labdl.graph.graph", "labdl.graph.drawing.render"): _METHOD,  # Graph.to_svg
    ("labdl.graph.graph", "labdl.graph.module"): _METHOD,  # Graph.to_module
    ("labdl.graph.graph", "labdl.graph.parsing.parser"): _METHOD,  # Graph.from_python
    ("labdl.nn.module", "labdl.graph.tracing.trace"): _METHOD,  # Module.summary
    ("labdl.nn.module", "labdl.nn.native"): _METHOD,  # Module.to_native
    ("labdl.nn.module", "labdl.nn.head"): _METHOD,  # Module.replace_head
    ("labdl.nn.module", "labdl.graph.fusion"): _METHOD,  # Module.fuse
    (
        "labdl.nn.index_limits",
        "labdl.graph.tracing.trace",
    ): "a call looks for the inputs of a model that go into a table",
    ("labdl.nn.build", "labdl.nn.module"): "Module.build is in a file of its own and looks for modules in lists",
    ("labdl.nn.build", "labdl.nn.native"): "a wrapped native module is built as it is",
    ("labdl.runs.reading.record", "labdl.runs.exports.plotly_figure"): _METHOD,  # Record.figure
    ("labdl.data.dataset", "labdl.data.loader"): _METHOD,
    ("labdl.data.dataset", "labdl.data.native.writing"): _METHOD,
    ("labdl.data.streams.iterable_dataset", "labdl.data.loader"): _METHOD,
    ("labdl.data.streams.iterable_dataset", "labdl.data.native.writing"): _METHOD,
    ("labdl.data.streams.iterable_dataset", "labdl.data.flow.bucketing"): _METHOD,
    ("labdl.data.pipeline", "labdl.data.opening"): _METHOD,  # Pipeline.open_dataset
    ("labdl.data.pipeline", "labdl.data.splits"): _METHOD,  # Pipeline.open_data
    ("labdl.data.pipeline", "labdl.data.dataset"): _METHOD,  # Pipeline.fit
    ("labdl.data.pipeline", "labdl.data.sample_dataset"): _METHOD,  # Pipeline.fit
    ("labdl.data.tables.table", "labdl.data.tables.mapped_table"): _METHOD,  # Table.map
    **{
        ("labdl.data.dataset", f"labdl.data.flow.{name}"): _METHOD
        for name in [
            "bucketing",
            "caching",
            "combination",
            "entries",
            "grouping",
            "map",
            "prefetching",
            "resampling",
            "selection",
        ]
    },
    **{
        ("labdl.data.streams.iterable_dataset", f"labdl.data.streams.{name}"): _METHOD
        for name in [
            "bucketing",
            "caching",
            "combination",
            "flow",
            "grouping",
            "mixing",
            "prefetching",
            "resampling",
            "sample_wise",
            "splitting",
        ]
    },
}


@dataclasses.dataclass(frozen=True)
class Import:
    """One imported name: ``module`` and ``name`` as written (``name`` None for ``import module``), bound as ``alias``."""

    module: str
    name: str | None
    alias: str | None
    line: int
    local: bool  # inside a function


class _Imports(ast.NodeVisitor):
    """Collects the run-time imports of a module and how its imported names are used."""

    def __init__(self, module: str, package: str):
        self.module, self.package = module, package
        self.found: list[Import] = []
        self.attributes: dict[str, set[str]] = defaultdict(set)  # names used as ``name.attribute``
        self.bare: set[str] = set()  # names used in another way
        self._depth = 0

    def visit_If(self, node: ast.If) -> None:
        test = node.test
        name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
        for child in node.orelse if name == "TYPE_CHECKING" else (test, *node.body, *node.orelse):
            self.visit(child)

    def generic_visit(self, node: ast.AST) -> None:
        local = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        self._depth += local
        super().generic_visit(node)
        self._depth -= local

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.found.append(Import(alias.name, None, alias.asname, node.lineno, self._depth > 0))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parts = self.package.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
        for alias in node.names:
            self.found.append(Import(base, alias.name, alias.asname or alias.name, node.lineno, self._depth > 0))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name):
            self.attributes[node.value.id].add(node.attr)
        else:
            self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.bare.add(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        pass  # annotations are not evaluated: every module has ``from __future__ import annotations``

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for child in (node.target, node.value):
            if child is not None:
                self.visit(child)


class Imports:
    """The run-time imports between the modules of a package, as a graph."""

    def __init__(self, root: Path, package: str = "labdl"):
        self.modules: dict[str, _Imports] = {}
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            initial = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if initial else parts)
            visitor = _Imports(name, name if initial else name.rpartition(".")[0])
            visitor.visit(ast.parse(path.read_text(encoding="utf-8"), str(path)))
            self.modules[name] = visitor
        self.eager: dict[Edge, int] = {}
        self.lazy: dict[Edge, int] = {}
        for name, visitor in self.modules.items():
            for entry in visitor.found:
                for target in self._targets(visitor, entry):
                    if target != name:
                        (self.lazy if entry.local else self.eager).setdefault((name, target), entry.line)
        for edge in self.eager:
            self.lazy.pop(edge, None)

    def _targets(self, visitor: _Imports, entry: Import) -> Iterator[str]:
        """The modules whose code an import needs."""
        if entry.module not in self.modules:
            return
        if entry.name is None:
            if entry.alias is not None:
                yield from self._of_module(visitor, entry.module, entry.alias)
            else:
                yield entry.module
        elif f"{entry.module}.{entry.name}" in self.modules:
            yield from self._of_module(visitor, f"{entry.module}.{entry.name}", entry.alias or entry.name)
        else:
            yield self._definition(entry.module, entry.name)

    def _of_module(self, visitor: _Imports, module: str, alias: str) -> Iterator[str]:
        """A module bound to a name: of a package, the modules that define what is used of it."""
        used = visitor.attributes.get(alias, set())
        if not used or alias in visitor.bare or not self._is_package(module):
            yield module
            return
        for name in sorted(used):
            yield f"{module}.{name}" if f"{module}.{name}" in self.modules else self._definition(module, name)

    def _is_package(self, module: str) -> bool:
        return self.modules[module].package == module

    def _definition(self, module: str, name: str, depth: int = 0) -> str:
        """The module that defines a name which another one re-exports."""
        if depth > 20 or not self._is_package(module):
            return module
        for entry in self.modules[module].found:
            if entry.local or entry.module not in self.modules:
                continue
            if entry.name == "*":
                return self._definition(entry.module, name, depth + 1)
            if entry.alias == name and entry.name is not None:
                inner = f"{entry.module}.{entry.name}"
                return inner if inner in self.modules else self._definition(entry.module, entry.name, depth + 1)
        return module

    def cycles(self, *, lazy: bool = True, without: Iterable[Edge] = ()) -> list[list[str]]:
        """Strongly connected components of more than one module, the largest first."""
        edges = set(self.eager) | (set(self.lazy) if lazy else set())
        return _components(edges - set(without))


def _components(edges: set[Edge]) -> list[list[str]]:
    """Tarjan's algorithm, without recursion."""
    after: dict[str, list[str]] = defaultdict(list)
    for source, target in sorted(edges):
        after[source].append(target)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for root in list(after):
        if root in index:
            continue
        work: list[tuple[str, Iterator[str]]] = []

        def enter(node: str, work=work) -> None:
            index[node] = low[node] = len(index)
            stack.append(node)
            work.append((node, iter(after.get(node, ()))))

        enter(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    enter(target)
                    break
                if target in stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    component, stack[at:] = stack[at:], []
                    if len(component) > 1:
                        found.append(sorted(component))
    return sorted(found, key=lambda c: (-len(c), c))


def _print_component(imports: Imports, component: list[str], without: Iterable[Edge] = ()) -> None:
    print(f"  {len(component)} modules: {', '.join(component)}")
    members = set(component)
    for edges, kind in ((imports.eager, ""), (imports.lazy, "  (inside a function)")):
        for (source, target), line in sorted(edges.items()):
            if source in members and target in members and (source, target) not in without:
                print(f"    {source}:{line} imports {target}{kind}")


def unused(imports: Imports, allowed: Iterable[Edge]) -> list[Edge]:
    """Allowed imports that do not exist, or close no cycle any more."""
    every = {*imports.eager, *imports.lazy}
    members = {module: n for n, component in enumerate(_components(every)) for module in component}
    return sorted((a, b) for a, b in allowed if (a, b) not in imports.lazy or members.get(a, -1) != members.get(b, -2))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parents[1], help="folder that holds labdl"
    )
    parser.add_argument("--all", action="store_true", help="ignore the list of allowed imports")
    parser.add_argument("--list", action="store_true", help="print the imports of each cycle")
    options = parser.parse_args()
    imports = Imports(options.root)
    allowed = {} if options.all else ALLOWED
    stale = unused(imports, allowed)
    eager, both = imports.cycles(lazy=False), imports.cycles(without=allowed)
    print(
        f"{len(imports.modules)} modules, {len(imports.eager)} imports between them, {len(imports.lazy)} more inside "
        f"functions, {len(allowed)} of them allowed to close a cycle"
    )
    for title, components in (("module-level imports", eager), ("all run-time imports", both)):
        print(f"{title}: {len(components)} cycles, {sum(map(len, components))} modules in them")
        for component in components if options.list or title.startswith("all") else ():
            if options.list:
                _print_component(imports, component, allowed)
            else:
                print(f"  {len(component)} modules: {', '.join(component)}")
    for source, target in stale:
        print(
            f"ALLOWED names {source} -> {target}, which is no import inside a function that closes a cycle: remove it"
        )
    return 1 if eager or both or stale else 0


if __name__ == "__main__":
    sys.exit(main())
