"""Runs as one Plotly figure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import ConfigError
from labdl.runs.curves.downsampling import outline
from labdl.runs.curves.smoothing import moving_average
from labdl.runs.exports.optional_imports import require
from labdl.runs.reading.record import Record
from labdl.runs.terminal.formatting import duration
from labdl.runs.terminal.formatting import figure as shown

if TYPE_CHECKING:
    import plotly.graph_objects

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
_DASHES = ("solid", "dash", "dot", "dashdot")  # for more runs than colors
_POINTS = 2000  # per line, which a browser draws fast
_WORDS = {
    "learning_rate": "learning rate {value}",
    "epochs": "{epochs} epochs planned",
    "checkpoint": "checkpoint",
    "branch": "branch {id}",
    "resumed": "resumed",
    "status": "{status}",
}


def figure(
    records: Iterable[Record] | Record, *, smooth: bool = True, marks: bool = True
) -> plotly.graph_objects.Figure:
    """The curves of runs, a chart for each metric: single steps faint, their average on top, validation dashed with dots.

    Records are those of `labdl.runs.open`, or runs that have one. Actions of people and alerts are vertical lines in the
    charts of a single run. Lines of more than 2,000 points are smoothed and then downsampled. Raises
    ImportError where plotly is missing.
    """
    records = [records] if isinstance(records, Record) else [getattr(one, "record", one) for one in records]
    if not records or not all(isinstance(record, Record) for record in records):
        raise ConfigError("figure wants at least one run of labdl.runs.open")
    graphs, subplots = require("figure", "plotly.graph_objects"), require("figure", "plotly.subplots")
    names = list(dict.fromkeys(name for record in records for name in _names(record)))
    titles = [_plain(name) for name in names] or ["no figures yet"]
    drawn = subplots.make_subplots(
        rows=len(titles),
        cols=1,
        shared_xaxes=True,
        subplot_titles=titles,
        vertical_spacing=min(0.08, 0.3 / len(titles)),
    )
    styles = ((color, dash) for dash in cycle(_DASHES) for color in _COLORS)
    for record, (color, dash) in zip(records, styles, strict=False):
        listed = set()  # names in the legend
        for row, name in enumerate(names, start=1):
            for line in _lines(record, name, color, dash, smooth=smooth, label=_label(record, records)):
                legend = line.pop("legend") and line["name"] not in listed
                listed.add(line["name"] if legend else None)
                drawn.add_trace(graphs.Scattergl(showlegend=legend, **line), row=row, col=1)
    if marks and len(records) == 1:
        _mark(drawn, records[0])
    title = _title(records[0]) if len(records) == 1 else f"{len(records)} runs"
    drawn.update_layout(title=title, height=120 + 240 * len(titles), hovermode="x unified", template="plotly_white")
    drawn.update_xaxes(title_text="step", row=len(titles), col=1)
    return drawn


def _names(record: Record) -> list[str]:
    """The loss, the metrics, then other recorded values; validation values share the chart of the name without "val_"."""
    history = record.history
    there = [*record.step_metrics, *(name.removeprefix("val_") for name in history)]
    ordered = dict.fromkeys(name for name in ("loss", *record.metrics, *there) if name in there)
    return [*ordered, *(["learning rate"] if len(record.rates["step"]) else [])]


def _lines(record: Record, name: str, color: str, dash: str, *, smooth: bool, label: str) -> list[dict[str, Any]]:
    steps, metrics, history, lines = record.steps["step"], record.step_metrics, record.history, []
    ends = np.array([row["step"] for row in record.epochs], "int64")

    def line(x, y, **look) -> None:
        if np.isfinite(y).any():
            kept = outline(y, _POINTS)
            lines.append({"x": x[kept], "y": y[kept], "legendgroup": label, "legend": True, **look})

    solid = {"color": color, "width": 2, "dash": dash}
    if name == "learning rate":
        rates = record.rates
        values = np.append(rates["value"], rates["value"][-1])
        line(
            np.append(rates["step"], record.step),
            values,
            mode="lines",
            name=f"{label}learning rate",
            line={**solid, "shape": "hv"},
            legend=False,
        )
        return lines
    if name in metrics:
        raw = metrics[name]
        if smooth:
            line(
                steps,
                raw,
                mode="lines",
                name=f"{label}each step",
                opacity=0.25,
                legend=False,
                hoverinfo="skip",
                line={"color": color, "width": 1},
            )
        line(steps, moving_average(raw) if smooth else raw, mode="lines", name=f"{label}train", line=solid)
    elif name in history:
        line(ends, np.array(history[name]), mode="lines+markers", name=f"{label}train", line=solid)
    if f"val_{name}" in history:
        line(
            ends,
            np.array(history[f"val_{name}"]),
            mode="lines+markers",
            name=f"{label}validation",
            line={**solid, "dash": "dash"},
            marker={"size": 6},
        )
    return lines


def _mark(drawn: Any, record: Record) -> None:
    for mark in record.marks[:50]:
        told = {key: shown(value) if isinstance(value, float) else value for key, value in mark.items()}
        word = _WORDS.get(mark["kind"])
        if word is not None and mark.get("status") != "running":
            drawn.add_vline(mark["step"], line={"dash": "dot", "width": 1, "color": "#767676"})
            drawn.add_annotation(
                x=mark["step"],
                y=1,
                yref="y domain",
                text=_plain(_fill(word, told)),
                textangle=-90,
                showarrow=False,
                xanchor="left",
                yanchor="top",
                font={"size": 10, "color": "#767676"},
            )
    for alert in record.alerts[:20]:
        if isinstance(alert.get("step"), int):
            drawn.add_vline(alert["step"], line={"dash": "dash", "width": 1, "color": "#CC3311"})


def _fill(word: str, told: dict[str, Any]) -> str:
    try:
        return word.format_map(told)
    except KeyError:  # a field of the event is missing
        return word.partition(" ")[0].strip("{}")


def _label(record: Record, records: list[Record]) -> str:
    return "" if len(records) == 1 else f"{_plain(record.about.name or record.id)} "


def _title(record: Record) -> str:
    parts = [record.model, record.backend, record.status, duration(record.seconds)]
    return " · ".join(_plain(part) for part in parts if part)


def _plain(text: Any) -> str:
    """Escape characters that Plotly would read as HTML."""
    return str(text)[:80].replace("&", "&amp;").replace("<", "&lt;")
