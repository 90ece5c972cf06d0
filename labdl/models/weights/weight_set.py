"""An entry of the tables of public weights: its file, and the pictures and classes that it was trained for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from labdl.data.vision.color_statistics import IMAGENET_MEAN, IMAGENET_STD, KINETICS_MEAN, KINETICS_STD

if TYPE_CHECKING:
    from labdl.data.pipeline import Pipeline
    from labdl.data.transforms.transform import Transform

Color = tuple[float, float, float]
Interpolation = Literal["bilinear", "bicubic"]
ColorOrder = Literal["RGB", "BGR"]


class Preprocessing(Protocol):
    """The steps from a picture or a clip to the inputs of a model, as plain numbers."""

    def pipeline(self) -> Pipeline:
        """The steps as transforms of `labdl.data`, for a sample that is an array or a Pillow picture."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class PicturePreprocessing:
    """Resize the shorter edge of a picture to ``resize``, cut out the center, normalize: torchvision's and timm's rule.

    ``crop`` is the size of the center, in pixels, None for the whole picture. ``mean`` and ``std`` are those of colors 0 to 1
    in the order of ``colors``. Smoothing before a reduction (antialias) is part of the interpolation.
    """

    resize: int
    crop: int | None = None
    interpolation: Interpolation = "bilinear"
    mean: Color = IMAGENET_MEAN
    std: Color = IMAGENET_STD
    colors: ColorOrder = "RGB"

    def pipeline(self) -> Pipeline:
        """The steps for a picture (height, width, channels) of uint8, or floating-point numbers of 0 to 1."""
        from labdl.data import transforms as T  # imported lazily: transforms need OpenCV
        from labdl.data.pipeline import Pipeline

        steps: list[Transform] = [T.ToImage(), T.GrayscaleToRGB(), T.Resize(self.resize, self.interpolation)]
        steps += [] if self.crop is None else [T.CenterCrop(self.crop)]
        steps += [] if self.colors == "RGB" else [T.ConvertColor("RGB", self.colors)]
        return Pipeline([*steps, T.Normalize(self.mean, self.std)])

    def __str__(self) -> str:
        cut = "" if self.crop is None else f", center {self.crop}"
        return f"{self.resize} {self.interpolation}{cut}" + (
            "" if self.mean == IMAGENET_MEAN else f", mean {self.mean[0]:g}"
        )


@dataclass(frozen=True)
class ClipPreprocessing:
    """Resize the frames of a clip to (height, width), cut out the center, normalize: torchvision's rule.

    ``mean`` and ``std`` are those of colors 0 to 1, in the order RGB. Frames are not chosen: a clip has those that it has.
    """

    resize: tuple[int, int]
    crop: int
    interpolation: Interpolation = "bilinear"
    mean: Color = KINETICS_MEAN
    std: Color = KINETICS_STD

    def pipeline(self) -> Pipeline:
        """The steps for a `labdl.data.Video` (frames, height, width, channels) of uint8."""
        from labdl.data import transforms as T  # imported lazily: transforms need OpenCV
        from labdl.data.pipeline import Pipeline

        # torchvision resizes clips without smoothing
        resize = T.Resize(self.resize, self.interpolation, antialias=False)
        return Pipeline([resize, T.CenterCrop(self.crop), T.Normalize(self.mean, self.std)])

    def __str__(self) -> str:
        return f"{self.resize[0]} × {self.resize[1]} {self.interpolation}, center {self.crop}"


@dataclass(frozen=True)
class WeightSet:
    """Public weights of a model of the zoo.

    ``reference`` is the implementation that published them, ``name`` theirs there; ``source`` is the address of the file, on
    the web or as ``hf://owner/name/file``. ``labels`` names a list of `labdl.models.weights.class_names`, ``settings``
    are those of the model with which the weights fit.
    """

    model: str
    reference: str
    name: str
    source: str
    preprocessing: Preprocessing
    labels: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The reference and the name, as `labdl.models.create` takes them: "torchvision/IMAGENET1K_V2"."""
        return f"{self.reference}/{self.name}"

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.source.rpartition("/")[2]
