"""Inference and evaluation of models in evaluation mode, with pre- and post-processing; NumPy in, NumPy out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labdl.data import ArrayDataset
from labdl.infer.data_adapter import slices
from labdl.infer.predict import Predictor, concatenate_outputs
from labdl.nn.module import Module

if TYPE_CHECKING:
    from labdl.infer.evaluator import Evaluator
    from labdl.infer.inference import Inference, PreparedSample
    from labdl.infer.postprocess import (
        POSTPROCESSORS,
        AnswerSpans,
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
        mask_from_run_lengths,
        postprocessor,
        run_lengths,
    )

__all__ = [
    "POSTPROCESSORS",
    "AnswerSpans",
    "Classes",
    "Classification",
    "Detection",
    "Detections",
    "Evaluator",
    "EventTagging",
    "Events",
    "Inference",
    "Keypoints",
    "Mask",
    "Points",
    "PostProcessor",
    "PreparedSample",
    "QuestionAnswering",
    "Segmentation",
    "SpeechRecognition",
    "Text",
    "TextDecoding",
    "TokenPrediction",
    "Tokens",
    "Transcript",
    "box_affine",
    "mask_from_run_lengths",
    "postprocessor",
    "predict",
    "run_lengths",
]

_HOMES = {"Evaluator": "evaluator", "Inference": "inference", "PreparedSample": "inference"}


def predict(model: Module, x, batch_size: int = 256):
    """Compute the outputs of the model for an array of samples, in evaluation mode; the model's mode is restored.

    Shapes: x (N, ...) gives (N, ...). A tuple of arrays are the inputs of a model with several, and a model with several
    outputs returns a tuple. A model that is not built is built on the default backend.
    """
    inputs, engine = ArrayDataset(*(x if isinstance(x, tuple) else (x,))), Predictor(model, compiled=False)
    return concatenate_outputs([engine.arrays(batch) for batch in slices(inputs, batch_size)])


def __getattr__(name: str):
    """Import the other names on first use, which keeps `import labdl` fast."""
    if name in __all__:
        import importlib

        return getattr(importlib.import_module(f"labdl.infer.{_HOMES.get(name, 'postprocess')}"), name)
    raise AttributeError(f"module 'labdl.infer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
