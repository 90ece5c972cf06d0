"""Vision Transformer: images as sequences of patches (Dosovitskiy et al., 2021)."""

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

_PAPER = "https://arxiv.org/abs/2010.11929"


class VisionTransformer(nn.Module):
    """A transformer encoder over patches and a class token: images (N, C, H, W) to logits (N, classes).

    Each patch has a learned position, so images have the one size that is given, square or (height, width). With
    ``classes=None`` it gives the features of the class token.
    """

    public_names: ClassVar[public_weights.PublicNames]

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
        rate: float = 0.0,
        attention_rate: float = 0.0,
        epsilon: float = 1e-6,
    ):
        self.image_size = (image_size, image_size) if isinstance(image_size, int) else tuple(image_size)
        self.patches = nn.PatchEmbedding(features, patch_size, kernel_init="lecun_normal")
        self.class_token = nn.ClassToken()
        self.positions = nn.PositionEmbedding(1 + math.prod(n // patch_size for n in self.image_size))
        self.dropout = nn.Dropout(rate)
        self.encoder = nn.TransformerEncoder(
            heads,
            feed_forward,
            "gelu",
            norm_first=True,
            rate=rate,
            epsilon=epsilon,
            attention_rate=attention_rate,
            layers=layers,
            final_norm=True,
        )
        self.head = None if classes is None else nn.Linear(classes, kernel_init="zeros")

    def setup(self, x):
        if x.ndim != 4 or x.shape[2:] != self.image_size:
            raise ValueError(
                f"VisionTransformer wants images (N, C, {', '.join(map(str, self.image_size))}), received "
                f"{show(x.shape)}: give image_size="
            )

    def forward(self, x):
        x = self.positions(self.class_token(self.patches(x)))
        x = self.encoder(self.dropout(x))
        x = ops.getitem(x, (slice(None), 0))
        return x if self.head is None else self.head(x)


_BLOCK, _OURS = "encoder.layers.encoder_layer_{}", "encoder/blocks/{}"
VisionTransformer.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.plain("class_token", "class_token/token:0"),
            [convert("positions/embeddings:0", "encoder.pos_embedding", lambda a: a[np.newaxis], lambda a: a[0])],
            public_weights.convolution("conv_proj", "patches/projection"),
            public_weights.norm("encoder.ln", "encoder/norm"),
            needed=True,
        ),
        public_weights.Group(
            public_weights.norm(f"{_BLOCK}.ln_1", f"{_OURS}/attention_norm"),
            public_weights.packed_attention(f"{_BLOCK}.self_attention", f"{_OURS}/attention"),
            public_weights.norm(f"{_BLOCK}.ln_2", f"{_OURS}/mlp_norm"),
            public_weights.linear(f"{_BLOCK}.mlp.0", f"{_OURS}/mlp/expand"),
            public_weights.linear(f"{_BLOCK}.mlp.3", f"{_OURS}/mlp/contract"),
            needed=True,
        ),
        public_weights.Group(public_weights.linear("heads.head", "head")),
    ),
    # weights published before torchvision 0.13 number the linear layers of a block 1 and 2
    spelling=lambda name: name.replace(".mlp.linear_1.", ".mlp.0.").replace(".mlp.linear_2.", ".mlp.3."),
)


def from_torchvision(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torchvision's ViT; raises StateDictError naming what is missing or unexpected."""
    return VisionTransformer.public_names.from_public(weights)


def _images(model: VisionTransformer) -> tuple[Spec, ...]:
    return (Spec((None, 3, *model.image_size)),)


def _small() -> tuple[VisionTransformer, tuple[Spec, ...]]:
    model = VisionTransformer(16, 8, layers=1, heads=2, features=8, feed_forward=16, classes=3)
    return model, _images(model)


_register = functools.partial(zoo.register, "image classification", inputs=_images, from_public=from_torchvision)


@_register(parameters=86_567_656, paper=_PAPER, small=_small)
def vit_b_16(classes: int | None = 1000, image_size: int = 224) -> VisionTransformer:
    """ViT-Base with patches of 16 x 16 (Dosovitskiy et al., 2021)."""
    return VisionTransformer(image_size, 16, classes=classes)


@_register(parameters=88_224_232, paper=_PAPER)
def vit_b_32(classes: int | None = 1000, image_size: int = 224) -> VisionTransformer:
    """ViT-Base with patches of 32 x 32 (Dosovitskiy et al., 2021)."""
    return VisionTransformer(image_size, 32, classes=classes)


@_register(parameters=304_326_632, paper=_PAPER)
def vit_l_16(classes: int | None = 1000, image_size: int = 224) -> VisionTransformer:
    """ViT-Large with patches of 16 x 16 (Dosovitskiy et al., 2021)."""
    return VisionTransformer(image_size, 16, 24, 16, 1024, 4096, classes=classes)


@_register(parameters=306_535_400, paper=_PAPER)
def vit_l_32(classes: int | None = 1000, image_size: int = 224) -> VisionTransformer:
    """ViT-Large with patches of 32 x 32 (Dosovitskiy et al., 2021)."""
    return VisionTransformer(image_size, 32, 24, 16, 1024, 4096, classes=classes)


@_register(parameters=633_470_440, paper="https://arxiv.org/abs/2201.08371")
def vit_h_14(classes: int | None = 1000, image_size: int = 518) -> VisionTransformer:
    """ViT-Huge with patches of 14 x 14, for images of 518 x 518 (Singh et al., 2022)."""
    return VisionTransformer(image_size, 14, 32, 16, 1280, 5120, classes=classes)
