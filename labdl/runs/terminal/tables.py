"""Runs as text: a table of runs for terminals and notebooks, and one run with its epochs."""

from __future__ import annotations

import dataclasses
import html
import posixpath
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labdl.errors import ConfigError
from labdl.runs.curves.sparkline import render
from labdl.runs.listing.summary_row import Brief
from labdl.runs.terminal.formatting import age, duration, figure, moment, pluralize, printable

if TYPE_CHECKING:
    from labdl.runs.listing.listing import Listing
    from labdl.runs.reading.record import Record

_SPARK = 16
_NAMES = 16, 36  # minimum and maximum width of a name
_EPOCHS = 40  # rows of one run; of more, the first and the last
_SIGNS = {
    "running": "●",
    "paused": "‖",
    "stopping": "◌",
    "waiting": "◌",
    "finished": "✓",
    "stopped": "■",
    "failed": "✗",
    "lost": "?",
    "unreadable": "!",
}


@dataclass(frozen=True)
class _Column:
    title: str
    cell: Callable[[Brief], str]
    weight: int  # in a narrow terminal, columns of low weight are dropped first
    right: bool = False


def table(listing: Listing, *, width: int | None = None, plain: bool | None = None, most: int | None = None) -> str:
    """A table of runs that fits the terminal: status, name, start, progress, duration, metrics, and a sparkline of the loss."""
    width = shutil.get_terminal_size().columns if width is None else width
    plain = not _fancy() if plain is None else plain
    runs = listing.runs if most is None else listing.runs[:most]
    if not runs:
        return _no_runs(listing)
    columns = _columns(runs, plain, time.time())
    rows = [[column.title for column in columns], *([column.cell(run) for column in columns] for run in runs)]
    lines = _fit(columns, rows, width)
    left = len(listing) - len(runs)
    notes = [f"{left:,} more: --all"] * bool(left) + ([listing.truncation] if listing.truncation else [])
    return _encodable("\n".join([*lines, *notes]), plain)


def html_table(listing: Listing) -> str:
    """A table of runs for notebooks: the best run first, with what all of several runs have in common below it."""
    if not listing.runs:
        return f"<p>{html.escape(_no_runs(listing))}</p>"
    for name in filter(None, _figures(listing.runs)):  # by the loss, then by the metric, which counts more
        listing = sort_runs(listing, name)
    runs = listing.runs
    columns = _columns(runs, False, time.time())
    values = {column.title: [column.cell(run) for run in runs] for column in columns}
    common = {title: cells[0] for title, cells in values.items() if len(set(cells)) == 1 and len(runs) > 1}
    shown = [
        column
        for column in columns
        if column.title == "run" or (column.title not in common and any(values[column.title]))
    ]
    rows = [_html_row("th", shown, [column.title for column in shown])]
    rows += [_html_row("td", shown, [values[column.title][place] for column in shown]) for place in range(len(runs))]
    same = ", ".join(
        f"{title} {value}" for title, value in common.items() if value and title not in ("run", "age", "curve")
    )
    notes = [f"the same for all: {same}"] * bool(same) + ([listing.truncation] if listing.truncation else [])
    return f"<table>{''.join(rows)}</table>" + "".join(f"<p>{html.escape(note)}</p>" for note in notes)


def _html_row(tag: str, columns: Sequence[_Column], cells: Sequence[str]) -> str:
    sides = ("right" if column.right else "left" for column in columns)
    inner = (
        f'<{tag} style="text-align:{side}">{html.escape(cell)}</{tag}>' for side, cell in zip(sides, cells, strict=True)
    )
    return f"<tr>{''.join(inner)}</tr>"


def _no_runs(listing: Listing) -> str:
    return (
        f"no runs below {listing.folder}: start one with Trainer.start, or use `labdl runs FOLDER` for another folder"
    )


def sort_runs(listing: Listing, key: str) -> Listing:
    """Sort runs by a metric, its best value if it has one, or by a field such as seconds; the best first, missing last.

    Raises ConfigError for a name that no run has.
    """
    values: dict[str, float] = {}
    down = True
    for run in listing:
        found = run.best.get(key, {}).get("value", run.figures.get(key, getattr(run, key, None)))
        if isinstance(found, int | float):
            values[run.path] = found
        if key in run.best or key in run.figures:
            down = key in run.higher
    if not values:
        names = sorted({name for run in listing for name in run.figures})
        raise ConfigError(f"no run has {key!r} to sort by: use one of {', '.join(names) or 'time, seconds, step'}")
    runs = sorted(listing, key=lambda run: (run.path not in values, (-1 if down else 1) * values.get(run.path, 0)))
    return dataclasses.replace(listing, runs=runs)


def describe(record: Record, *, plain: bool | None = None) -> str:
    """One run in full: properties, state, epochs, actions and alerts."""
    plain = not _fancy() if plain is None else plain
    summary, about = record.summary(), record.about
    lines = [f"{printable(about.name or record.id, 80)}  {_status(record.status, plain)}"]
    known = {
        "folder": str(record.folder),
        "began": moment(record.time),
        "trained": duration(record.seconds),
        "model": record.model,
        "backend": record.backend,
        "loss": record.start.get("loss"),
        "optimizer": record.start.get("optimizer"),
        "tags": ", ".join(about.tags),
        "note": about.note,
        "parent": record.parent and record.parent["id"],
        "settings": _list({name: value for name, value in record.settings.items() if name not in record.start}),
        "tried": _list(record.start.get("params") or {}),
        "error": record.error,
        "resume": _resume(record),
    }
    lines += [f"  {name:9} {printable(str(value), 300)}" for name, value in known.items() if value]
    lines += [f"  {'loss':9} {render(summary['spark'], 32, plain)}"] * bool(summary["spark"])
    lines += ["", *_epochs(record, summary["best"])] if record.epochs else ["", "no epoch has ended yet"]
    for title, events in (("marks", record.marks), ("alerts", record.alerts)):
        if events:
            lines += [
                "",
                title,
                *(f"  step {event['step']:>8}  {printable(_event(event), 200)}" for event in events[-20:]),
            ]
    return _encodable("\n".join(lines), plain)


def _resume(record: Record) -> str | None:
    """Advice for a run that failed, was lost or stopped: the code that resumes it."""
    if record.status not in ("lost", "failed", "stopped") or (record.status == "stopped" and record.checkpoint is None):
        return None
    path = record.checkpoint
    if path is None:
        return "there is no checkpoint: train again, with checkpoint=labdl.train.Checkpoint(folder) to resume next time"
    return f"trainer.start(data, resume={str(path)!r})"


# -- a line for each run


def _columns(runs: Sequence[Brief], plain: bool, now: float) -> list[_Column]:
    figures = _figures(runs)
    folder = posixpath.commonpath([posixpath.dirname(run.path) for run in runs])
    folder = f"{folder}/" if folder else "."
    columns = [
        _Column("status", lambda run: _status(run.status, plain), 9),
        _Column("run", lambda run: printable(run.name or run.path.removeprefix(folder) or run.id, 200), 10),
        _Column("model", lambda run: printable(run.model or "", 20), 3),
        _Column("backend", lambda run: printable(run.backend or "", 10), 2),
        _Column("age", lambda run: "" if run.time is None else age(now - run.time), 5, True),
        _Column("epochs", lambda run: f"{run.epoch}/{run.epochs}" if run.epochs else str(run.epoch), 6, True),
        _Column("time", lambda run: duration(run.seconds), 4, True),
    ]
    for weight, name in zip((8, 7), figures, strict=False):
        if name:
            columns.append(_Column(name, lambda run, name=name: _last(run, name), weight, True))
    name = figures[-1]
    if name:
        columns.append(_Column(f"best {name}", lambda run: _best(run, name), 1, True))
    return [*columns, _Column("curve", lambda run: render(run.spark, _SPARK, plain), 6)]


def _figures(runs: Sequence[Brief]) -> list[str | None]:
    """The names of the loss and of the first metric that a run has, None for one that no run has."""
    metric = next((name for run in runs for name in run.metrics if _metric_name(runs, name)), None)
    return [_metric_name(runs, name) for name in ("loss", metric) if name is not None]


def _metric_name(runs: Iterable[Brief], name: str) -> str | None:
    """The name of a metric on the validation data if any run has it, else on the training data."""
    there = {figure for run in runs for figure in run.figures}
    return f"val_{name}" if f"val_{name}" in there else name if name in there else None


def _last(run: Brief, name: str) -> str:
    value = run.figures.get(name, run.figures.get(name.removeprefix("val_")))
    return "" if value is None and name not in run.figures else figure(value)


def _best(run: Brief, name: str) -> str:
    best = run.best.get(name)
    return "" if best is None else f"{figure(best['value'])} @{best['epoch']}"


def _fit(columns: list[_Column], rows: list[list[str]], width: int) -> list[str]:
    widths = [min(max(map(_width, cells)), 60) for cells in zip(*rows, strict=True)]
    shown = [place for place, most in enumerate(widths) if any(row[place] for row in rows[1:])]
    run = next(place for place, column in enumerate(columns) if column.title == "run")
    widths[run] = min(widths[run], _NAMES[1])

    def over() -> int:
        return sum(widths[place] for place in shown) + 2 * (len(shown) - 1) - width

    while over() > 0 and len(shown) > 2:
        if widths[run] > _NAMES[0]:
            widths[run] = max(_NAMES[0], widths[run] - over())
        else:
            shown.remove(min(shown, key=lambda place: columns[place].weight))
    widths[run] = min(max(_width(row[run]) for row in rows), _NAMES[1], widths[run] + max(0, -over()))
    return [
        "  ".join(_padded(row[p], widths[p], columns[p].right) for p in shown).rstrip()[: max(width, 20)]
        for row in rows
    ]


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def _padded(text: str, width: int, right: bool) -> str:
    if _width(text) > width:  # keep the end: it distinguishes names
        begin, end = text[: len(text) // 2], text[len(text) // 2 :]
        while _width(begin) + _width(end) >= width:
            begin, end = (begin[:-1], end) if _width(begin) > _width(end) // 2 else (begin, end[1:])
        text = f"{begin}…{end}"
    room = " " * (width - _width(text))
    return room + text if right else text + room


def _status(status: str, plain: bool) -> str:
    return status if plain else f"{_SIGNS.get(status, ' ')} {status}"


def _fancy() -> bool:
    """True where the terminal can show more than ASCII."""
    try:
        "●✓▁█‖…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _encodable(text: str, plain: bool) -> str:
    """Replace characters that the terminal cannot show."""
    return text.replace("…", "~").encode("ascii", "replace").decode() if plain else text


# -- one run


def _epochs(record: Record, best: dict) -> list[str]:
    rows = record.epochs
    kept = rows if len(rows) <= _EPOCHS else [*rows[: _EPOCHS // 2], None, *rows[-_EPOCHS // 2 :]]
    names = [name for name in record.history][:8]
    cells = [["epoch", *(printable(name, 20) + "  " * (name in best) for name in names), "samples/s"]]
    for row in kept:
        if row is None:
            cells.append(["…"] * len(cells[0]))
            continue
        marks = [" *" if best.get(name, {}).get("epoch") == row["epoch"] else "" for name in names]
        figures = [
            f"{figure(row.get(name))}{mark}" if name in row else "" for name, mark in zip(names, marks, strict=True)
        ]
        speed = row["samples_per_second"]
        cells.append([str(row["epoch"]), *figures, "" if speed is None else f"{speed:,.0f}"])
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(_padded(cell, width, True) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return [*(f"  {line}" for line in lines), f"  * the best of {pluralize(len(rows), 'epoch')}"]


def _list(values: dict) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value not in (None, False, {}, []))


def _event(event: dict) -> str:
    told = {
        key: value for key, value in event.items() if key not in ("kind", "time", "step", "level", "alert", "message")
    }
    what = event.get("alert", event["kind"])
    return f"{what}  {event.get('message') or ', '.join(str(value) for value in told.values())}".replace("_", " ")
