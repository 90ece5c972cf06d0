"""Pictures of a fixed size with their proportions kept: what is missing is filled, what is too much is cut."""

from __future__ import annotations

import numpy as np

from labdl.data.parts import Canvas
from labdl.data.transforms.image.region import Region
from labdl.data.transforms.image.sizes import Size, pair
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.padding import Fill, crop_pad, crop_pad_mask
from labdl.data.vision.resampling import Interpolation, resize, resize_nearest


@transform({"size": (40, 40)})
class ResizeWithPad(Transform):
    """Resize to fit into a size (height, width) with the proportions kept, and fill the margin on both sides.

    Source: tf.image.resize_with_pad; ``antialias`` is on by default as in torchvision.
    """

    size: Size
    interpolation: Interpolation = "bilinear"
    antialias: bool = True
    fill: Fill = 0.0
    mask_fill: int = 0

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        height, width = part.canvas
        size = pair(self.size)
        ratio = max(height / size[0], width / size[1])
        lengths = height / ratio, width / ratio
        inner = max(1, int(lengths[0])), max(1, int(lengths[1]))
        # the margin is that of the size before it is cut to whole numbers, as in TensorFlow
        at = int((size[0] - lengths[0]) / 2), int((size[1] - lengths[1]) / 2)
        return {"canvas": part.canvas, "inner": inner, "region": (-at[0], -at[1], *size)}

    def canvas_after(self, canvas: Canvas, params: Parameters) -> Canvas:
        return params["region"][2:]

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        pixels = resize(
            image.view(np.ndarray), params["inner"], interpolation=self.interpolation, antialias=self.antialias
        )
        return crop_pad(pixels, *params["region"], fill=self.fill)

    def apply_to_mask(self, mask: np.ndarray, params: Parameters) -> np.ndarray:
        return crop_pad_mask(
            resize_nearest(mask.view(np.ndarray), params["inner"]), *params["region"], fill=self.mask_fill
        )

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        offset, factor = _coordinates(params)
        return boxes * np.tile(factor, 2) + np.tile(offset, 2)

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        offset, factor = _coordinates(params)
        return (points + 0.5) * factor + offset - 0.5


@transform({"size": (40, 80)})
class ResizeWithCropOrPad(Region):
    """Cut the center or fill the margin to reach a size (height, width), without scaling.

    Source: tf.image.resize_with_crop_or_pad.
    """

    size: Size
    fill: Fill = 0.0
    mask_fill: int = 0

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        size = pair(self.size)
        differences = [length - wanted for length, wanted in zip(part.canvas, size, strict=True)]
        top, left = (d // 2 if d >= 0 else -(-d // 2) for d in differences)
        return self.region(part.canvas, top, left, *size)


def _coordinates(params: Parameters) -> tuple[np.ndarray, np.ndarray]:
    top, left = params["region"][:2]
    factor = [params["inner"][i] / params["canvas"][i] for i in (1, 0)]
    return np.array([-left, -top], "float64"), np.array(factor)
