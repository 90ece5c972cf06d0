"""T5 and T5 v1.1: encoder and decoder for any task as text to text (Raffel et al., 2020), as Hugging Face's T5 models."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, ClassVar

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.nn.activation import ACTIVATIONS, Activation
from labdl.spec import Spec

_PAPER, _V1_1 = "https://arxiv.org/abs/1910.10683", "https://arxiv.org/abs/2002.05202"
# kernels start with variance 1 / in, as scores are not divided by the root of the size of a head
_INIT = "lecun_normal"


class GatedFeedForward(nn.Module):
    """contract(activation(gate(x)) * expand(x)): (N, steps, features) to the same shape, without biases (Shazeer, 2020)."""

    def __init__(self, features: int, hidden: int, activation: Activation, rate: float):
        linear = functools.partial(nn.Linear, use_bias=False, kernel_init=_INIT)
        self.gate, self.expand, self.contract = linear(hidden), linear(hidden), linear(features)
        self.activation, self.dropout = activation, nn.Dropout(rate)

    def forward(self, x):
        return self.contract(self.dropout(ACTIVATIONS[self.activation](self.gate(x)) * self.expand(x)))


class T5Block(nn.Module):
    """Self-attention, with ``cross`` attention to a context, and a feed-forward block: each normalized before it."""

    def __init__(self, attention: functools.partial, mlp: nn.Module, *, cross: bool, rate: float, epsilon: float):
        self.attention, self.attention_norm = attention(causal=cross), nn.RMSNorm(epsilon=epsilon)
        self.cross_attention = attention() if cross else None
        self.cross_norm = nn.RMSNorm(epsilon=epsilon) if cross else None
        self.mlp, self.mlp_norm = mlp, nn.RMSNorm(epsilon=epsilon)
        self.dropout = nn.Dropout(rate)

    def forward(self, x, bias, mask=None, context=None, context_mask=None):
        x = x + self.dropout(self.attention(self.attention_norm(x), key_mask=mask, bias=bias))
        if self.cross_attention is not None and self.cross_norm is not None:
            x = x + self.dropout(self.cross_attention(self.cross_norm(x), context, key_mask=context_mask))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))


class T5Stack(nn.Module):
    """Blocks that share a bias of relative positions, with a normalization at the end; with ``cross`` those of a decoder."""

    def __init__(self, blocks: Iterable[T5Block], bias: nn.RelativePositionBias, *, rate: float, epsilon: float):
        self.bias = bias
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.RMSNorm(epsilon=epsilon)
        self.dropout = nn.Dropout(rate)

    def forward(self, x, mask=None, context=None, context_mask=None):
        bias = self.bias(x)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, bias, mask, context, context_mask)
        return self.dropout(self.norm(x))


class T5(nn.Module):
    """Encoder and decoder: source (N, keys) and target (N, steps) as tokens to logits of the next token (N, steps, vocabulary).

    Positions are biases of the scores, learned for each head and bucket of distances and shared by the blocks of a stack;
    scores are not scaled, and no layer has a bias vector. ``gated`` feed-forward blocks are those of v1.1, with
    ``activation`` for the gate. With ``tied`` the output matrix is the table of word embeddings, and what it multiplies is
    divided by the root of ``features`` unless ``scale_output`` is false. Masks (N, keys) and (N, steps) are 1, or true, for
    tokens and 0 for padding. A target begins with the token of padding, 0.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation

    def __init__(
        self,
        vocabulary: int = 32128,
        *,
        features: int = 512,
        layers: int = 6,
        decoder_layers: int | None = None,
        heads: int = 8,
        head_size: int = 64,
        feed_forward: int = 2048,
        activation: Activation = "relu",
        gated: bool = False,
        tied: bool = True,
        scale_output: bool | None = None,
        buckets: int = 32,
        max_distance: int = 128,
        rate: float = 0.1,
        epsilon: float = 1e-6,
    ):
        self.gated, self.tied = gated, tied
        self.scale = features**-0.5 if (tied if scale_output is None else scale_output) else 1.0
        self.words = nn.Embedding(vocabulary, features, embeddings_init="unit_normal")
        attention = functools.partial(
            nn.MultiHeadAttention,
            heads,
            rate=rate,
            use_bias=False,
            key_size=head_size,
            value_size=head_size,
            scale=1.0,
            kernel_init=_INIT,
            query_init=f"normal(std={(features * head_size) ** -0.5!r})",
        )

        def stack(count: int, cross: bool) -> T5Stack:
            blocks = (
                T5Block(
                    attention,
                    GatedFeedForward(features, feed_forward, activation, rate)
                    if gated
                    else nn.FeedForward(feed_forward, activation, rate, use_bias=False, kernel_init=_INIT),
                    cross=cross,
                    rate=rate,
                    epsilon=epsilon,
                )
                for _ in range(count)
            )
            bias = nn.RelativePositionBias(
                heads, buckets, max_distance, not cross, embeddings_init=f"normal(std={features**-0.5!r})"
            )
            return T5Stack(blocks, bias, rate=rate, epsilon=epsilon)

        self.encoder = stack(layers, False)
        self.decoder = stack(layers if decoder_layers is None else decoder_layers, True)
        self.head = None if tied else nn.Linear(vocabulary, use_bias=False, kernel_init="unit_normal")

    def encode(self, source, source_mask=None):
        """The encoder's output, which the decoder attends to: tokens (N, keys) to (N, keys, features)."""
        return self.encoder(self.words(source), source_mask)

    def decode(self, target, context, target_mask=None, source_mask=None):
        """Logits (N, steps, vocabulary) of tokens (N, steps) and the encoder's output (N, keys, features)."""
        hidden = self.decoder(self.words(target), target_mask, context, source_mask) * self.scale
        if self.head is not None:
            return self.head(hidden)
        table: Any = self.words
        return ops.matmul(hidden, ops.matrix_transpose(table.embeddings))

    def forward(self, source, target, source_mask=None, target_mask=None):
        return self.decode(target, self.encode(source, source_mask), target_mask, source_mask)

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names."""
        return public_names(gated=self.gated, tied=self.tied)


def _attention(public: str, ours: str) -> Iterable[public_weights.WeightMapping]:
    for name, part in (("q", "query"), ("k", "key"), ("v", "value"), ("o", "projection")):
        yield from public_weights.linear(f"{public}.{name}", f"{ours}/{part}", use_bias=False)


def _stack(stack: str, gated: bool) -> Iterable[public_weights.Group]:
    block, ours, cross = f"{stack}.block.{{}}.layer", f"{stack}/blocks/{{}}", stack == "decoder"
    norm = functools.partial(public_weights.norm, use_bias=False)
    parts = {"wi_0": "gate", "wi_1": "expand"} if gated else {"wi": "expand"}
    mlp = f"{block}.{1 + cross}.DenseReluDense"
    yield public_weights.Group(
        public_weights.embedding(f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias", f"{stack}/bias"),
        norm(f"{stack}.final_layer_norm", f"{stack}/norm"),
        needed=True,
    )
    yield public_weights.Group(
        _attention(f"{block}.0.SelfAttention", f"{ours}/attention"),
        norm(f"{block}.0.layer_norm", f"{ours}/attention_norm"),
        _attention(f"{block}.1.EncDecAttention", f"{ours}/cross_attention") if cross else (),
        norm(f"{block}.1.layer_norm", f"{ours}/cross_norm") if cross else (),
        *(
            public_weights.linear(f"{mlp}.{theirs}", f"{ours}/mlp/{here}", use_bias=False)
            for theirs, here in {**parts, "wo": "contract"}.items()
        ),
        norm(f"{block}.{1 + cross}.layer_norm", f"{ours}/mlp_norm"),
        needed=True,
    )


def public_names(*, gated: bool, tied: bool) -> public_weights.PublicNames:
    """Hugging Face's names of a T5, or of a T5 v1.1 (``gated``); tables that are tied have one name here."""
    head = (
        () if tied else (public_weights.Group(public_weights.linear("lm_head", "head", use_bias=False), needed=True),)
    )
    copies = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", *(("lm_head.weight",) if tied else ()))
    return public_weights.PublicNames(
        (
            public_weights.Group(public_weights.embedding("shared", "words"), needed=True),
            *_stack("encoder", gated),
            *_stack("decoder", gated),
            *head,
        ),
        # a table that the first published files have and no version used
        ignored=r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",
        copies=dict.fromkeys(copies, "shared.weight"),
    )


def _small(**settings: Any) -> zoo.Small:
    def create() -> tuple[T5, tuple[Spec, ...]]:
        sizes = {"features": 8, "layers": 1, "heads": 2, "head_size": 4, "feed_forward": 16}
        model = T5(20, **sizes, buckets=8, max_distance=16, rate=0.0, **settings)
        return model, (Spec((None, 5), "int64"), Spec((None, 4), "int64"))

    return create


_GATED: Any = {"activation": "gelu_tanh", "gated": True, "tied": False}
_common: Any = functools.partial(zoo.register, "text to text", inputs=zoo.tokens(32, 32))
_register = functools.partial(_common, from_public=public_names(gated=False, tied=True).from_public, paper=_PAPER)
_register_v1_1 = functools.partial(_common, from_public=public_names(gated=True, tied=False).from_public, paper=_V1_1)


@_register(parameters=60_506_624, small=_small())
def t5_small() -> T5:
    """T5, small: 6 layers of 512 features in encoder and decoder (Raffel et al., 2020)."""
    return T5()


@_register(parameters=222_903_552)
def t5_base() -> T5:
    """T5, base: 12 layers of 768 features in encoder and decoder (Raffel et al., 2020)."""
    return T5(features=768, layers=12, heads=12, feed_forward=3072)


@_register(parameters=737_668_096)
def t5_large() -> T5:
    """T5, large: 24 layers of 1,024 features in encoder and decoder (Raffel et al., 2020)."""
    return T5(features=1024, layers=24, heads=16, feed_forward=4096)


@_register(parameters=2_851_598_336)
def t5_3b() -> T5:
    """T5, 3B: 24 layers of 1,024 features and 32 heads of 128 in encoder and decoder (Raffel et al., 2020)."""
    return T5(features=1024, layers=24, heads=32, head_size=128, feed_forward=16384)


@_register(parameters=11_307_321_344)
def t5_11b() -> T5:
    """T5, 11B: 24 layers of 1,024 features and 128 heads of 128 in encoder and decoder (Raffel et al., 2020)."""
    return T5(features=1024, layers=24, heads=128, head_size=128, feed_forward=65536)


@_register_v1_1(parameters=76_961_152, small=_small(**_GATED))
def t5_v1_1_small() -> T5:
    """T5 v1.1, small: 8 layers of 512 features, gated feed-forward blocks and a head of its own (Shazeer, 2020)."""
    return T5(features=512, layers=8, heads=6, feed_forward=1024, **_GATED)


@_register_v1_1(parameters=247_577_856)
def t5_v1_1_base() -> T5:
    """T5 v1.1, base: 12 layers of 768 features, gated feed-forward blocks and a head of its own (Shazeer, 2020)."""
    return T5(features=768, layers=12, heads=12, feed_forward=2048, **_GATED)


@_register_v1_1(parameters=783_150_080)
def t5_v1_1_large() -> T5:
    """T5 v1.1, large: 24 layers of 1,024 features, gated feed-forward blocks and a head of its own (Shazeer, 2020)."""
    return T5(features=1024, layers=24, heads=16, feed_forward=2816, **_GATED)


@_register_v1_1(parameters=2_849_757_184)
def t5_v1_1_xl() -> T5:
    """T5 v1.1, XL: 24 layers of 2,048 features, gated feed-forward blocks and a head of its own (Shazeer, 2020)."""
    return T5(features=2048, layers=24, heads=32, feed_forward=5120, **_GATED)


@_register_v1_1(parameters=11_135_332_352)
def t5_v1_1_xxl() -> T5:
    """T5 v1.1, XXL: 24 layers of 4,096 features, gated feed-forward blocks and a head of its own (Shazeer, 2020)."""
    return T5(features=4096, layers=24, heads=64, feed_forward=10240, **_GATED)
