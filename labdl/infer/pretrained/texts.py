"""Texts as inputs of encoders: numbers of tokens with masks and segments, and what the post-processing needs of each text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labdl.data.text import Tokenizer
from labdl.data.text.batches import pad_sequences
from labdl.data.text.tokenizer import Encoding
from labdl.data.transforms.text.model_inputs import EncodeText
from labdl.errors import ConfigError, DataError, ModelError
from labdl.generation.decoder import position_limit
from labdl.infer.prepared_sample import PreparedSample
from labdl.nn.module import Module

# sizes of batches are multiples of it, so that few programs are compiled
_STEP = 32
_MASKS = ("[MASK]", "<mask>")  # as BERT and RoBERTa write a missing word


class TextEncoder:
    """Texts as an encoder takes them: `prepare` one, and `collate` several into a padded batch.

    The tokenizer is that of a pretrained folder, or of the `preprocessing` of a model that a task on texts has trained, which
    also says what inputs it takes. A text of more tokens than the model has positions is refused, or cut off with
    ``truncation``. Raises ConfigError for a model without a tokenizer of the library ``tokenizers``.
    """

    def __init__(self, model: Module, *, truncation: bool = False):
        encode = next(
            (each for each in getattr(model.preprocessing, "transforms", ()) if isinstance(each, EncodeText)), None
        )
        tokenizer = getattr(model.__dict__.get("pretrained"), "tokenizer", None)
        tokenizer = encode.model if tokenizer is None and encode is not None else tokenizer
        if not isinstance(tokenizer, Tokenizer):
            raise ConfigError(
                f"this {type(model).__name__} has no tokenizer of the library tokenizers: its folder wants tokenizer.json or "
                "vocab.txt"
            )
        if not isinstance(truncation, bool):
            raise ConfigError(f"truncation wants True or False, received {truncation!r:.60}")
        self.tokenizer, self.limit, self.truncation = tokenizer, position_limit(model), truncation
        self.length = None if encode is None else encode.length  # of the samples of the training
        if encode is None:  # DistilBERT has no segments
            has_types = any(path.endswith("embeddings/types") for path, _ in model.named_modules())
            self.entries: tuple[str, ...] = ("tokens", "mask", "types") if has_types else ("tokens", "mask")
            self.mask_dtype = "int64"
        else:
            self.entries, self.mask_dtype = encode.entries, "bool"
        first = (model._input_specs or (None,))[0]
        self.steps = None if first is None or first.ndim != 2 else first.shape[1]  # of a model that takes one length
        if self.steps is not None or (encode is not None and "mask" not in self.entries and self.limit is None):
            self.limit = self.steps or self.limit
        self.mask = next((token for token in _MASKS if tokenizer.model.token_to_id(token) is not None), None)

    def encode(self, text: Any, pair: Any = None) -> Encoding:
        """The tokens of a text, or of two. Raises DataError for one that is empty, too long or of unknown tokens alone."""
        for part in (text,) if pair is None else (text, pair):
            check_text(part)
        encoding = self.tokenizer.encoding(text, pair)
        count = len(encoding.ids)
        if self.limit is not None and count > self.limit:
            if not self.truncation:
                raise DataError(
                    f"the text has {count} tokens, the model has {self.limit} positions: shorten it, or give truncation=True "
                    "to cut it off"
                )
            encoding = self.tokenizer.encoding(text, pair, max_length=self.limit)
        unknown = self.tokenizer.unknown
        for part in range(1 if pair is None else 2):
            own = encoding.ids[encoding.parts == part]
            if not own.size or (own == unknown).all():
                raise DataError(
                    f"the tokenizer knows no token of the text {(text, pair)[part]!r:.80}: is the model of another language?"
                )
        return encoding

    def inputs(self, encoding: Encoding) -> tuple[np.ndarray, ...]:
        """The parts of a batch for one text: numbers, and segments if the model takes them."""
        return (encoding.ids, encoding.types) if "types" in self.entries else (encoding.ids,)

    @property
    def batch_size(self) -> int:
        """How many texts are computed side by side; 1 for a model without a mask that takes any length."""
        return 32 if "mask" in self.entries or self.steps is not None else 1

    def collate(self, rows: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        """Tokens (N, steps), and where the model takes them a mask of what is no padding and segments."""
        longest = max(len(row[0]) for row in rows)
        if self.steps is not None:
            length = self.steps
        elif "mask" in self.entries:
            length = longest + -longest % _STEP
            length = length if self.limit is None else min(length, self.limit)
        elif min(len(row[0]) for row in rows) < longest:
            raise ConfigError("the model takes no mask, and would read the padding of short texts: give batch_size=1")
        else:
            length = longest
        ids, mask, _ = pad_sequences([row[0] for row in rows], length, value=self.tokenizer.padding)
        values = {"tokens": ids, "mask": mask.astype(self.mask_dtype)}
        if "types" in self.entries:
            values["types"] = pad_sequences([row[1] for row in rows], length).ids
        return tuple(values[name] for name in self.entries)

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
