"""A result of inference drawn on its picture, for the output of a cell: `labdl.lab.show`."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.errors import ConfigError
from labdl.infer import Classes, Detections, Mask, Points

_MOST = 20  # rows of the legend
_Color = tuple[int, int, int]


@dataclass(frozen=True)
class Row:
    """A row of the legend: a text, a value if there is one, and the color in which the thing is drawn."""

    text: str
    value: str = ""
    color: _Color | None = None


@dataclass(frozen=True, eq=False)
class ResultView:
    """A picture with a result drawn on it, (height, width, 3) of uint8, and a legend; a notebook shows both."""

    picture: np.ndarray
    legend: tuple[Row, ...]

    def _repr_html_(self) -> str:
        from labdl.data.codecs.image import encode_image

        data = base64.b64encode(encode_image(self.picture)).decode("ascii")
        text = html.escape("; ".join(f"{row.text} {row.value}".strip() for row in self.legend), quote=True)
        rows = "".join(map(_row, self.legend))
        return (
            '<figure style="margin: 0; display: flex; flex-wrap: wrap; gap: 1em; align-items: flex-start">'
            f'<img alt="{text}" src="data:image/png;base64,{data}" style="max-width: 100%">'
            f'<table aria-label="Result"><tbody>{rows}</tbody></table></figure>'
        )

    def __repr__(self) -> str:
        height, width = self.picture.shape[:2]
        lines = [f"{row.text} {row.value}".strip() for row in self.legend]
        return "\n".join([f"picture of {height} × {width} pixels", *lines])


def show(picture: Any, result: Any) -> ResultView:
    """Draw a result of `labdl.infer` on its picture: classes as a table, masks as colors, boxes and points at their places.

    ``picture`` is what the inference received: a file name, an array or a Pillow picture. In a notebook the value is shown
    as the output of a cell; its attribute ``picture`` is the array.

    Example: ``labdl.lab.show("cat.jpg", inference.infer_one("cat.jpg"))``. Raises ConfigError for another result, DataError
    where picture and result differ in size.
    """
    from labdl.data.vision.pixels import shares_to_integers
    from labdl.tasks.samples import read_picture

    draw = DRAWINGS.get(type(result))
    if draw is None:
        types = ", ".join(kind.__name__ for kind in DRAWINGS)
        raise ConfigError(f"show wants a result of labdl.infer, one of {types}, received {type(result).__name__}")
    array = read_picture(picture).array
    if array.dtype != np.uint8:
        array = shares_to_integers(array, np.dtype("uint8")).astype("uint8")
    return ResultView(*draw(array, result))


def _draw_classes(picture: np.ndarray, result: Classes) -> tuple[np.ndarray, tuple[Row, ...]]:
    names = result.names or tuple(f"class {label}" for label in result.labels)
    rows = (Row(name, f"{share:.1%}") for name, share in zip(names, result.probabilities, strict=True))
    return picture, tuple(rows)[:_MOST]


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
    largest = sorted(rows, key=lambda item: -item[1])[:_MOST]
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
    return picture_of_boxes, tuple(rows)[:_MOST]


def _draw_points(picture: np.ndarray, result: Points) -> tuple[np.ndarray, tuple[Row, ...]]:
    from labdl.data.vision.drawing import draw_keypoints

    points = np.concatenate([result.points, result.visible[:, None]], axis=1)
    names = result.names or tuple(f"point {at}" for at in range(len(result.scores)))
    rows = [
        Row(name, f"{score:.1%}")
        for name, score, visible in zip(names, result.scores, result.visible, strict=True)
        if visible
    ]
    return draw_keypoints(picture, points), tuple(rows)[:_MOST]


DRAWINGS: dict[type, Callable[[np.ndarray, Any], tuple[np.ndarray, tuple[Row, ...]]]] = {
    Classes: _draw_classes,
    Mask: _draw_mask,
    Detections: _draw_boxes,
    Points: _draw_points,
}


def _name(names: tuple[str, ...] | None, number: int) -> str:
    return names[number] if names is not None and number < len(names) else f"class {number}"


def _row(row: Row) -> str:
    mark = "" if row.color is None else f'<span aria-hidden="true" style="color: rgb{row.color}">■</span> '
    text, value = html.escape(row.text), html.escape(row.value)
    return f'<tr><td style="text-align: left">{mark}{text}</td><td>{value}</td></tr>'
