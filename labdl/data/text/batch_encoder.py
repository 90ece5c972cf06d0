"""Base class of tokenizers whose batches are texts encoded one by one and padded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from labdl.data.text.batches import PaddedBatch, pad_sequences


class BatchEncoder(ABC):
    """`encode_batch` from `encode_many` and the number ``padding``."""

    padding: int

    @abstractmethod
    def encode_many(self, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[list[int]]:
        """Numbers of the tokens of each text."""

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        length: int | None = None,
        add_special_tokens: bool = True,
        side: Literal["right", "left"] = "right",
        multiple_of: int = 1,
    ) -> PaddedBatch:
        """Numbers (texts, tokens) with a mask of what is no padding; ``length`` by default that of the longest text."""
        sequences = self.encode_many(texts, add_special_tokens=add_special_tokens)
        return pad_sequences(sequences, length, value=self.padding, side=side, multiple_of=multiple_of)
