"""The slow pathway of SlowFast alone, a 3D ResNet of frames far apart (Feichtenhofer et al., 2019), as in pytorchvideo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.video.pathway import DEPTHS, SLOW_FRAMES, PathwayStem, stage, stage_names, stem_names
from labdl.models.vision.image_size import check_sizes
from labdl.spec import Spec


class SlowNet(nn.Module):
    """The slow pathway: clips (N, 3, T, H, W) to logits (N, classes), or to features with ``classes=None``."""

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        depths: Sequence[int] = DEPTHS[50],
        *,
        classes: int | None = 400,
        channels: int = 64,
        rate: float = 0.5,
    ):
        self.stem = PathwayStem(channels, 1)
        self.stages = nn.ModuleList(
            [stage(at, depth, channels * 2**at, SLOW_FRAMES[at]) for at, depth in enumerate(depths)]
        )
        self.average = nn.GlobalAvgPool()
        self.dropout = nn.Dropout(rate)
        self.head = None if classes is None else nn.Linear(classes, kernel_init="normal(std=0.01)")

    def forward(self, x):
        check_sizes("SlowNet", x, axes="T, H, W")
        x = self.stem(x)
        for part in self.stages:
            x = part(x)
        x = self.dropout(self.average(x))
        return x if self.head is None else self.head(x)


SlowNet.public_names = public_weights.PublicNames(
    (
        public_weights.Group(stem_names("blocks.0", "stem"), needed=True),
        *(group for at in range(4) for group in stage_names(f"blocks.{at + 1}", f"stages/{at}")),
        public_weights.Group(public_weights.linear("blocks.5.proj", "head")),
    )
)


def from_pytorchvideo(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of pytorchvideo's ResNet; raises StateDictError naming what is missing or unexpected."""
    return SlowNet.public_names.from_public(weights)


def _small() -> tuple[SlowNet, tuple[Spec, ...]]:
    return SlowNet((1, 1, 1), classes=3, channels=4), (Spec((None, 3, 2, 12, 12)),)


@zoo.register(
    "video classification",
    inputs=zoo.clips(8, 256),
    parameters=32_454_096,
    paper="https://arxiv.org/abs/1812.03982",
    from_public=from_pytorchvideo,
    small=_small,
)
def slow_r50(classes: int | None = 400) -> SlowNet:
    """The slow pathway of SlowFast with ResNet-50, for 8 frames (Feichtenhofer et al., 2019)."""
    return SlowNet(DEPTHS[50], classes=classes)
