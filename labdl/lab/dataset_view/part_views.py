"""Parts of samples as pages draw them: pictures with boxes, masks and key points, sounds, clips, texts and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from labdl.data import parts
from labdl.data.boxes import convert_boxes
from labdl.lab.dataset_view import images, sounds

_MOST_BOXES, _MOST_POINTS, _MOST_TOKENS = 300, 2000, 400
_MOST_TEXT = 2000  # characters
_MOST_ENTRIES = 24
_FRAMES = 12
_ROWS = ("labels", "label", "area", "iscrowd", "difficult", "image_id")  # of objects and pictures, drawn elsewhere
_KINDS: dict[type, str] = {
    parts.Image: "image",
    parts.Video: "video",
    parts.Mask: "mask",
    parts.BoundingBoxes: "boxes",
    parts.KeyPoints: "keypoints",
    parts.Audio: "audio",
    parts.Spectrogram: "spectrogram",
    parts.TokenIds: "tokens",
    parts.Tokens: "tokens",
    parts.Text: "text",
    str: "text",
}


def entries_of(sample: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values of the parts of a sample, at most 24; those of a pair are "x" and "y", of others their numbers."""
    for at, entry in enumerate(_entries(sample, prefix)):
        if at >= _MOST_ENTRIES:
            return
        yield entry


def _entries(sample: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(sample, Mapping):
        named = [(str(name), value) for name, value in sample.items()]
    elif type(sample) is tuple or (type(sample) is list and any(isinstance(v, np.ndarray | Mapping) for v in sample)):
        names = ("x", "y") if len(sample) == 2 else [str(at) for at in range(len(sample))]
        named = list(zip(names, sample, strict=True))
    else:
        yield prefix or "x", sample
        return
    for name, value in named:
        yield from _entries(value, f"{prefix}.{name}" if prefix else name)


def kind_of(name: str, value: Any, targets: Sequence[str]) -> str:
    """The kind of a part: image, mask, boxes, keypoints, audio, spectrogram, video, text, tokens, label, number or array."""
    for kind, word in _KINDS.items():
        if isinstance(value, kind):
            return word
    if isinstance(value, bool | np.bool_):
        return "label"
    array = to_array(value)
    if array is None:
        return "number" if value is None else "text"  # a missing value of a table
    if array.ndim == 0 or (array.ndim == 1 and name in ("label", "labels")):
        return (
            "label" if array.dtype.kind in "iu" and (name in targets or name in ("y", "label", "labels")) else "number"
        )
    return "image" if images.is_picture(array) else "array"


def to_array(value: Any) -> np.ndarray | None:
    """Numbers as an array; None for what has none."""
    if isinstance(value, parts.Part):
        return value.array
    if isinstance(value, str | bytes | Mapping) or value is None:
        return None
    if isinstance(value, np.ndarray | np.generic | int | float):
        array = np.asarray(value)
    elif isinstance(value, list | tuple) and len(value) <= _MOST_TOKENS:
        try:
            array = np.asarray(value)
        except ValueError:
            return None
    elif hasattr(value, "getbands") or hasattr(value, "__array__"):  # a picture of Pillow, a tensor
        array = np.asarray(value)
    else:
        return None
    return array if array.dtype.kind in "biufc" else None


def describe(value: Any) -> str:
    """Shape, dtype, duration and the like in numbers and units."""
    if isinstance(value, parts.Audio):
        seconds = f"{value.seconds:.2f} s · {value.sample_rate:,} Hz · " if value.sample_rate else ""
        return f"{seconds}{_shape(value)} {value.dtype}"
    if isinstance(value, parts.Video):
        rate = f" · {value.fps:g} fps" if value.fps else ""
        return f"{_shape(value)} {value.dtype}{rate}"
    if isinstance(value, parts.Tokens | str):
        return f"{type(value).__name__} · {len(value):,}"
    if isinstance(value, bytes):
        return f"bytes · {len(value):,}"
    array = to_array(value)
    if array is None:
        return "" if value is None else type(value).__name__
    return f"{_shape(array)} {array.dtype}".strip()


def _shape(array: np.ndarray) -> str:
    return " × ".join(f"{n}" for n in array.shape)


def part_views(
    sample: Any, size: int, classes: Sequence[str] | None, targets: Sequence[str], full: tuple[int, int] | None = None
) -> list[dict[str, Any]]:
    """Fields of the `PartView` of each part; boxes, masks and key points lie in the view of their picture.

    ``size`` is the longest side of pictures, ``full`` height and width of the picture where a smaller one was read.
    """
    entries = [(name, value, kind_of(name, value, targets)) for name, value in entries_of(sample)]
    views, canvases = [], []
    for name, value, kind in entries:
        view = _view(name, value, kind, size)
        if view is None:
            continue
        if kind == "image" and full is not None:
            view |= {"height": full[0], "width": full[1], "description": f"{full[0]} × {full[1]} {value.dtype}"}
        if kind in ("image", "video"):
            canvases.append(view)
        views.append(view)
    for name, value, kind in entries:
        if kind in ("boxes", "keypoints", "mask"):
            _draw_on(_canvas_of(value, canvases), name, value, entries, views, size, classes)
    return views


def _view(name: str, value: Any, kind: str, size: int) -> dict[str, Any] | None:
    base = {"name": name, "description": describe(value)}
    if kind == "image":
        array = to_array(value)
        assert array is not None
        height, width = (value.shape[0], value.shape[1]) if isinstance(value, parts.Image) else images.size_of(array)
        if isinstance(value, parts.Image) and images.is_channels_first(array):
            height, width = array.shape[1:]
        if not array.size:
            return base | {"kind": "values", "text": "[]"}
        return base | {"kind": "image", "picture": images.picture_url(array, size), "width": width, "height": height}
    if kind == "audio":
        return base | _sound(value, size)
    if kind == "spectrogram":
        levels = np.asarray(value, np.float32).reshape(-1, *value.shape[-2:])
        if not levels.size:
            return base | {"kind": "values", "text": "[]"}
        return base | {
            "kind": "image",
            "picture": images.levels_url(_compress(levels.mean(0)), size),
            "height": value.shape[-2],
            "width": value.shape[-1],
        }
    if kind == "video":
        return base | _clip(value, size)
    if kind == "text":
        text = str(value) if isinstance(value, str | date) else f"{value!r:.200}"
        return base | {"kind": "text", "tokens": [text[:_MOST_TEXT]]}
    if kind == "tokens":
        return base | {"kind": "text", "tokens": [str(token)[:200] for token in value[:_MOST_TOKENS]]}
    if kind in ("boxes", "keypoints", "mask", "label") or name in _ROWS:
        return None
    return base | {"kind": "values", "text": _values(value)}


def _sound(value: parts.Audio, size: int) -> dict[str, Any]:
    levels = sounds.mel_levels(value)
    return {
        "kind": "audio",
        "picture": "" if levels is None else images.levels_url(levels, size),
        "waveform": sounds.waveform(value.array),
        "seconds": value.seconds or 0.0,
    }


def _clip(value: parts.Video, size: int) -> dict[str, Any]:
    count = len(value)
    if not value.size:
        return {"kind": "values", "text": "[]"}
    seconds = count / value.fps if value.fps else count / 8
    chosen = np.linspace(0, count - 1, min(count, _FRAMES)).astype(int)
    frames = [images.shrink(frame, size) for frame in images.to_bytes(value.array[chosen])]  # with one range for all
    return {
        "kind": "video",
        "picture": images.animation_url(frames, seconds),
        "height": value.shape[1],
        "width": value.shape[2],
        "seconds": seconds,
    }


def _compress(levels: np.ndarray) -> np.ndarray:
    """Powers on a logarithmic scale; levels in decibels and others as they are."""
    finite = np.nan_to_num(levels, posinf=0, neginf=0)
    if finite.min() < 0 or finite.max() < 1e-12:
        return finite
    return np.log10(finite + finite.max() * 1e-8)


def _values(value: Any) -> str:
    array = to_array(value)
    if array is None:
        return "–" if value is None else f"{value!r:.200}"
    if array.ndim == 0:
        return f"{array.item()!r:.80}"
    return np.array2string(array, precision=4, threshold=60, edgeitems=4, max_line_width=100)[:_MOST_TEXT]


def _canvas_of(value: Any, canvases: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The picture that boxes, points or a mask belong to: the first of their size, or the first."""
    same = [view for view in canvases if value.canvas == (view["height"], view["width"])]
    return next(iter(same or canvases), None)


def _draw_on(
    canvas: dict[str, Any] | None,
    name: str,
    value: Any,
    entries: Sequence[tuple[str, Any, str]],
    views: list[dict[str, Any]],
    size: int,
    classes: Sequence[str] | None,
) -> None:
    if canvas is None:
        views.append({"name": name, "kind": "values", "description": describe(value), "text": _values(value)})
        return
    height, width = value.canvas or (canvas["height"], canvas["width"])
    if isinstance(value, parts.BoundingBoxes):
        canvas["boxes"] = canvas.get("boxes", []) + _boxes(
            value, (height, width), _row_labels(entries, len(value), classes)
        )
    elif isinstance(value, parts.KeyPoints):
        canvas["points"] = canvas.get("points", []) + _points(value, (height, width))
    elif value.size and value.dtype.kind in "biu" and not canvas.get("mask"):
        canvas["mask"] = images.mask_url(value.array, size)


def _row_labels(entries: Sequence[tuple[str, Any, str]], count: int, classes: Sequence[str] | None) -> list[str]:
    for name, value, _ in entries:
        array = to_array(value)
        if name.rpartition(".")[2] in ("labels", "label") and array is not None and array.shape == (count,):
            return [class_name(number, classes) for number in array]
    return [""] * count


def class_name(label: Any, classes: Sequence[str] | None) -> str:
    """The name of a class by its number, or the number."""
    number = int(label) if np.asarray(label).dtype.kind in "biu" else None
    if number is None:
        return f"{float(label):g}"
    return str(classes[number]) if classes is not None and 0 <= number < len(classes) else str(number)


def _boxes(boxes: parts.BoundingBoxes, canvas: tuple[int, int], labels: list[str]) -> list[dict[str, Any]]:
    corners = convert_boxes(boxes.array, boxes.format, "xyxy") / np.array([canvas[1], canvas[0]] * 2, np.float32)
    shown = []
    for (left, top, right, bottom), label in list(zip(corners.tolist(), labels, strict=True))[:_MOST_BOXES]:
        if np.isfinite([left, top, right, bottom]).all():
            sizes = {"left": left, "top": top, "width": right - left, "height": bottom - top}
            shown.append({name: round(value, 4) for name, value in sizes.items()} | {"label": label})
    return shown


def _points(points: parts.KeyPoints, canvas: tuple[int, int]) -> list[tuple[float, float]]:
    rows = points.array.reshape(-1, points.shape[-1])[:_MOST_POINTS]
    if rows.shape[1] == 3:
        rows = rows[rows[:, 2] > 0]
    shares = rows[:, :2] / np.array([canvas[1], canvas[0]], np.float32)
    return [(round(x, 4), round(y, 4)) for x, y in shares[np.isfinite(shares).all(1)].tolist()]
