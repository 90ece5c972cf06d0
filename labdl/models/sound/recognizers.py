"""Recognizers of speech as their users see them: which models they are, and how many frames are a step of their output."""

from __future__ import annotations

from typing import Any

from labdl.models.sound.conformer import LEAST_FRAMES, ConformerCTC
from labdl.models.sound.rnnt import RNNT

_SUBSAMPLING = 4  # frames of a step of Conformer


def is_recognizer(model: Any) -> bool:
    """Whether a model reads frames of a sound and gives symbols for CTC, or those of a transducer."""
    return isinstance(model, ConformerCTC | RNNT)


def frames_of_step(model: Any) -> tuple[int, int]:
    """How many frames are one step of the output, and the least number that a model takes."""
    if isinstance(model, RNNT):
        return model.reduction, model.reduction
    return (1, 1) if model.encoder.subsampling is None else (_SUBSAMPLING, LEAST_FRAMES)
