"""Bent pictures."""

from __future__ import annotations

import cv2
import numpy as np

from labdl.data.transforms.image.displacement import Displacement
from labdl.data.transforms.ranges import Range, check_order, draw
from labdl.data.transforms.transform import Parameters, transform
from labdl.data.vision.padding import Fill
from labdl.data.vision.warping import ArrayMaps, WarpInterpolation
from labdl.errors import ConfigError


@transform
class Elastic(Displacement):
    """Move each pixel by smooth random distances of up to ``alpha`` / 2 pixels.

    The noise from -1 to 1 is smoothed by a Gaussian of ``sigma`` pixels, so most distances are much shorter. Corners of
    boxes and key points move by the distance at their pixel. Source: torchvision.transforms.v2.ElasticTransform (Simard et
    al. 2003).
    """

    alpha: Range = 50.0
    sigma: Range = 5.0
    interpolation: WarpInterpolation = "bilinear"
    fill: Fill = 0.0
    mask_fill: int = 0

    def check_settings(self) -> None:
        check_order(self, "alpha", "sigma")
        if np.min(self.sigma) < 0:
            raise ConfigError(f"Elastic: sigma wants numbers of at least 0, received {self.sigma}")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        alpha, sigma = draw(self.alpha, rng), draw(self.sigma, rng)
        noise = rng.random((2, *part.canvas), "float32")
        noise *= 2
        noise -= 1
        if sigma > 0:
            length = int(8 * sigma + 1) | 1
            for plane in noise:  # one after the other: half the time of a picture of two channels
                cv2.GaussianBlur(plane, (length, length), sigma, dst=plane)
        noise *= np.float32(alpha / 2)
        return self.bending(part.canvas, np.moveaxis(noise, 0, -1))

    def bending(self, canvas: tuple[int, int], distances: np.ndarray) -> Parameters:
        """Parameters of distances (height, width, 2) in pixels (x, y) at which the picture is read."""
        columns, rows = np.arange(canvas[1], dtype="float32"), np.arange(canvas[0], dtype="float32")[:, None]
        maps = ArrayMaps(columns + distances[..., 0], rows + distances[..., 1])
        return {"canvas": canvas, "size": canvas, "distances": distances, "maps": maps}

    def move(self, points: np.ndarray, params: Parameters) -> np.ndarray:
        height, width = params["canvas"]
        at = np.floor(points).astype("intp")
        x, y = np.clip(at[:, 0], 0, width - 1), np.clip(at[:, 1], 0, height - 1)
        return points - params["distances"][y, x]
