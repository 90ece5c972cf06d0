"""Layer statistics during training: gradients, updates and outputs, measured between steps within a time budget."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.ops.random.state import random_state, set_random_state
from labdl.runs.reading.values import round_digits
from labdl.train import failures
from labdl.train.data_adapter import flatten, map_structure, size_of
from labdl.train.events import Event, Health, Histograms
from labdl.train.monitor.activations import ModuleCall, layer_classes, layer_names, layer_of, observe_calls
from labdl.train.monitor.budget import Budget
from labdl.train.monitor.histograms import HistogramCollector
from labdl.train.train_step import phase_gradients

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState

SAMPLES = 32  # of a batch, at most
SHARE = 0.01  # default share of the training time
log = logging.getLogger(__name__)

Weights = dict[str, tuple[int, np.ndarray]]  # copies of trainable parameters, each with the id of its variable


class LayerMonitor:
    """Measures the layers of a model after some of the steps of a training, without side effects on the training.

    After a step it computes forward and gradients once more for up to 32 samples of its batch, in training mode and
    uncompiled; the update is the difference that the step has made to the parameters. Parameters, running statistics, random
    numbers and stored gradients are restored.
    """

    def __init__(self, context: TrainContext, state: TrainState, share: float):
        self.context, self.state = context, state
        self.budget, self._disabled, self._copy_seconds = Budget(share), False, 0.0
        self.histograms = HistogramCollector(share)

    def before_step(self) -> Weights | None:
        """Copy the parameters before a step; None if the step is not measured."""
        if not self.budget.allows() or self._disabled:
            return None
        began = time.perf_counter()
        weights = self._weights()
        self._copy_seconds = time.perf_counter() - began
        return weights

    def after_step(self, step: int, seconds: float, before: Weights | None) -> list[Event]:
        """Return the measurements after a step of this duration; ``before`` is the result of `before_step`."""
        self.budget.train(seconds)
        self.histograms.budget.train(seconds)
        if before is None:
            return []
        began = time.perf_counter()
        events = self._measure(step, before)
        self.budget.spend(self._copy_seconds + time.perf_counter() - began)
        return events

    def _weights(self) -> Weights:
        backend = self.state.backend
        return {
            name: (id(p.value), np.array(backend.to_numpy(p.value)))
            for phase in self.state.phases
            for name, p in phase.optimizer.parameters.items()
        }

    def _measure(self, step: int, before: Weights) -> list[Event]:
        began, state = time.perf_counter(), self.state
        if state.batch is None:  # an overridden train_one_batch does not store its batch
            return []
        x, y = map_structure(lambda leaf: leaf[:SAMPLES], state.batch)
        with_histograms = self.histograms.budget.allows()
        try:
            gradients, outputs = self._compute(x, y, with_histograms)
        except Exception as error:  # a model may refuse another size of batch, or the device lack the memory
            self._disabled = True
            log.warning("layer statistics are disabled: %s", failures.error_message(error))
            return []
        names = layer_names(self.context.model)
        indices = {name: n for n, name in enumerate(names)}
        squares = {name: _squares(g) for name, g in gradients.items()} if with_histograms else gradients
        health = Health(
            step,
            size_of(x),
            tuple(names),
            self._parameter_columns(indices, before, squares),
            _columns(
                [
                    (indices[name], *_statistics(state.backend, tensors))
                    for name, tensors in outputs.items()
                    if name in indices and tensors
                ],
                ("of", "mean", "std", "largest", "zeros", "not_finite"),
            ),
            time.perf_counter() - began,
            tuple(layer_classes(self.context.model)),
        )
        if not with_histograms:
            return [health]
        return [health, self._compute_histograms(step, names, gradients, outputs)]

    def _compute_histograms(
        self, step: int, names: list[str], gradients: dict[str, np.ndarray], outputs: dict[str, list[Any]]
    ) -> Histograms:
        began, backend = time.perf_counter(), self.state.backend
        indices, layers = self.histograms.select_layers(self.context.model, names), set(names)
        weights: dict[str, list[np.ndarray]] = {}
        layer_gradients: dict[str, list[np.ndarray]] = {}
        for phase in self.state.phases:
            for name, p in phase.optimizer.parameters.items():
                layer = layer_of(layers, name)
                if layer in indices:
                    weights.setdefault(layer, []).append(_array(backend, p.value))
                    layer_gradients.setdefault(layer, []).extend([gradients[name]] if name in gradients else [])
        arrays = {name: [_array(backend, t) for t in outputs[name]] for name in indices if name in outputs}
        event = self.histograms.compute(step, names, indices, weights, layer_gradients, arrays)
        self.histograms.budget.spend(time.perf_counter() - began)
        return event

    def _compute(self, x: Any, y: Any, as_arrays: bool) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """Gradients by parameter name, as arrays or as sums of squares, and outputs by layer name."""
        gradients: dict[str, Any] = {}
        outputs: dict[str, list[Any]] = {}
        context, state = self.context, self.state
        tensor_types = state.backend.tensor_types()

        def store(call: ModuleCall) -> None:
            outputs[call.name] = [v for v in flatten(call.outputs)[0] if isinstance(v, tensor_types)]

        with preserve_state(context, state):
            with observe_calls(context.model, store):
                for phase in state.phases:
                    tensors = phase_gradients(context, state, phase, x, y)
                    gradients |= zip(phase.optimizer.names, tensors, strict=True)
            # read now: clearing gradients may empty them
            arrays = {n: _array(state.backend, g) for n, g in gradients.items() if g is not None}
            return {n: np.array(g) if as_arrays else _squares(g) for n, g in arrays.items()}, outputs

    def _parameter_columns(
        self, indices: dict[str, int], before: Weights, gradients: dict[str, float]
    ) -> dict[str, list]:
        """Norms over all parameters of each layer, from the sums of squares of the gradients."""
        sums: dict[int, list[float]] = {}
        for phase in self.state.phases:
            for name, p in phase.optimizer.parameters.items():
                layer = indices.get(layer_of(indices, name))
                variable, old = before.get(name, (0, None))
                if layer is None or old is None or variable != id(p.value):  # replaced during the step
                    continue
                new = _array(self.state.backend, p.value)
                own = gradients.get(name, 0.0), _squares(new), _squares(new - old.astype(new.dtype))
                sums[layer] = [a + b for a, b in zip(sums.get(layer, (0.0, 0.0, 0.0)), own, strict=True)]
        rows = []
        for layer, squares in sums.items():
            gradient, weights, update = (math.sqrt(s) if s >= 0 else math.nan for s in squares)
            rows.append(
                (
                    layer,
                    _round_digits(gradient),
                    _round_digits(weights),
                    _round_digits(update / weights if weights else 0.0),
                )
            )
        return _columns(rows, ("of", "gradient", "weights", "update"))


@contextmanager
def preserve_state(context: TrainContext, state: TrainState) -> Iterator[None]:
    """A context that restores buffers, modes, gradients and random states on exit."""
    backend = state.backend
    buffers = [
        (p.value, np.array(backend.to_numpy(p.value)))
        for root in context.modules
        for p in root.parameters()
        if not p.learnable
    ]
    modes = [(m, m.training) for root in context.modules for m in root.modules()]
    for phase in state.phases:
        if phase.gradients is not None:  # a framework may empty a gradient that is cleared wherever it is held
            phase.gradients = [None if g is None else backend.copy(g) for g in phase.gradients]
    states = random_state(backend.name), np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        for variable, array in buffers:
            backend.assign(variable, array)
        for module, mode in modes:
            module.__dict__["training"] = mode
        for phase in state.phases:
            backend.clear_gradients(phase.optimizer.variables)
        set_random_state(states[0], backend.name)
        np.random.set_state(states[1])
        random.setstate(states[2])


# -- statistics of arrays


def _array(backend, tensor) -> np.ndarray:
    array = backend.to_numpy(tensor)
    return array if array.dtype in ("float32", "float64") else array.astype("float32")


def _squares(array: np.ndarray) -> float:
    """The sum of squares; NaN where a value is not finite."""
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        total = float(np.dot(flat, flat))
        if not math.isfinite(total) or total < 1e-30:  # beyond float32's range, or not finite
            wide = flat.astype("float64")
            total = float(np.dot(wide, wide))
    return total if math.isfinite(total) else math.nan


def _statistics(backend, tensors: Sequence[Any]) -> tuple[float, ...]:
    """Mean, standard deviation, largest magnitude, fraction of zeros, and number of values that are not finite."""
    flat = [_array(backend, t).reshape(-1) for t in tensors]
    values = flat[0] if len(flat) == 1 else np.concatenate(flat)
    if not values.size:
        return 0.0, 0.0, 0.0, 0.0, 0
    with np.errstate(all="ignore"):
        size, zeros = values.size, values.size - int(np.count_nonzero(values))
        broken = 0
        low, high = float(values.min()), float(values.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            finite = values[np.isfinite(values)]
            broken, values = size - finite.size, finite
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (math.nan, math.nan)
        mean, std = (float(values.mean()), float(values.std())) if values.size else (math.nan, math.nan)
        if values.size and not math.isfinite(std):  # beyond float32's range
            wide = values.astype("float64")
            mean, std = float(wide.mean()), float(wide.std())
    return (
        _round_digits(mean),
        _round_digits(std),
        _round_digits(max(abs(low), abs(high))),
        _round_digits(zeros / size),
        broken,
    )


def _round_digits(value: float) -> float:
    """Round to four significant digits, which keeps events of large models small."""
    return round_digits(value, 4)


def _columns(rows: list[tuple], names: tuple[str, ...]) -> dict[str, list]:
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}
