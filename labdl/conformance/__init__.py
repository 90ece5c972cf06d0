"""The standard clause by clause: every row tries what a clause of T/AII 008-2023 asks for, on the default backend.

The rows stand in the files beside this one, in the order of the standard; "draft" marks those of the draft standard of the
universal development environment for neural networks, which asks for more models and for saving.
"""

# The rows have the order of the imports, which is that of the standard.
# ruff: noqa: I001
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from labdl import dispatch
from labdl.conformance import adaptation as adaptation
from labdl.conformance import tensors as tensors
from labdl.conformance import modules as modules
from labdl.conformance import zoo as zoo
from labdl.conformance import data as data
from labdl.conformance import sampling as sampling
from labdl.conformance import optimizers as optimizers
from labdl.conformance import training as training
from labdl.conformance import inference as inference
from labdl.conformance import applications as applications
from labdl.conformance import components as components
from labdl.conformance import saving as saving
from labdl.conformance.interfaces import INTERFACES
from labdl.conformance.row import ROWS, Missing, Result, Row, attempt

__all__ = ["INTERFACES", "ROWS", "Missing", "Result", "Row", "as_json", "attempt", "lines", "run", "summary",
           "tally"]  # fmt: skip


def run(rows: Iterable[Row] | None = None) -> Iterator[Result]:
    """Try rows, all if none are given, one after another on the default backend."""
    return map(attempt, ROWS if rows is None else rows)


def tally(results: Iterable[Result]) -> dict[str, int]:
    """How many rows passed, failed and are missing."""
    counts = Counter(result.status for result in results)
    return {status: counts[status] for status in ("passed", "failed", "missing")}


def lines(result: Result) -> str:
    """A result as text: how it ended, the row, what was run, and below it what failed or is missing."""
    row = result.row
    told = f"{result.status:7}  {row.clause}  {row.name}: {row.requirement} [{row.ran}]"
    return f"{told}\n{'':9}{result.message}" if result.message else told


def summary(results: Sequence[Result]) -> str:
    """The last line of the table."""
    counts = ", ".join(f"{count} {status}" for status, count in tally(results).items())
    return f"{len(results)} rows on {dispatch.default()}: {counts}"


def as_json(results: Sequence[Result]) -> str:
    """The results for other programs."""
    rows = [{"clause": r.row.clause, "name": r.row.name, "requirement": r.row.requirement, "ran": r.row.ran,
             "status": r.status, "message": r.message, "seconds": round(r.seconds, 3)} for r in results]  # fmt: skip
    return json.dumps({"backend": dispatch.default(), **tally(results), "rows": rows}, indent=1, ensure_ascii=False)
