"""The trainer of models of texts: each batch has the length of its longest text, not that of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.train.data_adapter import map_structure
from labdl.train.trainer import Trainer

LENGTHS = 8  # at most so many lengths of batches, and programs of a compiled backend


def cut_length(longest: int, size: int) -> int:
    """The length of a batch whose longest text has so many tokens: the least of eight up to ``size``, multiples of 8."""
    step = -(-size // LENGTHS)
    step += -step % 8
    return min(size, max(longest + -longest % step, 1))


def cut_padding(mask: np.ndarray, *values: Any) -> Any:
    """The values without the steps that are padding in the whole batch.

    ``mask`` (N, steps) is true at tokens, padding is at the end; of ``values``, nested, arrays (N, steps, ...) are cut.
    """
    size = mask.shape[1]
    used = np.flatnonzero(mask.any(0))
    length = cut_length(int(used[-1]) + 1 if used.size else 1, size)
    if length == size:
        return values

    def cut(array: Any) -> Any:
        return array[:, :length] if getattr(array, "ndim", 0) > 1 and array.shape[1] == size else array

    return tuple(map_structure(cut, value) for value in values)


class TextTrainer(Trainer):
    """Trains a model that takes tokens (N, steps) with a mask (N, steps), its second input, and gives one output.

    Samples are padded to one length; of a batch, the padding that all texts have is cut off before it reaches the model, to one
    of at most eight lengths, so that a compiled backend compiles as many programs. The mask makes the loss that of the texts
    without padding. Samples without a mask keep their length, as a model that takes none reads the padding.
    """

    def preprocess(self, batch: Any) -> tuple[Any, Any]:
        x, y = super().preprocess(batch)
        if isinstance(x, tuple) and len(x) > 1 and x[1].dtype == np.bool_:
            x, y = cut_padding(x[1], x, y)
        return x, y
