"""Pictures of another size."""

from __future__ import annotations

import numpy as np

from labdl.data.transforms.image.scaling import Scaling, shorter_edge_size
from labdl.data.transforms.image.sizes import Pixels, Size, pair
from labdl.data.transforms.ranges import PositiveRange, check_order, draw
from labdl.data.transforms.transform import Parameters, transform
from labdl.data.vision.resampling import Interpolation
from labdl.errors import ConfigError


@transform({"size": (24, 36)})
class Resize(Scaling):
    """Resize to (height, width), or the shorter edge to one number with the proportions kept.

    The longer edge is at most ``max_size``; with ``size=None`` it becomes ``max_size``. "box", "hamming" and "lanczos"
    always filter, the others by ``antialias``. Masks are read at the nearest pixel. Source: torchvision.transforms.v2.Resize.
    """

    size: Size | None
    interpolation: Interpolation = "bilinear"
    max_size: Pixels | None = None
    antialias: bool = True

    def check_settings(self) -> None:
        if isinstance(self.size, tuple) and self.max_size is not None:
            raise ConfigError("Resize: max_size belongs to one number as size: leave it out or write size=224")
        if self.size is None and self.max_size is None:
            raise ConfigError("Resize wants size or max_size, received neither")
        if isinstance(self.size, int) and self.max_size is not None and self.max_size <= self.size:
            raise ConfigError(f"Resize: max_size wants more than size={self.size}, received {self.max_size}")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        fixed = self.size if isinstance(self.size, tuple) else shorter_edge_size(part.canvas, self.size, self.max_size)
        return self.scaling(part.canvas, fixed)


@transform({"min_size": (20, 40)})
class ResizeShortestSize(Scaling):
    """Resize the shorter edge to a number of pixels chosen from a list, the longer edge to at most ``max_size``.

    A larger picture than ``max_size`` allows is made smaller with its proportions. Source:
    torchvision.transforms.v2.RandomShortestSize.
    """

    min_size: Pixels | tuple[Pixels, ...]
    max_size: Pixels | None = None
    interpolation: Interpolation = "bilinear"
    antialias: bool = True

    def check_settings(self) -> None:
        if self.min_size == ():
            raise ConfigError("ResizeShortestSize wants at least one size")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        sizes = self.min_size if isinstance(self.min_size, tuple) else (self.min_size,)
        factor = sizes[int(rng.integers(len(sizes)))] / min(part.canvas)
        if self.max_size is not None:
            factor = min(factor, self.max_size / max(part.canvas))
        height, width = (max(1, int(length * factor)) for length in part.canvas)
        return self.scaling(part.canvas, (height, width))


@transform({"min_size": 20, "max_size": 40})
class RandomResize(Scaling):
    """Resize the shorter edge to a whole number drawn from ``min_size`` to below ``max_size``.

    Source: torchvision.transforms.v2.RandomResize.
    """

    min_size: Pixels
    max_size: Pixels
    interpolation: Interpolation = "bilinear"
    antialias: bool = True

    def check_settings(self) -> None:
        if self.min_size >= self.max_size:
            raise ConfigError(
                f"RandomResize: max_size wants more than min_size={self.min_size}, received {self.max_size}"
            )

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return self.scaling(
            part.canvas, shorter_edge_size(part.canvas, int(rng.integers(self.min_size, self.max_size)))
        )


@transform({"sizes": (24, (30, 40))})
class RandomSizeResize(Scaling):
    """Resize to a size chosen from a list, each (height, width) or one number for both, for training at several scales.

    Source: YOLO9000, Redmon and Farhadi 2017, and PaddleDetection.
    """

    sizes: tuple[Size, ...]
    interpolation: Interpolation = "bilinear"
    antialias: bool = True

    def check_settings(self) -> None:
        if not self.sizes:
            raise ConfigError("RandomSizeResize wants at least one size")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        return self.scaling(part.canvas, pair(self.sizes[int(rng.integers(len(self.sizes)))]))


@transform({"target_size": (48, 64)})
class ScaleJitter(Scaling):
    """Resize to fit into ``target_size`` (height, width) times a factor drawn from ``scale_range``, proportions kept.

    Source: torchvision.transforms.v2.ScaleJitter (Ghiasi et al. 2021).
    """

    target_size: tuple[Pixels, Pixels]
    scale_range: PositiveRange = (0.1, 2.0)
    interpolation: Interpolation = "bilinear"
    antialias: bool = True

    def check_settings(self) -> None:
        check_order(self, "scale_range")

    def get_params(self, rng: np.random.Generator, part) -> Parameters:
        height, width = part.canvas
        factor = min(self.target_size[0] / height, self.target_size[1] / width) * draw(self.scale_range, rng)
        return self.scaling(part.canvas, (max(1, int(height * factor)), max(1, int(width * factor))))
