"""Export of a run to TensorBoard event files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.runs.exports.optional_imports import require
from labdl.runs.schema import RESERVED, ConfusionEvent, HistogramColumns, HistogramsEvent, metric_name, parse

if TYPE_CHECKING:
    from labdl.runs.exports.tensorboard_writer import Log
    from labdl.runs.reading.record import Record

_CLASSES = 100  # largest confusion matrix written as a table
_OF_LAYERS = ("weights", "gradients", "outputs")


def to_tensorboard(record: Record, folder: str | Path) -> Path:
    """Write a run for ``tensorboard --logdir`` and return the folder; an earlier export there is replaced.

    As in Keras there are ``train`` and ``validation``, whose curves ``epoch_loss`` and so on share a chart; ``train`` has also
    the metrics of single steps, the learning rate, the throughput, the histograms of layers and the confusion matrix as text.
    The settings are in the tab HPARAMS. A million steps take about 15 seconds. TensorFlow is not used. Raises ImportError where
    tensorboard is missing.
    """
    require("to_tensorboard", "tensorboard")
    from labdl.runs.exports.tensorboard_writer import Log

    folder, began = Path(folder), record.time or 0.0
    trained, measured = _split(record.epochs)
    with Log(folder / "train", began) as log:
        _steps(record, log, began)
        for time, step, values in trained:
            log.scalars(time, step, values)
        for event in record.events("histograms"):
            _histograms(event, log)
        for event in record.events("confusion"):
            log.text(event["time"], event["step"], "confusion", _matrix(record, event))
    with Log(folder / "validation", began) as log:
        for time, step, values in measured:
            log.scalars(time, step, values)
    with Log(folder, began) as log:
        tags = [("train", tag) for tag in _tags(trained)] + [("validation", tag) for tag in _tags(measured)]
        log.settings(record.id, {**record.settings, **(record.start.get("params") or {})}, tags, record.status)
    return folder


def _steps(record: Record, log: Log, began: float) -> None:
    steps, times, metrics = record.steps, record.times, record.step_metrics
    names, columns = list(metrics), [column.tolist() for column in metrics.values()]
    for time, step, *values in zip(times.tolist(), steps["step"].tolist(), *columns, strict=True):
        log.scalars(time, step, dict(zip(names, values, strict=True)))
    rates = record.rates
    moments = np.interp(rates["step"], steps["step"], times) if len(times) else np.full(len(rates["step"]), began)
    for time, step, value in zip(moments.tolist(), rates["step"].tolist(), rates["value"].tolist(), strict=True):
        log.scalars(time, step, {"learning_rate": value})


def _split(rows: list[dict[str, Any]]) -> list[list[tuple[float, int, dict[str, float]]]]:
    """Metrics of the training and of the validation data at the ends of epochs, under the same names."""
    trained, measured = [], []
    for row in rows:
        sides: tuple[dict[str, float], dict[str, float]] = {}, {}
        for key, value in row.items():
            if key in RESERVED:
                continue
            name = metric_name(key)
            sides[name.startswith("val_")][f"epoch_{name.removeprefix('val_')}"] = value
        if row["samples_per_second"] is not None:
            sides[0]["samples_per_second"] = row["samples_per_second"]
        trained.append((row["time"], row["step"], sides[0]))
        measured.append((row["time"], row["step"], sides[1]))
    return [trained, measured]


def _tags(rows: list[tuple[float, int, dict[str, float]]]) -> list[str]:
    return list(dict.fromkeys(tag for _, _, values in rows for tag in values))


def _histograms(event: dict[str, Any], log: Log) -> None:
    parsed = parse(event)
    if not isinstance(parsed, HistogramsEvent) or parsed.layers is None:
        return
    for what in _OF_LAYERS:
        columns: HistogramColumns = getattr(parsed, what)
        rows = zip(columns.of.tolist(), columns.low.tolist(), columns.high.tolist(), columns.counts, strict=False)
        for index, low, high, counts in rows:
            if 0 <= index < len(parsed.layers) and -math.inf < low <= high < math.inf and len(counts):
                name = f"{parsed.layers[int(index)]}/{what}"
                log.histogram(parsed.time, parsed.step, name, low, high, np.nan_to_num(counts))


def _matrix(record: Record, event: dict[str, Any]) -> str:
    """A confusion matrix, or the most frequent mistakes, as a table of Markdown."""
    watched = record.events("samples")
    names = (watched[-1].get("classes") or []) if watched else []

    def name(index: int) -> str:
        return names[index].replace("|", "/") if index < len(names) else str(index)

    parsed = parse(event)
    assert isinstance(parsed, ConfusionEvent)
    if parsed.counts is not None and len(parsed.counts) <= _CLASSES:
        rows = [["true \\ predicted", *map(name, range(len(parsed.counts)))]]
        rows += [[name(true), *map(str, row)] for true, row in enumerate(parsed.counts)]
    else:
        rows = [["true", "predicted", "count"], *([name(a), name(b), str(n)] for a, b, n in parsed.pairs or [])]
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
