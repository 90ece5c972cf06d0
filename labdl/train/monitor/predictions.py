"""Predictions of a model by task: classes or numbers, the loss of each sample, and previews for dashboards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from labdl.nn.loss.classification import BinaryCrossEntropyLoss, CrossEntropyLoss, FocalLoss, NLLLoss
from labdl.nn.loss.regression import KLDivergenceLoss, PoissonNLLLoss, QuantileLoss
from labdl.runs.array_preview import class_map, number
from labdl.train.metrics.outputs import log_probabilities
from labdl.train.monitor.sample_preview import VALUES, preview

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

_BINARY = (BinaryCrossEntropyLoss, FocalLoss)  # targets between 0 and 1; those of other binary losses are 1 and -1
_NO_ESTIMATES = (KLDivergenceLoss, PoissonNLLLoss, QuantileLoss)  # regression whose outputs do not estimate the targets
TOP_CLASSES = 5  # in the preview of a prediction
_TINY = float(np.finfo("float64").eps)

Losses = np.ndarray | None
"""The loss of each sample; None where it is not defined for single samples."""


@dataclass(frozen=True)
class PredictionBatch:
    """Predictions for a batch: ``true`` and ``chosen`` class numbers (N, ...), -1 where ignored, and the ``losses``."""

    losses: Losses
    true: np.ndarray | None = None
    chosen: np.ndarray | None = None
    scores: np.ndarray | None = None  # (N, classes), for one class per sample
    values: np.ndarray | None = None  # for predictions that are not classes

    def select(self, index: int) -> PredictionBatch:
        """Copy the prediction of one sample."""
        arrays = (self.true, self.chosen, self.scores, self.values)
        return PredictionBatch(None, *(None if a is None else a[index : index + 1].copy() for a in arrays))


@dataclass(frozen=True)
class PredictionTask:
    """PredictionTask of a model: its ``kind``, number of ``classes``, and `read`, which interprets outputs and targets."""

    kind: Literal["classification", "regression", "other"]
    classes: int
    read: Callable[[np.ndarray, np.ndarray], PredictionBatch]

    def preview_target(self, target: np.ndarray, prediction: PredictionBatch, budget: int) -> dict[str, Any]:
        """Preview of the target of a sample, in at most ``budget`` bytes for a picture."""
        if prediction.true is None:
            return preview(target, budget)
        true = prediction.true[0]
        return {"class": int(true)} if true.ndim == 0 else self._preview_classes(true, budget)

    def preview_output(self, prediction: PredictionBatch, budget: int) -> dict[str, Any]:
        """Preview of the prediction for a sample, in at most ``budget`` bytes for a picture."""
        if prediction.scores is not None:
            scores = prediction.scores[0]
            best = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")[:TOP_CLASSES]
            return {"classes": best.tolist(), "scores": [number(float(scores[i])) for i in best]}
        if prediction.chosen is not None:
            return self._preview_classes(prediction.chosen[0], budget)
        assert prediction.values is not None
        return preview(prediction.values[0], budget)

    def _preview_classes(self, classes: np.ndarray, budget: int) -> dict[str, Any]:
        """Preview of several class numbers: a map, or the first of them."""
        picture = class_map(classes, budget, self.classes)
        return {"values": classes.reshape(-1)[:VALUES].tolist()} if picture is None else {"picture": picture}


def infer_task(context: TrainContext, output: Any, target: Any) -> PredictionTask | None:
    """Infer the task from the loss and a batch of outputs and targets; None if either is not a single array.

    A loss that declares its task determines it; for other losses the shapes and dtypes of the arrays do.
    """
    if not isinstance(output, np.ndarray) or not isinstance(target, np.ndarray):
        return None
    if output.dtype.kind != "f" or target.dtype.kind not in "iubf" or not 0 < len(output) == len(target):
        return None
    loss = context.loss_function if context.standard_loss else None
    task = _declared_task(loss)
    scores = output.ndim == target.ndim + 1 and output.shape[:-1] == target.shape and output.shape[-1] > 1
    if scores and target.dtype.kind in "iu" and task in (None, "classification"):
        return _multiclass_task(loss, output, ignored=getattr(loss, "ignore_index", -100))
    if output.shape == target.shape and isinstance(loss, CrossEntropyLoss) and output.shape[-1] > 1:
        return _multiclass_task(loss, output, ignored=None)
    if (isinstance(loss, _BINARY) or task == "segmentation") and output.size == target.size:
        return _binary_task(loss, output, target)
    numbers = target.dtype.kind == "f" if task is None else task == "regression" and not isinstance(loss, _NO_ESTIMATES)
    if output.size == target.size and numbers:
        return PredictionTask("regression", 0, lambda o, t: PredictionBatch(_squared_error(o, t), values=o))
    return PredictionTask("other", 0, lambda o, t: PredictionBatch(None, values=o))


def _declared_task(loss: Any) -> str | None:
    """PredictionTask that a loss declares; None for others, such as functions."""
    return getattr(loss, "layer_task", None)


def _squared_error(output: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Mean squared error of each sample."""
    error = output.reshape(len(output), -1).astype("float64") - target.reshape(len(target), -1).astype("float64")
    with np.errstate(all="ignore"):
        return np.square(error).mean(1)


def _multiclass_task(loss: Any, output: np.ndarray, ignored: int | None) -> PredictionTask:
    """Classification into one of several classes: class numbers except ``ignored``, or probabilities if it is None."""
    kind = "logs" if isinstance(loss, NLLLoss) else "logits" if _declared_task(loss) else _kind(output)

    def read(output: np.ndarray, target: np.ndarray) -> PredictionBatch:
        with np.errstate(all="ignore"):
            logs = output.astype("float64") if kind == "logs" else log_probabilities(output, kind == "logits")
            if ignored is None:
                true, each = target.argmax(-1), -(logs * target).sum(-1)
            else:
                counted = (target != ignored) & (target >= 0) & (target < output.shape[-1])
                true = np.where(counted, target, -1)
                each = -np.take_along_axis(logs, np.where(counted, target, 0)[..., None], -1)[..., 0]
                each = np.where(counted, each, 0.0)
            count = (true >= 0).reshape(len(true), -1).sum(1)
            losses = each.reshape(len(each), -1).sum(1) / np.maximum(count, 1)
            scores = np.exp(logs) if logs.ndim == 2 else None
        return PredictionBatch(losses, true.astype("int32"), output.argmax(-1).astype("int32"), scores)

    return PredictionTask("classification", output.shape[-1], read)


def _kind(output: np.ndarray) -> str:
    """Guess from the values of the rows whether they are probabilities or logits."""
    with np.errstate(all="ignore"):
        normalized = bool((output >= 0).all()) and np.allclose(output.astype("float64").sum(-1), 1, atol=1e-3)
    return "probabilities" if normalized else "logits"


def _binary_task(loss: Any, output: np.ndarray, target: np.ndarray) -> PredictionTask:
    """Binary classification of samples or of pixels; for several labels per sample, a task of kind "other"."""
    logits = isinstance(loss, FocalLoss) or getattr(loss, "from_logits", False)
    single = output[0].size == 1
    mask_shape = _mask_shape(output)

    def read(output: np.ndarray, target: np.ndarray) -> PredictionBatch:
        with np.errstate(all="ignore"):
            values, right = output.astype("float64"), target.astype("float64").reshape(output.shape)
            probability = 1 / (1 + np.exp(-values)) if logits else values
            if _declared_task(loss) == "segmentation":
                losses = None
            else:
                if logits:  # exact where the probability is 0 or 1
                    each = np.maximum(values, 0) - values * right + np.log1p(np.exp(-np.abs(values)))
                else:
                    clipped = np.clip(values, _TINY, 1 - _TINY)
                    each = -(right * np.log(clipped) + (1 - right) * np.log1p(-clipped))
                losses = each.reshape(len(each), -1).mean(1)
        if single:
            probability = probability.reshape(-1)
            scores = np.stack([1 - probability, probability], 1)
            return PredictionBatch(losses, _to_labels(right.reshape(-1)), _to_labels(probability), scores)
        if mask_shape is None:
            return PredictionBatch(losses, values=probability)
        shape = len(output), *mask_shape
        return PredictionBatch(losses, _to_labels(right.reshape(shape)), _to_labels(probability.reshape(shape)))

    classes = 2 if single or mask_shape is not None else 0
    return PredictionTask("classification" if classes else "other", classes, read)


def _mask_shape(output: np.ndarray) -> tuple[int, ...] | None:
    """The shape (H, W) of the masks (N, H, W) or (N, 1, H, W); None for other outputs."""
    if output.ndim == 3:
        return output.shape[1:]
    return output.shape[2:] if output.ndim == 4 and output.shape[1] == 1 else None


def _to_labels(probability: np.ndarray) -> np.ndarray:
    return (probability > 0.5).astype("int32")
