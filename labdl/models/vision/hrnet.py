"""HRNet: maps of several resolutions side by side, for classes (Wang et al., 2020) and for key points (Sun et al., 2019)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.vision.conv_norm import ConvNorm, conv_norm_names
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.spec import Spec

_PAPER, _POSES = "https://arxiv.org/abs/1908.07919", "https://arxiv.org/abs/1902.09212"
_HE = "he_normal(mode='fan_out')"


class Transition(nn.Module):
    """Adds a branch of half the last one's resolution. The first transition adapts the channels of the one branch too."""

    def __init__(self, channels: Sequence[int], kernel_init: str):
        self.adapt = ConvNorm(channels[0], 3, kernel_init=kernel_init) if len(channels) == 2 else None
        self.descend = ConvNorm(channels[-1], 3, 2, kernel_init=kernel_init)

    def forward(self, *maps):
        new = ops.relu(self.descend(maps[-1]))
        return (*maps, new) if self.adapt is None else (ops.relu(self.adapt(maps[0])), new)


class Exchange(nn.Module):
    """Sums at each resolution what all branches have there, brought to its size and channels, and a ReLU.

    Down by 3 x 3 convolutions of stride 2, with a ReLU between them; up by a 1 x 1 convolution and the nearest neighbor.
    ``outputs`` are the first branches that are computed.
    """

    def __init__(self, channels: Sequence[int], outputs: int, kernel_init: str):
        self.outputs = outputs
        self.paths = nn.ModuleDict(
            {
                f"{source}_to_{target}": (
                    _descend(channels[source], channels[target], target - source, kernel_init)
                    if source < target
                    else _ascend(channels[target], source - target, kernel_init)
                )
                for target in range(outputs)
                for source in range(len(channels))
                if source != target
            }
        )

    def forward(self, *maps):
        return tuple(self._sum(maps, target) for target in range(self.outputs))

    def _sum(self, maps, target: int):
        total = None
        for source, x in enumerate(maps):
            part = x if source == target else self.paths[f"{source}_to_{target}"](x)
            total = part if total is None else total + part
        return ops.relu(total)


def _descend(inner: int, channels: int, steps: int, kernel_init: str) -> nn.Sequential:
    parts = nn.Sequential()
    for _ in range(steps - 1):
        parts.extend([ConvNorm(inner, 3, 2, kernel_init=kernel_init), nn.ReLU()])
    parts.append(ConvNorm(channels, 3, 2, kernel_init=kernel_init))
    return parts


def _ascend(channels: int, steps: int, kernel_init: str) -> nn.Sequential:
    return nn.Sequential(ConvNorm(channels, 1, kernel_init=kernel_init), nn.Upsample(2.0**steps))


class ParallelBranches(nn.Module):
    """Residual blocks at each resolution, then an exchange between them: maps to as many maps, or the first ``outputs``."""

    def __init__(self, channels: Sequence[int], depth: int, *, outputs: int | None = None, kernel_init: str = _HE):
        self.branches = nn.ModuleList(
            nn.Sequential(*(BasicBlock(size, kernel_init=kernel_init) for _ in range(depth))) for size in channels
        )
        self.exchange = Exchange(channels, len(channels) if outputs is None else outputs, kernel_init)

    def forward(self, *maps):
        return self.exchange(*(branch(x) for branch, x in zip(self.branches, maps, strict=True)))


class HighResolutionTrunk(nn.Module):
    """Images (N, C, H, W), multiples of 32, to maps (N, width * 2^i, H / 2^(i + 2), W / 2^(i + 2)) for i = 0 to 3.

    ``bottlenecks`` are the number of blocks of the first stage and their channels, ``modules`` the numbers of parallel
    branches in the three others. With ``last_only`` the last exchange gives the map of the highest resolution alone.
    """

    def __init__(
        self,
        width: int,
        *,
        bottlenecks: tuple[int, int] = (4, 64),
        modules: Sequence[int] = (1, 4, 3),
        depth: int = 4,
        last_only: bool = False,
        kernel_init: str = _HE,
    ):
        blocks, inner = bottlenecks
        self.stem = nn.ModuleList(ConvNorm(64, 3, 2, kernel_init=kernel_init) for _ in range(2))
        self.bottlenecks = nn.Sequential(
            *(Bottleneck(inner, project=i == 0 and inner * 4 != 64, kernel_init=kernel_init) for i in range(blocks))
        )
        self.transitions = nn.ModuleList()
        self.stages = nn.ModuleList()
        for at, count in enumerate(modules):
            channels = [width * 2**i for i in range(at + 2)]
            is_last_stage = at == len(modules) - 1
            self.transitions.append(Transition(channels, kernel_init))
            self.stages.append(
                nn.ModuleList(
                    ParallelBranches(
                        channels,
                        depth,
                        outputs=1 if last_only and is_last_stage and i == count - 1 else None,
                        kernel_init=kernel_init,
                    )
                    for i in range(count)
                )
            )

    def forward(self, x):
        for step in self.stem:
            x = ops.relu(step(x))
        maps = (self.bottlenecks(x),)
        for transition, stage in zip(self.transitions, self.stages, strict=True):
            maps = transition(*maps)
            for module in cast(nn.ModuleList, stage):
                maps = module(*maps)
        return maps


class HRNet(nn.Module):
    """A classifier of images: (N, C, H, W), multiples of 32, to logits (N, classes).

    The four maps are widened, summed down to the lowest resolution and averaged. ``width`` is the channels of the highest
    resolution; the settings are those of `HighResolutionTrunk`. With ``classes=None`` it gives the 2048 features before the
    head, and `features` the four maps.
    """

    public_names: ClassVar[public_weights.PublicNames]  # timm's

    def __init__(
        self,
        width: int = 18,
        *,
        classes: int | None = 1000,
        bottlenecks: tuple[int, int] = (4, 64),
        modules: Sequence[int] = (1, 4, 3),
        depth: int = 4,
    ):
        self.trunk = HighResolutionTrunk(width, bottlenecks=bottlenecks, modules=modules, depth=depth)
        self.widen = nn.ModuleList(Bottleneck(32 * 2**at, project=True) for at in range(4))
        self.descend = nn.ModuleList(_conv_norm_relu(256 * 2**at, 3, 2) for at in range(3))
        self.last = _conv_norm_relu(2048, 1)
        self.average = nn.GlobalAvgPool()
        self.head = None if classes is None else nn.Linear(classes)

    def features(self, x):
        """The four maps, from the highest resolution to the lowest."""
        return self.trunk(x)

    def forward(self, x):
        y, *others = (widen(x) for widen, x in zip(self.widen, self.features(x), strict=True))
        for descend, other in zip(self.descend, others, strict=True):
            y = other + descend(y)
        y = self.average(self.last(y))
        return y if self.head is None else self.head(y)


def _conv_norm_relu(channels: int, kernel_size: int, stride: int = 1) -> nn.Module:
    return nn.ConvNormAct(channels, kernel_size=kernel_size, stride=stride, use_bias=True, kernel_init=_HE)


class PoseHRNet(nn.Module):
    """Heat maps of key points: images (N, C, H, W), multiples of 32, to (N, points, H / 4, W / 4).

    The settings are those of `HighResolutionTrunk`.
    """

    public_names: ClassVar[public_weights.PublicNames]  # those of the authors

    def __init__(
        self,
        width: int = 32,
        *,
        points: int = 17,
        bottlenecks: tuple[int, int] = (4, 64),
        modules: Sequence[int] = (1, 4, 3),
        depth: int = 4,
    ):
        init = "normal(std=0.001)"
        self.trunk = HighResolutionTrunk(
            width, bottlenecks=bottlenecks, modules=modules, depth=depth, last_only=True, kernel_init=init
        )
        self.head = nn.Conv2d(points, kernel_size=1, kernel_init=init)

    def forward(self, x):
        (highest,) = self.trunk(x)
        return self.head(highest)


def _block_names(public: str, ours: str, parts: int) -> public_weights.Group:
    """A residual block with so many convolutions."""
    names = ("first", "second", "third")[:parts]
    convolutions = (
        conv_norm_names(f"{public}.conv{i}", f"{public}.bn{i}", f"{ours}/{name}") for i, name in enumerate(names, 1)
    )
    return public_weights.Group(*convolutions, needed=True)


def _shortcut_names(public: str, ours: str) -> public_weights.Group:
    return public_weights.Group(conv_norm_names(f"{public}.downsample.0", f"{public}.downsample.1", f"{ours}/shortcut"))


def _transition_names(at: int) -> public_weights.Group:
    public, ours = f"transition{at + 1}", f"trunk/transitions/{at}"
    descend = conv_norm_names(f"{public}.{at + 1}.0.0", f"{public}.{at + 1}.0.1", f"{ours}/descend")
    adapt = conv_norm_names(f"{public}.0.0", f"{public}.0.1", f"{ours}/adapt") if at == 0 else []
    return public_weights.Group(adapt, descend, needed=True)


def _exchange_names(at: int) -> list[public_weights.Group]:
    """A group each: a last exchange of one output has only the ways up to it."""
    groups = []
    for target in range(at + 2):
        for source in range(at + 2):
            public = f"stage{at + 2}.{{}}.fuse_layers.{target}.{source}"
            ours = f"trunk/stages/{at}/{{}}/exchange/paths/{source}_to_{target}"
            if source > target:
                groups.append(public_weights.Group(conv_norm_names(f"{public}.0", f"{public}.1", f"{ours}/0")))
            elif source < target:
                chain = (
                    conv_norm_names(f"{public}.{i}.0", f"{public}.{i}.1", f"{ours}/{2 * i}")
                    for i in range(target - source)
                )
                groups.append(public_weights.Group(*chain))
    return groups


_TRUNK = (
    public_weights.Group(
        conv_norm_names("conv1", "bn1", "trunk/stem/0"), conv_norm_names("conv2", "bn2", "trunk/stem/1"), needed=True
    ),
    _block_names("layer1.{}", "trunk/bottlenecks/{}", 3),
    _shortcut_names("layer1.{}", "trunk/bottlenecks/{}"),
    *(_transition_names(at) for at in range(3)),
    *(
        group
        for at in range(3)
        for group in (
            _block_names(f"stage{at + 2}.{{}}.branches.{{}}.{{}}", f"trunk/stages/{at}/{{}}/branches/{{}}/{{}}", 2),
            *_exchange_names(at),
        )
    ),
)
HRNet.public_names = public_weights.PublicNames(
    (
        *_TRUNK,
        _block_names("incre_modules.{}.0", "widen/{}", 3),
        _shortcut_names("incre_modules.{}.0", "widen/{}"),
        public_weights.Group(
            conv_norm_names("downsamp_modules.{}.0", "downsamp_modules.{}.1", "descend/{}", use_bias=True), needed=True
        ),
        public_weights.Group(conv_norm_names("final_layer.0", "final_layer.1", "last", use_bias=True), needed=True),
        public_weights.Group(public_weights.linear("classifier", "head")),
    )
)
PoseHRNet.public_names = public_weights.PublicNames(
    (*_TRUNK, public_weights.Group(public_weights.convolution("final_layer", "head"), needed=True))
)


def from_timm(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of timm's HRNet; raises StateDictError naming what is missing or unexpected."""
    return HRNet.public_names.from_public(weights)


def _small() -> tuple[HRNet, tuple[Spec, ...]]:
    model = HRNet(2, classes=3, bottlenecks=(1, 2), modules=(1, 1, 1), depth=1)
    return model, (Spec((None, 3, 32, 32)),)


def _small_pose() -> tuple[PoseHRNet, tuple[Spec, ...]]:
    model = PoseHRNet(2, points=3, bottlenecks=(1, 2), modules=(1, 1, 1), depth=1)
    return model, (Spec((None, 3, 32, 32)),)


_register = functools.partial(
    zoo.register, "image classification", inputs=zoo.images(), paper=_PAPER, from_public=from_timm
)


@_register(parameters=13_187_464, small=_small)
def hrnet_w18_small(classes: int | None = 1000) -> HRNet:
    """HRNet-W18-C-Small-v1: one set of branches in each stage, with two blocks each (Wang et al., 2020)."""
    return HRNet(16, classes=classes, bottlenecks=(1, 32), modules=(1, 1, 1), depth=2)


@_register(parameters=15_597_464)
def hrnet_w18_small_v2(classes: int | None = 1000) -> HRNet:
    """HRNet-W18-C-Small-v2, with two blocks in each branch (Wang et al., 2020)."""
    return HRNet(18, classes=classes, bottlenecks=(2, 64), modules=(1, 3, 2), depth=2)


@_register(parameters=21_299_004)
def hrnet_w18(classes: int | None = 1000) -> HRNet:
    """HRNet-W18-C: 18 channels at the highest resolution (Wang et al., 2020)."""
    return HRNet(18, classes=classes)


@_register(parameters=37_712_220)
def hrnet_w30(classes: int | None = 1000) -> HRNet:
    """HRNet-W30-C: 30 channels at the highest resolution (Wang et al., 2020)."""
    return HRNet(30, classes=classes)


@_register(parameters=41_232_680)
def hrnet_w32(classes: int | None = 1000) -> HRNet:
    """HRNet-W32-C: 32 channels at the highest resolution (Wang et al., 2020)."""
    return HRNet(32, classes=classes)


@_register(parameters=57_557_160)
def hrnet_w40(classes: int | None = 1000) -> HRNet:
    """HRNet-W40-C: 40 channels at the highest resolution (Wang et al., 2020)."""
    return HRNet(40, classes=classes)


@_register(parameters=67_064_984)
def hrnet_w44(classes: int | None = 1000) -> HRNet:
    """HRNet-W44-C: 44 channels at the highest resolution (Wang et al., 2020)."""
    return HRNet(44, classes=classes)


@_register(parameters=77_469_864)
def hrnet_w48(classes: int | None = 1000) -> HRNet:
    """HRNet-W48-C: 48 channels at the highest resolution (Wang et al., 2020)."""
    return HRNet(48, classes=classes)


@_register(parameters=128_059_944)
def hrnet_w64(classes: int | None = 1000) -> HRNet:
    """HRNet-W64-C: 64 channels at the highest resolution (Wang et al., 2020)."""
    return HRNet(64, classes=classes)


def _pose_images(model: PoseHRNet) -> tuple[Spec, ...]:
    return (Spec((None, 3, 256, 192)),)


_register_pose = functools.partial(
    zoo.register, "key points", inputs=_pose_images, paper=_POSES, from_public=PoseHRNet.public_names.from_public
)


@_register_pose(parameters=28_536_113, small=_small_pose)
def hrnet_pose_w32(points: int = 17) -> PoseHRNet:
    """HRNet-W32 for poses: a heat map for each of the 17 key points of COCO (Sun et al., 2019)."""
    return PoseHRNet(32, points=points)


@_register_pose(parameters=63_595_745)
def hrnet_pose_w48(points: int = 17) -> PoseHRNet:
    """HRNet-W48 for poses: a heat map for each of the 17 key points of COCO (Sun et al., 2019)."""
    return PoseHRNet(48, points=points)
