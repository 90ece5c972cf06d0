"""Static image of a run for saved notebooks, papers and messages."""

from __future__ import annotations

import textwrap
import warnings
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labdl.errors import ConfigError
from labdl.runs.snapshot.svg_chart import Chart, render_chart, shown_value
from labdl.runs.terminal.formatting import duration, pluralize, printable

if TYPE_CHECKING:
    from labdl.runs.reading.record import Record

WIDTH = 720
_SMALLEST = 8000  # bytes of an image without lines
_POINTS = (330, 220, 140, 90, 50, 24, 8)  # points per line: the largest number for which the image is small enough
_REASON, _CHARACTERS, _LINES, _LINE = 2000, 108, 4, 16  # of the reason of a failure: characters, and lines in pixels
_FONT = "system-ui,-apple-system,'Segoe UI','DejaVu Sans','Liberation Sans',Arial,sans-serif"
# color-blind safe colors (Okabe and Ito); the attributes of the elements are for light pages
_DARK = (
    ".p{fill:#1c1c1c;stroke:#444}.i{fill:#eee}.d{fill:#b8b8b8}.g{stroke:#3a3a3a}.t{stroke:#56b4e9}.b{fill:#56b4e9}"
    ".e{fill:#ff8a80}.v{stroke:#e69f00}.m{stroke:#9a9a9a}.a{stroke:#f080c0}tspan.t{fill:#56b4e9;stroke:none}tspan.v{fill:#e69f00;stroke:none}"
)


def to_svg(record: Record, path: str | Path | None = None, *, limit: int = 20_000) -> str:
    """The curves of a run as SVG of at most ``limit`` bytes, also written to a file where one is given.

    It shows the loss and the first metric, smoothed and as single values, validation, actions of people, and small the
    learning rate and the throughput. It follows the light or dark theme of the browser, and its values are also text. Lines
    have fewer points where the limit requires it. Raises ConfigError for a limit below 8,000.
    """
    if limit < _SMALLEST:
        raise ConfigError(f"limit wants at least {_SMALLEST:,} bytes, received {limit!r}")
    charts = _charts(record)
    for points in _POINTS:
        svg = _picture(record, charts, points)
        if len(svg.encode()) <= limit:
            break
    else:
        svg = _picture(record, [], 0)
    if path is not None:
        Path(path).write_text(svg, encoding="utf-8")
    return svg


def to_png(record: Record, path: str | Path | None = None, *, width: int = 1440) -> bytes:
    """The image of `to_svg` in its light theme, as PNG. Texts need a font of the system; a warning reports that there is
    none. Raises ImportError where resvg_py is missing."""
    try:
        import resvg_py
    except ImportError as error:
        raise ImportError('to_png needs resvg_py: pip install "labdl[export]"') from error
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= 10_000:
        raise ConfigError(f"width wants 1 to 10,000 pixels, received {width!r}")
    if _lacks_fonts(resvg_py):
        warnings.warn("there is no font on this system: the image has no texts", stacklevel=2)
    image = bytes(
        resvg_py.svg_to_bytes(svg_string=to_svg(record, limit=200_000), width=width, font_family="DejaVu Sans")
    )
    if path is not None:
        Path(path).write_bytes(image)
    return image


def _lacks_fonts(resvg_py) -> bool:
    """True when a letter is not rendered."""
    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'
    letter = frame.format('<text y="15" font-family="sans-serif">W</text>')
    return bytes(resvg_py.svg_to_bytes(svg_string=letter)) == bytes(resvg_py.svg_to_bytes(svg_string=frame.format("")))


def _picture(record: Record, charts: list[Chart], points: int) -> str:
    large, small = [chart for chart in charts if chart.smooth], [chart for chart in charts if not chart.smooth]
    title, figures, reason = _title(record), _figures(record), _reason(record)
    rows = [(row, height) for row, height in ((large, 196), (small, 92)) if row]
    lines = _wrap(reason)
    top = 60 + (_LINE * len(lines) + 6 if lines else 0)
    height = top + 4 + sum(height + 8 for _, height in rows) + (4 if rows else 0)
    told = escape(" ".join([title + ".", *[reason] * bool(reason), figures + ".", *_alerts(record)]))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'class="labdl-run" style="max-width:100%;height:auto" font-family="{_FONT}" font-size="11">'
        f"<title>{escape(title)}</title><desc>{told}</desc>",
        f"<style>@media (prefers-color-scheme:dark){{{_scope(_DARK)}}}</style>",
        f'<rect class="p" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6" fill="#fff" stroke="#d5d5d5"/>'
        f'<g fill="#555"><text class="i" x="16" y="26" font-size="15" font-weight="600" fill="#111">{escape(title)}</text>'
        f'<text class="d" x="16" y="46">{escape(figures)}</text>',
        *(
            f'<text class="e" x="16" y="{64 + _LINE * place}" fill="#b00020">{escape(line)}</text>'
            for place, line in enumerate(lines)
        ),
    ]
    last, y = max(record.step, 1), top
    for row, tall in rows:
        width = (WIDTH - 32 - 16 * (len(row) - 1)) / len(row)
        for place, chart in enumerate(row):
            parts.append(render_chart(chart, 16 + place * (width + 16), y, width, tall, last, points))
        y += tall + 8
    return "".join([*parts, "</g></svg>"])


def _reason(record: Record) -> str:
    """Why a run did not end by itself; empty for others."""
    if record.status == "lost":
        return "The process of this run no longer exists."
    return printable(record.error or "", _REASON) if record.status in ("failed", "stopped") else ""


def _wrap(reason: str) -> list[str]:
    """The lines of a reason; the last one ends in "…" where it is longer, and the description has the rest."""
    return textwrap.wrap(reason, _CHARACTERS, max_lines=_LINES, placeholder=" …")


def _scope(rules: str) -> str:
    """Scope style rules to this image, which may be inline in a page."""
    return "".join(f".labdl-run {rule}}}" for rule in rules.split("}") if rule)


def _title(record: Record) -> str:
    known = [record.model or record.id, record.backend, record.status]
    rows = len(record.epochs)
    planned = record.total_epochs
    known.append(f"{rows:,} of {planned:,} epochs" if planned and planned != rows else pluralize(rows, "epoch"))
    known.append(duration(record.seconds))
    return " · ".join(printable(part, 40) for part in known if part)


def _figures(record: Record) -> str:
    summary = record.summary()
    listed = [shown_value(name, value) for name, value in list(summary["figures"].items())[:6]]
    for name in (f"val_{_metric(record)}", "val_loss"):
        if name in summary["best"]:
            best = summary["best"][name]
            listed.append(f"best {shown_value(name, best['value'])} (epoch {best['epoch']})")
            break
    return " · ".join(listed) or "no figures yet"


def _alerts(record: Record) -> list[str]:
    return [printable(alert["message"], 120) for alert in record.alerts[:3] if isinstance(alert.get("message"), str)]


def _metric(record: Record) -> str | None:
    """The metric that is shown beside the loss: the first that has values."""
    there = [
        name
        for name in record.metrics
        if name in record.history or f"val_{name}" in record.history or name in record.step_metrics
    ]
    others = (name for name in record.step_metrics if name != "loss")
    return next(iter(there), None) or next(others, None)


def _charts(record: Record) -> list[Chart]:
    steps, metrics, history = record.steps["step"], record.step_metrics, record.history
    rows, rates = record.epochs, record.rates
    at = np.array([row["step"] for row in rows], "int64")
    marks = [mark["step"] for mark in record.marks if mark["kind"] != "status"]
    alerts = [alert["step"] for alert in record.alerts if isinstance(alert.get("step"), int)]

    def of_epochs(name: str):
        values = np.array(history.get(name, ()), "float64")
        return (at, values) if np.isfinite(values).any() else None

    charts = []
    for name in dict.fromkeys(("loss", _metric(record))):
        if name is not None:
            raw = (steps, metrics[name]) if name in metrics else None
            charts.append(Chart(name, raw, of_epochs(name), of_epochs(f"val_{name}"), marks, alerts))
    if len(rates["step"]):
        x = np.repeat(np.append(rates["step"], record.step), 2)[1:-1]  # a step function
        charts.append(Chart("learning rate", (x, np.repeat(rates["value"], 2)), marks=marks, smooth=False))
    charts.append(Chart("samples per second", _speed(record), marks=marks, smooth=False))
    return [chart for chart in charts if not chart.empty]


def _speed(record: Record):
    """Samples per second of groups of steps, else of whole epochs."""
    speeds = [(pace["step"], pace["samples"] / seconds) for pace in record.throughput if (seconds := _seconds(pace))]
    if not speeds:
        speeds = [
            (row["step"], row["samples_per_second"]) for row in record.epochs if row["samples_per_second"] is not None
        ]
    if not speeds:
        return None
    # compilation makes the first ones slow, which would flatten the others
    columns = np.array(speeds, "float64")
    size = -(-len(columns) // 120)
    edges = np.arange(0, len(columns), size)
    counts = np.diff(np.append(edges, len(columns)))[:, None]
    with np.errstate(over="ignore"):
        means = np.add.reduceat(columns, edges, axis=0) / counts
    return means[:, 0], means[:, 1]


def _seconds(pace: dict) -> float:
    """The duration of the steps of an event "pace", 0 where it is wrong."""
    parts = [pace[part] or 0.0 for part in ("data", "compute", "update")]
    return sum(parts) if min(parts) >= 0 else 0.0
