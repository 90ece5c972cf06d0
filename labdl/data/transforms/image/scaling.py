"""Scaling: base class of transforms that make the whole sample, or a rectangle of it, larger or smaller."""

from __future__ import annotations

import numpy as np

from labdl.data.codecs.image import EncodedImage
from labdl.data.parts import Canvas, Image
from labdl.data.transforms.transform import Parameters, Transform
from labdl.data.vision.padding import crop_pad, crop_pad_mask, is_inside
from labdl.data.vision.resampling import Interpolation, resize, resize_nearest


class Scaling(Transform):
    """A subclass defines `get_params`, which returns what `scaling` does, and the settings of the interpolation."""

    interpolation: Interpolation = "bilinear"
    antialias: bool = True

    def scaling(
        self, canvas: Canvas, size: tuple[int, int], *, box: tuple[int, int, int, int] | None = None
    ) -> Parameters:
        """Parameters of a rectangle ``box`` (top, left, height, width), by default all, that becomes one of ``size``."""
        return {"canvas": canvas, "size": size, "box": box or (0, 0, *canvas)}

    def canvas_after(self, canvas: Canvas, params: Parameters) -> Canvas:
        return params["size"]

    def apply_to_encoded_image(self, encoded: EncodedImage, params: Parameters) -> Image:
        box, size = params["box"], params["size"]
        if type(self).apply_to_image is not Scaling.apply_to_image or not is_inside(box, encoded.canvas):
            image = encoded.decode()
            return image.like(self.apply_to_image(image, params))
        image = encoded.decode_crop(box, size)
        return image.like(resize(image.array, size, interpolation=self.interpolation, antialias=self.antialias))

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        pixels = crop_pad(image.view(np.ndarray), *params["box"])
        return resize(pixels, params["size"], interpolation=self.interpolation, antialias=self.antialias)

    def apply_to_mask(self, mask: np.ndarray, params: Parameters) -> np.ndarray:
        return resize_nearest(crop_pad_mask(mask.view(np.ndarray), *params["box"]), params["size"])

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        offset, factor = _coordinates(params)
        return (boxes - np.tile(offset, 2)) * np.tile(factor, 2)

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        offset, factor = _coordinates(params)
        return (points + 0.5 - offset) * factor - 0.5  # a point is the center of a pixel, a box has its corners


def _coordinates(params: Parameters) -> tuple[np.ndarray, np.ndarray]:
    top, left, height, width = params["box"]
    return np.array([left, top], "float64"), np.array([params["size"][1] / width, params["size"][0] / height])


def shorter_edge_size(canvas: Canvas, shorter: int | None, longest: int | None = None) -> tuple[int, int]:
    """Height and width of a picture whose shorter edge becomes ``shorter`` unless the longer exceeds ``longest``.

    Lengths are cut to whole numbers as in torchvision.
    """
    low, high = min(canvas), max(canvas)
    if shorter is None:
        assert longest is not None
        short, long = int(longest * low / high), longest
    else:
        short, long = shorter, int(shorter * high / low)
        if longest is not None and long > longest:
            short, long = int(longest * short / long), longest
    short, long = max(short, 1), max(long, 1)
    return (long, short) if canvas[0] > canvas[1] else (short, long)
