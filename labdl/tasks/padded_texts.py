"""Encoded texts as arrays of one length, which `labdl.tasks.text_trainer.TextTrainer` cuts again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labdl.data.text.tokenizer import Encoding

IGNORED = -100  # number of targets that no loss counts, as in torch.nn.CrossEntropyLoss


def pad_row(values: Sequence[int] | np.ndarray, length: int, value: int) -> np.ndarray:
    """Numbers as int64 (length,), filled up with ``value`` at the end."""
    row = np.full(length, value, "int64")
    row[: len(values)] = values
    return row


def pad_encoding(
    encoding: Encoding, length: int, padding: int, entries: Sequence[str]
) -> np.ndarray | tuple[np.ndarray, ...]:
    """The inputs of a model, "tokens", "mask" and "types" (length,) in the order of ``entries``; one alone is no tuple."""
    values = {
        "tokens": pad_row(encoding.ids, length, padding),
        "mask": np.arange(length) < len(encoding.ids),
        "types": pad_row(encoding.types, length, 0),
    }
    rows = tuple(values[name] for name in entries)
    return rows if len(rows) > 1 else rows[0]
