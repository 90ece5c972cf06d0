"""A data set in a saved notebook: a table as text, and a small sheet of its first pictures."""

from __future__ import annotations

import base64
import html
import time
from typing import Any

import numpy as np

from labdl.data import parts
from labdl.lab.dataset_view import images, sounds
from labdl.lab.dataset_view.part_views import entries_of, kind_of, to_array
from labdl.lab.dataset_view.service import DatasetView
from labdl.lab.dataset_view.source import read_small

_PICTURES, _COLUMNS, _SIDE = 24, 8, 64
_MOST_BYTES = 20_000  # of the drawing
_MOST_CLASSES = 20
_SECONDS = 1.0  # of reading


def table(view: DatasetView) -> str:
    """Name, size, parts and classes of a data set, in lines of text."""
    summary = view.summary()
    lines = [f"{summary['name']} ({summary['kind']}): {summary['samples']:,} samples"]
    width = max((len(entry["name"]) for entry in summary["entries"]), default=0)
    lines += [f"  {e['name']:<{width}}  {e['kind']:<11} {e['description']}" for e in summary["entries"]]
    if summary["splits"]:
        parts = [f"{part['name']} {part['samples']:,}" for part in summary["splits"]]
        lines.append(f"  parts: {', '.join(parts)}")
    counts = view.index.counts()
    names = [f"{c['name']} {c['count']:,}" for c in counts] or [str(name) for name in summary["classes"] or ()]
    if names:
        more = f" … {len(names) - _MOST_CLASSES} more" if len(names) > _MOST_CLASSES else ""
        lines.append(f"  {len(names)} classes: {', '.join(names[:_MOST_CLASSES])}{more}")
    return "\n".join(lines)


def draw_svg(view: DatasetView) -> str | None:
    """The first pictures, spectrograms and frames as an SVG below 20 KB; None if there are none."""
    pictures, names, start = [], [], time.monotonic()
    for index in range(min(_PICTURES, len(view.dataset))):
        if time.monotonic() - start > _SECONDS:
            break
        try:
            sample, _ = read_small(view.dataset, index, _SIDE)
            picture = _picture(sample, view.dataset.targets)
        except Exception:  # of a reader of the user; the table counts the sample all the same
            continue
        if picture is not None:
            pictures.append(picture)
            names.append(str(index))
    sheet = images.contact_sheet(pictures, _SIDE, _COLUMNS, _MOST_BYTES * 3 // 4 - 600)
    if sheet is None:
        return None
    content, width, height = sheet
    title = html.escape(f"{view.dataset.name}: {', '.join(names)}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'style="max-width:100%;height:auto"><title>{title:.200}</title>'
        f'<image width="{width}" height="{height}" href="data:image/jpeg;base64,{base64.b64encode(content).decode()}"/></svg>'
    )


def _picture(sample: Any, targets: Any) -> np.ndarray | None:
    """The first part of a sample that can be drawn, as uint8."""
    for name, value in entries_of(sample):
        kind = kind_of(name, value, targets)
        if kind == "image":
            array = to_array(value)
            return None if array is None else images.shrink(array, _SIDE)
        if kind == "video" and isinstance(value, parts.Video) and value.size:
            return images.shrink(value.array[len(value) // 2], _SIDE)
        if isinstance(value, parts.Audio):
            levels = sounds.mel_levels(value)
            return None if levels is None else images.to_bytes(images.resize_levels(levels[::-1], _SIDE // 2))
    return None
