"""Llama and Qwen: rotary decoders with grouped queries and gated feed-forward blocks, as Hugging Face's Llama and Qwen2.

Touvron et al. (2023), Llama team (2024), Yang et al. (2024).
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.spec import Spec

_LLAMA_2, _LLAMA_3 = "https://arxiv.org/abs/2307.09288", "https://arxiv.org/abs/2407.21783"
_QWEN_2 = "https://arxiv.org/abs/2407.10671"
_TINY = "https://arxiv.org/abs/2401.02385"


class GatedFeedForward(nn.Module):
    """down(silu(gate(x)) * up(x)): (N, steps, features) to the same shape (Shazeer, 2020)."""

    def __init__(self, features: int, hidden: int):
        linear = functools.partial(nn.Linear, use_bias=False, kernel_init="normal")
        self.gate, self.up, self.down = linear(hidden), linear(hidden), linear(features)

    def forward(self, x):
        return self.down(ops.silu(self.gate(x)) * self.up(x))


class LlamaBlock(nn.Module):
    """Attention and a gated feed-forward block, each with a root mean square normalization before it."""

    def __init__(self, attention: nn.MultiHeadAttention, mlp: GatedFeedForward, epsilon: float):
        self.attention_norm, self.mlp_norm = nn.RMSNorm(epsilon=epsilon), nn.RMSNorm(epsilon=epsilon)
        self.attention, self.mlp = attention, mlp

    def forward(self, x, mask=None):
        x = x + self.attention(self.attention_norm(x), key_mask=mask)
        return x + self.mlp(self.mlp_norm(x))


class Llama(nn.Module):
    """A causal language model: tokens (N, steps) to logits of the next token (N, steps, vocabulary).

    ``key_heads`` heads of keys and values are shared by ``heads`` of queries, each of ``features / heads`` features or of
    ``head_size``. ``query_bias`` gives biases to query, key and value, as Qwen has them; ``rotary_scaling`` is the
    ``scaling`` of `ops.rotary_embedding`, which Llama 3.1 has. With ``tied`` the output matrix is
    the table of word embeddings. ``mask`` (N, steps) is 1, or true, for tokens and 0 for padding.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation
    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        vocabulary: int = 32000,
        *,
        features: int = 4096,
        layers: int = 32,
        heads: int = 32,
        key_heads: int | None = None,
        head_size: int | None = None,
        feed_forward: int = 11008,
        rotary_base: float = 10000.0,
        rotary_scaling: tuple[float, float, float, float] | None = None,
        epsilon: float = 1e-5,
        query_bias: bool = False,
        tied: bool = False,
    ):
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            attention = nn.MultiHeadAttention(
                heads,
                causal=True,
                use_bias=query_bias,
                output_bias=False,
                key_heads=key_heads,
                key_size=head_size,
                value_size=head_size,
                rotary=True,
                rotary_base=rotary_base,
                rotary_scaling=rotary_scaling,
                kernel_init="normal",
            )
            self.blocks.append(LlamaBlock(attention, GatedFeedForward(features, feed_forward), epsilon))
        self.norm = nn.RMSNorm(epsilon=epsilon)
        self.head = None if tied else nn.Linear(vocabulary, use_bias=False, kernel_init="normal")

    def forward(self, tokens, mask=None):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        if self.head is not None:
            return self.head(x)
        table: Any = self.words
        return ops.matmul(x, ops.matrix_transpose(table.embeddings))


_BLOCK, _OURS = "model.layers.{}", "blocks/{}"
_PARTS = (("q", "query"), ("k", "key"), ("v", "value"))
Llama.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.embedding("model.embed_tokens", "words"),
            public_weights.norm("model.norm", "norm", use_bias=False),
            needed=True,
        ),
        public_weights.Group(
            *(
                public_weights.linear(f"{_BLOCK}.self_attn.{name}_proj", f"{_OURS}/attention/{part}", use_bias=False)
                for name, part in (*_PARTS, ("o", "projection"))
            ),
            public_weights.norm(f"{_BLOCK}.input_layernorm", f"{_OURS}/attention_norm", use_bias=False),
            *(
                public_weights.linear(f"{_BLOCK}.mlp.{part}_proj", f"{_OURS}/mlp/{part}", use_bias=False)
                for part in ("gate", "up", "down")
            ),
            public_weights.norm(f"{_BLOCK}.post_attention_layernorm", f"{_OURS}/mlp_norm", use_bias=False),
            needed=True,
        ),
        public_weights.Group(
            *(
                public_weights.plain(f"{_BLOCK}.self_attn.{name}_proj.bias", f"{_OURS}/attention/{part}/bias:0")
                for name, part in _PARTS
            )
        ),
        public_weights.Group(public_weights.linear("lm_head", "head", use_bias=False)),
    ),
    ignored=r".*\.rotary_emb\.inv_freq",
)


def _small_llama() -> tuple[Llama, tuple[Spec, ...]]:
    return Llama(20, features=8, layers=1, heads=2, key_heads=1, feed_forward=16), (Spec((None, 5), "int64"),)


def _small_qwen() -> tuple[Llama, tuple[Spec, ...]]:
    model = Llama(20, features=8, layers=1, heads=4, key_heads=2, feed_forward=12, query_bias=True, tied=True)
    return model, (Spec((None, 5), "int64"),)


_register = functools.partial(
    zoo.register, "text generation", inputs=zoo.tokens(64), from_public=Llama.public_names.from_public
)


@_register(parameters=6_738_415_616, paper=_LLAMA_2, small=_small_llama)
def llama_2_7b() -> Llama:
    """Llama 2 7B: 32 layers of 4,096 features (Touvron et al., 2023)."""
    return Llama()


@_register(parameters=8_030_261_248, paper=_LLAMA_3)
def llama_3_8b() -> Llama:
    """Llama 3 8B: 32 layers of 4,096 features, 8 heads of keys (Llama team, 2024)."""
    return Llama(128256, key_heads=8, feed_forward=14336, rotary_base=500000.0)


@_register(parameters=1_100_048_384, paper=_TINY)
def tinyllama_1_1b() -> Llama:
    """TinyLlama 1.1B: 22 layers of 2,048 features, 4 heads of keys (Zhang et al., 2024)."""
    return Llama(features=2048, layers=22, key_heads=4, feed_forward=5632)


_qwen = functools.partial(Llama, rotary_base=1000000.0, epsilon=1e-6, query_bias=True)


@_register(parameters=494_032_768, paper=_QWEN_2, small=_small_qwen)
def qwen2_0_5b() -> Llama:
    """Qwen2 0.5B: 24 layers of 896 features, 2 heads of keys (Yang et al., 2024)."""
    return _qwen(151936, features=896, layers=24, heads=14, key_heads=2, feed_forward=4864, tied=True)


@_register(parameters=1_543_714_304, paper=_QWEN_2)
def qwen2_1_5b() -> Llama:
    """Qwen2 1.5B: 28 layers of 1,536 features, 2 heads of keys (Yang et al., 2024)."""
    return _qwen(151936, features=1536, layers=28, heads=12, key_heads=2, feed_forward=8960, tied=True)


@_register(parameters=7_615_616_512, paper=_QWEN_2)
def qwen2_7b() -> Llama:
    """Qwen2 7B: 28 layers of 3,584 features, 4 heads of keys (Yang et al., 2024)."""
    return _qwen(152064, features=3584, layers=28, heads=28, key_heads=4, feed_forward=18944)
