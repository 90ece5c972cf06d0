"""The trainers of recognizers of speech: sounds of any length, and transcripts for the metrics of a validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl import ops
from labdl.data.dataset import Dataset
from labdl.data.loader import Loader
from labdl.models.sound.rnnt import RNNT
from labdl.nn.signature import call_as_built
from labdl.tasks.transducer_search import search_encodings
from labdl.train.trainer import Trainer

PADDING = -1  # of labels, in targets and in what metrics compare with them
_FRAMES, _LABELS = 32, 8  # numbers of them in a batch are multiples of these: each other number is compiled again


class SpeechTrainer(Trainer):
    """Trains a recognizer with frames (N, steps, bins), their numbers (N,) and labels (N, characters), padded with -1.

    The model gives logits (N, steps, vocabulary) and the numbers of their steps, for the loss of CTC. Batches of a data set
    are dictionaries, see `labdl.tasks.speech_samples`. The metrics of a validation compare the labels of the most probable
    alignment with the targets; there are no metrics of training batches.
    """

    def preprocess(self, batch: Any) -> tuple[Any, Any]:
        if not isinstance(batch, Mapping):
            return super().preprocess(batch)
        return self.inputs_of(batch, labels := pad_labels(batch)), labels

    def inputs_of(self, batch: Mapping[str, Any], labels: np.ndarray) -> tuple[np.ndarray, ...]:
        """The inputs of the model of a batch: frames and their numbers."""
        return pad_frames(batch["frames"], 0), np.asarray(batch["steps"])

    def forward(self, x: Any) -> Any:
        return call_as_built(self.model, *x)

    def postprocess(self, output: Any) -> Any:
        if self.model.training:
            return None
        logits, steps = output
        labels, _, _ = ops.ctc_greedy_decode(np.moveaxis(logits, 0, 1), steps)
        return labels

    def evaluate(
        self, dataset: Any, y: Any = None, *, batch_size: int = 256, averaged: bool = False
    ) -> dict[str, float]:
        if isinstance(dataset, Dataset) and y is None:
            size = min(batch_size, self.settings.batch_size or batch_size)
            dataset = Loader(dataset, size, pad=0)
        return super().evaluate(dataset, y, batch_size=batch_size, averaged=averaged)


class TransducerTrainer(SpeechTrainer):
    """Trains a transducer with frames, the symbols that have been written, and the labels, which are those to come.

    In a validation the labels are those of the greedy search.
    """

    def inputs_of(self, batch: Mapping[str, Any], labels: np.ndarray) -> tuple[np.ndarray, ...]:
        model: RNNT = self.model  # type: ignore[assignment]
        symbols = np.pad(np.maximum(labels, 0), ((0, 0), (1, 0)))
        context = model.transcriber.emformer.right * model.reduction
        return pad_frames(batch["frames"], context), symbols, np.asarray(batch["steps"])

    def loss_and_output(self, x: Any, y: Any) -> tuple[Any, Any]:
        frames, symbols, counts = x
        model: RNNT = self.model  # type: ignore[assignment]
        steps = ops.floor_divide(counts, model.reduction)
        encodings = model.transcriber(frames, steps)
        loss = self.loss((model.join(encodings, model.predictor(symbols)), steps), y)
        # the logits of each step after each number of labels stay on the device
        return loss, (ops.stop_gradient(encodings), steps)

    def postprocess(self, output: Any) -> Any:
        if self.model.training:
            return None
        model: Any = self.model
        paths = [search_encodings(model, row[:count]).symbols for row, count in zip(*output, strict=True)]
        return _pad_rows(paths, PADDING, 1)


def ctc(output: Any, target: Any) -> Any:
    """The CTC loss of logits (N, steps, vocabulary) and their numbers of steps, for labels that are padded with -1."""
    labels, lengths = split_labels(target)
    return ops.ctc_loss(ops.permute_dims(output[0], (1, 0, 2)), labels, output[1], lengths)


def rnnt(output: Any, target: Any) -> Any:
    """The transducer loss of logits (N, steps, labels + 1, vocabulary) and their numbers of steps, as `ctc`."""
    labels, lengths = split_labels(target)
    return ops.rnnt_loss(output[0], labels, output[1], lengths)


def pad_frames(frames: np.ndarray, context: int) -> np.ndarray:
    """Frames (N, steps, bins) with zeros behind them: up to a multiple of 32 steps, and ``context`` more."""
    steps = frames.shape[1]
    return np.pad(frames, ((0, 0), (0, -steps % _FRAMES + context), (0, 0)))


def pad_labels(batch: Mapping[str, Any]) -> np.ndarray:
    """Labels (N, characters) of a batch, -1 behind those of each sample; their number is a multiple of 8."""
    rows = [row[:count] for row, count in zip(batch["labels"], batch["characters"], strict=True)]
    return _pad_rows(rows, PADDING, _LABELS)


def split_labels(labels: Any) -> tuple[Any, Any]:
    """Labels (N, characters) with 0 in the place of padding, and their numbers (N,)."""
    inside = ops.greater_equal(labels, 0)
    return ops.maximum(labels, 0), ops.sum(ops.astype(inside, "int64"), axis=1)


def _pad_rows(rows: Any, value: int, multiple: int) -> np.ndarray:
    width = max(1, *(len(row) for row in rows)) if rows else 1
    padded = np.full((len(rows), width + -width % multiple), value, "int64")
    for target, row in zip(padded, rows, strict=True):
        target[: len(row)] = row
    return padded
