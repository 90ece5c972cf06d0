"""Sequences of tokens as padded batches with masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from labdl.errors import ConfigError


class PaddedBatch(NamedTuple):
    """Numbers of tokens (texts, tokens), a mask that is True at tokens and False at padding, and the lengths (texts,)."""

    ids: np.ndarray
    mask: np.ndarray
    lengths: np.ndarray


def pad_sequences(
    sequences: Sequence[Any],
    length: int | None = None,
    *,
    value: int = 0,
    side: Literal["right", "left"] = "right",
    multiple_of: int = 1,
) -> PaddedBatch:
    """Sequences of numbers as one int64 array, filled up with ``value`` and cut at ``length``, by default the longest.

    The length is rounded up to ``multiple_of``, for accelerators that like sizes of 8.
    """
    if multiple_of < 1 or (length is not None and length < 0):
        raise ConfigError(
            f"pad_sequences wants length at least 0 and multiple_of at least 1, received {length}, {multiple_of}"
        )
    if side not in ("right", "left"):
        raise ConfigError(f'pad_sequences wants side "right" or "left", received {side!r}')
    lengths = np.array([len(one) for one in sequences], "int64")
    if length is None:
        length = int(lengths.max(initial=0))
        length += -length % multiple_of
    lengths = np.minimum(lengths, length)
    ids = np.full((len(sequences), length), value, "int64")
    places = np.arange(length)
    mask = places < lengths[:, None] if side == "right" else places >= length - lengths[:, None]
    if len(sequences):
        ids[mask] = np.concatenate([np.asarray(one, "int64")[:n] for one, n in zip(sequences, lengths, strict=True)])
    return PaddedBatch(ids, mask, lengths)
