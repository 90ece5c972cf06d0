"""PFLD: a practical facial landmark detector with an auxiliary net for the pose of the head (Guo et al., 2019)."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.conv_norm import ConvNorm, conv_norm_names
from labdl.models.vision.image_size import check_sizes
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1902.10859"
_INIT = "fan_in_uniform"


def _convolution(channels: int, kernel_size: int = 3, stride: int = 1, groups: int = 1, padding: int | None = None):
    return ConvNorm(channels, kernel_size, stride, groups, padding=padding, kernel_init=_INIT)


class InvertedResidual(nn.Module):
    """A block of MobileNetV2 (Sandler et al., 2018): 1 x 1 to ``inner`` channels, 3 x 3 depthwise, 1 x 1 to ``channels``.

    With ``skip`` the input is added. There is no activation after the last convolution.
    """

    def __init__(self, channels: int, inner: int, stride: int = 1, *, skip: bool = False):
        self.expansion = _convolution(inner, 1)
        self.depthwise = _convolution(inner, 3, stride, inner)
        self.projection = _convolution(channels, 1)
        self.skip = skip

    def forward(self, x):
        y = self.projection(ops.relu(self.depthwise(ops.relu(self.expansion(x)))))
        return x + y if self.skip else y


class IdleNorm(nn.Module):
    """Keeps the parameters of a batch normalization that has no effect: (N, channels) to the same.

    The published network has one, ``bn8``, which its forward does not call. With it, files and numbers of parameters are those
    of the publication; its terms are multiplied by 0, since a graph holds no parameter that nothing reads.
    """

    def __init__(self, channels: int):
        self.gamma = nn.Parameter((channels,), "ones")
        self.beta = nn.Parameter((channels,))
        self.moving_mean = nn.Buffer((channels,))
        self.moving_variance = nn.Buffer((channels,), "ones")

    def forward(self, x):
        gamma: Any = self.gamma
        return x + 0.0 * (gamma + self.beta + self.moving_mean + self.moving_variance)


class PFLD(nn.Module):
    """The landmark net: faces (N, 3, 112, 112) to the features of the auxiliary net and the points (N, 2 * landmarks).

    Points are x and y in turn, in shares of the image. The last layer sees features of three scales. ``width`` is the number of
    channels of the first layers.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, landmarks: int = 98, width: int = 64):
        self.stem = nn.ModuleList([_convolution(width, 3, 2), _convolution(width)])
        self.third = nn.ModuleList(
            [
                InvertedResidual(width, 2 * width, 2),
                *(InvertedResidual(width, 2 * width, skip=True) for _ in range(4)),
            ]
        )
        self.fourth = InvertedResidual(2 * width, 2 * width, 2)
        self.fifth = nn.ModuleList(
            [
                InvertedResidual(2 * width, 8 * width),
                *(InvertedResidual(2 * width, 8 * width, skip=True) for _ in range(5)),
            ]
        )
        self.sixth = InvertedResidual(width // 4, 4 * width)
        self.seventh = _convolution(width // 2, 3, 2)
        self.eighth = nn.Conv2d(2 * width, kernel_size=7)
        self.idle_norm = IdleNorm(2 * width)
        self.head = nn.Linear(2 * landmarks)

    def forward(self, x):
        check_sizes("PFLD", x, least=112, most=112)
        for part in self.stem:
            x = ops.relu(part(x))
        for block in self.third:
            x = block(x)
        features = x
        x = self.fourth(x)
        for block in self.fifth:
            x = block(x)
        first = self.sixth(x)
        second = ops.relu(self.seventh(first))
        third = ops.relu(self.eighth(second))
        scales = [ops.mean(scale, axis=(2, 3)) for scale in (first, second, third)]
        scales[-1] = self.idle_norm(scales[-1])
        return features, self.head(ops.concat(scales, axis=1))


class AuxiliaryNet(nn.Module):
    """The auxiliary net: the landmark net's features (N, 64, 28, 28) to the angles of the head (N, 3), for training only."""

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, channels: int = 128):
        self.first = _convolution(channels, 3, 2)
        self.second = _convolution(channels)
        self.third = _convolution(channels // 4, 3, 2)
        self.fourth = _convolution(channels, 7, padding=1)
        self.pool = nn.MaxPool2d(3)
        self.flatten = nn.Flatten()
        self.hidden = nn.Linear(channels // 4)
        self.head = nn.Linear(3)

    def forward(self, x):
        check_sizes("AuxiliaryNet", x, least=25)
        for part in (self.first, self.second, self.third, self.fourth):
            x = ops.relu(part(x))
        return self.head(self.hidden(self.flatten(self.pool(x))))


class PFLDWithAuxiliary(nn.Module):
    """Both nets of PFLD, for training: faces (N, 3, 112, 112) to points (N, 2 * landmarks) and angles of the head (N, 3)."""

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, landmarks: int = 98, width: int = 64, channels: int = 128):
        self.backbone = PFLD(landmarks, width)
        self.auxiliary = AuxiliaryNet(channels)

    def forward(self, x):
        features, points = self.backbone(x)
        return points, self.auxiliary(features)


def _block(public: str, ours: str) -> list[public_weights.WeightMapping]:
    return [
        *conv_norm_names(f"{public}.conv.0", f"{public}.conv.1", f"{ours}/expansion"),
        *conv_norm_names(f"{public}.conv.3", f"{public}.conv.4", f"{ours}/depthwise"),
        *conv_norm_names(f"{public}.conv.6", f"{public}.conv.7", f"{ours}/projection"),
    ]


PFLD.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            conv_norm_names("conv1", "bn1", "stem/0"),
            conv_norm_names("conv2", "bn2", "stem/1"),
            _block("conv3_1", "third/0"),
            *(_block(f"block3_{at + 1}", f"third/{at}") for at in range(1, 5)),
            _block("conv4_1", "fourth"),
            _block("conv5_1", "fifth/0"),
            *(_block(f"block5_{at + 1}", f"fifth/{at}") for at in range(1, 6)),
            _block("conv6_1", "sixth"),
            conv_norm_names("conv7.0", "conv7.1", "seventh"),
            public_weights.convolution("conv8", "eighth"),
            public_weights.batch_norm("bn8", "idle_norm"),
            public_weights.linear("fc", "head"),
            needed=True,
        ),
    )
)
AuxiliaryNet.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            *(
                conv_norm_names(f"conv{at}.0", f"conv{at}.1", ours)
                for at, ours in enumerate(("first", "second", "third", "fourth"), 1)
            ),
            public_weights.linear("fc1", "hidden"),
            public_weights.linear("fc2", "head"),
            needed=True,
        ),
    )
)
PFLDWithAuxiliary.public_names = public_weights.PublicNames(
    (
        *public_weights.inside(PFLD.public_names.groups, "pfld_backbone.", "backbone/"),
        *public_weights.inside(AuxiliaryNet.public_names.groups, "auxiliarynet.", "auxiliary/"),
    )
)


def _small() -> tuple[PFLDWithAuxiliary, tuple[Spec, ...]]:
    return PFLDWithAuxiliary(3, 4, 8), (Spec((None, 3, 112, 112)),)


def _small_backbone() -> tuple[PFLD, tuple[Spec, ...]]:
    return PFLD(3, 4), (Spec((None, 3, 112, 112)),)


def _features(model: AuxiliaryNet) -> tuple[Spec, ...]:
    return (Spec((None, 64, 28, 28)),)


_register = functools.partial(zoo.register, "key points", paper=_PAPER)


@_register(
    inputs=zoo.images(112), parameters=1_264_804, from_public=PFLD.public_names.from_public, small=_small_backbone
)
def pfld(landmarks: int = 98) -> PFLD:
    """PFLD: landmarks of a face, by a small network of inverted residuals (Guo et al., 2019)."""
    return PFLD(landmarks)


@_register(inputs=_features, parameters=463_811, from_public=AuxiliaryNet.public_names.from_public)
def pfld_auxiliary() -> AuxiliaryNet:
    """The auxiliary net of PFLD: the pose of the head from the features of the landmark net (Guo et al., 2019)."""
    return AuxiliaryNet()


@_register(
    inputs=zoo.images(112),
    parameters=1_264_804 + 463_811,
    from_public=PFLDWithAuxiliary.public_names.from_public,
    small=_small,
)
def pfld_with_auxiliary(landmarks: int = 98) -> PFLDWithAuxiliary:
    """PFLD with its auxiliary net, for training (Guo et al., 2019)."""
    return PFLDWithAuxiliary(landmarks)
