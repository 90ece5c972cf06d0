"""Texts as the inputs of text models: numbers of tokens of one length, the mask of them, and segments."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le, MinLen

from labdl.data.parts import Text
from labdl.data.text import Tokenizer
from labdl.data.transforms.sample_parts import part_at
from labdl.data.transforms.text.subwords import TokenizerTransform
from labdl.data.transforms.transform import iterate_parts, transform
from labdl.errors import ConfigError, DataError

Entry = Literal["tokens", "mask", "types"]


@transform({"length": 6})
class EncodeText(TokenizerTransform):
    """Convert a text, or a pair, to inputs of a model. Source: transformers.PreTrainedTokenizer with padding="max_length".

    Adds entries to a sample: "tokens" int64 (length,), with the special tokens of the tokenizer, cut off or padded at the
    end; "mask" bool (length,), true at tokens; "types" int64 (length,), 1 in the second text of a pair. ``entries`` are
    those that the model takes, in its order. ``key`` names the text in a dictionary, by default the first one, ``pair`` the
    second text. A sample may also be the text itself. Raises DataError for a text without any token. Example:
    ``data.TextFolder("mails").map(T.EncodeText(tokenizer, length=64))``.
    """

    length: Annotated[int, Ge(1), Le(1 << 20)] = 128
    entries: Annotated[tuple[Entry, ...], MinLen(1)] = ("tokens", "mask")
    key: str | None = None
    pair: str | None = None

    def check_settings(self) -> None:
        super().check_settings()
        if len(set(self.entries)) < len(self.entries):
            raise ConfigError(f"EncodeText wants each of entries once, received {self.entries!r:.80}")

    @property
    def outputs(self) -> tuple[str, ...]:
        """The entries that are inputs of a model."""
        return self.entries

    def apply(self, sample: Any, rng: np.random.Generator) -> dict[str, Any]:
        if isinstance(sample, str):
            return self._encode(sample, None)
        if not isinstance(sample, dict):
            raise DataError(f"EncodeText wants a text or a dictionary with one, received {type(sample).__name__}")
        text = self._find_text(sample)
        pair = None if self.pair is None else part_at(self, sample, self.pair)
        return {**sample, **self._encode(text, pair)}

    def _find_text(self, sample: dict[str, Any]) -> Any:
        if self.key is not None:
            return part_at(self, sample, self.key)
        text = next((part for part in iterate_parts(sample) if isinstance(part, Text)), None)
        if text is None:
            raise DataError(
                f"EncodeText wants a Text, the sample has {', '.join(map(str, sample)) or 'none':.200}: name it, key="
            )
        return text

    def _encode(self, text: Any, pair: Any) -> dict[str, np.ndarray]:
        if not isinstance(text, str) or not isinstance(pair, str | None):
            raise DataError(
                f"EncodeText wants texts, received {type(pair if isinstance(text, str) else text).__name__}"
            )
        if isinstance(self.model, Tokenizer):
            ids, segments = self.model.encode_segments(text, pair, max_length=self.length)
        elif pair is None:
            ids = self.model.encode(text, add_special_tokens=True, max_length=self.length)
            segments = [0] * len(ids)
        else:
            raise ConfigError(
                "EncodeText makes pairs by a tokenizer of the library tokenizers, this one is of SentencePiece"
            )
        if not len(ids):
            raise DataError(f"the text has no tokens: {text!r:.40}")
        padding = getattr(self.model, "padding", 0)
        values = {"tokens": np.full(self.length, padding, "int64"), "types": np.zeros(self.length, "int64")}
        values["tokens"][: len(ids)], values["types"][: len(ids)] = ids, segments
        values["mask"] = np.arange(self.length) < len(ids)
        return {name: values[name] for name in self.entries}
