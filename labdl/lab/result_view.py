"""A result of inference drawn on its picture, marked in its text or beside its wave form: `labdl.lab.show`."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.opening import PICTURES, SOUNDS
from labdl.data.parts import Audio
from labdl.errors import ConfigError
from labdl.generation import Generation
from labdl.infer import Classes, Detections, Mask, Points, Transcript
from labdl.lab.legend import MOST, Row, describe_legend, render_legend
from labdl.lab.text_view import VIEWS, TextView, view_text
from labdl.lab.wave_view import WaveView, view_sound


@dataclass(frozen=True, eq=False)
class ResultView:
    """A picture with a result drawn on it, (height, width, 3) of uint8, and a legend; a notebook shows both."""

    picture: np.ndarray
    legend: tuple[Row, ...]

    def _repr_html_(self) -> str:
        from labdl.data.codecs.image import encode_image

        data = base64.b64encode(encode_image(self.picture)).decode("ascii")
        text = html.escape("; ".join(describe_legend(self.legend)), quote=True)
        return (
            '<figure style="margin: 0; display: flex; flex-wrap: wrap; gap: 1em; align-items: flex-start">'
            f'<img alt="{text}" src="data:image/png;base64,{data}" style="max-width: 100%">'
            f"{render_legend(self.legend)}</figure>"
        )

    def __repr__(self) -> str:
        height, width = self.picture.shape[:2]
        return "\n".join([f"picture of {height} × {width} pixels", *describe_legend(self.legend)])


def show(sample: Any, result: Any, *, sample_rate: int = 16000) -> ResultView | TextView | WaveView:
    """Show a result of `labdl.infer` with its sample: drawn on a picture, marked in a text, or beside a wave form.

    ``sample`` is what the inference received. Classes become a table, masks colors, boxes and points are at their places;
    entities, answers, words in the place of masks and generated texts are marked in the text; a sound has its wave form, a
    player and the transcript. ``sample_rate`` is that of a sound in an array. In a notebook the value is shown as the output
    of a cell; of a picture, its attribute ``picture`` is the array.

    Example: ``labdl.lab.show("cat.jpg", inference.infer_one("cat.jpg"))``. Raises ConfigError for another result, DataError
    where sample and result do not fit.
    """
    kind = type(result)
    if kind not in DRAWINGS and kind not in VIEWS and kind is not Transcript:
        types = ", ".join(kind.__name__ for kind in dict.fromkeys((*DRAWINGS, *VIEWS, Transcript)))
        raise ConfigError(f"show wants a result of labdl.infer, one of {types}, received {kind.__name__}")
    if kind is Transcript or (kind is Generation and _is_sound(sample)):
        return view_sound(sample, result, sample_rate)
    if kind in VIEWS and (kind not in DRAWINGS or _is_text(sample)):
        return view_text(sample, result)
    return _draw(sample, result)


def _is_text(sample: Any) -> bool:
    """Whether a sample is a text, or a pair of texts, rather than the name of a file."""
    if isinstance(sample, list | tuple):
        return bool(sample) and all(isinstance(part, str) for part in sample)
    if not isinstance(sample, str) or os.path.isfile(sample):
        return False
    return os.path.splitext(sample)[1].lower() not in (*PICTURES, *SOUNDS)


def _is_sound(sample: Any) -> bool:
    """Whether a prompt of a model that writes texts is a sound: a file that is no picture, or an array of up to two axes."""
    if isinstance(sample, str | Path):
        return not _is_text(sample) and os.path.splitext(sample)[1].lower() not in PICTURES
    is_picture = type(sample).__module__.partition(".")[0] == "PIL"
    return isinstance(sample, Audio) or (not is_picture and getattr(sample, "ndim", 3) <= 2)


def _draw(sample: Any, result: Any) -> ResultView:
    from labdl.data.vision.pixels import shares_to_integers
    from labdl.tasks.samples import read_picture

    array = read_picture(sample).array
    if array.dtype != np.uint8:
        array = shares_to_integers(array, np.dtype("uint8")).astype("uint8")
    return ResultView(*DRAWINGS[type(result)](array, result))


def _draw_text(picture: np.ndarray, result: Generation) -> tuple[np.ndarray, tuple[Row, ...]]:
    return picture, (Row(str(result)),)


def _draw_classes(picture: np.ndarray, result: Classes) -> tuple[np.ndarray, tuple[Row, ...]]:
    names = result.names or tuple(f"class {label}" for label in result.labels)
    rows = (Row(name, f"{share:.1%}") for name, share in zip(names, result.probabilities, strict=True))
    return picture, tuple(rows)[:MOST]


def _draw_mask(picture: np.ndarray, result: Mask) -> tuple[np.ndarray, tuple[Row, ...]]:
    from labdl.data.vision.drawing import choose_colors, draw_masks

    numbers, counts = np.unique(result.mask, return_counts=True)
    rows = [
        (int(number), count) for number, count in zip(numbers, counts, strict=True) if number
    ]  # 0 is the background
    palette = choose_colors(None, max((number for number, _ in rows), default=0) + 1)
    if rows:
        masks = np.stack([result.mask == number for number, _ in rows])
        picture = draw_masks(picture, masks, alpha=0.6, colors=[palette[number] for number, _ in rows])
    largest = sorted(rows, key=lambda item: -item[1])[:MOST]
    return picture, tuple(
        Row(_name(result.names, number), f"{count / result.mask.size:.1%}", palette[number])
        for number, count in largest
    )


def _draw_boxes(picture: np.ndarray, result: Detections) -> tuple[np.ndarray, tuple[Row, ...]]:
    from labdl.data.vision.drawing import choose_colors, draw_boxes

    colors = choose_colors(None, len(result))
    names = result.names or tuple(f"class {label}" for label in result.labels)
    picture_of_boxes = draw_boxes(picture, result.boxes, labels=names, colors=colors, width=2)
    rows = (Row(name, f"{score:.1%}", color) for name, score, color in zip(names, result.scores, colors, strict=True))
    return picture_of_boxes, tuple(rows)[:MOST]


def _draw_points(picture: np.ndarray, result: Points) -> tuple[np.ndarray, tuple[Row, ...]]:
    from labdl.data.vision.drawing import draw_keypoints

    points = np.concatenate([result.points, result.visible[:, None]], axis=1)
    names = result.names or tuple(f"point {at}" for at in range(len(result.scores)))
    rows = [
        Row(name, f"{score:.1%}")
        for name, score, visible in zip(names, result.scores, result.visible, strict=True)
        if visible
    ]
    return draw_keypoints(picture, points), tuple(rows)[:MOST]


DRAWINGS: dict[type, Callable[[np.ndarray, Any], tuple[np.ndarray, tuple[Row, ...]]]] = {
    Classes: _draw_classes,
    Mask: _draw_mask,
    Detections: _draw_boxes,
    Points: _draw_points,
    Generation: _draw_text,
}


def _name(names: tuple[str, ...] | None, number: int) -> str:
    return names[number] if names is not None and number < len(names) else f"class {number}"
