"""Monitoring of validations: predictions for fixed samples, the confusion matrix, and the samples of highest loss."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from labdl.runs.reading.values import round_digits
from labdl.train import failures
from labdl.train.data_adapter import map_structure, size_of
from labdl.train.events import Confusion, Event, Predictions, Samples, Worst
from labdl.train.loaders import count_samples
from labdl.train.monitor.predictions import PredictionBatch, PredictionTask, infer_task
from labdl.train.monitor.sample_preview import dataset_attribute, preview, vocabulary

if TYPE_CHECKING:
    from labdl.train.context import TrainContext

SAMPLES = 8  # fixed samples, and samples of highest loss
CLASSES, PAIRS = 100, 100  # largest number of classes with a confusion matrix, and of pairs of classes with more
MISTAKES = 1_000_000  # stored during one validation
EPOCHS = 100  # epochs of a training that are monitored, approximately
BYTES = 60_000  # largest size of an event
FREE = 0.1  # seconds that do not count towards the share, so that short trainings are monitored too
PICTURE = 4096  # bytes of all pictures of one sample
PART = 2**24  # bytes of outputs that are processed at once
log = logging.getLogger(__name__)

SamplePrediction = tuple[Any, Any, PredictionBatch]  # input, target and prediction of a sample


class ValidationMonitor:
    """Collects predictions from the batches of a validation, without changing it.

    The first and the last epoch are always monitored. In between, about a hundred epochs are, as long as that takes at most
    ``share`` of the time of the training, or a tenth of a second in total.
    """

    def __init__(self, context: TrainContext, train: Any, validation: Any, share: float):
        self.context, self.dataset, self.share = context, validation, share
        self.names = _class_names(dataset_attribute(validation, "classes"))
        self.names = self.names or _class_names(dataset_attribute(train, "classes"))
        self.words = vocabulary(validation) or vocabulary(train)
        count = count_samples(validation) or SAMPLES
        self.fixed = sorted({round(i) for i in np.linspace(0, count - 1, SAMPLES)})
        self.count, self.spent, self.cost, self._samples_sent, self._disabled = 0, 0.0, 0.0, False, False
        self._seconds = 0.0  # of the current validation

    def due(self, epoch: int, epochs: int, trained: float) -> bool:
        """Return whether to monitor the validation after an epoch, counted from 1, ``trained`` seconds after the start."""
        if self._disabled or self.share <= 0:
            return False
        if not self.count or epoch >= epochs:
            return True
        every = max(-(-epochs // EPOCHS), 2 ** (self.count // EPOCHS))
        return epoch % every == 0 and self.spent + self.cost <= max(FREE, self.share * trained)

    # -- during a validation

    def reset(self) -> None:
        """Start a validation, possibly again with smaller batches."""
        self._seconds = 0.0
        self._task: PredictionTask | None = None
        self._fixed: dict[int, SamplePrediction] = {}
        self._worst: list[tuple[float, int, SamplePrediction]] = []
        self._matrix: np.ndarray | None = None
        self._mistakes: list[np.ndarray] = []
        self._stored = 0

    def update(self, x: Any, y: Any, output: Any, first: int) -> None:
        """Add a batch of arrays; ``first`` is the index of its first sample in the data set."""
        if self._disabled:
            return
        began = time.perf_counter()
        try:
            self._update(x, y, output, first)
        except Exception as error:  # arrays of an unexpected form must not end the training
            self._disabled = True
            self.reset()
            log.warning("monitoring of validation predictions is disabled: %s", failures.error_message(error))
        self._seconds += time.perf_counter() - began

    def _update(self, x: Any, y: Any, output: Any, first: int) -> None:
        if first == 0:
            self._task = infer_task(self.context, output, y)
        if self._task is None:
            return
        count = size_of(x)
        size = max(1, PART * count // max(output.nbytes, 1))  # segmentation scores take much memory
        for at in range(0, count, size):
            part = slice(at, at + size)
            batch = self._task.read(output[part], y[part])

            def copy_sample(i: int, at: int = at, batch: PredictionBatch = batch) -> SamplePrediction:
                return _select_sample(x, at + i), y[at + i].copy(), batch.select(i)

            for i in self.fixed:
                if 0 <= i - first - at < min(size, count - at):
                    self._fixed[i] = copy_sample(i - first - at)
            if batch.losses is not None:
                self._rank(batch.losses, first + at, copy_sample)
            if batch.true is not None and batch.chosen is not None:
                self._count_confusion(batch.true.reshape(-1), batch.chosen.reshape(-1), self._task.classes)

    def _rank(self, losses: np.ndarray, first: int, copy_sample: Callable[[int], SamplePrediction]) -> None:
        """Keep the samples of highest loss; values that are not finite rank highest."""
        order = np.argsort(-np.nan_to_num(losses, nan=math.inf, posinf=math.inf), kind="stable")[:SAMPLES]
        least = self._worst[-1][0] if len(self._worst) == SAMPLES else -math.inf
        for i in order.tolist():
            value = float(losses[i]) if math.isfinite(losses[i]) else math.inf
            if value <= least:
                break
            self._worst.append((value, first + i, copy_sample(i)))
        self._worst.sort(key=lambda row: (-row[0], row[1]))
        del self._worst[SAMPLES:]

    def _count_confusion(self, true: np.ndarray, chosen: np.ndarray, classes: int) -> None:
        counted = true >= 0
        true, chosen = true[counted].astype("int64"), chosen[counted].astype("int64")
        if classes <= CLASSES:
            counts = np.bincount(true * classes + chosen, minlength=classes * classes)
            self._matrix = counts if self._matrix is None else self._matrix + counts
            return
        wrong = (true != chosen) & (self._stored < MISTAKES)
        self._mistakes.append(true[wrong] * classes + chosen[wrong])
        self._stored += len(self._mistakes[-1])

    # -- events

    def take_events(self, epoch: int, step: int) -> Iterator[Event]:
        """Yield the events of the validation that was monitored, and discard its data."""
        if self._disabled:
            return
        began = time.perf_counter()
        try:
            events = self._build_events(epoch, step) if self._task is not None and self._fixed else []
        except Exception as error:  # as in `update`
            self._disabled, events = True, []
            log.warning("monitoring of validation predictions is disabled: %s", failures.error_message(error))
        self.cost = self._seconds + time.perf_counter() - began
        self.reset()
        self.spent += self.cost
        self.count += 1
        yield from events

    def _build_events(self, epoch: int, step: int) -> list[Event]:
        task = self._task
        assert task is not None
        events: list[Event] = []
        if not self._samples_sent:
            self._samples_sent = True
            rows = _fit_size(
                lambda b: [
                    {"index": i, "input": preview(x, b // 2, self.words), "target": task.preview_target(y, own, b // 2)}
                    for i, (x, y, own) in self._fixed.items()
                ]
            )
            names = self.names if task.classes and self.names and len(self.names) >= task.classes else None
            names = names if names is None or sum(map(len, names)) < BYTES // 8 else None
            events.append(Samples(task.kind, names, rows))
        outputs = _fit_size(lambda b: [task.preview_output(own, b) for _, _, own in self._fixed.values()])
        events.append(Predictions(epoch, step, outputs))
        if self._matrix is not None or self._mistakes:
            events.append(self._confusion(epoch, step, task.classes))
        if self._worst:
            worst = _fit_size(lambda b: [self._worst_row(task, row, b // 3) for row in self._worst])
            events.append(Worst(epoch, step, worst))
        return events

    def _worst_row(self, task: PredictionTask, row: tuple[float, int, SamplePrediction], budget: int) -> dict[str, Any]:
        loss, index, (x, y, prediction) = row
        return {
            "index": index,
            "loss": round_digits(loss, 6),
            "input": preview(x, budget, self.words),
            "target": task.preview_target(y, prediction, budget),
            "output": task.preview_output(prediction, budget),
        }

    def _confusion(self, epoch: int, step: int, classes: int) -> Confusion:
        if self._matrix is not None:
            rows = self._matrix.reshape(classes, classes).tolist()
            if len(orjson.dumps(rows)) <= BYTES:
                return Confusion(epoch, step, counts=tuple(map(tuple, rows)))
            wrong = self._matrix.reshape(classes, classes).copy()
            np.fill_diagonal(wrong, 0)
            pairs, counts = np.flatnonzero(wrong), wrong[wrong > 0]
        else:
            pairs, counts = np.unique(np.concatenate(self._mistakes), return_counts=True)
        order = np.argsort(-counts, kind="stable")[:PAIRS]
        return Confusion(
            epoch,
            step,
            pairs=tuple(
                (int(p) // classes, int(p) % classes, int(c)) for p, c in zip(pairs[order], counts[order], strict=True)
            ),
        )


def _class_names(classes: Any) -> tuple[str, ...] | None:
    """Class names from the ``classes`` of a data set; None if they are something else, such as a number."""
    is_list = isinstance(classes, list | tuple | np.ndarray)
    return tuple(str(name)[:100] for name in classes) if is_list else None


def _select_sample(x: Any, i: int) -> Any:
    return map_structure(lambda leaf: leaf[i].copy() if isinstance(leaf[i], np.ndarray) else leaf[i], x)


def _fit_size(make: Callable[[int], list[dict[str, Any]]]) -> tuple[dict[str, Any], ...]:
    """Make rows with smaller and smaller pictures until they fit into an event; previews that never fit are left empty."""
    budget = PICTURE
    while True:
        rows = make(budget)
        if len(orjson.dumps(rows)) <= BYTES:
            return tuple(rows)
        if budget < 64:
            return tuple({k: {"values": []} if isinstance(v, dict) else v for k, v in row.items()} for row in rows)
        budget //= 2
