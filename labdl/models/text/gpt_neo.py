"""GPT-Neo: a decoder whose layers attend globally and locally in turn (Black et al., 2021), as Hugging Face's GPTNeo."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.spec import Spec

_PAPER = "https://doi.org/10.5281/zenodo.5297715"


class GPTNeoBlock(nn.Module):
    """Attention and a feed-forward block, each normalized before it: (N, steps, features) to the same shape.

    With ``window`` a step attends to itself and the ``window - 1`` steps before it. Scores are not scaled, and query, key and
    value have no bias.
    """

    def __init__(self, heads: int, hidden: int, window: int | None, rate: float, epsilon: float):
        self.attention_norm = nn.LayerNorm(epsilon=epsilon)
        self.attention = nn.MultiHeadAttention(
            heads,
            causal=True,
            rate=rate,
            use_bias=False,
            output_bias=True,
            scale=1.0,
            window=window,
            kernel_init="normal",
        )
        self.mlp_norm = nn.LayerNorm(epsilon=epsilon)
        self.mlp = nn.FeedForward(hidden, "gelu_tanh", kernel_init="normal")
        self.dropout = nn.Dropout(rate)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.attention_norm(x), key_mask=mask))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))


class GPTNeo(nn.Module):
    """A causal language model: tokens (N, steps) to logits of the next token (N, steps, vocabulary).

    Every second layer is local, within ``window`` steps. The output matrix is the table of word embeddings. ``mask``
    (N, steps) is 1, or true, for tokens and 0 for padding.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation
    public_names: public_weights.PublicNames

    def __init__(
        self,
        vocabulary: int = 50257,
        *,
        features: int = 2048,
        layers: int = 24,
        heads: int = 16,
        positions: int = 2048,
        window: int = 256,
        rate: float = 0.0,
        epsilon: float = 1e-5,
    ):
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        self.positions = nn.PositionEmbedding(positions)
        self.dropout = nn.Dropout(rate)
        self.blocks = nn.ModuleList(
            GPTNeoBlock(heads, 4 * features, window if at % 2 else None, rate, epsilon) for at in range(layers)
        )
        self.norm = nn.LayerNorm(epsilon=epsilon)

    def forward(self, tokens, mask=None):
        x = self.dropout(self.positions(self.words(tokens)))
        for block in self.blocks:
            x = block(x, mask)
        table: Any = self.words
        return ops.matmul(self.norm(x), ops.matrix_transpose(table.embeddings))


_BLOCK, _OURS = "transformer.h.{}", "blocks/{}"
GPTNeo.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.embedding("transformer.wte", "words"),
            public_weights.embedding("transformer.wpe", "positions"),
            public_weights.norm("transformer.ln_f", "norm"),
            needed=True,
        ),
        public_weights.Group(
            *(
                public_weights.linear(
                    f"{_BLOCK}.attn.attention.{name}_proj", f"{_OURS}/attention/{part}", use_bias=False
                )
                for name, part in (("q", "query"), ("k", "key"), ("v", "value"))
            ),
            public_weights.linear(f"{_BLOCK}.attn.attention.out_proj", f"{_OURS}/attention/projection"),
            public_weights.norm(f"{_BLOCK}.ln_1", f"{_OURS}/attention_norm"),
            public_weights.linear(f"{_BLOCK}.mlp.c_fc", f"{_OURS}/mlp/expand"),
            public_weights.linear(f"{_BLOCK}.mlp.c_proj", f"{_OURS}/mlp/contract"),
            public_weights.norm(f"{_BLOCK}.ln_2", f"{_OURS}/mlp_norm"),
            needed=True,
        ),
    ),
    ignored=r".*\.attn\.attention\.(masked_)?bias",  # the causal mask
    copies={"lm_head.weight": "transformer.wte.weight"},
)


def _small() -> tuple[GPTNeo, tuple[Spec, ...]]:
    return GPTNeo(20, features=8, layers=2, heads=2, positions=8, window=3), (Spec((None, 5), "int64"),)


_register = functools.partial(
    zoo.register,
    "text generation",
    inputs=zoo.tokens(64),
    from_public=GPTNeo.public_names.from_public,
    paper=_PAPER,
)


@_register(parameters=125_198_592, small=_small)
def gpt_neo_125m() -> GPTNeo:
    """GPT-Neo 125M: 12 layers of 768 features (Black et al., 2021)."""
    return GPTNeo(features=768, layers=12, heads=12)


@_register(parameters=1_315_575_808)
def gpt_neo_1_3b() -> GPTNeo:
    """GPT-Neo 1.3B: 24 layers of 2,048 features (Black et al., 2021)."""
    return GPTNeo()


@_register(parameters=2_651_307_520)
def gpt_neo_2_7b() -> GPTNeo:
    """GPT-Neo 2.7B: 32 layers of 2,560 features (Black et al., 2021)."""
    return GPTNeo(features=2560, layers=32, heads=20)
