"""Encoded texts as arrays of one length, which `labdl.tasks.text_trainer.TextTrainer` cuts again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.text.tokenizer import Encoding
from labdl.errors import ConfigError

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


def text_lengths(dataset: Dataset) -> np.ndarray:
    """The number of tokens of each sample (N,), by the mask among its inputs. Raises ConfigError for samples without one."""
    pairs = dataset.as_supervised()
    return np.array([_length_of(pairs[at]) for at in range(len(pairs))], "int64")


def _length_of(sample: Any) -> int:
    inputs = sample[0] if isinstance(sample, tuple) and len(sample) == 2 else ()
    for part in inputs if isinstance(inputs, tuple) else ():
        if isinstance(part, np.ndarray) and part.dtype == np.bool_:
            return int(np.count_nonzero(part))
    raise ConfigError("group_by_length wants texts with a mask, which are padded: leave it out for this model or task")
