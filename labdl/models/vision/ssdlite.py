"""SSDlite: SSD of depthwise convolutions (Sandler et al., 2018), on MobileNetV3-Large (Howard et al., 2019)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, cast

from labdl import nn
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.conv_norm import conv_norm_names
from labdl.models.vision.detector_form import DetectorForm, single_shot
from labdl.models.vision.efficientnet import round_channels, squeeze_names
from labdl.models.vision.ssd import SSD
from labdl.nn.activation import Activation
from labdl.spec import Spec

_INIT = "normal(std=0.03)"


def _convolution(
    channels: int, kernel_size: int = 1, stride: int = 1, *, activation: Activation | None = "relu6", groups: int = 1
):
    return nn.ConvNormAct(
        channels,
        kernel_size=kernel_size,
        stride=stride,
        groups=groups,
        activation=activation,
        epsilon=1e-3,
        momentum=0.03,
        kernel_init=_INIT,
    )


class Block(NamedTuple):
    """A row of the table of MobileNetV3: kernel size, channels inside and after, squeeze, activation and stride."""

    kernel_size: int
    inner: int
    channels: int
    squeeze: bool
    activation: Activation
    stride: int


# table 1 of Howard et al., whose last three blocks have half of the channels in detectors
_LARGE = (
    Block(3, 16, 16, False, "relu", 1),
    Block(3, 64, 24, False, "relu", 2),
    Block(3, 72, 24, False, "relu", 1),
    Block(5, 72, 40, True, "relu", 2),
    *[Block(5, 120, 40, True, "relu", 1)] * 2,
    Block(3, 240, 80, False, "hardswish", 2),
    Block(3, 200, 80, False, "hardswish", 1),
    *[Block(3, 184, 80, False, "hardswish", 1)] * 2,
    Block(3, 480, 112, True, "hardswish", 1),
    Block(3, 672, 112, True, "hardswish", 1),
    Block(5, 672, 80, True, "hardswish", 2),
    *[Block(5, 480, 80, True, "hardswish", 1)] * 2,
)


class Bottleneck(nn.Module):
    """Expands the channels, convolves them each for itself, weighs and contracts them: (N, in, H, W) to (N, channels, ...).

    ``forward`` is `widen`, then `narrow`: detectors read the map between both.
    """

    def __init__(self, entering: int, row: Block):
        block = functools.partial(_convolution, activation=row.activation)
        self.expand = block(row.inner) if row.inner != entering else None
        self.depthwise = block(row.inner, row.kernel_size, row.stride, groups=row.inner)
        squeezed = round_channels(row.inner // 4)
        self.squeeze = nn.SqueezeExcitation(squeezed, gate="hardsigmoid") if row.squeeze else None
        self.contract = _convolution(row.channels, activation=None)
        self.residual = row.stride == 1 and row.channels == entering

    def widen(self, x):
        """The first convolution alone."""
        return x if self.expand is None else self.expand(x)

    def narrow(self, y):
        """All that follows the first convolution, without the skip connection."""
        y = self.depthwise(y)
        return self.contract(y if self.squeeze is None else self.squeeze(y))

    def forward(self, x):
        y = self.narrow(self.widen(x))
        return x + y if self.residual else y


class MobileNetFeatures(nn.Module):
    """MobileNetV3 with more layers at its end: images (N, 3, H, W) to maps from stride 16 on.

    The first map is inside the last block of stride 2, the second after the ``last`` convolution; each of ``extras`` is the
    channels of one more map of half the size.
    """

    def __init__(
        self,
        rows: Sequence[Block] = _LARGE,
        stem: int = 16,
        last: int = 480,
        extras: Sequence[int] = (512, 256, 256, 128),
    ):
        entering = [stem, *(row.channels for row in rows)]
        self.stem = _convolution(stem, 3, 2, activation="hardswish")
        self.blocks = nn.ModuleList(Bottleneck(n, row) for n, row in zip(entering, rows, strict=False))
        self.last = _convolution(last, activation="hardswish")
        self.extras = nn.ModuleList(
            nn.Sequential(_convolution(n // 2), _convolution(n // 2, 3, 2, groups=n // 2), _convolution(n))
            for n in extras
        )
        self.divide = max(at for at, row in enumerate(rows) if row.stride > 1)

    def forward(self, x):
        x, maps = self.stem(x), []
        for at, layer in enumerate(self.blocks):
            block = cast(Bottleneck, layer)
            if at == self.divide:
                maps.append(block.widen(x))
                x = block.narrow(maps[0])
            else:
                x = block(x)
        maps.append(self.last(x))
        for extra in self.extras:
            maps.append(extra(maps[-1]))
        return tuple(maps)


class Prediction(nn.Module):
    """A depthwise convolution and one to ``channels``, instead of a full one: (N, C, H, W) to (N, channels, H, W)."""

    def __init__(self, channels: int):
        self.channels = channels

    def setup(self, x):
        self.depthwise = _convolution(x.shape[1], 3, groups=x.shape[1])
        self.last = nn.Conv2d(self.channels, kernel_size=1, kernel_init=_INIT)

    def forward(self, x):
        return self.last(self.depthwise(x))


def _form(size: int) -> DetectorForm:
    settings = {"threshold": 0.001, "iou_threshold": 0.55, "max_detections": 300, "candidates_per_class": 300}
    return single_shot(size, mean=(0.5, 0.5, 0.5), deviation=0.5, **settings)


class SSDlite(nn.Module):
    """`SSD` with depthwise convolutions in its head, and the default boxes of SSDlite for ``maps`` of these sizes."""

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, backbone: nn.Module, classes: int, maps: Sequence[int], size: int):
        steps = len(maps) - 1
        scales = [0.2 + 0.75 * at / max(steps, 1) for at in range(len(maps))]
        strides = [size / n for n in maps]
        self.detector = SSD(
            backbone, classes, [(2, 3)] * len(maps), [*scales, 1.0], strides, size, predict=Prediction, form=_form
        )

    def forward(self, x):
        return self.detector(x)

    @property
    def detector_form(self) -> DetectorForm:
        """The steps before and after the model."""
        return self.detector.detector_form

    @property
    def size(self) -> int:
        """Height and width of the images."""
        return self.detector.size


def _block_names(at: int, row: Block, entering: int) -> list[public_weights.WeightMapping]:
    """Names of a block; the last block of stride 2 is cut after its first convolution."""
    divide = max(i for i, other in enumerate(_LARGE) if other.stride > 1)
    parts = ["expand"] * (row.inner != entering) + ["depthwise"] + ["squeeze"] * row.squeeze + ["contract"]
    mappings = []
    for number, part in enumerate(parts):
        # numbers of blocks begin with that of the stem
        public = f"features.0.{at + 1}.block.{number}"
        if at > divide:
            public = f"features.1.{at - divide}.block.{number}"
        elif at == divide:
            public = f"features.1.0.{number}" if number else f"features.0.{divide + 1}"
        public, ours = f"backbone.{public}", f"detector/backbone/blocks/{at}/{part}"
        if part == "squeeze":
            mappings += squeeze_names(f"{public}.fc1", f"{ours}/reduce")
            mappings += squeeze_names(f"{public}.fc2", f"{ours}/expand")
        else:
            mappings += conv_norm_names(f"{public}.0", f"{public}.1", ours)
    return mappings


def _names() -> public_weights.PublicNames:
    entering = [16, *(row.channels for row in _LARGE)]
    ours = "detector/backbone"
    heads = {"regression_head": "offsets", "classification_head": "classes"}
    return public_weights.PublicNames(
        (
            public_weights.Group(
                conv_norm_names("backbone.features.0.0.0", "backbone.features.0.0.1", f"{ours}/stem"),
                *(_block_names(at, row, entering[at]) for at, row in enumerate(_LARGE)),
                conv_norm_names("backbone.features.1.3.0", "backbone.features.1.3.1", f"{ours}/last"),
                needed=True,
            ),
            public_weights.Group(
                *(
                    conv_norm_names(
                        f"backbone.extra.{{}}.{n}.0", f"backbone.extra.{{}}.{n}.1", f"{ours}/extras/{{}}/{n}"
                    )
                    for n in range(3)
                ),
                needed=True,
            ),
            public_weights.Group(
                *(
                    conv_norm_names(
                        f"head.{there}.module_list.{{}}.0.0",
                        f"head.{there}.module_list.{{}}.0.1",
                        f"detector/{here}/{{}}/depthwise",
                    )
                    for there, here in heads.items()
                ),
                *(
                    public_weights.convolution(f"head.{there}.module_list.{{}}.1", f"detector/{here}/{{}}/last")
                    for there, here in heads.items()
                ),
                needed=True,
            ),
        )
    )


SSDlite.public_names = _names()


def _small() -> tuple[SSDlite, tuple[Spec, ...]]:
    rows = (Block(3, 8, 8, True, "relu", 2), Block(3, 16, 8, True, "hardswish", 2), Block(3, 16, 8, False, "relu", 1))
    return SSDlite(MobileNetFeatures(rows, 8, 16, (16,)), 4, (16, 8, 4), 64), (Spec((None, 3, 64, 64)),)


@zoo.register(
    "object detection",
    inputs=zoo.images(320),
    parameters=3_440_060,
    paper="https://arxiv.org/abs/1905.02244",
    from_public=SSDlite.public_names.from_public,
    small=_small,
)
def ssdlite320_mobilenet_v3_large(classes: int = 91) -> SSDlite:
    """SSDlite for images of 320 x 320 pixels, on MobileNetV3-Large; class 0 is the background (Howard et al., 2019)."""
    return SSDlite(MobileNetFeatures(), classes, (20, 10, 5, 3, 2, 1), 320)
