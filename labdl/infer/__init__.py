"""Inference and evaluation: NumPy in, NumPy out, in evaluation mode, with what stands before and behind the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labdl.data import ArrayDataset
from labdl.infer.engine import Engine, joined
from labdl.infer.sources import slices
from labdl.nn.module import Module

if TYPE_CHECKING:
    from labdl.infer.evaluator import Evaluator
    from labdl.infer.inference import Inference, Prepared
    from labdl.infer.postprocess import (
        POSTPROCESSORS,
        Answers,
        Classes,
        Classification,
        Detection,
        Detections,
        Events,
        EventTagging,
        Keypoints,
        Mask,
        Points,
        PostProcessor,
        QuestionAnswering,
        Segmentation,
        SpeechRecognition,
        Text,
        TextDecoding,
        TokenPrediction,
        Tokens,
        Transcript,
        box_affine,
        mask_of,
        postprocessor,
        run_lengths,
    )

__all__ = [
    "POSTPROCESSORS", "Answers", "Classes", "Classification", "Detection", "Detections", "Evaluator", "EventTagging",
    "Events", "Inference", "Keypoints", "Mask", "Points", "PostProcessor", "Prepared", "QuestionAnswering", "Segmentation",
    "SpeechRecognition", "Text", "TextDecoding", "TokenPrediction", "Tokens", "Transcript", "box_affine", "mask_of",
    "postprocessor", "predict", "run_lengths",
]  # fmt: skip

_HOMES = {"Evaluator": "evaluator", "Inference": "inference", "Prepared": "inference"}


def predict(model: Module, x, batch_size: int = 256):
    """Outputs of the model for an array of samples, in evaluation mode; the model's own mode is left as it was.

    Shapes: x (N, ...) gives (N, ...). A tuple of arrays goes to a model of several inputs, and a model of several outputs
    gives a tuple. A model that is not built yet is built on the default backend.
    """
    inputs, engine = ArrayDataset(*(x if isinstance(x, tuple) else (x,))), Engine(model, compiled=False)
    return joined([engine.arrays(batch) for batch in slices(inputs, batch_size)])


def __getattr__(name: str):
    """The rest when it is wanted: making the classes of all tasks takes as long as a tenth of `import labdl`."""
    if name in __all__:
        import importlib

        return getattr(importlib.import_module(f"labdl.infer.{_HOMES.get(name, 'postprocess')}"), name)
    raise AttributeError(f"module 'labdl.infer' has no attribute {name!r}")
