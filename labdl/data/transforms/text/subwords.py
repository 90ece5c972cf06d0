"""Texts as tokens of trained models: BPE, Unigram, SentencePiece, or any model of the library ``tokenizers``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.parts import Text, TokenIds, Tokens
from labdl.data.text import SentencePiece, Tokenizer, load_tokenizer
from labdl.data.text.vocabulary import texts_of
from labdl.data.transforms.sample_parts import apply_at
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError


@dataclasses.dataclass(repr=False)
class TokenizerTransform(Transform):
    """Fields and methods of the transforms that hold a trained tokenizer, which their file contains.

    ``tokenizer`` is one of data.text or the path of its file, read once; without it, `fit` trains one on samples with
    ``vocab_size`` tokens.
    """

    kind: ClassVar[str] = ""

    tokenizer: Any = field(default=None, metadata={"form": False})
    vocab_size: Annotated[int, Ge(1)] = 8000

    def check_settings(self) -> None:
        self._model: Tokenizer | SentencePiece | None = None
        if isinstance(self.tokenizer, str | Path):
            self._model = load_tokenizer(self.tokenizer)
        elif isinstance(self.tokenizer, Tokenizer | SentencePiece):
            self._model = self.tokenizer
        elif self.tokenizer is not None:
            raise ConfigError(
                f"{type(self).__name__} wants a tokenizer of data.text or the path of a file, received {self.tokenizer!r:.80}"
            )
        self.tokenizer = None  # the file of a pipeline holds the tokenizer itself, as the state
        self._check_kind()

    def _check_kind(self) -> None:
        held = "" if self._model is None else kind_of(self._model)
        if self.kind and held and held != self.kind:
            raise ConfigError(
                f"{type(self).__name__} wants a tokenizer of the kind {self.kind}, received one of {held}"
            )

    def fit(self, samples: Iterable[Any]) -> Any:
        """Train on samples with texts, of the training part only; returns the transform."""
        texts = texts_of(samples, getattr(self, "key", None))
        if self.kind == "sentencepiece":
            self._model = SentencePiece.train(texts, self.vocab_size)
        else:
            self._model = Tokenizer.train(texts, self.kind or "bpe", self.vocab_size)  # type: ignore[arg-type]
        return self

    @property
    def is_fitted(self) -> bool:
        """Whether there is a tokenizer, trained or given."""
        return self._model is not None

    @property
    def model(self) -> Tokenizer | SentencePiece:
        """The tokenizer. Raises ConfigError before there is one."""
        if self._model is None:
            raise ConfigError(
                f"{type(self).__name__} has no tokenizer: give it tokenizer=, or train it with fit(samples)"
            )
        return self._model

    def state_dict(self) -> dict[str, Any]:
        """The tokenizer as text."""
        return {} if self._model is None else {"kind": kind_of(self._model), "tokenizer": self._model.to_text()}

    def load_state_dict(self, state: Any) -> None:
        """Restore the tokenizer of `state_dict`. Raises ConfigError and FileFormatError."""
        if not isinstance(state, dict) or not all(isinstance(state.get(name), str) for name in ("kind", "tokenizer")):
            raise ConfigError(
                f'{type(self).__name__} wants a state with "kind" and "tokenizer", received {state!r:.80}'
            )
        cls = SentencePiece if state["kind"] == "sentencepiece" else Tokenizer
        self._model = cls.from_text(state["tokenizer"])
        self._check_kind()


@dataclasses.dataclass(repr=False)
class SubwordTokenizer(TokenizerTransform):
    """Fields and methods of the transforms that split texts by a trained tokenizer."""

    output: Literal["ids", "tokens"] = "ids"
    add_special_tokens: bool = False
    max_length: Annotated[int, Ge(0)] | None = None
    key: str | None = None

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if self.key is not None and isinstance(sample, dict) and isinstance(sample.get(self.key), str):
            return {**sample, self.key: self.apply_to_text(sample[self.key], {})}  # the usual case, without a search
        return apply_at(self, sample, self.key, rng)

    def apply_to_text(self, text: Text, params: Parameters) -> TokenIds | Tokens:
        special = self.add_special_tokens
        if self.output == "ids":
            return self.model.encode(text, add_special_tokens=special, max_length=self.max_length)
        return Tokens(self.model.tokens(text, add_special_tokens=special)[: self.max_length])


def kind_of(model: Tokenizer | SentencePiece) -> str:
    """Kind of a tokenizer: "bpe", "wordpiece", "wordlevel", "unigram" or "sentencepiece"."""
    return "sentencepiece" if isinstance(model, SentencePiece) else type(model.model.model).__name__.lower()


@transform
class BPETokenizer(SubwordTokenizer):
    """Split a text into merged pairs of bytes, as GPT-2 does. Source: tokenizers.models.BPE.

    Example: ``T.BPETokenizer(vocab_size=8000).fit(train)``. The result are numbers, or texts with ``output="tokens"``; begin
    and end are around them with ``add_special_tokens``; the file of the pipeline contains the tokenizer.
    """

    kind: ClassVar[str] = "bpe"


@transform
class UnigramTokenizer(SubwordTokenizer):
    """Split a text into its most probable pieces. Source: tokenizers.models.Unigram.

    The settings are those of `BPETokenizer`.
    """

    kind: ClassVar[str] = "unigram"


@transform
class SentencePieceTokenizer(SubwordTokenizer):
    """Split a text into pieces of a SentencePiece model. Source: mindspore.dataset.text.SentencePieceTokenizer.

    Example: ``T.SentencePieceTokenizer("pieces.model")``. The settings are those of `BPETokenizer`.
    """

    kind: ClassVar[str] = "sentencepiece"


@transform
class Tokenize(SubwordTokenizer):
    """Split a text by any tokenizer of data.text, such as a tokenizer.json of a model hub.

    The settings are those of `BPETokenizer`; `fit` trains BPE. Source: tokenizers.Tokenizer.encode.
    """


@transform({"tokenizer": None})
class Detokenize(Transform):
    """Join tokens or numbers to a text; numbers want the ``tokenizer`` of data.text, or its file.

    Without a tokenizer, tokens are joined by spaces. Source: tokenizers.Tokenizer.decode.
    """

    tokenizer: Any = field(default=None, metadata={"form": False})
    skip_special_tokens: bool = True

    def check_settings(self) -> None:
        self._inner = Tokenize(self.tokenizer)
        self.tokenizer = None

    def state_dict(self) -> dict[str, Any]:
        """The tokenizer as text."""
        return self._inner.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """Restore the tokenizer of `state_dict`."""
        self._inner.load_state_dict(state)

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Text:
        if not self._inner.state_dict():
            return Text(" ".join(tokens))
        return self.apply_to_token_ids(TokenIds([self._inner.model.id_of(token) for token in tokens]), params)

    def apply_to_token_ids(self, ids: TokenIds, params: Parameters) -> Text:
        if self._inner._model is None:
            raise DataError("Detokenize wants a tokenizer to read numbers: T.Detokenize(tokenizer)")
        return Text(self._inner.model.decode(ids, skip_special_tokens=self.skip_special_tokens))
