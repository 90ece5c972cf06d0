"""A run as an Arrow file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from labdl.runs.exports.optional_imports import require
from labdl.runs.exports.table import Cells, table

if TYPE_CHECKING:
    from labdl.runs.reading.record import Record


def to_arrow(record: Record, path: str | Path) -> Path:
    """Write the table of `to_csv` as an Arrow file (Feather 2, which pandas, Polars, DuckDB and R read); returns its path.

    ``step`` and ``epoch`` are integers, ``time`` is a moment in UTC, the others are doubles: null where there is no value,
    NaN where it was not finite. The schema's metadata ``labdl`` is JSON: id, model, backend, settings, environment, summary.
    Raises ImportError where pyarrow is missing.
    """
    pyarrow, feather = require("to_arrow", "pyarrow"), require("to_arrow", "pyarrow.feather")
    columns = {name: _array(pyarrow, name, cells) for name, cells in table(record).items()}
    told = {
        "id": record.id,
        "status": record.status,
        "model": record.model,
        "backend": record.backend,
        "time": record.time,
        "settings": record.settings,
        "params": record.start.get("params"),
        "environment": record.environment,
        "summary": record.summary(),
    }
    feather.write_feather(pyarrow.table(columns, metadata={"labdl": orjson.dumps(told)}), str(path))
    return Path(path)


def _array(pyarrow: Any, name: str, cells: Cells) -> Any:
    if name == "time":
        moments = (cells.values * 1e6).round()
        return pyarrow.array(moments, "int64", mask=~cells.there, safe=False).cast(pyarrow.timestamp("us", "UTC"))
    return pyarrow.array(
        cells.values, pyarrow.int64() if name in ("step", "epoch") else pyarrow.float64(), mask=~cells.there
    )
