"""Marian: the Transformer for translation as the OPUS-MT models have it (Junczys-Dowmunt et al., 2018; Tiedemann, 2020)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import convert
from labdl.models import zoo
from labdl.models.text.bart import blocks
from labdl.nn.activation import Activation
from labdl.spec import Spec

_PAPER = "https://aclanthology.org/2020.eamt-1.61"


class Marian(nn.Module):
    """Encoder and decoder: source (N, keys) and target (N, steps) as tokens to logits of the next token (N, steps, vocabulary).

    Positions are sines in the first half of the features and cosines in the second, or with ``train_positions`` learned for
    up to ``positions`` steps. Both embeddings and the output matrix are one table; ``output_bias`` is kept, not trained. Masks
    (N, keys) and (N, steps) are 1, or true, for tokens and 0 for padding. A target begins with the token of padding, the last.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation

    def __init__(
        self,
        vocabulary: int = 58101,
        *,
        features: int = 512,
        layers: int = 6,
        heads: int = 8,
        feed_forward: int = 2048,
        positions: int = 512,
        activation: Activation = "silu",
        train_positions: bool = False,
        rate: float = 0.1,
    ):
        self.train_positions, self.scale = train_positions, math.sqrt(features)
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        settings: dict[str, Any] = {
            "activation": activation,
            "rate": rate,
            "attention_rate": 0.0,
            "activation_rate": 0.0,
            "kernel_init": "normal",
            "layers": layers,
        }
        self.source_positions, self.target_positions = (
            nn.PositionEmbedding(positions) if train_positions else nn.SinusoidalPositions(layout="halves")
            for _ in range(2)
        )
        self.encoder = nn.TransformerEncoder(heads, feed_forward, **settings)
        self.decoder = nn.TransformerDecoder(heads, feed_forward, **settings)
        self.dropout = nn.Dropout(rate)
        self.output_bias = nn.Buffer((vocabulary,))

    def encode(self, source, source_mask=None):
        """The encoder's output, which the decoder attends to: tokens (N, keys) to (N, keys, features)."""
        embedded = self.source_positions(self.words(source) * self.scale)
        return self.encoder(self.dropout(embedded), key_mask=source_mask)

    def decode(self, target, context, target_mask=None, source_mask=None):
        """Logits (N, steps, vocabulary) of tokens (N, steps) and the encoder's output (N, keys, features)."""
        embedded = self.target_positions(self.words(target) * self.scale)
        hidden = self.decoder(self.dropout(embedded), context, key_mask=target_mask, context_key_mask=source_mask)
        table: Any = self.words
        return ops.matmul(hidden, ops.matrix_transpose(table.embeddings)) + self.output_bias

    def forward(self, source, target, source_mask=None, target_mask=None):
        return self.decode(target, self.encode(source, source_mask), target_mask, source_mask)

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names."""
        return public_names(train_positions=self.train_positions)


def public_names(*, train_positions: bool) -> public_weights.PublicNames:
    """Hugging Face's names of a Marian; files may repeat the sines and cosines of fixed positions."""
    tables = {"encoder": "source_positions", "decoder": "target_positions"} if train_positions else {}
    return public_weights.PublicNames(
        (
            public_weights.Group(
                public_weights.embedding("model.shared", "words"),
                *(public_weights.embedding(f"model.{stack}.embed_positions", name) for stack, name in tables.items()),
                needed=True,
            ),
            public_weights.Group(
                [convert("output_bias:0", "final_logits_bias", lambda a: a[np.newaxis], lambda a: a[0])]
            ),
            blocks("model.encoder.layers.{}", "encoder/blocks/{}", cross=False),
            blocks("model.decoder.layers.{}", "decoder/blocks/{}", cross=True),
        ),
        ignored=None if train_positions else r"model\.(encoder|decoder)\.embed_positions\.weight",
        copies=dict.fromkeys(
            ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"),
            "model.shared.weight",
        ),
    )


def _small() -> tuple[Marian, tuple[Spec, ...]]:
    model = Marian(20, features=8, layers=1, heads=2, feed_forward=16, rate=0.0)
    return model, (Spec((None, 5), "int64"), Spec((None, 4), "int64"))


# the published file has 524,288 more: the sines and cosines of 512 positions, twice
@zoo.register(
    "translation",
    inputs=zoo.tokens(32, 32),
    parameters=73_886_208,
    paper=_PAPER,
    from_public=public_names(train_positions=False).from_public,
    small=_small,
)
def opus_mt_en_de(vocabulary: int = 58101) -> Marian:
    """OPUS-MT from English to German, a Marian of 6 layers of 512 features in encoder and decoder (Tiedemann, 2020)."""
    return Marian(vocabulary)
