"""Conformance checks of T/AII 008-2023 on the default backend: a row for each requirement of each clause.

Rows are defined in the modules of this package, in the order of the standard; "draft" marks those of the draft standard of
the universal development environment for neural networks, which requires more models and saving.
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
from labdl.conformance import reading as reading
from labdl.conformance import data as data
from labdl.conformance import sampling as sampling
from labdl.conformance import optimizers as optimizers
from labdl.conformance import training as training
from labdl.conformance import inference as inference
from labdl.conformance import applications as applications
from labdl.conformance import components as components
from labdl.conformance import saving as saving
from labdl.conformance.interfaces import INTERFACES
from labdl.conformance.row import ROWS, Missing, Result, Row, run_row

__all__ = [
    "INTERFACES",
    "ROWS",
    "Missing",
    "Result",
    "Row",
    "as_json",
    "count_by_status",
    "lines",
    "run",
    "run_row",
    "summary",
]


def run(rows: Iterable[Row] | None = None) -> Iterator[Result]:
    """Run the checks of rows, by default all, in order on the default backend."""
    return map(run_row, ROWS if rows is None else rows)


def count_by_status(results: Iterable[Result]) -> dict[str, int]:
    """Number of rows that passed, failed and are missing."""
    counts = Counter(result.status for result in results)
    return {status: counts[status] for status in ("passed", "failed", "missing")}


def lines(result: Result) -> str:
    """Format a result as text: status, row and check, and below it the message."""
    row = result.row
    head = f"{result.status:7}  {row.clause}  {row.name}: {row.requirement} [{row.ran}]"
    return f"{head}\n{'':9}{result.message}" if result.message else head


def summary(results: Sequence[Result]) -> str:
    """Last line of the text table."""
    counts = ", ".join(f"{count} {status}" for status, count in count_by_status(results).items())
    return f"{len(results)} rows on {dispatch.default()}: {counts}"


def as_json(results: Sequence[Result]) -> str:
    """Results as JSON."""
    rows = [
        {
            "clause": r.row.clause,
            "name": r.row.name,
            "requirement": r.row.requirement,
            "ran": r.row.ran,
            "status": r.status,
            "message": r.message,
            "seconds": round(r.seconds, 3),
        }
        for r in results
    ]
    return json.dumps(
        {"backend": dispatch.default(), **count_by_status(results), "rows": rows}, indent=1, ensure_ascii=False
    )
