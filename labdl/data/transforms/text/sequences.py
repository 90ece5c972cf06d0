"""Sequences of tokens: a token added, the end cut off, one alone or two together."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from labdl.data.parts import TokenIds, Tokens
from labdl.data.transforms.sample_parts import part_at
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import DataError


@transform({"token": "<s>"})
class AddToken(Transform):
    """Put a token, or the number of one, before or behind a sequence. Source: mindspore.dataset.text.AddToken."""

    token: str | int
    begin: bool = True

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        if not isinstance(self.token, str):
            raise DataError(f"AddToken wants a text as token for tokens, received {self.token}: put it behind T.Lookup")
        return Tokens([self.token, *tokens] if self.begin else [*tokens, self.token])

    def apply_to_token_ids(self, ids: TokenIds, params: Parameters) -> TokenIds:
        if isinstance(self.token, str):
            raise DataError(
                f"AddToken wants a number as token for numbers, received {self.token!r}: put it before T.Lookup"
            )
        parts = [[self.token], ids.array] if self.begin else [ids.array, [self.token]]
        return ids.like(np.concatenate(parts).astype("int64"))


@transform({"max_seq_len": 4})
class Truncate(Transform):
    """Cut off the tokens behind the first ``max_seq_len``. Source: mindspore.dataset.text.Truncate."""

    max_seq_len: Annotated[int, Ge(0)]

    def apply_to_tokens(self, tokens: Tokens, params: Parameters) -> Tokens:
        cut = Tokens(tokens[: self.max_seq_len])
        if tokens.offsets is not None:
            cut.offsets = tokens.offsets[: self.max_seq_len]
        return cut

    def apply_to_token_ids(self, ids: TokenIds, params: Parameters) -> TokenIds:
        return ids.like(ids.array[: self.max_seq_len].copy())


@transform({"key": "ids"})
class AttentionMask(Transform):
    """Add an entry that is true at tokens, and false where a batch is padded. Source: transformers.PreTrainedTokenizer.pad.

    ``key`` names the sequence in a dictionary, by default its first TokenIds. The loader pads both:
    ``loader(32, pad=tokenizer.padding)``. ``dtype`` "int64" and "float32" give 1 and 0, for ``pad=0`` only.
    """

    key: str | None = None
    into: str = "attention_mask"
    dtype: Literal["bool", "int64", "float32"] = "bool"

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if not isinstance(sample, dict):
            raise DataError(f"AttentionMask wants a dictionary with a sequence, received {type(sample).__name__}")
        name = self.key or next((name for name, part in sample.items() if isinstance(part, TokenIds)), None)
        if name is None:
            raise DataError(f"AttentionMask wants numbers of tokens, the sample has {', '.join(map(str, sample))}")
        part = part_at(self, sample, name)
        if not isinstance(part, list | np.ndarray) or np.ndim(part) == 0:
            raise DataError(f"AttentionMask wants a sequence of tokens, {name!r:.60} is {type(part).__name__}")
        return {**sample, self.into: np.ones(len(part), self.dtype)}


@transform({"max_length": 3, "keys": ("tokens", "ids")})
class TruncateSequencePair(Transform):
    """Cut the longer of two sequences, token by token, until both have ``max_length`` tokens together.

    ``keys`` are the two parts of a dictionary; without them, the first two of a tuple. Source:
    mindspore.dataset.text.TruncateSequencePair.
    """

    max_length: Annotated[int, Ge(0)]
    keys: tuple[str, str] | None = None

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        if self.keys is not None:
            first, second = (part_at(self, sample, key) for key in self.keys)
        elif type(sample) in (tuple, list) and len(sample) >= 2:
            first, second = sample[:2]
        else:
            raise DataError(
                f"TruncateSequencePair wants two sequences, received {type(sample).__name__}: name them as keys"
            )
        for part in (first, second):
            if not isinstance(part, list | np.ndarray) or np.ndim(part) == 0:
                raise DataError(f"TruncateSequencePair wants two sequences of tokens, received {type(part).__name__}")
        lengths = _shorten(len(first), len(second), self.max_length)
        cut = [_cut(part, length) for part, length in zip((first, second), lengths, strict=True)]
        if self.keys is not None:
            return {**sample, **dict(zip(self.keys, cut, strict=True))}
        return type(sample)([*cut, *sample[2:]])


def _cut(part: Any, length: int) -> Any:
    return Tokens(part[:length]) if isinstance(part, Tokens) else part[:length].copy()


def _shorten(first: int, second: int, most: int) -> tuple[int, int]:
    """Lengths after removing one token after the other from the longer sequence, at equal length from the second."""
    excess = first + second - most
    if excess <= 0:
        return first, second
    levelled = min(abs(first - second), excess)
    first, second = (first - levelled, second) if first > second else (first, second - levelled)
    excess -= levelled
    return first - excess // 2, second - (excess - excess // 2)
