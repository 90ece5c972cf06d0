"""Texts as inputs of encoders: numbers of tokens with masks and segments, and what the post-processing needs of each text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.text import Tokenizer
from labdl.data.text.batches import pad_sequences
from labdl.data.text.tokenizer import Encoding
from labdl.errors import ConfigError, DataError, ModelError
from labdl.generation.decoder import position_limit
from labdl.infer.prepared_sample import PreparedSample
from labdl.nn.module import Module

# sizes of batches are multiples of it, so that few programs are compiled
_STEP = 32
_MASKS = ("[MASK]", "<mask>")  # as BERT and RoBERTa write a missing word


class TextEncoder:
    """Texts as an encoder of the BERT family takes them: `prepare` one, and `collate` several into a padded batch.

    Raises ConfigError for a model without a tokenizer of the library ``tokenizers``.
    """

    def __init__(self, model: Module):
        tokenizer = getattr(model.__dict__.get("pretrained"), "tokenizer", None)
        if not isinstance(tokenizer, Tokenizer):
            raise ConfigError(
                f"this {type(model).__name__} has no tokenizer of the library tokenizers: its folder wants tokenizer.json or "
                "vocab.txt"
            )
        self.tokenizer, self.limit = tokenizer, position_limit(model)
        # DistilBERT has no segments
        self.has_types = any(path.endswith("embeddings/types") for path, _ in model.named_modules())
        self.mask = next((token for token in _MASKS if tokenizer.model.token_to_id(token) is not None), None)

    def encode(self, text: Any, pair: Any = None) -> Encoding:
        """The tokens of a text, or of two. Raises DataError for one that is empty, too long or of unknown tokens alone."""
        for part in (text,) if pair is None else (text, pair):
            check_text(part)
        encoding = self.tokenizer.encoding(text, pair)
        count = len(encoding.ids)
        if self.limit is not None and count > self.limit:
            raise DataError(f"the text has {count} tokens, the model has {self.limit} positions: shorten it")
        unknown = self.tokenizer.unknown
        for part in range(1 if pair is None else 2):
            own = encoding.ids[encoding.parts == part]
            if not own.size or (own == unknown).all():
                raise DataError(
                    f"the tokenizer knows no token of the text {(text, pair)[part]!r:.80}: is the model of another language?"
                )
        return encoding

    def inputs(self, encoding: Encoding) -> tuple[np.ndarray, ...]:
        """The model's inputs for one text: numbers, and segments if it has them."""
        return (encoding.ids, encoding.types) if self.has_types else (encoding.ids,)

    def collate(self, rows: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        """Tokens (N, steps), a mask of what is no padding, and segments where the model has them."""
        longest = max(len(row[0]) for row in rows)
        length = longest + -longest % _STEP
        length = length if self.limit is None else min(length, self.limit)
        ids, mask, _ = pad_sequences([row[0] for row in rows], length, value=self.tokenizer.padding)
        types = (pad_sequences([row[1] for row in rows], length).ids,) if self.has_types else ()
        return ids, mask.astype("int64"), *types

    # -- one sample of each task

    def prepare(self, sample: Any) -> PreparedSample:
        """A text, or a pair of texts."""
        pair = isinstance(sample, list | tuple) and len(sample) == 2
        return PreparedSample(self.inputs(self.encode(*sample) if pair else self.encode(sample)))

    def prepare_tokens(self, sample: Any) -> PreparedSample:
        """A text whose tokens are classified, with their places."""
        encoding = self.encode(sample)
        kept = np.flatnonzero(encoding.parts == 0)
        settings = {"text": sample, "places": kept, "offsets": encoding.offsets[kept]}
        return PreparedSample(self.inputs(encoding), settings)

    def prepare_question(self, sample: Any) -> PreparedSample:
        """A question and the text that answers it: a pair, or a dictionary with ``question`` and ``context``."""
        if isinstance(sample, Mapping) and {"question", "context"} <= set(sample):
            sample = sample["question"], sample["context"]
        if not isinstance(sample, list | tuple) or len(sample) != 2:
            raise DataError(
                'question answering wants a pair (question, text), or {"question": …, "context": …}, received '
                f"{sample!r:.80}"
            )
        question, text = sample
        encoding = self.encode(question, text)
        places = np.flatnonzero(encoding.parts == 1)
        settings = {"text": text, "offsets": encoding.offsets, "context": (int(places[0]), int(places[-1]) + 1)}
        return PreparedSample(self.inputs(encoding), settings)

    def prepare_masked(self, sample: Any) -> PreparedSample:
        """A text with one or several masks in the place of words."""
        if self.mask is None:
            raise ModelError(f"the tokenizer has no token for missing words ({' or '.join(_MASKS)})")
        encoding = self.encode(sample)
        places = np.flatnonzero(encoding.ids == self.tokenizer.id_of(self.mask))
        if not places.size:
            raise DataError(f"the text has no {self.mask}: write it where a word is missing, received {sample!r:.80}")
        return PreparedSample(self.inputs(encoding), {"positions": tuple(places.tolist())})


def check_text(text: Any) -> str:
    """The text. Raises DataError for what is none, or empty."""
    if not isinstance(text, str):
        raise DataError(f"the model takes a text, received {text!r:.80}")
    if not text.strip():
        raise DataError("the text is empty: it wants at least one word")
    return text


Preparation = Callable[[Any], PreparedSample]
