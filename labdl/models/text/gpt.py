"""GPT and GPT-2: decoders that predict the next token (Radford et al., 2018 and 2019), as Hugging Face's models."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.spec import Spec

_PAPER = "https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf"
_PAPER_2 = "https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf"


class GPT(nn.Module):
    """A causal language model: tokens (N, steps) to logits of the next token (N, steps, vocabulary).

    ``norm_first`` normalizes before each block, and once more at the end, as GPT-2 does; the first GPT normalizes after each
    block. The output matrix is the table of word embeddings. ``mask`` (N, steps) is 1, or true, for tokens and 0 for padding.
    """

    caches_keys: ClassVar[bool] = True  # see labdl.generation

    def __init__(
        self,
        vocabulary: int = 50257,
        *,
        features: int = 768,
        layers: int = 12,
        heads: int = 12,
        positions: int = 1024,
        norm_first: bool = True,
        rate: float = 0.1,
        epsilon: float = 1e-5,
    ):
        self.norm_first = norm_first
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        self.positions = nn.PositionEmbedding(positions)
        self.dropout = nn.Dropout(rate)
        self.decoder = nn.TransformerEncoder(
            heads,
            4 * features,
            "gelu_tanh",
            norm_first=norm_first,
            rate=rate,
            epsilon=epsilon,
            causal=True,
            activation_rate=0.0,
            kernel_init="normal",
            layers=layers,
            final_norm=norm_first,
        )

    def forward(self, tokens, mask=None):
        hidden = self.decoder(self.dropout(self.positions(self.words(tokens))), key_mask=mask)
        table: Any = self.words
        return ops.matmul(hidden, ops.matrix_transpose(table.embeddings))

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names; those of GPT-2 differ in the tables of embeddings."""
        return public_names(self.norm_first)


def _stored_transposed(public: str, ours: str) -> list[public_weights.WeightMapping]:
    """A linear layer, whose public weight is (in, out)."""
    return [
        *public_weights.plain(f"{public}.weight", f"{ours}/kernel:0"),
        *public_weights.plain(f"{public}.bias", f"{ours}/bias:0"),
    ]


def _query_key_value(public: str, ours: str) -> list[public_weights.WeightMapping]:
    """Query, key and value, which are one public linear layer."""
    return [
        public_weights.WeightMapping(
            tuple(f"{ours}/{part}/{array}:0" for part in ("query", "key", "value")),
            (f"{public}.{name}",),
            lambda *parts: [np.concatenate(parts, axis=-1)],
            lambda whole: np.split(whole, 3, axis=-1),
        )
        for name, array in (("weight", "kernel"), ("bias", "bias"))
    ]


def public_names(norm_first: bool) -> public_weights.PublicNames:
    """Hugging Face's names of a GPT-2, or of a GPT. Files may leave out the first part of a name, and the tied head."""
    words, positions = ("wte", "wpe") if norm_first else ("tokens_embed", "positions_embed")
    block, ours = "transformer.h.{}", "decoder/blocks/{}"
    heads = ("h.", f"{words}.", f"{positions}.", "ln_f.")
    groups = [
        public_weights.Group(
            public_weights.embedding(f"transformer.{words}", "words"),
            public_weights.embedding(f"transformer.{positions}", "positions"),
            public_weights.norm("transformer.ln_f", "decoder/norm") if norm_first else (),
            needed=True,
        ),
        public_weights.Group(
            _query_key_value(f"{block}.attn.c_attn", f"{ours}/attention"),
            _stored_transposed(f"{block}.attn.c_proj", f"{ours}/attention/projection"),
            public_weights.norm(f"{block}.ln_1", f"{ours}/attention_norm"),
            _stored_transposed(f"{block}.mlp.c_fc", f"{ours}/mlp/expand"),
            _stored_transposed(f"{block}.mlp.c_proj", f"{ours}/mlp/contract"),
            public_weights.norm(f"{block}.ln_2", f"{ours}/mlp_norm"),
            needed=True,
        ),
    ]
    return public_weights.PublicNames(
        tuple(groups),
        ignored=r".*\.attn\.(masked_)?bias",  # the causal mask
        copies={"lm_head.weight": f"transformer.{words}.weight"},
        spelling=lambda name: f"transformer.{name}" if name.startswith(heads) else name,
    )


def _small(norm_first: bool) -> zoo.Small:
    def create() -> tuple[GPT, tuple[Spec, ...]]:
        model = GPT(20, features=8, layers=1, heads=2, positions=8, norm_first=norm_first, rate=0.0)
        return model, (Spec((None, 5), "int64"),)

    return create


def _register(norm_first: bool, **settings: Any):
    return functools.partial(
        zoo.register,
        "text generation",
        inputs=zoo.tokens(64),
        from_public=public_names(norm_first).from_public,
        paper=_PAPER_2 if norm_first else _PAPER,
        **settings,
    )


@_register(False, small=_small(False))(parameters=116_534_784)
def gpt() -> GPT:
    """GPT: 12 layers of 768 features, normalized after each block (Radford et al., 2018)."""
    return GPT(40478, positions=512, norm_first=False)


@_register(True, small=_small(True))(parameters=124_439_808)
def gpt2() -> GPT:
    """GPT-2, small: 12 layers of 768 features (Radford et al., 2019)."""
    return GPT()


@_register(True)(parameters=354_823_168)
def gpt2_medium() -> GPT:
    """GPT-2, medium: 24 layers of 1,024 features (Radford et al., 2019)."""
    return GPT(features=1024, layers=24, heads=16)


@_register(True)(parameters=774_030_080)
def gpt2_large() -> GPT:
    """GPT-2, large: 36 layers of 1,280 features (Radford et al., 2019)."""
    return GPT(features=1280, layers=36, heads=20)


@_register(True)(parameters=1_557_611_200)
def gpt2_xl() -> GPT:
    """GPT-2, XL: 48 layers of 1,600 features (Radford et al., 2019)."""
    return GPT(features=1600, layers=48, heads=25)
