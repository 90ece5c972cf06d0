"""The Transformer: encoder and decoder for translation (Vaswani et al., 2017), as torch.nn.Transformer with batch first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1706.03762"


class Transformer(nn.Module):
    """Encoder and decoder without embeddings: source (N, keys, features), target (N, steps, features) to the target's shape.

    The decoder is causal. Masks are those of `nn.TransformerDecoder`: ``source_mask`` and ``target_mask`` for the
    self-attentions, ``context_mask`` for the target's attention to the source; key masks (N, keys) are true for keys that
    count. Each stack ends in a normalization. The number of features is the inputs'.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        heads: int = 8,
        encoder_layers: int = 6,
        decoder_layers: int = 6,
        feed_forward: int = 2048,
        *,
        rate: float = 0.1,
        activation="relu",
        norm_first: bool = False,
        epsilon: float = 1e-5,
        causal: bool = True,
    ):
        shared = {
            "rate": rate,
            "activation": activation,
            "norm_first": norm_first,
            "epsilon": epsilon,
            "final_norm": True,
        }
        self.encoder = nn.TransformerEncoder(heads, feed_forward, layers=encoder_layers, **shared)
        self.decoder = nn.TransformerDecoder(heads, feed_forward, layers=decoder_layers, causal=causal, **shared)

    def forward(
        self,
        source,
        target,
        source_mask=None,
        target_mask=None,
        context_mask=None,
        source_key_mask=None,
        target_key_mask=None,
        context_key_mask=None,
    ):
        context = self.encoder(source, mask=source_mask, key_mask=source_key_mask)
        return self.decoder(
            target,
            context,
            mask=target_mask,
            key_mask=target_key_mask,
            context_mask=context_mask,
            context_key_mask=context_key_mask,
        )


class TranslationTransformer(nn.Module):
    """The full model: source (N, keys) and target (N, steps) as tokens to logits (N, steps, vocabulary).

    Both embeddings and the last matrix are one table, as in the paper's section 3.4. ``padding`` is the token that nobody
    attends to. Training shifts the target: the logits at a position are for the next token.
    """

    def __init__(
        self,
        vocabulary: int = 37000,
        features: int = 512,
        heads: int = 8,
        layers: int = 6,
        feed_forward: int = 2048,
        *,
        rate: float = 0.1,
        padding: int | None = None,
    ):
        self.features, self.padding = features, padding
        # multiplied by sqrt(features) in the embedding, so that embeddings have variance 1 and logits are moderate
        self.table = nn.Parameter((vocabulary, features), f"normal(std={features**-0.5!r})")
        self.positions = nn.SinusoidalPositions()
        self.dropout = nn.Dropout(rate)
        self.core = Transformer(heads, layers, layers, feed_forward, rate=rate)

    def forward(self, source, target):
        keys = None if self.padding is None else ops.not_equal(source, self.padding)
        steps = None if self.padding is None else ops.not_equal(target, self.padding)
        hidden = self.core(
            self._embedded(source),
            self._embedded(target),
            source_key_mask=keys,
            target_key_mask=steps,
            context_key_mask=keys,
        )
        return ops.matmul(hidden, ops.permute_dims(self.table, (1, 0)))

    def _embedded(self, tokens):
        return self.dropout(self.positions(ops.embedding(tokens, self.table) * math.sqrt(self.features)))


def _small() -> tuple[TranslationTransformer, tuple[Spec, ...]]:
    model = TranslationTransformer(20, features=8, heads=2, layers=1, feed_forward=16)
    return model, (Spec((None, 5), "int64"), Spec((None, 4), "int64"))


@zoo.register("translation", inputs=zoo.tokens(32, 32), parameters=63_084_544, paper=_PAPER, small=_small)
def transformer_base(vocabulary: int = 37000, *, padding: int | None = None) -> TranslationTransformer:
    """The Transformer, base model (Vaswani et al., 2017): 6 layers of 512 features in encoder and decoder.

    Its ``core`` is torch.nn.Transformer with its default sizes.
    """
    return TranslationTransformer(vocabulary, padding=padding)


@zoo.register("translation", inputs=zoo.tokens(32, 32), parameters=214_249_472, paper=_PAPER)
def transformer_big(vocabulary: int = 37000, *, padding: int | None = None) -> TranslationTransformer:
    """The Transformer, big model (Vaswani et al., 2017): 6 layers of 1,024 features in encoder and decoder."""
    return TranslationTransformer(vocabulary, 1024, 16, 6, 4096, rate=0.3, padding=padding)


def _block(stack: str, attentions: Mapping[str, str], norms: Mapping[str, str]) -> public_weights.Group:
    public, ours = f"{stack}.layers.{{}}", f"{stack}/blocks/{{}}"
    return public_weights.Group(
        *(
            public_weights.packed_attention(f"{public}.{theirs}", f"{ours}/{here}")
            for theirs, here in attentions.items()
        ),
        public_weights.linear(f"{public}.linear1", f"{ours}/mlp/expand"),
        public_weights.linear(f"{public}.linear2", f"{ours}/mlp/contract"),
        *(public_weights.norm(f"{public}.{theirs}", f"{ours}/{here}") for theirs, here in norms.items()),
        needed=True,
    )


Transformer.public_names = public_weights.PublicNames(
    (
        _block("encoder", {"self_attn": "attention"}, {"norm1": "attention_norm", "norm2": "mlp_norm"}),
        _block(
            "decoder",
            {"self_attn": "attention", "multihead_attn": "cross_attention"},
            {"norm1": "attention_norm", "norm2": "cross_norm", "norm3": "mlp_norm"},
        ),
        public_weights.Group(
            public_weights.norm("encoder.norm", "encoder/norm"),
            public_weights.norm("decoder.norm", "decoder/norm"),
            needed=True,
        ),
    )
)


def from_torch(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of torch.nn.Transformer; raises StateDictError naming what is missing or unexpected."""
    return Transformer.public_names.from_public(weights)
