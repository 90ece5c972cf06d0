"""A training step: update the parameters of each phase from a batch of arrays."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import ConfigError, GradientError
from labdl.graph.lowering.compilable import Compilable
from labdl.ops.infix import neutral
from labdl.train import gradients as grads
from labdl.train.binding import binding_key, prepare
from labdl.train.data_adapter import Structure, flatten, map_structure, size_of, unflatten
from labdl.train.gradient_checkpointing import with_checkpointing
from labdl.train.loss_function import Objective
from labdl.train.loss_mean import nothing_counts, output_losses, part_weights, take, warn_of_nothing
from labdl.train.precision import describe_skips

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.output_losses import OutputLosses
    from labdl.train.state import PhaseState, TrainState

Step = Callable[[Any, Any], tuple[dict[str, float], Any]]


class BatchParts(list):
    """Outputs of the parts of a batch, in order."""


def train_step(context: TrainContext, state: TrainState, x: Any, y: Any) -> tuple[dict[str, float], Any]:
    """Update each phase on a batch of arrays; returns the losses by name, and the output as tensors."""
    if state.bound_to != binding_key():
        prepare(context, state, x, y)
    phases, state.batch = state.phases, (x, y)
    if len(phases) == 1 and not phases[0].name:
        values, output = _train_phase(context, state, phases[0], x, y)
    else:
        values, output = _train_phases(context, state, x, y)
    if state.averages is not None:
        state.averages.update()
    return values, output


def _train_phases(context: TrainContext, state: TrainState, x: Any, y: Any) -> tuple[dict[str, float], Any]:
    values, output = {"loss": 0.0}, None
    for phase in state.phases:
        own, phase_output = _train_phase(context, state, phase, x, y)
        values["loss"] += own["loss"]
        values.update({_qualified_name(name, phase.name): value for name, value in own.items()})
        output = output if phase_output is None else phase_output
    return values, output


def _train_phase(
    context: TrainContext, state: TrainState, phase: PhaseState, x: Any, y: Any
) -> tuple[dict[str, float], Any]:
    arrays = type(x) is np.ndarray and type(y) is np.ndarray
    structure = None if arrays else flatten((x, y))[1]
    step = phase.steps.get(structure)
    if step is None:
        step = phase.steps[structure] = _make_step(context, state, phase, structure)
    return step(x, y)


def _qualified_name(name: str, phase: str) -> str:
    """The name of a value of a phase: loss_generator, gradient_norm_generator, and its part loss_generator_pixels."""
    if not phase:
        return name
    head, _, rest = name.partition("_")
    return f"loss_{phase}" + (f"_{rest}" if rest else "") if head == "loss" else f"{name}_{phase}"


# -- gradients


def batch_gradients(context: TrainContext, state: TrainState, x: Any, y: Any) -> dict[str, np.ndarray]:
    """Gradients of a batch as arrays by standard name, of each phase for its parameters; nothing is updated."""
    prepare(context, state, x, y)
    gradients: dict[str, np.ndarray] = {}
    for phase in state.phases:
        gradients |= phase.to_arrays(phase_gradients(context, state, phase, x, y))
    return gradients


def phase_gradients(context: TrainContext, state: TrainState, phase: PhaseState, x: Any, y: Any) -> list[Any]:
    """Gradients of a batch as tensors, uncompiled and without loss scaling; nothing is updated."""
    leaves, structure = flatten((x, y))
    run = state.backend.gradient_function(objective(context, phase, structure).run, phase.optimizer, compiled=False)
    return list(run(*map(state.backend.tensor, leaves))[1])


def uncompiled_functions(
    context: TrainContext,
    state: TrainState,
    phase: PhaseState,
    structure: Structure,
    wrap: Callable[[Callable], Callable],
) -> tuple[Callable, Callable]:
    """The gradients of a batch, and the update from them, as two functions that are neither compiled nor scaled.

    ``wrap`` gets the differentiated function and returns one to be called in its place.
    """
    backend = state.backend
    function = wrap(objective(context, phase, structure).run)
    return (
        backend.gradient_function(function, phase.optimizer, compiled=False),
        backend.update_function(phase.optimizer, neutral(_Update(context, phase).apply), compiled=False),
    )


def last_gradients(state: TrainState) -> dict[str, np.ndarray]:
    """Gradients of the last update as arrays by standard name. Raises ConfigError if they were not kept."""
    gradients: dict[str, np.ndarray] = {}
    for phase in state.phases:
        if phase.gradients is not None:
            gradients |= phase.to_arrays(phase.gradients)
    if not state.phases or any(phase.gradients is None for phase in state.phases):
        raise ConfigError(
            "there are no gradients of an update: create the trainer with keep_gradients=True and train a step, or "
            "compute those of a batch with gradients(x, y)"
        )
    return gradients


# -- building a step


def objective(context: TrainContext, phase: PhaseState, structure: Structure, *, scaled: bool = False) -> Objective:
    """The differentiated function of a phase for batches of a structure."""
    name = f"of the phase {phase.name!r}" if phase.name else context.loss_name
    settings = context.settings
    function = with_checkpointing(context, phase.phase.function, phase.optimizer.backend)
    return Objective(function, structure, settings.low_precision, scaled, name, settings.loss_weights)


def _make_step(context: TrainContext, state: TrainState, phase: PhaseState, structure: Structure) -> Step:
    settings, backend = context.settings, state.backend
    update, by_output = _Update(context, phase), output_losses(context)
    if phase.scaler is not None or settings.accumulate > 1:
        return _make_accumulating_step(context, state, phase, structure, update)
    function = objective(context, phase, structure)
    compilable = Compilable(function.run, context.modules, backend, state.batch_size)
    custom = context.overrides_update or settings.gradient_norm or settings.keep_gradients or settings.clips
    run = backend.train_function(
        compilable,
        phase.optimizer,
        compiled=context.compiled,
        update=neutral(update.apply) if custom else None,
        timed=state.update_time.wrap,
    )
    tensor = backend.tensor if state.prefetch is None else state.prefetch.tensor
    to_numpy = backend.to_numpy
    forward = backend.evaluate_function(function.run, compiled=False)
    in_shares = functools.cache(lambda: _make_accumulating_step(context, state, phase, structure, update))

    def step(x, y):
        if by_output is not None and by_output.axes and by_output.lacks_targets(y):
            return in_shares()(x, y)
        if nothing_counts(context, state, y):
            values, output, _ = function.read(forward(*map(tensor, flatten((x, y))[0])))
            return update.skip(values), output
        if structure is None:
            result = run(tensor(x), tensor(y))
            if not custom and function.simple:
                return {"loss": float(to_numpy(result[0]))}, result[1]
        else:
            result = run(*map(tensor, flatten((x, y))[0]))
        values, output, observed = function.read(result)
        return update.read(values, observed), output

    return step


def _make_accumulating_step(
    context: TrainContext, state: TrainState, phase: PhaseState, structure: Structure, update: _Update
) -> Step:
    """Build a step that accumulates the gradients of the parts of a batch: see `part_weights` and `OutputLosses.shares`."""
    settings, backend, scaler, by_output = context.settings, state.backend, phase.scaler, output_losses(context)
    scaled = scaler is not None
    if by_output is None:
        function = objective(context, phase, structure, scaled=scaled)
    else:
        function = _objective_in_shares(context, phase, structure, by_output, scaled=scaled)
    modules = [*context.modules, *([] if by_output is None else by_output.sums.values())]
    compilable = Compilable(function.run, modules, backend, state.batch_size)
    differentiate = backend.gradient_function(compilable, phase.optimizer, compiled=context.compiled)
    apply = state.update_time.wrap(
        backend.update_function(phase.optimizer, neutral(update.apply), compiled=context.compiled)
    )

    tensor = backend.tensor if state.prefetch is None else state.prefetch.tensor

    def step(x, y):
        count = size_of(x)
        size = state.batch_size or math.ceil(count / settings.accumulate)
        sums, losses, outputs, weights = [], {}, BatchParts(), []
        parts = [slice(start, start + size) for start in range(0, count, size)]
        if by_output is not None:
            if not by_output.axes:  # the forward is overridden
                forward = backend.evaluate_function(neutral(context.methods.forward), compiled=False)
                by_output.read_axes(forward(map_structure(tensor, take(x, parts[0]))))
            weights = [float(any(by_output.divisors(y, count).values()))] * len(parts)
        for n, part in enumerate(parts):
            leaves = [leaf if len(parts) == 1 else leaf[part] for leaf in flatten((x, y))[0]]
            if by_output is not None:
                factors = by_output.factors(y, count, min(size, count - part.start))
                leaves += [np.asarray(factor, "float32") for factor in flatten(factors)[0]]
            scale = [] if scaler is None else [backend.tensor(np.asarray(scaler.scale, "float32"))]
            result, gradients = differentiate(*map(tensor, leaves), *scale)
            values, output, _ = function.read(result if scaler is None else result[1:])
            weights = weights or part_weights(context, x, y, parts, output)
            outputs.append(output)
            if not weights[n]:  # loss and gradients of this part are NaN
                continue
            sums = list(gradients) if len(parts) == 1 else grads.accumulate(sums, gradients, weights[n])
            for name, value in values.items():
                losses[name] = losses.get(name, 0.0) + weights[n] * float(backend.to_numpy(value))
        if not any(weights):
            return update.skip(values), outputs
        if scaler is not None:
            names = [name for name, g in zip(phase.optimizer.names, sums, strict=True) if g is not None]
            scale, broken = scaler.scale, backend.finite([g for g in sums if g is not None])
            scaler.update(broken is None)
            if broken is not None:
                if scaler.is_useless:
                    raise GradientError(describe_skips(names[broken], scaler))
                return update.without(losses), outputs
            sums = grads.scale(sums, 1 / scale)
        return update.read(losses, list(apply(sums) or ())), outputs

    return step


def _objective_in_shares(
    context: TrainContext, phase: PhaseState, structure: Structure, losses: OutputLosses, *, scaled: bool
) -> Objective:
    """The differentiated function of a part of a batch, whose last tensors are the factors of `OutputLosses.shares`."""

    def share(x, targets):
        y, factors = targets
        output = context.methods.forward(x)
        return losses.shares(output, y, factors), output

    x, y = unflatten(structure, itertools.repeat(0.0))
    with_factors = flatten((x, (y, dict.fromkeys(losses.losses, 0.0))))[1]
    function = with_checkpointing(context, share, phase.optimizer.backend)
    settings = context.settings
    return Objective(function, with_factors, settings.low_precision, scaled, context.loss_name, settings.loss_weights)


class _Update:
    """Applies gradients to the parameters of a phase, with clipping and observations by the settings."""

    def __init__(self, context: TrainContext, phase: PhaseState):
        self.context, self.phase, self.settings = context, phase, context.settings
        self._present: list[bool] = []  # for each parameter, whether it has a gradient

    def apply(self, gradients) -> tuple:
        """Update the parameters; returns the observed tensors. It may run inside a compiled step."""
        context, settings, optimizer = self.context, self.settings, self.phase.optimizer
        gradients, observed = list(gradients), []
        if context.overrides_update:
            by_name = context.methods.backward(dict(zip(optimizer.names, gradients, strict=True)))
            gradients = [by_name.get(name) for name in optimizer.names]
        raw = gradients
        if settings.gradient_norm or settings.clip_norm is not None:
            norm = grads.global_norm(raw)
            if norm is None:
                raise GradientError("no parameter has a gradient: the loss does not depend on them")
            observed += [norm] * settings.gradient_norm
            if settings.clip_norm is not None:
                gradients = grads.clip_by_norm(raw, norm, settings.clip_norm)
        if settings.clip_value is not None:
            gradients = grads.clip_by_value(gradients, settings.clip_value)
        if settings.keep_gradients:
            self._present = [g is not None for g in raw]
            observed += [g for g in raw if g is not None]
        if context.overrides_update:
            context.methods.update(dict(zip(optimizer.names, gradients, strict=True)), optimizer)
        else:
            optimizer.update(gradients)
        return tuple(observed)

    def without(self, losses: dict[str, float]) -> dict[str, float]:
        """The values of a step without an update."""
        self.phase.gradients = None
        return {**losses, **({"gradient_norm": 0.0} if self.settings.gradient_norm else {})}

    def skip(self, values: dict[str, Any]) -> dict[str, float]:
        """The values of a step in which nothing counts, with a warning."""
        warn_of_nothing()
        return self.without(dict.fromkeys(values, 0.0))

    def read(self, values: dict[str, Any], observed: list[Any]) -> dict[str, float]:
        """Convert the losses and the gradient norm of a step to numbers, and store its gradients in the phase."""
        read = self.phase.optimizer.backend.to_numpy
        numbers = {name: value if type(value) is float else float(read(value)) for name, value in values.items()}
        if self.settings.gradient_norm:
            numbers["gradient_norm"] = float(read(observed[0]))
        if self.settings.keep_gradients:
            remaining = iter(observed[self.settings.gradient_norm :])
            self.phase.gradients = [next(remaining) if present else None for present in self._present]
        return numbers


def to_arrays(backend: Any, output: Any) -> Any:
    """Convert an output to NumPy arrays; the parts of a batch are concatenated."""
    if not isinstance(output, BatchParts):
        return (
            backend.to_numpy(output)
            if output is not None and type(output) not in (tuple, list, dict)
            else map_structure(backend.to_numpy, output)
        )
    arrays = [map_structure(backend.to_numpy, part) for part in output]
    columns = zip(*(flatten(a)[0] for a in arrays), strict=True)
    return unflatten(flatten(arrays[0])[1], iter([np.concatenate(column) for column in columns]))
