"""Region: base class of transforms whose result is a rectangle of the sample, within it or larger than it."""

from __future__ import annotations

import numpy as np

from labdl.data.codecs.image import EncodedImage
from labdl.data.parts import Canvas, Image, Video
from labdl.data.transforms.transform import Parameters, Transform
from labdl.data.vision.padding import Fill, PaddingMode, crop_pad, crop_pad_mask, is_inside


class Region(Transform):
    """A subclass defines `get_params`, which returns the `region`, and the settings of the margin if it can have one."""

    fill: Fill = 0.0
    mask_fill: int = 0
    padding_mode: PaddingMode = "constant"

    def region(self, canvas: Canvas, top: int, left: int, height: int, width: int) -> Parameters:
        """Parameters of the rectangle at (top, left) of a picture of the size ``canvas``."""
        return {"canvas": canvas, "at": (top, left), "size": (height, width)}

    def canvas_after(self, canvas: Canvas, params: Parameters) -> Canvas:
        return params["size"]

    def apply_to_encoded_image(self, encoded: EncodedImage, params: Parameters) -> Image:
        box = (*params["at"], *params["size"])
        if type(self).apply_to_image is Region.apply_to_image and is_inside(box, encoded.canvas):
            return encoded.decode_crop(box)
        image = encoded.decode()
        return image.like(self.apply_to_image(image, params))

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        pixels = image.view(np.ndarray)
        return crop_pad(pixels, *params["at"], *params["size"], mode=self.padding_mode, fill=self.fill)

    def apply_to_video(self, video: Video, params: Parameters) -> np.ndarray:
        (top, left), (height, width) = params["at"], params["size"]
        if is_inside((top, left, height, width), video.canvas):
            return video.array[:, top : top + height, left : left + width]
        return self._frames(video, params)

    def apply_to_mask(self, mask: np.ndarray, params: Parameters) -> np.ndarray:
        values = mask.view(np.ndarray)
        return crop_pad_mask(values, *params["at"], *params["size"], mode=self.padding_mode, fill=self.mask_fill)

    def apply_to_boxes(self, boxes: np.ndarray, params: Parameters) -> np.ndarray:
        top, left = params["at"]
        return boxes - np.array([left, top, left, top], boxes.dtype)

    def apply_to_keypoints(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        top, left = params["at"]
        return points - np.array([left, top], points.dtype)
