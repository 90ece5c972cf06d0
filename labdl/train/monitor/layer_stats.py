"""The health of a model's layers in training: gradients, updates and outputs, measured between steps within a budget."""

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
from labdl.train.data_adapter import flattened, mapped, size_of
from labdl.train.events import Event, Health, Histograms
from labdl.train.monitor.activations import Sight, layers_of, node_of, watching
from labdl.train.monitor.budget import Budget
from labdl.train.monitor.histograms import Histogrammer
from labdl.train.train_step import phase_gradients

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState

SAMPLES = 32  # of a batch, at most
SHARE = 0.01  # of the time of training, unless another is asked for
log = logging.getLogger(__name__)

Weights = dict[str, tuple[int, np.ndarray]]  # copies of what is learned, each with which variable it is


class Meter:
    """Measures the layers of a training behind some of its steps, and leaves no trace in it.

    Behind a step it computes forward and gradients once more, in the mode of training and outside of what is compiled, for
    up to 32 samples of its batch; the update is the one that the step has made. Parameters, running statistics, random
    numbers and kept gradients are then what they were.
    """

    def __init__(self, context: TrainContext, state: TrainState, share: float):
        self.context, self.state = context, state
        self.budget, self._broken, self._took = Budget(share), False, 0.0
        self.histograms = Histogrammer(share)

    def before(self) -> Weights | None:
        """Values needed from before a step; None if the step is not measured."""
        if not self.budget.allows() or self._broken:
            return None
        began = time.perf_counter()
        weights = self._weights()
        self._took = time.perf_counter() - began
        return weights

    def after(self, step: int, seconds: float, before: Weights | None) -> list[Event]:
        """Measurements after a step of this duration."""
        self.budget.train(seconds)
        self.histograms.budget.train(seconds)
        if before is None:
            return []
        began = time.perf_counter()
        found = self._measured(step, before)
        self.budget.spend(self._took + time.perf_counter() - began)
        return found

    def _weights(self) -> Weights:
        backend = self.state.backend
        return {
            name: (id(p.value), np.array(backend.to_numpy(p.value)))
            for phase in self.state.phases
            for name, p in phase.optimizer.parameters.items()
        }

    def _measured(self, step: int, before: Weights) -> list[Event]:
        began, state = time.perf_counter(), self.state
        if state.batch is None:  # steps of an overridden train_one_batch, which are not known here
            return []
        x, y = mapped(lambda leaf: leaf[:SAMPLES], state.batch)
        counting = self.histograms.budget.allows()
        try:
            gradients, outputs = self._computed(x, y, counting)
        except Exception as error:  # a model may refuse another size of batch, or the device lack the memory
            self._broken = True
            log.warning("the health of the layers is not measured any more: %s", failures.error_message(error))
            return []
        names = layers_of(self.context.model)
        at = {name: n for n, name in enumerate(names)}
        squares = {name: _squares(g) for name, g in gradients.items()} if counting else gradients
        health = Health(
            step,
            size_of(x),
            tuple(names),
            self._of_parameters(at, before, squares),
            _columns(
                [
                    (at[name], *_figures(state.backend, tensors))
                    for name, tensors in outputs.items()
                    if name in at and tensors
                ],
                ("of", "mean", "std", "largest", "zeros", "not_finite"),
            ),
            time.perf_counter() - began,
        )
        return [health, self._counted(step, names, gradients, outputs)] if counting else [health]

    def _counted(
        self, step: int, names: list[str], gradients: dict[str, np.ndarray], outputs: dict[str, list[Any]]
    ) -> Histograms:
        began, backend = time.perf_counter(), self.state.backend
        places, every = self.histograms.places(self.context.model, names), set(names)
        learned: dict[str, list[np.ndarray]] = {}
        slopes: dict[str, list[np.ndarray]] = {}
        for phase in self.state.phases:
            for name, p in phase.optimizer.parameters.items():
                layer = node_of(every, name)
                if layer in places:
                    learned.setdefault(layer, []).append(_array(backend, p.value))
                    slopes.setdefault(layer, []).extend([gradients[name]] if name in gradients else [])
        given = {name: [_array(backend, t) for t in outputs[name]] for name in places if name in outputs}
        found = self.histograms.counted(step, names, places, learned, slopes, given)
        self.histograms.budget.spend(time.perf_counter() - began)
        return found

    def _computed(self, x: Any, y: Any, whole: bool) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """Gradients by the names of parameters, as their squares' sums unless whole, and outputs by the names of layers."""
        gradients: dict[str, Any] = {}
        outputs: dict[str, list[Any]] = {}
        context, state = self.context, self.state
        kinds = state.backend.tensor_types()

        def see(sight: Sight) -> None:
            outputs[sight.name] = [v for v in flattened(sight.outputs)[0] if isinstance(v, kinds)]

        with unchanged(context, state):
            with watching(context.model, see):
                for phase in state.phases:
                    found = phase_gradients(context, state, phase, x, y)
                    gradients |= zip(phase.optimizer.names, found, strict=True)
            # read now: clearing gradients may empty them
            arrays = {n: _array(state.backend, g) for n, g in gradients.items() if g is not None}
            return {n: np.array(g) if whole else _squares(g) for n, g in arrays.items()}, outputs

    def _of_parameters(self, at: dict[str, int], before: Weights, gradients: dict[str, float]) -> dict[str, list]:
        """Norms of all parameters of each layer together."""
        sums: dict[int, list[float]] = {}
        for phase in self.state.phases:
            for name, p in phase.optimizer.parameters.items():
                layer = at.get(node_of(at, name))
                known, old = before.get(name, (0, None))
                if layer is None or old is None or known != id(p.value):  # replaced in the meantime
                    continue
                new = _array(self.state.backend, p.value)
                found = gradients.get(name, 0.0), _squares(new), _squares(new - old.astype(new.dtype))
                sums[layer] = [a + b for a, b in zip(sums.get(layer, (0.0, 0.0, 0.0)), found, strict=True)]
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
def unchanged(context: TrainContext, state: TrainState) -> Iterator[None]:
    """A context in which computing leaves no trace in a training."""
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
    drawn, theirs, own = random_state(backend.name), np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        for variable, array in buffers:
            backend.assign(variable, array)
        for module, mode in modes:
            module.__dict__["training"] = mode
        for phase in state.phases:
            backend.clear_gradients(phase.optimizer.variables)
        set_random_state(drawn, backend.name)
        np.random.set_state(theirs)
        random.setstate(own)


# -- arrays in figures


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


def _figures(backend, tensors: Sequence[Any]) -> tuple[float, ...]:
    """Mean, standard deviation, largest magnitude, share of zeros, and how many values are not finite."""
    found = [_array(backend, t).reshape(-1) for t in tensors]
    values = found[0] if len(found) == 1 else np.concatenate(found)
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
    """More digits than these nobody reads, and a thousand layers are many."""
    return round_digits(value, 4)


def _columns(rows: list[tuple], names: tuple[str, ...]) -> dict[str, list]:
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}
