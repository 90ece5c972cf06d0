"""Predictions of a model: classes or numbers, the loss of each sample, and their display form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from labdl.nn.loss.classification import BinaryCrossEntropyLoss, CrossEntropyLoss, FocalLoss, NLLLoss
from labdl.nn.loss.regression import KLDivergenceLoss, PoissonNLLLoss, QuantileLoss
from labdl.runs.array_preview import class_map, number
from labdl.train.metrics.outputs import log_probabilities
from labdl.train.monitor.sample_preview import VALUES, shown

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

_BINARY = (BinaryCrossEntropyLoss, FocalLoss)  # targets between 0 and 1; those of other binary losses are 1 and -1
_NO_ESTIMATES = (KLDivergenceLoss, PoissonNLLLoss, QuantileLoss)  # regression whose outputs do not estimate the targets
FEW = 5  # classes of an answer
_TINY = float(np.finfo("float64").eps)

Losses = np.ndarray | None
"""One number for each sample, or None where there is no single measure of how wrong an answer is."""


@dataclass(frozen=True)
class Answers:
    """A batch of answers: ``true`` and ``chosen`` class numbers (N, ...), -1 where none is meant, and how wrong each is."""

    losses: Losses
    true: np.ndarray | None = None
    chosen: np.ndarray | None = None
    scores: np.ndarray | None = None  # (N, classes) of answers that are one class
    values: np.ndarray | None = None  # what is shown of others

    def one(self, at: int) -> Answers:
        """That of one sample, in memory of its own."""
        rows = (
            None if a is None else a[at : at + 1].copy() for a in (self.true, self.chosen, self.scores, self.values)
        )
        return Answers(None, *rows)


@dataclass(frozen=True)
class Question:
    """Task of a training: its ``task``, number of ``classes``, and `read`, which creates `Answers`."""

    task: Literal["classification", "regression", "other"]
    classes: int
    read: Callable[[np.ndarray, np.ndarray], Answers]

    def target(self, target: np.ndarray, answer: Answers, budget: int) -> dict[str, Any]:
        """Target of a sample in display form."""
        if answer.true is None:
            return shown(target, budget)
        true = answer.true[0]
        return {"class": int(true)} if true.ndim == 0 else self._classes(true, budget)

    def output(self, answer: Answers, budget: int) -> dict[str, Any]:
        """Prediction for a sample in display form."""
        if answer.scores is not None:
            scores = answer.scores[0]
            best = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")[:FEW]
            return {"classes": best.tolist(), "scores": [number(float(scores[i])) for i in best]}
        if answer.chosen is not None:
            return self._classes(answer.chosen[0], budget)
        assert answer.values is not None
        return shown(answer.values[0], budget)

    def _classes(self, found: np.ndarray, budget: int) -> dict[str, Any]:
        """Of many places: a map, or the first of them."""
        drawn = class_map(found, budget, self.classes)
        return {"values": found.reshape(-1)[:VALUES].tolist()} if drawn is None else {"picture": drawn}


def question(context: TrainContext, output: Any, target: Any) -> Question | None:
    """Task of the outputs and targets of a batch; None if either is not a single array.

    The loss decides, where it declares its task; for other losses the shapes and dtypes of the arrays do.
    """
    if not isinstance(output, np.ndarray) or not isinstance(target, np.ndarray):
        return None
    if output.dtype.kind != "f" or target.dtype.kind not in "iubf" or not 0 < len(output) == len(target):
        return None
    loss = context.loss_function if context.standard_loss else None
    task = _task(loss)
    chosen = output.ndim == target.ndim + 1 and output.shape[:-1] == target.shape and output.shape[-1] > 1
    if chosen and target.dtype.kind in "iu" and task in (None, "classification"):
        return _of_classes(loss, output, ignored=getattr(loss, "ignore_index", -100))
    if output.shape == target.shape and isinstance(loss, CrossEntropyLoss) and output.shape[-1] > 1:
        return _of_classes(loss, output, ignored=None)
    if (isinstance(loss, _BINARY) or task == "segmentation") and output.size == target.size:
        return _of_yes_or_no(loss, output, target)
    numbers = target.dtype.kind == "f" if task is None else task == "regression" and not isinstance(loss, _NO_ESTIMATES)
    if output.size == target.size and numbers:
        return Question("regression", 0, lambda o, t: Answers(_squared(o, t), values=o))
    return Question("other", 0, lambda o, t: Answers(None, values=o))


def _task(loss: Any) -> str | None:
    """Task that a loss declares; None for others, such as functions."""
    return getattr(loss, "layer_task", None)


def _squared(output: np.ndarray, target: np.ndarray) -> np.ndarray:
    apart = output.reshape(len(output), -1).astype("float64") - target.reshape(len(target), -1).astype("float64")
    with np.errstate(all="ignore"):
        return np.square(apart).mean(1)


def _of_classes(loss: Any, output: np.ndarray, ignored: int | None) -> Question:
    """Classes that exclude each other, numbered or as rows of probabilities where nothing is ``ignored`` by its number."""
    kind = "logs" if isinstance(loss, NLLLoss) else "logits" if _task(loss) else _kind(output)

    def read(output: np.ndarray, target: np.ndarray) -> Answers:
        with np.errstate(all="ignore"):
            logs = output.astype("float64") if kind == "logs" else log_probabilities(output, kind == "logits")
            if ignored is None:
                true, each = target.argmax(-1), -(logs * target).sum(-1)
            else:
                counted = (target != ignored) & (target >= 0) & (target < output.shape[-1])
                true = np.where(counted, target, -1)
                each = -np.take_along_axis(logs, np.where(counted, target, 0)[..., None], -1)[..., 0]
                each = np.where(counted, each, 0.0)
            there = (true >= 0).reshape(len(true), -1).sum(1)
            losses = each.reshape(len(each), -1).sum(1) / np.maximum(there, 1)
            scores = np.exp(logs) if logs.ndim == 2 else None
        return Answers(losses, true.astype("int32"), output.argmax(-1).astype("int32"), scores)

    return Question("classification", output.shape[-1], read)


def _kind(output: np.ndarray) -> str:
    """Whether rows are probabilities."""
    with np.errstate(all="ignore"):
        alike = bool((output >= 0).all()) and np.allclose(output.astype("float64").sum(-1), 1, atol=1e-3)
    return "probabilities" if alike else "logits"


def _of_yes_or_no(loss: Any, output: np.ndarray, target: np.ndarray) -> Question:
    """One class, there or not, for each sample or each of its places; several labels of a sample are no classes."""
    logits = isinstance(loss, FocalLoss) or getattr(loss, "from_logits", False)
    each = output[0].size == 1
    places = _places(output)

    def read(output: np.ndarray, target: np.ndarray) -> Answers:
        with np.errstate(all="ignore"):
            values, right = output.astype("float64"), target.astype("float64").reshape(output.shape)
            share = 1 / (1 + np.exp(-values)) if logits else values
            if _task(loss) == "segmentation":
                losses = None
            else:
                if logits:  # exact where the share is 0 or 1
                    found = np.maximum(values, 0) - values * right + np.log1p(np.exp(-np.abs(values)))
                else:
                    known = np.clip(values, _TINY, 1 - _TINY)
                    found = -(right * np.log(known) + (1 - right) * np.log1p(-known))
                losses = found.reshape(len(found), -1).mean(1)
        if each:
            share = share.reshape(-1)
            return Answers(losses, _decided(right.reshape(-1)), _decided(share), np.stack([1 - share, share], 1))
        if places is None:
            return Answers(losses, values=share)
        shape = len(output), *places
        return Answers(losses, _decided(right.reshape(shape)), _decided(share.reshape(shape)))

    classes = 2 if each or places is not None else 0
    return Question("classification" if classes else "other", classes, read)


def _places(output: np.ndarray) -> tuple[int, ...] | None:
    """The shape of a mask, where there is one for each sample: (N, H, W) or (N, 1, H, W)."""
    if output.ndim == 3:
        return output.shape[1:]
    return output.shape[2:] if output.ndim == 4 and output.shape[1] == 1 else None


def _decided(share: np.ndarray) -> np.ndarray:
    return (share > 0.5).astype("int32")
