"""BART and mBART: encoder and decoder trained to restore noisy text (Lewis et al., 2020; Liu et al., 2020)."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import convert
from labdl.models import zoo
from labdl.spec import Spec

_BART, _MBART = "https://arxiv.org/abs/1910.13461", "https://arxiv.org/abs/2001.08210"
_OFFSET = 2  # rows before that of position 0


class Bart(nn.Module):
    """Encoder and decoder: source (N, keys) and target (N, steps) as tokens to logits of the next token (N, steps, vocabulary).

    Both embeddings and the output matrix are one table. ``norm_first`` normalizes before each block, and at the end of each
    stack, as mBART does; ``scale_embedding`` multiplies embeddings by the root of ``features``; ``logits_bias`` adds a
    constant, which is not trained, to each logit. Masks (N, keys) and (N, steps)
    are 1, or true, for tokens and 0 for padding.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation

    def __init__(
        self,
        vocabulary: int = 50265,
        *,
        features: int = 1024,
        layers: int = 12,
        heads: int = 16,
        feed_forward: int = 4096,
        positions: int = 1024,
        norm_first: bool = False,
        scale_embedding: bool = False,
        rate: float = 0.1,
        epsilon: float = 1e-5,
        logits_bias: bool = False,
    ):
        self.norm_first = norm_first
        self.scale = math.sqrt(features) if scale_embedding else 1.0
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        settings: dict[str, Any] = {
            "activation": "gelu",
            "norm_first": norm_first,
            "final_norm": norm_first,
            "rate": rate,
            "attention_rate": 0.0,
            "activation_rate": 0.0,
            "epsilon": epsilon,
            "kernel_init": "normal",
            "layers": layers,
        }
        self.source_positions = nn.PositionEmbedding(positions, offset=_OFFSET)
        self.source_norm = nn.LayerNorm(epsilon=epsilon)
        self.encoder = nn.TransformerEncoder(heads, feed_forward, **settings)
        self.target_positions = nn.PositionEmbedding(positions, offset=_OFFSET)
        self.target_norm = nn.LayerNorm(epsilon=epsilon)
        self.decoder = nn.TransformerDecoder(heads, feed_forward, **settings)
        self.dropout = nn.Dropout(rate)
        self.logits_bias = nn.Buffer((vocabulary,), "zeros") if logits_bias else None

    def encode(self, source, source_mask=None):
        """The encoder's output, which the decoder attends to: tokens (N, keys) to (N, keys, features)."""
        embedded = self.source_norm(self.source_positions(self.words(source) * self.scale))
        return self.encoder(self.dropout(embedded), key_mask=source_mask)

    def forward(self, source, target, source_mask=None, target_mask=None):
        return self.decode(target, self.encode(source, source_mask), target_mask, source_mask)

    def decode(self, target, context, target_mask=None, source_mask=None):
        """Logits of the next tokens, with the encoder's output (N, keys, features): (N, steps) to (N, steps, vocabulary)."""
        embedded = self.target_norm(self.target_positions(self.words(target) * self.scale))
        hidden = self.decoder(self.dropout(embedded), context, key_mask=target_mask, context_key_mask=source_mask)
        table: Any = self.words
        logits = ops.matmul(hidden, ops.matrix_transpose(table.embeddings))
        return logits if self.logits_bias is None else logits + self.logits_bias

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names."""
        return public_names(self.norm_first, "logits_bias" in self._parameters)


def _attention(public: str, ours: str, key_bias: bool) -> Iterable[public_weights.WeightMapping]:
    for name, part in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "projection")):
        yield from public_weights.linear(f"{public}.{name}", f"{ours}/{part}", use_bias=key_bias or part != "key")


def blocks(public: str, ours: str, *, cross: bool, key_bias: bool = True) -> public_weights.Group:
    """Hugging Face's names of the blocks of an encoder, or with ``cross`` of a decoder, in BART and its relatives."""
    cross_names = (
        [
            *_attention(f"{public}.encoder_attn", f"{ours}/cross_attention", key_bias),
            *public_weights.norm(f"{public}.encoder_attn_layer_norm", f"{ours}/cross_norm"),
        ]
        if cross
        else []
    )
    return public_weights.Group(
        _attention(f"{public}.self_attn", f"{ours}/attention", key_bias),
        public_weights.norm(f"{public}.self_attn_layer_norm", f"{ours}/attention_norm"),
        cross_names,
        public_weights.linear(f"{public}.fc1", f"{ours}/mlp/expand"),
        public_weights.linear(f"{public}.fc2", f"{ours}/mlp/contract"),
        public_weights.norm(f"{public}.final_layer_norm", f"{ours}/mlp_norm"),
        needed=True,
    )


def _stack(stack: str, positions: str, norm: str, final_norm: bool) -> list[public_weights.Group]:
    public = f"model.{stack}"
    return [
        public_weights.Group(
            public_weights.embedding(f"{public}.embed_positions", positions),
            public_weights.norm(f"{public}.layernorm_embedding", norm),
            public_weights.norm(f"{public}.layer_norm", f"{stack}/norm") if final_norm else (),
            needed=True,
        ),
        blocks(f"{public}.layers.{{}}", f"{stack}/blocks/{{}}", cross=stack == "decoder"),
    ]


def public_names(norm_first: bool, logits_bias: bool = False) -> public_weights.PublicNames:
    """Hugging Face's names of an mBART, or of a BART; the three tied tables have one name here."""
    table = "model.shared.weight"
    bias = convert("logits_bias:0", "final_logits_bias", lambda a: a[np.newaxis], lambda a: a[0])
    return public_weights.PublicNames(
        (
            public_weights.Group(public_weights.embedding("model.shared", "words"), needed=True),
            *_stack("encoder", "source_positions", "source_norm", norm_first),
            *_stack("decoder", "target_positions", "target_norm", norm_first),
            *([public_weights.Group([bias])] if logits_bias else []),
        ),
        ignored=None if logits_bias else "final_logits_bias",  # zeros in published files
        copies=dict.fromkeys(
            ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"), table
        ),
    )


def _small(norm_first: bool) -> zoo.Small:
    def create() -> tuple[Bart, tuple[Spec, ...]]:
        model = Bart(20, features=8, layers=1, heads=2, feed_forward=16, positions=8, norm_first=norm_first, rate=0.0)
        return model, (Spec((None, 5), "int64"), Spec((None, 4), "int64"))

    return create


def _register(norm_first: bool, **settings: Any):
    return functools.partial(
        zoo.register,
        inputs=zoo.tokens(32, 32),
        from_public=public_names(norm_first).from_public,
        paper=_MBART if norm_first else _BART,
        **settings,
    )


@_register(False, small=_small(False))("text generation", parameters=139_420_416)
def bart_base() -> Bart:
    """BART, base: 6 layers of 768 features in encoder and decoder (Lewis et al., 2020)."""
    return Bart(features=768, layers=6, heads=12, feed_forward=3072)


@_register(False)("text generation", parameters=406_291_456)
def bart_large() -> Bart:
    """BART, large: 12 layers of 1,024 features in encoder and decoder (Lewis et al., 2020)."""
    return Bart()


@_register(True, small=_small(True))("translation", parameters=610_851_840)
def mbart_large() -> Bart:
    """mBART, large, for 25 languages: 12 layers of 1,024 features in encoder and decoder (Liu et al., 2020)."""
    return Bart(250027, norm_first=True, scale_embedding=True)
