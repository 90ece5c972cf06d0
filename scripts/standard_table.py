"""Write docs/standard.md: the interfaces of T/AII 008-2023 as `labdl.standard` has them, and the rows of the conformance table.

Everything is read from the code, and the rows are tried on the default backend: `python scripts/standard_table.py [file]`.
"""

import inspect
import sys
from collections.abc import Iterable
from pathlib import Path

from labdl import conformance, standard

ROOT = Path(__file__).parents[1]


def document(results: Iterable[conformance.Result]) -> str:
    """The whole document; what failed counts as built, for the tests speak of it."""
    results = list(results)
    missing = [r for r in results if r.status == "missing"]
    return "\n".join([
        "# The standard T/AII 008-2023", "",
        "`labdl.standard` has every interface of annexes A and B of the general interface specification for deep learning",
        "algorithm frameworks under its exact name, and `labdl conformance --backend NAME` tries the standard clause by clause",
        "(`--clause B.4` for a part, `--json` for programs). Status 1 says that a row failed, or with `--strict` is missing.",
        "Made by `python scripts/standard_table.py`; a test compares it on every backend.", "",
        "## Interfaces", "", "| interface | clause, table | gives | errors | what it does |", "|---|---|---|---|---|",
        *map(_interface, conformance.INTERFACES), "",
        "The standard's tables leave out whose interface it is: that is the first parameter here. `construct_evaluator` and",
        "`evaluate` are the English spellings of `construct_evalvater` and `evalvate`.", "",
        "## Clauses", "",
        f"{len(results)} rows: {len(results) - len(missing)} are tried and {len(missing)} wait for what is not built yet.",
        "Clauses marked *draft* are those of the draft standard of the universal development environment for neural networks.",
        "", "| clause | row | requirement | what is run | state |", "|---|---|---|---|---|",
        *map(_row, results), "",
    ])  # fmt: skip


def _interface(name: str) -> str:
    entry, function = conformance.INTERFACES[name], getattr(standard, name)
    signature = ", ".join(
        f"**{p.name}"
        if p.kind is p.VAR_KEYWORD
        else p.name
        if p.default is p.empty
        else f"{p.name}={_default(p.default)}"
        for p in inspect.signature(function).parameters.values()
    )
    raised = ", ".join(f"`{kind.__name__}`" for kind in entry.errors) or "none named"
    sentence = (function.__doc__ or "").strip().split("\n\n")[0].partition(" (" + entry.clause)[0].replace("|", "\\|")
    return f"| `{name}({signature})` | {entry.clause}, {entry.table} | {entry.output or '—'} | {raised} | {sentence}. |"


def _default(value) -> str:
    return "..." if value is ... else repr(value)


def _row(result: conformance.Result) -> str:
    row = result.row
    state = f"missing: {result.message}" if result.status == "missing" else "tried"
    return f"| {row.clause} | {row.name} | {row.requirement} | {row.ran} | {state} |".replace("\n", " ")


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "standard.md"
    out.write_text(document(conformance.run()))
