"""SlowFast: a slow pathway for appearance and a narrow fast one for motion (Feichtenhofer et al., 2019), as in pytorchvideo."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.dispatch import spec_of
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.video.conv_norm import ConvNorm3d, conv_norm_names
from labdl.models.video.pathway import (
    DEPTHS,
    FAST_FRAMES,
    SLOW_FRAMES,
    PathwayStem,
    stage,
    stage_names,
    stem_names,
)
from labdl.models.vision.image_size import check_sizes
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/1812.03982"


class Lateral(nn.Module):
    """A lateral connection: the fast map, through a convolution over time of stride ``ratio``, is appended to the slow one."""

    def __init__(self, channels: int, ratio: int, frames: int):
        self.convolution = ConvNorm3d(channels, (frames, 1, 1), (ratio, 1, 1))

    def forward(self, slow, fast):
        return ops.concat([slow, ops.relu(self.convolution(fast))], axis=1)


class SlowFast(nn.Module):
    """SlowFast: clips of few frames (N, 3, T, H, W) and of ``ratio`` times as many (N, 3, ratio * T, H, W) to logits.

    Both are of the same seconds. The fast pathway has 1 / ``narrow`` of the channels; ``fusion`` is the number of frames of the
    lateral convolutions. The head takes the mean over frames and places, which is the published pooling for clips of the
    published size. With ``classes=None`` the model gives the features.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        depths: Sequence[int] = DEPTHS[50],
        *,
        classes: int | None = 400,
        channels: int = 64,
        narrow: int = 8,
        ratio: int = 4,
        fusion: int = 7,
        rate: float = 0.5,
    ):
        self.slow_stem = PathwayStem(channels, 1)
        self.fast_stem = PathwayStem(channels // narrow, 5)
        self.slow, self.fast, self.lateral = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        entering = channels // narrow
        for at, depth in enumerate(depths):
            inner = channels * 2**at
            self.lateral.append(Lateral(2 * entering, ratio, fusion))
            self.slow.append(stage(at, depth, inner, SLOW_FRAMES[at]))
            self.fast.append(stage(at, depth, inner // narrow, FAST_FRAMES[at]))
            entering = 4 * inner // narrow
        self.average = nn.GlobalAvgPool()
        self.dropout = nn.Dropout(rate)
        self.head = None if classes is None else nn.Linear(classes, kernel_init="normal(std=0.01)")
        self.ratio = ratio

    def forward(self, slow, fast):
        self._check(slow, fast)
        slow, fast = self.slow_stem(slow), self.fast_stem(fast)
        for lateral, slow_stage, fast_stage in zip(self.lateral, self.slow, self.fast, strict=True):
            slow, fast = slow_stage(lateral(slow, fast)), fast_stage(fast)
        x = self.dropout(ops.concat([self.average(slow), self.average(fast)], axis=1))
        return x if self.head is None else self.head(x)

    def _check(self, slow, fast) -> None:
        check_sizes("SlowFast", slow, axes="T, H, W")
        check_sizes("SlowFast", fast, axes="T, H, W")
        slow_shape, fast_shape = spec_of(slow).shape, spec_of(fast).shape
        few, many = slow_shape[2], fast_shape[2]
        if few is None or many is None:
            return
        if -(-many // self.ratio) != few:
            raise ValueError(
                f"SlowFast wants {self.ratio} times as many frames in its second clip as in the first, received "
                f"{show(slow_shape)} and {show(fast_shape)}"
            )


SlowFast.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            stem_names("blocks.0.multipathway_blocks.0", "slow_stem"),
            stem_names("blocks.0.multipathway_blocks.1", "fast_stem"),
            needed=True,
        ),
        *(
            group
            for at in range(4)
            for group in (
                public_weights.Group(
                    conv_norm_names(
                        f"blocks.{at}.multipathway_fusion.conv_fast_to_slow",
                        f"blocks.{at}.multipathway_fusion.norm",
                        f"lateral/{at}/convolution",
                    ),
                    needed=True,
                ),
                *stage_names(f"blocks.{at + 1}.multipathway_blocks.0", f"slow/{at}"),
                *stage_names(f"blocks.{at + 1}.multipathway_blocks.1", f"fast/{at}"),
            )
        ),
        public_weights.Group(public_weights.linear("blocks.6.proj", "head")),
    )
)


def from_pytorchvideo(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of pytorchvideo's SlowFast; raises StateDictError naming what is missing or unexpected."""
    return SlowFast.public_names.from_public(weights)


def _clips(model: SlowFast) -> tuple[Spec, ...]:
    return Spec((None, 3, 8, 256, 256)), Spec((None, 3, 8 * model.ratio, 256, 256))


def _small() -> tuple[SlowFast, tuple[Spec, ...]]:
    model = SlowFast((1, 1), classes=3, channels=8, narrow=4, ratio=2)
    return model, (Spec((None, 3, 2, 12, 12)), Spec((None, 3, 4, 12, 12)))


_register = functools.partial(
    zoo.register, "video classification", inputs=_clips, paper=_PAPER, from_public=from_pytorchvideo
)


@_register(parameters=34_566_488, small=_small)
def slowfast_r50(classes: int | None = 400) -> SlowFast:
    """SlowFast with ResNet-50 pathways, for 8 and 32 frames (Feichtenhofer et al., 2019)."""
    return SlowFast(DEPTHS[50], classes=classes)


@_register(parameters=62_826_968)
def slowfast_r101(classes: int | None = 400) -> SlowFast:
    """SlowFast with ResNet-101 pathways, for 8 and 32 frames (Feichtenhofer et al., 2019)."""
    return SlowFast(DEPTHS[101], classes=classes, fusion=5)
