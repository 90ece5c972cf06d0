"""GPT-J, GPT-NeoX and Pythia: rotary decoders whose attention and feed-forward block are parallel, as Hugging Face's models.

Wang & Komatsuzaki (2021), Black et al. (2022), Biderman et al. (2023).
"""

from __future__ import annotations

import functools
from typing import ClassVar

import numpy as np

from labdl import nn
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.nn.activation import Activation
from labdl.spec import Spec

_GPT_J, _NEOX = "https://github.com/kingoflolz/mesh-transformer-jax", "https://arxiv.org/abs/2204.06745"
_PYTHIA = "https://arxiv.org/abs/2304.01373"


class ParallelBlock(nn.Module):
    """x + attention(norm(x)) + mlp(norm(x)), with one normalization or two: (N, steps, features) to the same shape."""

    def __init__(
        self, attention: nn.MultiHeadAttention, mlp: nn.FeedForward, *, norms: int, rate: float, epsilon: float
    ):
        self.attention_norm = nn.LayerNorm(epsilon=epsilon)
        self.mlp_norm = nn.LayerNorm(epsilon=epsilon) if norms == 2 else None
        self.attention, self.mlp = attention, mlp
        self.dropout = nn.Dropout(rate)

    def forward(self, x, mask=None):
        normal = self.attention_norm(x)
        attended = self.dropout(self.attention(normal, key_mask=mask))
        return x + attended + self.dropout(self.mlp(normal if self.mlp_norm is None else self.mlp_norm(x)))


class GPTNeoX(nn.Module):
    """A causal language model: tokens (N, steps) to logits of the next token (N, steps, vocabulary).

    The first ``rotary_size`` features of each head are rotated by their position, halves with each other, and each block has
    two normalizations. ``interleaved`` is GPT-J's way: neighboring features are rotated, attention has no biases, a block has
    one normalization, and the head has a bias. ``mask`` (N, steps) is 1, or true, for tokens and 0 for padding.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation

    def __init__(
        self,
        vocabulary: int = 50432,
        *,
        features: int = 6144,
        layers: int = 44,
        heads: int = 64,
        feed_forward: int | None = None,
        rotary_size: int = 24,
        rotary_base: float = 10000.0,
        interleaved: bool = False,
        activation: Activation = "gelu",
        rate: float = 0.0,
        epsilon: float = 1e-5,
    ):
        self.heads, self.interleaved = heads, interleaved
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        self.dropout = nn.Dropout(rate)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            attention = nn.MultiHeadAttention(
                heads,
                causal=True,
                use_bias=not interleaved,
                rotary=True,
                rotary_size=rotary_size,
                rotary_base=rotary_base,
                rotary_interleaved=interleaved,
                kernel_init="normal",
            )
            mlp = nn.FeedForward(
                4 * features if feed_forward is None else feed_forward, activation, kernel_init="normal"
            )
            self.blocks.append(ParallelBlock(attention, mlp, norms=1 if interleaved else 2, rate=rate, epsilon=epsilon))
        self.norm = nn.LayerNorm(epsilon=epsilon)
        self.head = nn.Linear(vocabulary, use_bias=interleaved, kernel_init="normal")

    def forward(self, tokens, mask=None):
        x = self.dropout(self.words(tokens))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names."""
        return GPT_J_NAMES if self.interleaved else neox_names(self.heads)


def _query_key_value_by_head(public: str, ours: str, heads: int) -> list[public_weights.WeightMapping]:
    """Query, key and value, which are one public linear layer: its outputs are those of the first head, of the second ..."""

    def from_public(whole: np.ndarray) -> list[np.ndarray]:
        parts = whole.reshape(heads, 3, -1, *whole.shape[1:])
        return [parts[:, i].reshape(-1, *whole.shape[1:]).T for i in range(3)]

    def to_public(*parts: np.ndarray) -> list[np.ndarray]:
        rows = [part.T.reshape(heads, -1, *part.T.shape[1:]) for part in parts]
        return [np.stack(rows, axis=1).reshape(-1, *parts[0].T.shape[1:])]

    return [
        public_weights.WeightMapping(
            tuple(f"{ours}/{part}/{array}:0" for part in ("query", "key", "value")),
            (f"{public}.{name}",),
            to_public,
            from_public,
        )
        for name, array in (("weight", "kernel"), ("bias", "bias"))
    ]


def neox_names(heads: int) -> public_weights.PublicNames:
    """Hugging Face's names of a GPT-NeoX or a Pythia."""
    block, ours = "gpt_neox.layers.{}", "blocks/{}"
    return public_weights.PublicNames(
        (
            public_weights.Group(
                public_weights.embedding("gpt_neox.embed_in", "words"),
                public_weights.norm("gpt_neox.final_layer_norm", "norm"),
                public_weights.linear("embed_out", "head", use_bias=False),
                needed=True,
            ),
            public_weights.Group(
                public_weights.norm(f"{block}.input_layernorm", f"{ours}/attention_norm"),
                public_weights.norm(f"{block}.post_attention_layernorm", f"{ours}/mlp_norm"),
                _query_key_value_by_head(f"{block}.attention.query_key_value", f"{ours}/attention", heads),
                public_weights.linear(f"{block}.attention.dense", f"{ours}/attention/projection"),
                public_weights.linear(f"{block}.mlp.dense_h_to_4h", f"{ours}/mlp/expand"),
                public_weights.linear(f"{block}.mlp.dense_4h_to_h", f"{ours}/mlp/contract"),
                needed=True,
            ),
        ),
        ignored=r".*\.attention\.(masked_bias|bias|rotary_emb\.inv_freq)",  # the causal mask and the angles
        spelling=lambda name: "embed_out.weight" if name == "lm_head.weight" else name,
    )


_BLOCK, _OURS = "transformer.h.{}", "blocks/{}"
GPT_J_NAMES = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.embedding("transformer.wte", "words"),
            public_weights.norm("transformer.ln_f", "norm"),
            public_weights.linear("lm_head", "head"),
            needed=True,
        ),
        public_weights.Group(
            public_weights.norm(f"{_BLOCK}.ln_1", f"{_OURS}/attention_norm"),
            *(
                public_weights.linear(f"{_BLOCK}.attn.{name}_proj", f"{_OURS}/attention/{part}", use_bias=False)
                for name, part in (("q", "query"), ("k", "key"), ("v", "value"), ("out", "projection"))
            ),
            public_weights.linear(f"{_BLOCK}.mlp.fc_in", f"{_OURS}/mlp/expand"),
            public_weights.linear(f"{_BLOCK}.mlp.fc_out", f"{_OURS}/mlp/contract"),
            needed=True,
        ),
    ),
    ignored=r".*\.attn\.(masked_bias|bias)",  # the causal mask
)


def _small_neox() -> tuple[GPTNeoX, tuple[Spec, ...]]:
    return GPTNeoX(20, features=8, layers=1, heads=2, rotary_size=2), (Spec((None, 5), "int64"),)


def _small_gpt_j() -> tuple[GPTNeoX, tuple[Spec, ...]]:
    model = GPTNeoX(20, features=8, layers=1, heads=2, rotary_size=2, interleaved=True, activation="gelu_tanh")
    return model, (Spec((None, 5), "int64"),)


_register = functools.partial(zoo.register, "text generation", inputs=zoo.tokens(64))


@_register(parameters=6_050_882_784, paper=_GPT_J, from_public=GPT_J_NAMES.from_public, small=_small_gpt_j)
def gpt_j_6b() -> GPTNeoX:
    """GPT-J 6B: 28 layers of 4,096 features (Wang & Komatsuzaki, 2021)."""
    return GPTNeoX(50400, features=4096, layers=28, heads=16, rotary_size=64, interleaved=True, activation="gelu_tanh")


@_register(parameters=20_554_567_680, paper=_NEOX, from_public=neox_names(64).from_public, small=_small_neox)
def gpt_neox_20b() -> GPTNeoX:
    """GPT-NeoX 20B: 44 layers of 6,144 features (Black et al., 2022)."""
    return GPTNeoX(activation="gelu_tanh")


@_register(parameters=70_426_624, paper=_PYTHIA, from_public=neox_names(8).from_public)
def pythia_70m() -> GPTNeoX:
    """Pythia 70M: 6 layers of 512 features (Biderman et al., 2023)."""
    return GPTNeoX(50304, features=512, layers=6, heads=8, rotary_size=16)


@_register(parameters=162_322_944, paper=_PYTHIA, from_public=neox_names(12).from_public)
def pythia_160m() -> GPTNeoX:
    """Pythia 160M: 12 layers of 768 features (Biderman et al., 2023)."""
    return GPTNeoX(50304, features=768, layers=12, heads=12, rotary_size=16)


@_register(parameters=405_334_016, paper=_PYTHIA, from_public=neox_names(16).from_public)
def pythia_410m() -> GPTNeoX:
    """Pythia 410M: 24 layers of 1,024 features (Biderman et al., 2023)."""
    return GPTNeoX(50304, features=1024, layers=24, heads=16, rotary_size=16)


@_register(parameters=1_011_781_632, paper=_PYTHIA, from_public=neox_names(8).from_public)
def pythia_1b() -> GPTNeoX:
    """Pythia 1B: 16 layers of 2,048 features (Biderman et al., 2023)."""
    return GPTNeoX(50304, features=2048, layers=16, heads=8, rotary_size=64)


@_register(parameters=1_414_647_808, paper=_PYTHIA, from_public=neox_names(16).from_public)
def pythia_1_4b() -> GPTNeoX:
    """Pythia 1.4B: 24 layers of 2,048 features (Biderman et al., 2023)."""
    return GPTNeoX(50304, features=2048, layers=24, heads=16, rotary_size=32)
