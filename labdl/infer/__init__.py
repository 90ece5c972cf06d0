"""Inference and evaluation of models in evaluation mode, with pre- and post-processing; NumPy in, NumPy out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labdl.infer.predict import Predictor, predict_with
from labdl.nn.module import Module

if TYPE_CHECKING:
    from labdl.infer.evaluator import Evaluator
    from labdl.infer.inference import Inference
    from labdl.infer.postprocess import (
        POSTPROCESSORS,
        AnswerSpans,
        Classes,
        Classification,
        Detection,
        Detections,
        Entity,
        Events,
        EventTagging,
        Instances,
        InstanceSegmentation,
        Keypoints,
        Mask,
        Points,
        PostProcessor,
        QuestionAnswering,
        Segmentation,
        SpeechRecognition,
        Text,
        TextDecoding,
        TokenClasses,
        TokenClassification,
        TokenPrediction,
        Tokens,
        Transcript,
        box_affine,
        mask_from_run_lengths,
        postprocessor,
        run_lengths,
    )
    from labdl.infer.prepared_sample import PreparedSample

__all__ = [
    "POSTPROCESSORS",
    "AnswerSpans",
    "Classes",
    "Classification",
    "Detection",
    "Detections",
    "Entity",
    "Evaluator",
    "EventTagging",
    "Events",
    "Inference",
    "InstanceSegmentation",
    "Instances",
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
    "TokenClasses",
    "TokenClassification",
    "TokenPrediction",
    "Tokens",
    "Transcript",
    "box_affine",
    "mask_from_run_lengths",
    "postprocessor",
    "predict",
    "run_lengths",
]

_HOMES = {"Evaluator": "evaluator", "Inference": "inference", "PreparedSample": "prepared_sample"}


def predict(model: Module, x, batch_size: int = 256, *, labels: bool = False):
    """Compute the outputs of the model for samples, in evaluation mode; the model's mode is restored.

    Shapes: x (N, ...) gives (N, ...). ``x`` is an array, a list or a frame of pandas; a tuple of these are the inputs of a
    model with several, or a dictionary by their names; of a pair (x, y), a data set or a loader the targets are left out.
    Inputs are converted to the dtype of the model. A model with several outputs returns a tuple. A model that is not built
    is built on the default backend.

    ``labels=True`` returns the predicted class of each sample instead of the scores (N, ..., classes): the largest, or of
    a single output class 1 for positive logits, and for probabilities above 0.5 where the model ends in a sigmoid; as text
    if the model has `class_names`, else as numbers.

    Raises ConfigError for data that cannot be converted, and ModelError for shapes that do not fit.
    """
    return predict_with(Predictor(model, compiled=False), x, batch_size, labels=labels)


def __getattr__(name: str):
    """Import the other names on first use, which keeps `import labdl` fast."""
    if name in __all__:
        import importlib

        return getattr(importlib.import_module(f"labdl.infer.{_HOMES.get(name, 'postprocess')}"), name)
    raise AttributeError(f"module 'labdl.infer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
