"""BERT: a transformer encoder pre-trained on masked tokens (Devlin et al., 2019), as Hugging Face's Bert models."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1810.04805"


@dataclass(frozen=True)
class BertConfig:
    """Sizes of a BERT; the defaults are those of BERT-base, uncased."""

    vocabulary: int = 30522
    features: int = 768
    layers: int = 12
    heads: int = 12
    feed_forward: int = 3072
    positions: int = 512
    types: int = 2
    rate: float = 0.1
    attention_rate: float = 0.1
    activation: Literal["gelu", "gelu_tanh", "relu", "silu"] = "gelu"
    epsilon: float = 1e-12
    position_offset: int = 0  # rows of the table before that of position 0: 2 in RoBERTa


class BertEmbeddings(nn.Module):
    """Normalized sum of word, position and type embeddings: tokens (N, steps) to (N, steps, features).

    ``types=0`` in the config leaves out the type embeddings, as DistilBERT does.
    """

    def __init__(self, config: BertConfig):
        self.words = nn.Embedding(config.vocabulary, config.features, embeddings_init="normal")
        self.types = nn.Embedding(config.types, config.features, embeddings_init="normal") if config.types else None
        self.positions = nn.PositionEmbedding(config.positions, offset=config.position_offset)
        self.norm = nn.LayerNorm(epsilon=config.epsilon)
        self.dropout = nn.Dropout(config.rate)

    def forward(self, tokens, types=None):
        embedded = self.words(tokens)
        if self.types is not None:
            embedded = embedded + self.types(ops.zeros_like(tokens) if types is None else types)
        return self.dropout(self.norm(self.positions(embedded)))


class Bert(nn.Module):
    """The encoder with its pooler: tokens (N, steps) to features (N, steps, features) and (N, features).

    Without ``pooled`` it has no pooler, and gives the features of the steps alone. ``mask`` (N, steps) is 1, or true, for
    tokens and 0 for padding; ``types`` (N, steps) tells the first sentence from the second, and is 0 everywhere if left out.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, config: BertConfig | None = None, *, pooled: bool = True):
        c = config or BertConfig()
        self.embeddings = BertEmbeddings(c)
        self.encoder = nn.TransformerEncoder(
            c.heads,
            c.feed_forward,
            c.activation,
            rate=c.rate,
            epsilon=c.epsilon,
            attention_rate=c.attention_rate,
            activation_rate=0.0,
            kernel_init="normal",
            layers=c.layers,
        )
        self.pooler = nn.Linear(c.features, kernel_init="normal") if pooled else None

    def forward(self, tokens, mask=None, types=None):
        hidden = self.encoder(self.embeddings(tokens, types), key_mask=mask)
        if self.pooler is None:
            return hidden
        return hidden, ops.tanh(self.pooler(ops.getitem(hidden, (slice(None), 0))))


class MaskedWordHead(nn.Module):
    """Masked language modeling head; its output matrix is tied to the word embeddings."""

    def __init__(self, config: BertConfig):
        self.dense = nn.Linear(config.features, kernel_init="normal")
        self.activation = {"gelu": nn.GELU(), "gelu_tanh": nn.GELU("tanh"), "relu": nn.ReLU(), "silu": nn.SiLU()}[
            config.activation
        ]
        self.norm = nn.LayerNorm(epsilon=config.epsilon)

    def setup(self, x, table):
        self.bias = nn.Parameter((table.shape[0],))

    def forward(self, x, table):
        x = self.norm(self.activation(self.dense(x)))
        return ops.matmul(x, ops.permute_dims(table, (1, 0))) + self.bias


class BertForPreTraining(nn.Module):
    """BERT with its two pre-training heads: logits of words (N, steps, vocabulary) and of the next sentence (N, 2).

    Inputs: as `Bert`.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, config: BertConfig | None = None):
        config = config or BertConfig()
        self.bert = Bert(config)
        self.words = MaskedWordHead(config)
        self.next_sentence = nn.Linear(2, kernel_init="normal")

    def forward(self, tokens, mask=None, types=None):
        hidden, pooled = self.bert(tokens, mask, types)
        table: Any = self.bert.embeddings.words
        return self.words(hidden, table.embeddings), self.next_sentence(pooled)


class BertForSequenceClassification(nn.Module):
    """BERT with a classifier of whole sequences: logits (N, classes). Inputs: as `Bert`."""

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, config: BertConfig | None = None, classes: int = 2):
        config = config or BertConfig()
        self.bert = Bert(config)
        self.dropout = nn.Dropout(config.rate)
        self.classifier = nn.Linear(classes, kernel_init="normal")

    def forward(self, tokens, mask=None, types=None):
        return self.classifier(self.dropout(self.bert(tokens, mask, types)[1]))


LARGE = BertConfig(features=1024, layers=24, heads=16, feed_forward=4096)
# for checks
SMALL = BertConfig(
    vocabulary=20, features=8, layers=1, heads=2, feed_forward=16, positions=8, rate=0.0, attention_rate=0.0
)


def _encoder(public: str, ours: str, needed: str) -> list[public_weights.Group]:
    """Mappings of the encoder, with the name prefixes ``public`` and ``ours``, of files with names like ``needed``."""
    block, target = f"{public}encoder.layer.{{}}", f"{ours}encoder/blocks/{{}}"
    table = {"word_embeddings": "words", "position_embeddings": "positions", "token_type_embeddings": "types"}
    return [
        public_weights.Group(
            *(
                public_weights.plain(f"{public}embeddings.{theirs}.weight", f"{ours}embeddings/{here}/embeddings:0")
                for theirs, here in table.items()
            ),
            public_weights.norm(f"{public}embeddings.LayerNorm", f"{ours}embeddings/norm"),
            needed=needed,
        ),
        public_weights.Group(
            *(
                public_weights.linear(f"{block}.attention.self.{part}", f"{target}/attention/{part}")
                for part in ("query", "key", "value")
            ),
            public_weights.linear(f"{block}.attention.output.dense", f"{target}/attention/projection"),
            public_weights.norm(f"{block}.attention.output.LayerNorm", f"{target}/attention_norm"),
            public_weights.linear(f"{block}.intermediate.dense", f"{target}/mlp/expand"),
            public_weights.linear(f"{block}.output.dense", f"{target}/mlp/contract"),
            public_weights.norm(f"{block}.output.LayerNorm", f"{target}/mlp_norm"),
            needed=needed,
        ),
        public_weights.Group(public_weights.linear(f"{public}pooler.dense", f"{ours}pooler"), needed=needed),
    ]


_SINCE = {"gamma": "weight", "beta": "bias"}
_HEADS = "cls.predictions"
_NAMES = public_weights.PublicNames(
    (
        *_encoder("bert.", "bert/", r"bert\."),
        *_encoder("", "", r"(embeddings|encoder|pooler)\."),
        public_weights.Group(
            public_weights.plain(f"{_HEADS}.bias", "words/bias:0"),
            public_weights.linear(f"{_HEADS}.transform.dense", "words/dense"),
            public_weights.norm(f"{_HEADS}.transform.LayerNorm", "words/norm"),
            public_weights.linear("cls.seq_relationship", "next_sentence"),
        ),
        public_weights.Group(public_weights.linear("classifier", "classifier")),
    ),
    ignored=r".*\.position_ids",
    copies={
        f"{_HEADS}.decoder.weight": "bert.embeddings.word_embeddings.weight",
        f"{_HEADS}.decoder.bias": f"{_HEADS}.bias",
    },
    # old files name the scale and offset of a normalization gamma and beta
    spelling=lambda name: re.sub(r"LayerNorm\.(gamma|beta)$", lambda m: f"LayerNorm.{_SINCE[m[1]]}", name),
)
Bert.public_names = BertForPreTraining.public_names = BertForSequenceClassification.public_names = _NAMES


def from_huggingface(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Standard names and shapes of Hugging Face's BertModel, BertForPreTraining and BertForSequenceClassification.

    Raises StateDictError naming what is missing or unexpected, and tied weights that differ.
    """
    return _NAMES.from_public(weights)


def _small() -> tuple[Bert, tuple[Spec, ...]]:
    return Bert(SMALL), (Spec((None, 5), "int64"),)


_register = functools.partial(zoo.register, "text encoding", inputs=zoo.tokens(128), from_public=from_huggingface)


@_register(parameters=109_482_240, paper=_PAPER, small=_small)
def bert_base() -> Bert:
    """BERT-base, uncased: 12 layers of 768 features (Devlin et al., 2019)."""
    return Bert()


@_register(parameters=335_141_888, paper=_PAPER)
def bert_large() -> Bert:
    """BERT-large, uncased: 24 layers of 1,024 features (Devlin et al., 2019)."""
    return Bert(LARGE)
