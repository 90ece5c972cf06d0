"""Boxes, masks and key points drawn on pictures (height, width, 3) of uint8, or floating-point numbers from 0 to 1."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from labdl.errors import DataError

Color = str | tuple[int, int, int]


def draw_boxes(
    image: np.ndarray,
    boxes: np.ndarray,
    *,
    labels: Sequence[str | None] | None = None,
    colors: Color | Sequence[Color] | None = None,
    width: int = 1,
    fill: bool = False,
) -> np.ndarray:
    """A copy of a picture with boxes (N, 4; "xyxy" in pixels) and their labels; ``fill`` paints them at 100 of 255.

    Colors are names, "#rrggbb", (red, green, blue) of 255, one for all or one for each box; by default each has another.
    Source: torchvision.utils.draw_bounding_boxes.
    """
    picture = _to_bytes("draw_boxes", image)
    boxes = np.asarray(boxes, "float64").reshape(-1, 4)
    if labels is not None and len(labels) != len(boxes):
        raise DataError(f"draw_boxes wants a label for each of {len(boxes)} boxes, received {len(labels)}")
    canvas = Image.fromarray(picture)
    pen = ImageDraw.Draw(canvas, "RGBA" if fill else None)
    font = ImageFont.load_default()
    for at, (box, color) in enumerate(zip(boxes, choose_colors(colors, len(boxes)), strict=True)):
        left, top, right, bottom = box
        if right < left or bottom < top:
            continue
        pen.rectangle((left, top, right, bottom), outline=color, width=width, fill=(*color, 100) if fill else None)
        if labels is not None and labels[at]:
            pen.text((left + width + 1, top + width + 1), str(labels[at]), fill=color, font=font)
    return _like(np.asarray(canvas), image)


def draw_masks(
    image: np.ndarray, masks: np.ndarray, *, alpha: float = 0.8, colors: Color | Sequence[Color] | None = None
) -> np.ndarray:
    """A copy of a picture with masks (N, height, width) blended over it by ``alpha``; pixels other than 0 are drawn.

    Where masks overlap, the last is seen. Source: torchvision.utils.draw_segmentation_masks.
    """
    picture = _to_bytes("draw_masks", image)
    masks = np.asarray(masks) != 0
    if masks.ndim == 2:
        masks = masks[None]
    if masks.shape[1:] != picture.shape[:2]:
        raise DataError(f"draw_masks wants masks of {picture.shape[:2]} pixels as the picture, received {masks.shape}")
    painted = np.array(picture, "float32")
    for mask, color in zip(masks, choose_colors(colors, len(masks)), strict=True):
        painted[mask] = color
    blended = picture * np.float32(1 - alpha) + painted * np.float32(alpha)
    return _like(np.clip(np.rint(blended), 0, 255).astype("uint8"), image)


def draw_keypoints(
    image: np.ndarray,
    points: np.ndarray,
    *,
    connectivity: Sequence[tuple[int, int]] = (),
    colors: Color | Sequence[Color] | None = None,
    radius: int = 2,
    width: int = 1,
) -> np.ndarray:
    """A copy of a picture with key points (objects, points, 2 or 3) or (points, 2 or 3), joined by lines.

    ``connectivity`` are pairs of points. Points whose third number, the visibility, is 0 are left out. A color belongs to
    an object. Source: torchvision.utils.draw_keypoints.
    """
    picture = _to_bytes("draw_keypoints", image)
    points = np.asarray(points, "float64")
    if points.ndim == 2:
        points = points[None]
    if points.ndim != 3 or points.shape[-1] not in (2, 3):
        raise DataError(f"draw_keypoints wants points (objects, points, 2 or 3), received the shape {points.shape}")
    canvas = Image.fromarray(picture)
    pen = ImageDraw.Draw(canvas)
    for one, color in zip(points, choose_colors(colors, len(points)), strict=True):
        visible = one[:, 2] > 0 if one.shape[1] == 3 else np.ones(len(one), bool)
        for start, end in connectivity:
            if visible[start] and visible[end]:
                pen.line((*one[start, :2], *one[end, :2]), fill=color, width=width)
        for x, y in one[visible, :2]:
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)
    return _like(np.asarray(canvas), image)


def choose_colors(colors: Any, count: int) -> list[tuple[int, int, int]]:
    """One color for each object: those given, or hues that differ as much as possible from the ones before."""
    if colors is None:
        hues = [colorsys.hsv_to_rgb(at * 0.618034 % 1, 0.85, 1.0) for at in range(count)]
        return [(round(r * 255), round(g * 255), round(b * 255)) for r, g, b in hues]
    single = isinstance(colors, str) or (len(colors) == 3 and all(isinstance(c, int | np.integer) for c in colors))
    chosen = [colors] * count if single else list(colors)
    if len(chosen) < count:
        raise DataError(f"a drawing wants a color for each of {count} objects, received {len(chosen)}")
    return [ImageColor.getrgb(c)[:3] if isinstance(c, str) else tuple(int(v) for v in c) for c in chosen[:count]]  # type: ignore[misc]


def _to_bytes(name: str, image: np.ndarray) -> np.ndarray:
    values = np.asarray(image)
    if values.ndim == 2:
        values = values[:, :, None]
    if values.ndim != 3 or values.shape[2] not in (1, 3):
        raise DataError(f"{name} wants a picture (height, width, 3) or (height, width, 1), received {values.shape}")
    if values.dtype.kind == "f":
        values = np.rint(np.clip(values, 0, 1) * 255)
    elif values.dtype != np.uint8:
        raise DataError(f"{name} wants uint8, or floating-point numbers from 0 to 1, received {values.dtype}")
    return np.ascontiguousarray(np.broadcast_to(values, (*values.shape[:2], 3)), "uint8")


def _like(picture: np.ndarray, image: np.ndarray) -> np.ndarray:
    kind = np.asarray(image).dtype
    return (picture / kind.type(255)).astype(kind) if kind.kind == "f" else np.array(picture)
