"""TrOCR: an image transformer and a text decoder that reads a line of print or handwriting (Li et al., 2023)."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import convert
from labdl.models import zoo
from labdl.models.text.bart import blocks
from labdl.nn.activation import Activation
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/2109.10282"
_OFFSET = 2  # rows before that of position 0


class ImageEncoder(nn.Module):
    """A ViT, or with ``distilled`` a DeiT: images (N, C, H, W) to features (N, tokens, features).

    The tokens are the class token, of a DeiT the distillation token, and the patches. Images have the one size that is given.
    """

    def __init__(
        self,
        image_size: int = 384,
        *,
        patch_size: int = 16,
        features: int = 768,
        layers: int = 12,
        heads: int = 12,
        feed_forward: int = 3072,
        bias: bool = False,
        distilled: bool = False,
        epsilon: float = 1e-12,
    ):
        self.image_size = image_size
        self.patches = nn.PatchEmbedding(features, patch_size, kernel_init="truncated_normal")
        self.distillation_token = nn.ClassToken() if distilled else None
        self.class_token = nn.ClassToken()
        self.positions = nn.PositionEmbedding(1 + distilled + (image_size // patch_size) ** 2)
        self.encoder = nn.TransformerEncoder(
            heads,
            feed_forward,
            "gelu",
            norm_first=True,
            rate=0.0,
            epsilon=epsilon,
            kernel_init="truncated_normal",
            query_bias=bias,
            key_bias=bias,
            value_bias=bias,
            layers=layers,
            final_norm=True,
        )

    def setup(self, x):
        if x.ndim != 4 or x.shape[2:] != (self.image_size, self.image_size):
            raise ValueError(
                f"TrOCR wants images (N, C, {self.image_size}, {self.image_size}), received {show(x.shape)}: give image_size="
            )

    def forward(self, x):
        x = self.patches(x)
        x = x if self.distillation_token is None else self.distillation_token(x)
        return self.encoder(self.positions(self.class_token(x)))


class TrOCR(nn.Module):
    """Image encoder and text decoder: images (N, 3, H, W), tokens (N, steps) to logits of the next (N, steps, vocabulary).

    ``encoder`` is the part that reads the images, of any width; the decoder has ``features``. ``scale_embedding`` multiplies
    embeddings by the root of ``features``. The output matrix is the table of embeddings unless ``tied`` is false.
    ``target_mask`` (N, steps) is 1, or true, for tokens and 0 for padding. A target begins with the token that ends a text.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation

    def __init__(
        self,
        encoder: ImageEncoder,
        vocabulary: int = 50265,
        *,
        features: int = 1024,
        layers: int = 12,
        heads: int = 16,
        feed_forward: int = 4096,
        positions: int = 512,
        activation: Activation = "gelu",
        scale_embedding: bool = False,
        tied: bool = True,
        rate: float = 0.1,
    ):
        self.tied = tied
        self.scale = math.sqrt(features) if scale_embedding else 1.0
        self.encoder = encoder
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        self.positions = nn.PositionEmbedding(positions, offset=_OFFSET)
        self.norm = nn.LayerNorm()
        self.decoder = nn.TransformerDecoder(
            heads,
            feed_forward,
            activation,
            rate=rate,
            attention_rate=0.0,
            activation_rate=0.0,
            kernel_init="normal",
            layers=layers,
        )
        self.dropout = nn.Dropout(rate)
        self.head = None if tied else nn.Linear(vocabulary, use_bias=False, kernel_init="normal")

    def encode(self, images):
        """The encoder's output, which the decoder attends to: images (N, 3, H, W) to (N, tokens, features)."""
        return self.encoder(images)

    def decode(self, target, context, target_mask=None):
        """Logits (N, steps, vocabulary) of tokens (N, steps) and the encoder's output (N, tokens, features)."""
        embedded = self.norm(self.positions(self.words(target) * self.scale))
        hidden = self.decoder(self.dropout(embedded), context, key_mask=target_mask)
        if self.head is not None:
            return self.head(hidden)
        table: Any = self.words
        return ops.matmul(hidden, ops.matrix_transpose(table.embeddings))

    def forward(self, images, target, target_mask=None):
        return self.decode(target, self.encode(images), target_mask)

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names."""
        return public_names(tied=self.tied)


_BLOCK, _OURS = "encoder.encoder.layer.{}", "encoder/encoder/blocks/{}"
_TEXT = "decoder.model.decoder"
_TABLE = f"{_TEXT}.embed_tokens.weight"
_LINEAR = {
    "attention.attention.query": "attention/query",
    "attention.attention.key": "attention/key",
    "attention.attention.value": "attention/value",
    "attention.output.dense": "attention/projection",
    "intermediate.dense": "mlp/expand",
    "output.dense": "mlp/contract",
}
# as transformers 5 names the same layers in memory
_SINCE = {
    "attention.q_proj": "attention.attention.query",
    "attention.k_proj": "attention.attention.key",
    "attention.v_proj": "attention.attention.value",
    "attention.o_proj": "attention.output.dense",
    "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}


def _spell(name: str) -> str:
    match = re.fullmatch(r"encoder\.layers\.(\d+)\.(.+)\.(weight|bias)", name)
    return name if match is None else f"encoder.encoder.layer.{match[1]}.{_SINCE.get(match[2], match[2])}.{match[3]}"


def _image_encoder() -> Iterable[public_weights.Group]:
    """Hugging Face's names of ViTModel and DeiTModel."""
    public = "encoder.embeddings"
    biases = ("attention.attention.query", "attention.attention.key", "attention.attention.value")
    yield public_weights.Group(
        public_weights.plain(f"{public}.cls_token", "encoder/class_token/token:0"),
        [
            convert(
                "encoder/positions/embeddings:0",
                f"{public}.position_embeddings",
                lambda a: a[np.newaxis],
                lambda a: a[0],
            )
        ],
        public_weights.convolution(f"{public}.patch_embeddings.projection", "encoder/patches/projection"),
        public_weights.norm("encoder.layernorm", "encoder/encoder/norm"),
        needed=True,
    )
    yield public_weights.Group(
        public_weights.plain(f"{public}.distillation_token", "encoder/distillation_token/token:0")
    )
    yield public_weights.Group(
        *(
            public_weights.linear(f"{_BLOCK}.{theirs}", f"{_OURS}/{here}", use_bias=theirs not in biases)
            for theirs, here in _LINEAR.items()
        ),
        public_weights.norm(f"{_BLOCK}.layernorm_before", f"{_OURS}/attention_norm"),
        public_weights.norm(f"{_BLOCK}.layernorm_after", f"{_OURS}/mlp_norm"),
        needed=True,
    )
    yield public_weights.Group(
        *(public_weights.plain(f"{_BLOCK}.{each}.bias", f"{_OURS}/{_LINEAR[each]}/bias:0") for each in biases)
    )


def public_names(*, tied: bool) -> public_weights.PublicNames:
    """Hugging Face's names of a VisionEncoderDecoderModel of a ViT or DeiT and a TrOCR decoder."""
    head = public_weights.linear("decoder.output_projection", "head", use_bias=False)
    return public_weights.PublicNames(
        (
            *_image_encoder(),
            public_weights.Group(
                public_weights.embedding(f"{_TEXT}.embed_tokens", "words"),
                public_weights.embedding(f"{_TEXT}.embed_positions", "positions"),
                public_weights.norm(f"{_TEXT}.layernorm_embedding", "norm"),
                () if tied else head,
                needed=True,
            ),
            blocks(f"{_TEXT}.layers.{{}}", "decoder/blocks/{}", cross=True),
        ),
        ignored=r"encoder\.pooler\..*",  # nothing uses it
        copies={"decoder.output_projection.weight": _TABLE} if tied else {},
        spelling=_spell,
    )


def _images(model: TrOCR) -> tuple[Spec, ...]:
    size = model.encoder.image_size
    return Spec((None, 3, size, size)), Spec((None, 20), "int64")


def _small() -> tuple[TrOCR, tuple[Spec, ...]]:
    encoder = ImageEncoder(16, patch_size=8, features=12, layers=1, heads=2, feed_forward=16, distilled=True)
    model = TrOCR(encoder, 20, features=8, layers=1, heads=2, feed_forward=16, positions=8, rate=0.0)
    return model, (Spec((None, 3, 16, 16)), Spec((None, 4), "int64"))


_register = functools.partial(
    zoo.register,
    "character recognition",
    inputs=_images,
    paper=_PAPER,
)
_tied = functools.partial(_register, from_public=public_names(tied=True).from_public)


# the published files have 147,840, 590,592 and 1,049,600 parameters more: a pooler of the class token that nothing uses
@_register(parameters=61_448_832, small=_small, from_public=public_names(tied=False).from_public)
def trocr_small() -> TrOCR:
    """TrOCR, small: a DeiT of 12 layers of 384 features and a decoder of 6 layers of 256 (Li et al., 2023)."""
    encoder = ImageEncoder(features=384, heads=6, feed_forward=1536, bias=True, distilled=True)
    return TrOCR(
        encoder,
        64044,
        features=256,
        layers=6,
        heads=8,
        feed_forward=1024,
        activation="relu",
        scale_embedding=True,
        tied=False,
    )


@_tied(parameters=333_331_200)
def trocr_base() -> TrOCR:
    """TrOCR, base: a ViT of 12 layers of 768 features and a decoder of 12 layers of 1,024 (Li et al., 2023)."""
    return TrOCR(ImageEncoder())


@_tied(parameters=557_176_832)
def trocr_large() -> TrOCR:
    """TrOCR, large: a ViT of 24 layers of 1,024 features and a decoder of 12 layers of 1,024 (Li et al., 2023)."""
    return TrOCR(ImageEncoder(features=1024, layers=24, heads=16, feed_forward=4096))
