"""Pictures seen in perspective."""

from __future__ import annotations

import numpy as np

from labdl.data.transforms.image.displacement import Displacement
from labdl.data.transforms.transform import Parameters, transform
from labdl.data.vision.padding import Fill
from labdl.data.vision.warping import WarpInterpolation, perspective_matrix
from labdl.errors import ConfigError
from labdl.settings import Share

Points = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]


@transform
class Perspective(Displacement):
    """Move the four corners inwards at random, by up to ``distortion_scale`` of half the width and height.

    Or move four given points: ``startpoints`` of the picture (x, y; from its corner) to ``endpoints``. Source:
    torchvision.transforms.v2.RandomPerspective.
    """

    distortion_scale: Share = 0.5
    interpolation: WarpInterpolation = "bilinear"
    fill: Fill = 0.0
    mask_fill: int = 0
    startpoints: Points | None = None
    endpoints: Points | None = None
    p: Share = 1.0

    def check_settings(self) -> None:
        if (self.startpoints is None) != (self.endpoints is None):
            raise ConfigError("Perspective wants startpoints and endpoints, received one of them")
        if self.startpoints and self.endpoints:
            try:
                matrix = perspective_matrix(np.array(self.startpoints), np.array(self.endpoints))
            except np.linalg.LinAlgError:
                matrix = np.zeros((3, 3))
            if abs(np.linalg.det(matrix)) < 1e-12:
                raise ConfigError("Perspective wants four startpoints and endpoints of which no three are on a line")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        height, width = part.canvas
        if self.startpoints and self.endpoints:
            start, end = np.array(self.startpoints), np.array(self.endpoints)
        else:
            right, bottom = max(width - 1, 1), max(height - 1, 1)
            start = np.array([[0, 0], [right, 0], [right, bottom], [0, bottom]], "float64")
            most = [int(self.distortion_scale * (width // 2)), int(self.distortion_scale * (height // 2))]
            inwards = rng.integers(0, [most] * 4, endpoint=True)
            end = start + inwards * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
            if height < 3 or width < 3:
                end = start + 0.0  # too small to be bent
        return self.displacement(part.canvas, perspective_matrix(start, end))
