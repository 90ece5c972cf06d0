"""Write docs/operators.md: every operator, each framework's own name for it, and what was evened out.

Everything is read from the code: the sentence from the operator's docstring, the framework's names from the backend's
source, the differences from the docstrings of the backend's functions. `python scripts/operator_table.py [file]`.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import labdl
from labdl import framework_info
from labdl.ops.operator import OPERATORS

ROOT = Path(__file__).parents[1]
BACKENDS = ("torch", "tensorflow", "paddle", "mindspore")


class Source:
    """The definitions of a backend's folder, and what their names stand for."""

    def __init__(self, backend):
        self.backend = backend
        self.nodes: dict[str, ast.AST] = {}
        self.docs: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        for file in sorted(Path(backend.__file__).parent.glob("*.py")):
            for node in ast.parse(file.read_text()).body:
                self._read(node)

    def _read(self, node) -> None:
        if isinstance(node, ast.Import):
            self.aliases.update(
                {a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names}
            )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("labdl"):
            self.aliases.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
        elif isinstance(node, ast.FunctionDef):
            self.nodes[node.name] = node
            self.docs[node.name] = ast.get_docstring(node) or ""
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names = [e.id for e in target.elts] if isinstance(target, ast.Tuple) else [getattr(target, "id", "")]  # type: ignore[attr-defined]
                for i, name in enumerate(names):
                    self.nodes[name] = _part(node.value, i) if isinstance(target, ast.Tuple) else node.value
        elif isinstance(node, ast.With):
            for inner in node.body:
                self._read(inner)

    def natives(self, name: str, seen: frozenset[str] = frozenset()) -> list[str]:
        """Dotted names of the framework's functions that a definition uses, its own helpers followed."""
        node = self.nodes.get(name)
        if node is None or name in seen:
            return []
        found: list[str] = []
        local: list[str] = []
        for dotted in _dotted(node):
            root, _, rest = dotted.partition(".")
            if root in self.aliases:
                full = f"{self.aliases[root]}.{rest}" if rest else self.aliases[root]
                if self._is_function(full):
                    found.append(full)
            elif not rest and root in self.nodes:
                local.append(root)
            elif rest and rest in self.nodes:
                local.append(rest)  # another file of the folder
        if not found:
            for helper in local:
                found += self.natives(helper, seen | {name})
        return list(dict.fromkeys(found))

    def doc(self, name: str) -> str:
        """The sentence about a definition, or about what the function that made it gives."""
        if self.docs.get(name):
            return self.docs[name]
        node = self.nodes.get(name)
        maker = node.func if isinstance(node, ast.Call) else None
        made = self.nodes.get(maker.id) if isinstance(maker, ast.Name) else None
        inner = [n for n in getattr(made, "body", ()) if isinstance(n, ast.FunctionDef)]
        return (ast.get_docstring(inner[-1]) or "") if inner else ""

    def _is_function(self, full: str) -> bool:
        parts = full.split(".")
        if parts[0] != self.backend.namespaces[0].__name__.split(".")[0]:
            return False
        value = sys.modules.get(parts[0])
        for part in parts[1:]:
            value = getattr(value, part, None)
        plain = isinstance(value, type) and not full.rsplit(".", 1)[0].endswith(("operations", "P"))
        return callable(value) and not plain and "dtype" not in type(value).__name__.lower()


def _part(value, index: int):
    """The element of a tuple that goes to the target of that index; ``map(make, (a, b))`` gives ``make`` with it."""
    if isinstance(value, ast.Tuple):
        return value.elts[index]
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "map" and isinstance(value.args[1], ast.Tuple):
        return ast.Call(value.args[0], [value.args[1].elts[index]], [])
    return value


def _dotted(node) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute):
            parts, at = [child.attr], child.value
            while isinstance(at, ast.Attribute):
                parts, at = [at.attr, *parts], at.value
            if isinstance(at, ast.Name):
                yield ".".join([at.id, *parts])
        elif isinstance(child, ast.Name):
            yield child.id


def cell(backend, source: Source, entry) -> str:
    if hasattr(backend.operators, entry.name):
        natives = source.natives(entry.name)
        return ", ".join(f"`{n}`" for n in natives[:3]) or "own"
    if entry.composite:
        return "composite"
    for namespace in backend.namespaces:
        if callable(getattr(namespace, entry.name, None)):
            return f"`{namespace.__name__}.{entry.name}`"
    return "missing"


def table() -> str:
    backends = {name: labdl.backends.get(name) for name in framework_info.in_load_order(framework_info.TRAINING)}
    sources = {name: Source(backend) for name, backend in backends.items()}
    lines = [
        "# Operators",
        "",
        f"{len(OPERATORS)} operators, each with one name, one parameter list and one meaning on every backend. For each the",
        "framework's own function; *composite* is written with other operators, *own* with the backend's plain arithmetic.",
        "Made by `python scripts/operator_table.py`; a test compares it.",
    ]
    for category in sorted({entry.category for entry in OPERATORS.values()}):
        entries = [e for e in OPERATORS.values() if e.category == category]
        lines += [
            "",
            f"## {category}",
            "",
            "| operator | what it gives | PyTorch | TensorFlow | PaddlePaddle | MindSpore |",
            "|---|---|---|---|---|---|",
        ]
        notes = []
        for entry in entries:
            sentence = (entry.body.__doc__ or "").strip().splitlines()[0].replace("|", "\\|")
            cells = [cell(backends[b], sources[b], entry) for b in BACKENDS]
            lines.append(f"| `{entry.name}{_parameters(entry)}` | {sentence} | {' | '.join(cells)} |")
            for b in BACKENDS:
                own = hasattr(backends[b].operators, entry.name)
                doc = " ".join(sources[b].doc(entry.name).split()) if own else ""
                if doc:
                    notes.append(f"- `{entry.name}` on {b}: {doc}")
        if notes:
            lines += ["", "Evened out:", "", *notes]
    return "\n".join(lines) + "\n"


def _parameters(entry) -> str:
    return str(entry.signature).replace("|", "\\|").replace(", /", "").replace("/", "")


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "operators.md").write_text(table())
