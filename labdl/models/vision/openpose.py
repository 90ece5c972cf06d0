"""OpenPose: maps of limbs and of key points of bodies, refined in stages (Cao et al., 2017)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.image_size import check_sizes
from labdl.spec import Spec

# the first ten convolutions of VGG-19, between its poolings
VGG: tuple[tuple[int, ...], ...] = ((64, 64), (128, 128), (256, 256, 256, 256), (512, 512))
_INIT = "normal(std=0.01)"


def _convolution(channels: int, kernel_size: int = 3) -> nn.Conv2d:
    return nn.Conv2d(channels, kernel_size=kernel_size, padding=kernel_size // 2, kernel_init=_INIT)


class Branch(nn.Module):
    """Convolutions of one stage for one kind of map, with ReLU between: (N, C, H, W) to (N, maps, H, W)."""

    def __init__(self, maps: int, channels: Sequence[int], kernel_sizes: Sequence[int]):
        self.layers = nn.ModuleList([_convolution(c, k) for c, k in zip((*channels, maps), kernel_sizes, strict=True)])

    def forward(self, x):
        *inner, last = self.layers
        for layer in inner:
            x = ops.relu(layer(x))
        return last(x)


class OpenPose(nn.Module):
    """OpenPose: images (N, 3, H, W) to part affinity fields (N, fields, H / 8, W / 8) and heat maps (N, heat, H / 8, W / 8).

    Each stage sees the features and the maps of the stage before. With ``all_stages`` the model gives the fields and the heat
    maps of every stage, (fields, heat, fields, heat, ...), each of which has a loss in training. ``features`` are the channels
    of VGG-19 before the stages, ``reduction`` those after it, ``widths`` those inside the stages.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        fields: int = 38,
        heat: int = 19,
        *,
        stages: int = 6,
        all_stages: bool = False,
        features: Sequence[Sequence[int]] = VGG,
        reduction: tuple[int, int] = (256, 128),
        widths: tuple[int, int] = (128, 512),
    ):
        self.features = nn.ModuleList([nn.ModuleList([_convolution(c) for c in stage]) for stage in features])
        self.pool = nn.MaxPool2d(2)
        self.reduction = nn.ModuleList([_convolution(c) for c in reduction])
        narrow, wide = widths
        first = ((narrow, narrow, narrow, wide), (3, 3, 3, 1, 1))
        later = ((narrow,) * 6, (7, 7, 7, 7, 7, 1, 1))
        self.fields = nn.ModuleList([Branch(fields, *(later if at else first)) for at in range(stages)])
        self.heat = nn.ModuleList([Branch(heat, *(later if at else first)) for at in range(stages)])
        self.all_stages = all_stages
        self.least_size = 2 ** (len(features) - 1)

    def forward(self, x):
        check_sizes("OpenPose", x, least=self.least_size)
        for at, stage in enumerate(self.features):
            if at:
                x = self.pool(x)
            for layer in cast(nn.ModuleList, stage):
                x = ops.relu(layer(x))
        for layer in self.reduction:
            x = ops.relu(layer(x))
        inputs, maps = x, []
        for fields, heat in zip(self.fields, self.heat, strict=True):
            latest = fields(inputs), heat(inputs)
            maps.extend(latest)
            inputs = ops.concat([*latest, x], axis=1)
        return tuple(maps) if self.all_stages else tuple(maps[-2:])


def _stage(at: int, branch: int, ours: str) -> list[public_weights.WeightMapping]:
    """The names of a branch: fields are the first one of the published network, heat maps the second."""
    layers = 7 if at else 5
    prefix = f"model{at + 1}_{branch}"
    names = [f"Mconv{n}_stage{at + 1}_L{branch}" if at else f"conv5_{n}_CPM_L{branch}" for n in range(1, layers + 1)]
    return [
        mapping
        for n, name in enumerate(names)
        for mapping in public_weights.convolution(f"{prefix}.{name}", f"{ours}/{at}/layers/{n}")
    ]


OpenPose.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            *(
                public_weights.convolution(f"model0.conv{stage + 1}_{at + 1}", f"features/{stage}/{at}")
                for stage, channels in enumerate(VGG)
                for at in range(len(channels))
            ),
            public_weights.convolution("model0.conv4_3_CPM", "reduction/0"),
            public_weights.convolution("model0.conv4_4_CPM", "reduction/1"),
            *(_stage(at, branch, ours) for branch, ours in ((1, "fields"), (2, "heat")) for at in range(6)),
            needed=True,
        ),
    )
)


def from_controlnet_aux(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of the body network of controlnet-aux and pytorch-openpose.

    These apply a ReLU to the last heat maps, which this network, like the published one, does not. Raises StateDictError naming
    what is missing or unexpected.
    """
    return OpenPose.public_names.from_public(weights)


def _small() -> tuple[OpenPose, tuple[Spec, ...]]:
    model = OpenPose(4, 3, stages=2, all_stages=True, features=((4,), (4, 4)), reduction=(4, 4), widths=(4, 8))
    return model, (Spec((None, 3, 9, 12)),)


@zoo.register(
    "key points",
    inputs=zoo.images(368),
    parameters=52_311_446,
    paper="https://arxiv.org/abs/1611.08050",
    from_public=from_controlnet_aux,
    small=_small,
)
def openpose_body(fields: int = 38, heat: int = 19, all_stages: bool = False) -> OpenPose:
    """OpenPose for bodies: affinity fields of 19 limbs and heat maps of 18 points (Cao et al., 2017)."""
    return OpenPose(fields, heat, all_stages=all_stages)
