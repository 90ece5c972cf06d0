"""DeiT: a vision transformer trained with a teacher's help, whose answers a token of its own learns (Touvron et al., 2021)."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import convert
from labdl.models import zoo
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/2012.12877"
_INIT = "normal(std=0.02)"


class DeiT(nn.Module):
    """A transformer encoder over patches and a class token: images (N, C, H, W) to logits (N, classes).

    With ``distilled`` a distillation token stands after the class token, each has a head, and the logits are the mean of both;
    with ``separate_heads`` they are a pair in training, the class token's first, for a loss against the labels and one
    against a teacher. Each patch has a learned position, so images have the one size that is given, square or (height, width).
    With ``classes=None`` it gives the features of the tokens, the mean of both if distilled.
    """

    public_names: ClassVar[public_weights.PublicNames]  # timm's

    def __init__(
        self,
        image_size: int | tuple[int, int] = 224,
        patch_size: int = 16,
        layers: int = 12,
        heads: int = 12,
        features: int = 768,
        feed_forward: int = 3072,
        *,
        classes: int | None = 1000,
        distilled: bool = False,
        separate_heads: bool = False,
        rate: float = 0.0,
        epsilon: float = 1e-6,
    ):
        if separate_heads and not distilled:
            raise ValueError("DeiT: separate_heads are those of a distilled model: give distilled=True")
        self.image_size = (image_size, image_size) if isinstance(image_size, int) else tuple(image_size)
        self.separate_heads = separate_heads
        self.patches = nn.PatchEmbedding(features, patch_size)
        self.distillation_token = nn.ClassToken(_INIT) if distilled else None
        self.class_token = nn.ClassToken(_INIT)
        patches = math.prod(n // patch_size for n in self.image_size)
        self.positions = nn.PositionEmbedding(1 + distilled + patches, _INIT)
        self.dropout = nn.Dropout(rate)
        self.encoder = nn.TransformerEncoder(
            heads,
            feed_forward,
            "gelu",
            norm_first=True,
            rate=rate,
            epsilon=epsilon,
            attention_rate=0.0,
            kernel_init=_INIT,
            layers=layers,
            final_norm=True,
        )
        self.head = None if classes is None else nn.Linear(classes, kernel_init=_INIT)
        self.distillation_head = nn.Linear(classes, kernel_init=_INIT) if distilled and classes is not None else None

    def setup(self, x):
        if x.ndim != 4 or x.shape[2:] != self.image_size:
            raise ValueError(
                f"DeiT wants images (N, C, {', '.join(map(str, self.image_size))}), received {show(x.shape)}: give "
                "image_size="
            )

    def forward(self, x):
        x = self.patches(x)
        x = x if self.distillation_token is None else self.distillation_token(x)
        x = self.encoder(self.dropout(self.positions(self.class_token(x))))
        label = _classify(self.head, ops.getitem(x, (slice(None), 0)))
        if self.distillation_token is None:
            return label
        teacher = _classify(self.distillation_head, ops.getitem(x, (slice(None), 1)))
        return (label, teacher) if self.training and self.separate_heads else (label + teacher) / 2


def _classify(head: nn.Module | None, x):
    return x if head is None else head(x)


_BLOCK, _OURS = "blocks.{}", "encoder/blocks/{}"
DeiT.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.plain("cls_token", "class_token/token:0"),
            [convert("positions/embeddings:0", "pos_embed", lambda a: a[np.newaxis], lambda a: a[0])],
            public_weights.convolution("patch_embed.proj", "patches/projection"),
            public_weights.norm("norm", "encoder/norm"),
            needed=True,
        ),
        public_weights.Group(public_weights.plain("dist_token", "distillation_token/token:0")),
        public_weights.Group(
            public_weights.norm(f"{_BLOCK}.norm1", f"{_OURS}/attention_norm"),
            public_weights.packed_attention(f"{_BLOCK}.attn", f"{_OURS}/attention", packed="qkv.", projection="proj"),
            public_weights.norm(f"{_BLOCK}.norm2", f"{_OURS}/mlp_norm"),
            public_weights.linear(f"{_BLOCK}.mlp.fc1", f"{_OURS}/mlp/expand"),
            public_weights.linear(f"{_BLOCK}.mlp.fc2", f"{_OURS}/mlp/contract"),
            needed=True,
        ),
        public_weights.Group(public_weights.linear("head", "head")),
        public_weights.Group(public_weights.linear("head_dist", "distillation_head")),
    )
)


def from_timm(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of timm's DeiT; raises StateDictError naming what is missing or unexpected."""
    return DeiT.public_names.from_public(weights)


def _images(model: DeiT) -> tuple[Spec, ...]:
    return (Spec((None, 3, *model.image_size)),)


def _small() -> tuple[DeiT, tuple[Spec, ...]]:
    model = DeiT(16, 8, layers=1, heads=2, features=8, feed_forward=16, classes=3, distilled=True)
    return model, _images(model)


_register = functools.partial(zoo.register, "image classification", inputs=_images, paper=_PAPER, from_public=from_timm)


@_register(parameters=5_717_416)
def deit_tiny_patch16_224(classes: int | None = 1000, image_size: int = 224) -> DeiT:
    """DeiT-Tiny, without the distillation token (Touvron et al., 2021)."""
    return DeiT(image_size, 16, 12, 3, 192, 768, classes=classes)


@_register(parameters=22_050_664)
def deit_small_patch16_224(classes: int | None = 1000, image_size: int = 224) -> DeiT:
    """DeiT-Small, without the distillation token (Touvron et al., 2021)."""
    return DeiT(image_size, 16, 12, 6, 384, 1536, classes=classes)


@_register(parameters=86_567_656)
def deit_base_patch16_224(classes: int | None = 1000, image_size: int = 224) -> DeiT:
    """DeiT-Base, without the distillation token (Touvron et al., 2021)."""
    return DeiT(image_size, classes=classes)


@_register(parameters=5_910_800, small=_small)
def deit_tiny_distilled_patch16_224(
    classes: int | None = 1000, image_size: int = 224, separate_heads: bool = False
) -> DeiT:
    """DeiT-Tiny with the distillation token and its head (Touvron et al., 2021)."""
    return DeiT(image_size, 16, 12, 3, 192, 768, classes=classes, distilled=True, separate_heads=separate_heads)


@_register(parameters=22_436_432)
def deit_small_distilled_patch16_224(
    classes: int | None = 1000, image_size: int = 224, separate_heads: bool = False
) -> DeiT:
    """DeiT-Small with the distillation token and its head (Touvron et al., 2021)."""
    return DeiT(image_size, 16, 12, 6, 384, 1536, classes=classes, distilled=True, separate_heads=separate_heads)


@_register(parameters=87_338_192)
def deit_base_distilled_patch16_224(
    classes: int | None = 1000, image_size: int = 224, separate_heads: bool = False
) -> DeiT:
    """DeiT-Base with the distillation token and its head (Touvron et al., 2021)."""
    return DeiT(image_size, classes=classes, distilled=True, separate_heads=separate_heads)
