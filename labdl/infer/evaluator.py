"""The evaluator: figures of a model over a data set, and a report as text (R6.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.infer.engine import each
from labdl.infer.inference import Inference
from labdl.infer.report import ClassCounts, text
from labdl.infer.sources import columns_of, stacked
from labdl.ops.infix import neutral
from labdl.train import objectives
from labdl.train.metrics import METRICS, Metric


class Evaluator:
    """Figures of a model, or of an `Inference`, over a data set.

    ``dataset`` is the default one: a data set, a pair (x, y), a loader, or any iterable of rows (input, ..., target), read
    batch by batch. ``metrics`` are names, objects such as ``labdl.train.metrics.TopKAccuracy(k=5)`` or functions
    (output, target); those that give several numbers are welcome. They see the model's outputs, or the results of a
    post-processor that says so: boxes, masks, key points, texts. ``loss`` is a name, a layer or a function, as `Trainer` has
    it. ``batch_size`` is that of the inference when left out. Further settings make the inference of a model.

    Raises ConfigError for a name or a setting that does not exist.
    """

    def __init__(self, inference: Any, dataset: Any = None, metrics: Iterable[str | Metric | Callable] | str | Metric = (), *,
                 loss: Any = None, batch_size: int | None = None, **settings):  # fmt: skip
        if isinstance(inference, Inference):
            if settings:
                raise ConfigError(f"{', '.join(settings)} must be given to the Inference, which is made already")
        else:
            inference = Inference(inference, **settings)
        if batch_size is not None and (not isinstance(batch_size, int) or batch_size < 1):
            raise ConfigError(f"batch_size wants an integer at least 1, received {batch_size!r}")
        self.inference: Inference = inference
        self.dataset, self.batch_size = dataset, batch_size or inference.batch_size
        self.metrics = measures(metrics)
        self.loss = None if loss is None else objectives.loss(loss)
        self.figures: dict[str, Any] | None = None  # of the last evaluation
        self.classes: ClassCounts | None = None

    def evaluate(self, dataset: Any = None, *, metrics: Any = None, **settings) -> dict[str, Any]:
        """The figures over a data set, or over the default one (T/AII 008-2023, table B.16).

        ``metrics`` take the place of the evaluator's for this call, ``settings`` those of the post-processor. Raises
        ConfigError when there is no data set, or none with targets.
        """
        dataset = self.dataset if dataset is None else dataset
        if dataset is None:
            raise ConfigError("there is nothing to evaluate: give a data set, here or to the Evaluator")
        inference, chosen = self.inference, self.metrics if metrics is None else measures(metrics)
        inference.postprocessing.check(settings)
        processor = inference.postprocessing.processor
        found = {name: metric.fresh() for name, metric in chosen.items()}
        counts = ClassCounts.of(processor, getattr(dataset, "classes", None), settings)
        loss, total, seen = self._loss(), 0.0, 0
        for columns in columns_of(dataset, self.batch_size):
            at = inference.input_count
            if len(columns) <= at:
                raise ConfigError(
                    f"evaluation wants rows of {at} input(s) and a target, received {len(columns)} value(s)"
                )
            batch, target = inference.prepared(columns[:at]), _target(columns[at:])
            size = len(batch.inputs[0])
            with inference.compute(batch) as tensors:
                outputs = each(inference.native.to_numpy, tensors)
                total += 0.0 if loss is None else loss(tensors, target) * size
            if processor is not None and processor.measured:
                outputs = processor.for_metrics(inference.read(outputs, batch, settings))
                target = processor.targets_for_metrics(target) if isinstance(target, list) else target
            else:
                counts.add(outputs, target)
            for metric in found.values():
                metric.update(outputs, target)
            seen += size
        if not seen:
            raise ConfigError("the data set is empty: give one with samples")
        values = {} if loss is None else {"loss": total / seen}
        self.figures = {**values, **{name: metric.compute() for name, metric in found.items()}}
        self.classes = counts if counts.started else None
        return self.figures

    @property
    def confusion(self) -> np.ndarray | None:
        """How often each true class (rows) was taken for each class (columns) in the last evaluation of a classifier."""
        return self.classes and self.classes.confusion

    def report(self, dataset: Any = None, **settings) -> str:
        """The figures as text, for a classifier with precision, recall, F1 and support of each class.

        Those of the last evaluation; with a data set, or when there was none, it evaluates first.
        """
        if dataset is not None or settings or self.figures is None:
            self.evaluate(dataset, **settings)
        assert self.figures is not None
        return text(self.figures, self.classes)

    def _loss(self) -> Callable[[Any, Any], float] | None:
        """The loss of outputs as tensors and targets as an array, or as a tuple of several."""
        if self.loss is None:
            return None
        native = self.inference.native
        function = native.evaluate_function(neutral(self.loss), compiled=False)

        def loss(tensors: Any, target: Any) -> float:
            if isinstance(target, list):
                raise ModelError("a loss wants targets as arrays, received texts or arrays of different shapes: evaluate "
                                 "without the loss")  # fmt: skip
            return float(native.to_numpy(function(tensors, each(native.tensor, target))))

        return loss


def measures(values: Any) -> dict[str, Metric]:
    """Metrics by name, those that give several numbers too. Raises ConfigError that lists the names."""
    found: dict[str, Metric] = {}
    for value in [values] if isinstance(values, str | Metric) or callable(values) else values:
        kind = METRICS.get(value) if isinstance(value, str) else None
        entry = kind() if kind else value
        if not (isinstance(entry, Metric) and not entry.scalar):
            (entry,) = objectives.metrics([entry]).values()
        name, n = entry.name, 2
        while name in found:
            name, n = f"{entry.name}_{n}", n + 1
        found[name] = entry
    return found


def _target(columns: tuple[Any, ...]) -> Any:
    """The targets of a batch: an array where they have one shape, lists of texts or of arrays otherwise."""
    found = tuple(_column(column) for column in columns)
    return found[0] if len(found) == 1 else found


def _column(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column
    if any(isinstance(v, str) for v in column) or len({np.shape(v) for v in column}) > 1:
        return list(column)
    return stacked(column)
