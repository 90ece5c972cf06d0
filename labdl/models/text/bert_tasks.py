"""Encoders of the BERT family with heads for tasks, as Hugging Face's Bert, Roberta and DistilBert models."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Literal

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models.text.bert import Bert, BertConfig, MaskedWordHead
from labdl.nn.activation import ACTIVATIONS

Kind = Literal["bert", "roberta", "distilbert"]


class EncoderForTask(nn.Module):
    """An encoder without a pooler, as ``bert``; ``kind`` says whose public names its weights have."""

    def __init__(self, config: BertConfig | None = None, *, kind: Kind = "bert"):
        self.kind: Kind = kind
        self.config = config or BertConfig()
        self.bert = Bert(self.config, pooled=False)

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names."""
        return public_names(self.kind)


class EncoderForMaskedWords(EncoderForTask):
    """Logits of words (N, steps, vocabulary), whose matrix is the table of word embeddings. Inputs: as `Bert`."""

    def __init__(self, config: BertConfig | None = None, *, kind: Kind = "bert"):
        super().__init__(config, kind=kind)
        self.words = MaskedWordHead(self.config)

    def forward(self, tokens, mask=None, types=None):
        table: Any = self.bert.embeddings.words
        return self.words(self.bert(tokens, mask, types), table.embeddings)


class EncoderForTokenClassification(EncoderForTask):
    """Logits of each token (N, steps, classes). Inputs: as `Bert`."""

    def __init__(self, config: BertConfig | None = None, classes: int = 2, *, kind: Kind = "bert"):
        super().__init__(config, kind=kind)
        self.dropout = nn.Dropout(self.config.rate)
        self.classifier = nn.Linear(classes, kernel_init="normal")

    def forward(self, tokens, mask=None, types=None):
        return self.classifier(self.dropout(self.bert(tokens, mask, types)))


class EncoderForQuestionAnswering(EncoderForTask):
    """Logits of the first and of the last token of an answer, (N, steps) each. Inputs: as `Bert`."""

    def __init__(self, config: BertConfig | None = None, *, kind: Kind = "bert"):
        super().__init__(config, kind=kind)
        self.answers = nn.Linear(2, kernel_init="normal")

    def forward(self, tokens, mask=None, types=None):
        logits = self.answers(self.bert(tokens, mask, types))
        return tuple(ops.getitem(logits, (slice(None), slice(None), at)) for at in (0, 1))


class EncoderForSequenceClassification(EncoderForTask):
    """Logits of sequences (N, classes): two linear layers over the features of the first token. Inputs: as `Bert`."""

    def __init__(self, config: BertConfig | None = None, classes: int = 2, *, kind: Kind = "roberta"):
        super().__init__(config, kind=kind)
        self.dense = nn.Linear(self.config.features, kernel_init="normal")
        self.activation = ACTIVATIONS["relu" if kind == "distilbert" else "tanh"]
        self.dropout = nn.Dropout(self.config.rate)
        self.classifier = nn.Linear(classes, kernel_init="normal")

    def forward(self, tokens, mask=None, types=None):
        first = ops.getitem(self.bert(tokens, mask, types), (slice(None), 0))
        if self.kind == "roberta":
            first = self.dropout(first)
        return self.classifier(self.dropout(self.activation(self.dense(first))))


# of a block: the names of its layers here, and in the families
_BLOCK = {
    "attention/query": ("attention.self.query", "attention.q_lin"),
    "attention/key": ("attention.self.key", "attention.k_lin"),
    "attention/value": ("attention.self.value", "attention.v_lin"),
    "attention/projection": ("attention.output.dense", "attention.out_lin"),
    "mlp/expand": ("intermediate.dense", "ffn.lin1"),
    "mlp/contract": ("output.dense", "ffn.lin2"),
}
_NORMS = {
    "attention_norm": ("attention.output.LayerNorm", "sa_layer_norm"),
    "mlp_norm": ("output.LayerNorm", "output_layer_norm"),
}
# the head of masked words: its bias, linear layer and normalization
_WORDS = {
    "bert": ("cls.predictions.bias", "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm"),
    "roberta": ("lm_head.bias", "lm_head.dense", "lm_head.layer_norm"),
    "distilbert": ("vocab_projector.bias", "vocab_transform", "vocab_layer_norm"),
}
_TABLE = {"bert": "cls.predictions.decoder", "roberta": "lm_head.decoder", "distilbert": "vocab_projector"}
# the two layers of `EncoderForSequenceClassification`; BERT has one over its pooler
_SEQUENCES = {
    "bert": {},
    "roberta": {"classifier.dense": "dense", "classifier.out_proj": "classifier"},
    "distilbert": {"pre_classifier": "dense"},
}
_CURRENT: Mapping[str, str] = {"gamma": "weight", "beta": "bias"}


@functools.cache
def public_names(kind: Kind) -> public_weights.PublicNames:
    """Hugging Face's names of the models of a family with an encoder under the name of the family."""
    at = int(kind == "distilbert")
    block = f"{kind}.{('encoder', 'transformer')[at]}.layer.{{}}"
    tables = {"word_embeddings": "words", "position_embeddings": "positions"}
    tables |= {} if at else {"token_type_embeddings": "types"}
    embeddings, ours = f"{kind}.embeddings", "bert/encoder/blocks/{}"
    bias, dense, norm = _WORDS[kind]
    heads = {**_SEQUENCES[kind], "classifier": "classifier", "qa_outputs": "answers"}
    return public_weights.PublicNames(
        (
            public_weights.Group(
                *(
                    public_weights.plain(f"{embeddings}.{theirs}.weight", f"bert/embeddings/{here}/embeddings:0")
                    for theirs, here in tables.items()
                ),
                public_weights.norm(f"{embeddings}.LayerNorm", "bert/embeddings/norm"),
                needed=True,
            ),
            public_weights.Group(
                *(public_weights.linear(f"{block}.{names[at]}", f"{ours}/{here}") for here, names in _BLOCK.items()),
                *(public_weights.norm(f"{block}.{names[at]}", f"{ours}/{here}") for here, names in _NORMS.items()),
                needed=True,
            ),
            public_weights.Group(public_weights.linear(f"{kind}.pooler.dense", "bert/pooler")),
            public_weights.Group(
                public_weights.plain(bias, "words/bias:0"),
                public_weights.linear(dense, "words/dense"),
                public_weights.norm(norm, "words/norm"),
            ),
            *(public_weights.Group(public_weights.linear(theirs, here)) for theirs, here in heads.items()),
        ),
        ignored=r".*\.position_ids",
        copies={
            f"{_TABLE[kind]}.weight": f"{embeddings}.word_embeddings.weight",
            **({} if at else {f"{_TABLE[kind]}.bias": bias}),
        },
        # old files name the scale and offset of a normalization gamma and beta
        spelling=lambda name: re.sub(r"LayerNorm\.(gamma|beta)$", lambda m: f"LayerNorm.{_CURRENT[m[1]]}", name),
    )
