"""Evaluator: metrics of a model over a data set, and a text report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.conversion import TargetRule, fit_target, is_text
from labdl.errors import ConfigError, ModelError
from labdl.infer.classification_report import ClassCounts, text
from labdl.infer.data_adapter import iterate_columns, stack
from labdl.infer.inference import Inference
from labdl.infer.postprocess.vocabulary import texts_or_tokens
from labdl.infer.predict import map_tensors
from labdl.keywords import show_keywords
from labdl.nn.output_kind import OutputKind, takes_probabilities
from labdl.ops.infix import neutral
from labdl.spec import Spec
from labdl.train import losses
from labdl.train.conversion import loss_rule
from labdl.train.metrics import METRICS, Metric


class Evaluator:
    """Metrics of a model, or of an `Inference`, over a data set.

    ``dataset`` is the default one: a data set, a pair (x, y) of arrays, lists or frames of pandas, a loader, or any
    iterable of rows (input, ..., target), read batch by batch. ``metrics`` are names, objects such as
    ``labdl.train.metrics.TopKAccuracy(k=5)`` or functions (output, target), also ones with array values. They get the
    model's outputs, or the results of a post-processor with ``for_metrics``: boxes, masks, key points, texts; or the texts of
    an inference that writes them. ``loss`` is
    a name, a layer or a function, as for `Trainer`. ``batch_size`` defaults to that of the inference. Further settings
    are passed to the `Inference` of a model.

    Raises ConfigError for an unknown name or setting.
    """

    @show_keywords(Inference)
    def __init__(
        self,
        inference: Any,
        dataset: Any = None,
        metrics: Iterable[str | Metric | Callable] | str | Metric = (),
        *,
        loss: Any = None,
        batch_size: int | None = None,
        **settings: Any,
    ):
        if isinstance(inference, Inference):
            if settings:
                raise ConfigError(f"{', '.join(settings)} must be given to the Inference, which exists already")
        else:
            inference = Inference(inference, **settings)
        if batch_size is not None and (not isinstance(batch_size, int) or batch_size < 1):
            raise ConfigError(f"batch_size wants an integer at least 1, received {batch_size!r}")
        self.inference: Inference = inference
        self.dataset, self.batch_size = dataset, batch_size or inference.batch_size
        self.metrics = resolve_metrics(metrics)
        self.loss = None if loss is None else losses.loss(loss)
        self._rule: TargetRule | None = None  # for the output of the last batch
        self.figures: dict[str, Any] | None = None  # results of the last evaluation
        self.classes: ClassCounts | None = None

    def evaluate(self, dataset: Any = None, *, metrics: Any = None, **settings) -> dict[str, Any]:
        """Compute the metrics over a data set, or over the default one (T/AII 008-2023, table B.16).

        ``metrics`` replace the evaluator's for this call, ``settings`` those of the post-processor. Raises ConfigError
        when there is no data set, or one without targets.
        """
        dataset = self.dataset if dataset is None else dataset
        if dataset is None:
            raise ConfigError("there is nothing to evaluate: give a data set, here or to the Evaluator")
        inference, chosen = self.inference, self.metrics if metrics is None else resolve_metrics(metrics)
        inference.check_settings(settings)
        if inference.generator is not None:
            return self._evaluate_texts(dataset, chosen, settings)
        processor = inference.postprocessing.processor
        found = {name: metric.fresh() for name, metric in chosen.items()}
        kind: OutputKind = "probabilities" if takes_probabilities(self.loss) else inference.outputs
        for metric in found.values():
            metric.outputs = kind  # type: ignore[misc]
        names = inference.model.class_names or getattr(dataset, "classes", None)
        counts = ClassCounts.of(processor, names, settings, kind)
        loss, total, seen = self._loss(), 0.0, 0
        for columns in iterate_columns(dataset, self.batch_size):
            at = inference.input_count
            _check_columns(columns, at)
            batch, target = inference.prepare_batch(columns[:at]), _target(columns[at:])
            size = len(batch.inputs[0])
            with inference.compute(batch) as tensors:
                outputs = map_tensors(inference.native.to_numpy, tensors)
                if processor is None or not processor.has_metrics:
                    target = self._fit_target(target, outputs)
                total += 0.0 if loss is None else loss(tensors, target) * size
            if processor is not None and processor.has_metrics:
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
        self.classes = counts if counts.has_counts else None
        return self.figures

    def _evaluate_texts(
        self, dataset: Any, metrics: Mapping[str, Metric], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Metrics of the texts that a model writes, or of their tokens without a tokenizer."""
        if self.loss is not None:
            raise ConfigError("a loss is of a model's outputs, this inference writes texts: leave loss out")
        fresh, seen = {name: metric.fresh() for name, metric in metrics.items()}, 0
        for columns in iterate_columns(dataset, self.batch_size):
            _check_columns(columns, 1)
            results = self.inference.infer_columns(columns[:1], settings)
            processor = self.inference.postprocessing.processor
            if processor is not None and processor.has_metrics:
                texts = processor.for_metrics(results)
            else:
                texts = texts_or_tokens(result[0] if isinstance(result, list) else result for result in results)
            for metric in fresh.values():
                metric.update(texts, list(columns[1]))
            seen += len(texts)
        if not seen:
            raise ConfigError("the data set is empty: give one with samples")
        self.figures, self.classes = {name: metric.compute() for name, metric in fresh.items()}, None
        return self.figures

    @property
    def confusion(self) -> np.ndarray | None:
        """Confusion matrix of the last evaluation of a classifier: true classes in rows, predicted ones in columns."""
        return self.classes and self.classes.confusion

    def report(self, dataset: Any = None, **settings) -> str:
        """Metrics as text, for a classifier with precision, recall, F1 and support of each class.

        Reports the last evaluation; evaluates first if a data set is given or there was no evaluation.
        """
        if dataset is not None or settings or self.figures is None:
            self.evaluate(dataset, **settings)
        assert self.figures is not None
        return text(self.figures, self.classes)

    def _fit_target(self, target: Any, outputs: Any) -> Any:
        """Targets in the dtype and with the axes of the loss, and text labels as numbers; other targets as they are."""
        names, array = self.inference.model.class_names, target
        if isinstance(target, list) and names and all(isinstance(v, str) for v in target):
            array = np.array(target)
        if not isinstance(array, np.ndarray) or not isinstance(outputs, np.ndarray) or (is_text(array) and not names):
            return target
        spec = Spec((None, *outputs.shape[1:]), str(outputs.dtype))
        if self._rule is None or self._rule.output != spec:
            self._rule = (
                TargetRule("any", spec, labels=True, aligned=frozenset({1}))
                if self.loss is None
                else loss_rule(self.loss, spec, losses.loss_name(self.loss))
            )
        return fit_target(array, self._rule, names)

    def _loss(self) -> Callable[[Any, Any], float] | None:
        """The loss as a function of outputs (tensors) and targets (an array or a tuple of arrays)."""
        if self.loss is None:
            return None
        native = self.inference.native
        function = native.evaluate_function(neutral(self.loss), compiled=False)

        def loss(tensors: Any, target: Any) -> float:
            if isinstance(target, list):
                raise ModelError(
                    "a loss wants targets as arrays, received strings or arrays of different shapes: evaluate "
                    "without the loss"
                )
            return float(native.to_numpy(function(tensors, map_tensors(native.tensor, target))))

        return loss


def resolve_metrics(values: Any) -> dict[str, Metric]:
    """Metrics by name, including ones with array values. Raises ConfigError that lists the names."""
    found: dict[str, Metric] = {}
    if isinstance(values, str | Metric | Mapping) or callable(values):
        values = [values]
    elif not isinstance(values, Iterable):
        losses.metrics(values)  # raises
    for value in values:
        kind = METRICS.get(value) if isinstance(value, str) else None
        entry = kind() if kind else value
        if not (isinstance(entry, Metric) and not entry.scalar):
            (entry,) = losses.metrics([entry]).values()
        name, n = entry.name, 2
        while name in found:
            name, n = f"{entry.name}_{n}", n + 1
        found[name] = entry
    return found


def _check_columns(columns: Sequence[Any], inputs: int) -> None:
    """Raise ConfigError for rows without a target."""
    if len(columns) <= inputs:
        raise ConfigError(f"evaluation wants rows of {inputs} input(s) and a target, received {len(columns)} value(s)")


def _target(columns: tuple[Any, ...]) -> Any:
    """Targets of a batch: an array if all have the same shape, lists of strings or arrays otherwise."""
    found = tuple(_column(column) for column in columns)
    return found[0] if len(found) == 1 else found


def _column(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column
    if any(isinstance(v, str) for v in column) or len({np.shape(v) for v in column}) > 1:
        return list(column)
    return stack(column)
