"""The complete state of a training as plain data and arrays, restored on any backend."""

from __future__ import annotations

import copy
import dataclasses
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError, FileFormatError, StateDictError
from labdl.nn.module import Module
from labdl.ops.random.state import random_state, set_random_state
from labdl.train.binding import bind
from labdl.train.global_generators import generator_states, set_generator_states
from labdl.train.progress import VERSION, OptionalState, RandomState, TrainingDocument, parse_document

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import PhaseState, TrainState


def state_dict(context: TrainContext, state: TrainState, *, process: bool = True) -> dict[str, Any]:
    """`training_state`, and the model's ``parameters``."""
    return {**training_state(context, state, process=process), "parameters": context.model.state_dict()}


def training_state(context: TrainContext, state: TrainState, *, process: bool = True) -> dict[str, Any]:
    """The state without the parameters: ``optimizer``, the slots as arrays, and ``training``, plain data and arrays.

    ``process`` adds what is not of the training alone: the states of callbacks, and of NumPy's and Python's global generators.
    """
    phases = bind(context, state)
    model, document, progress = context.model, state.document, state.progress
    schedule, memory = (document.schedule, document.memory) if document else (None, {})
    plan = state.learning_rate and state.learning_rate.plan
    if plan:
        schedule, memory = plan.schedule.kind, plan.schedule.state_dict()
    training = TrainingDocument(
        format="labdl training",
        version=VERSION,
        labdl=sys.modules["labdl"].__version__,
        backend=str(model.backend),
        model=type(model).__name__,
        loss=context.loss_name,
        optimizer=optimizer_name(phases),
        settings=phases[0].optimizer.rule.record(),
        schedule=schedule,
        memory=memory,
        # needed only within an epoch
        metrics={
            name: metric.state if progress and progress.batch else None for name, metric in context.metrics.items()
        },
        progress=progress,
        random=RandomState(**random_state(model.backend)),
        monitored=None,
        features=_optional_state(context, state, process),
    )
    values = dataclasses.asdict(training)
    for name in ("class_names", "callbacks", "generators"):  # unknown to the first readers of this version
        if values["features"][name] is None:
            del values["features"][name]
    return {"optimizer": _slots(phases), "training": values}


def optimizer_name(phases: list[PhaseState]) -> str:
    """The name of the optimizer, or those of several phases."""
    return " + ".join(phase.optimizer.rule.label for phase in phases)


def _slots(phases: list[PhaseState]) -> dict[str, np.ndarray]:
    first = phases[0].optimizer.state_dict()
    if len(phases) == 1:
        return first
    whole = {"step": first["step"], "learning_rate": first["learning_rate"]}
    return whole | {
        f"{phase.name}/{key}": value for phase in phases for key, value in phase.optimizer.state_dict().items()
    }


def _split_slots(phases: list[PhaseState], values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Split the slots by phase. Raises StateDictError for an unknown phase."""
    if len(phases) == 1:
        return [values]
    names = [phase.name for phase in phases]
    unexpected = [key for key in values if "/" in key and key.partition("/")[0] not in names]
    if unexpected:
        raise StateDictError(f"the state does not match the phases {', '.join(names)}: unexpected {unexpected[0]}")
    return [
        {key.partition("/")[2]: value for key, value in values.items() if key.startswith(f"{name}/")} for name in names
    ]


def _callback_states(state: TrainState) -> dict[str, Any] | None:
    if state.callbacks is not None:
        return state.callbacks.state_dict() or None
    return state.document and state.document.features.callbacks


def _optional_state(context: TrainContext, state: TrainState, process: bool) -> OptionalState:
    if state.learning_rate is not None:  # a training has begun
        stopping = state.stopping and {**state.stopping.state_dict(), "state": state.best}
        factor = None if state.learning_rate.factor == 1.0 else state.learning_rate.factor
    elif state.document is not None:
        stopping, factor = state.document.features.stopping, state.document.features.rate
    else:
        stopping, factor = None, None
    scalers = {phase.name: phase.scaler.state_dict() for phase in state.phases if phase.scaler}
    names = context.model.class_names
    return OptionalState(
        average=state.averages and state.averages.state_dict(),
        scaling=scalers or None,
        stopping=stopping,
        rate=factor,
        phases=[phase.name for phase in state.phases] if len(state.phases) > 1 else None,
        class_names=None if names is None else list(map(str, names)),
        callbacks=_callback_states(state) if process else None,
        generators=generator_states() if process else None,
    )


def restore(
    context: TrainContext,
    state: TrainState,
    values: Mapping[str, Any],
    load_parameters: Callable[[Module], object],
    name: str,
) -> TrainingDocument:
    """Restore parameters, optimizers, averages, metrics and random states; returns the document of the training.

    ``load_parameters`` changes all parameters or raises; ``name`` is the source of the state in error messages. If anything
    does not match, parameters and optimizers are left unchanged.
    """
    missing = [part for part in ("optimizer", "training") if not isinstance(values.get(part), Mapping)]
    if missing:
        raise FileFormatError(f"{name} is not the state of a training: it has no {missing[0]}")
    document = parse_document(dict(values["training"]), name)
    phases = bind(context, state)
    if document.optimizer != optimizer_name(phases):
        raise ConfigError(
            f"{name} is of a training with {document.optimizer}, the trainer has {optimizer_name(phases)}: give it "
            "the same optimizer, or load only the parameters"
        )
    slots = _split_slots(phases, values["optimizer"])
    for phase, own in zip(phases, slots, strict=True):
        phase.optimizer.check(own)
    for phase in phases:
        scaling = (document.features.scaling or {}).get(phase.name)
        if phase.scaler is not None and scaling is not None:
            phase.scaler.load_state_dict(scaling)
    if state.averages is not None and document.features.average is not None:
        state.averages.load_state_dict(document.features.average)
    _restore_metrics(context, document, name)
    _restore_random_state(context, document, name)
    if document.features.generators is not None:
        set_generator_states(document.features.generators, name)
    load_parameters(context.model)
    if document.features.class_names is not None:
        context.model.class_names = tuple(document.features.class_names)
    for phase, own in zip(phases, slots, strict=True):
        phase.optimizer.load_state_dict(own)
    if state.averages is not None and document.features.average is None:
        state.averages.reset()  # with the parameters that were loaded
    return document


def _restore_metrics(context: TrainContext, document: TrainingDocument, name: str) -> None:
    """Restore the statistics of an incomplete epoch."""
    for key, metric in context.metrics.items():
        metric.reset()
        statistics = document.metrics.get(key)
        if statistics is None:
            continue
        try:
            metric.value(*statistics)
        except Exception as error:  # metrics of the user may raise anything for invalid statistics
            raise FileFormatError(f"{name} has invalid statistics of the metric {key!r}: {error}") from None
        metric.add(copy.deepcopy(statistics))


def _restore_random_state(context: TrainContext, document: TrainingDocument, name: str) -> None:
    backend = dispatch.get(context.model.backend)
    try:
        restored = set_random_state(dataclasses.asdict(document.random), backend.name)
    except ValueError as error:
        raise FileFormatError(f"{name}: {error}") from None
    if not restored:
        entropy = (document.progress.seed, document.progress.step) if document.progress else (0, 0)
        backend.seed(int(np.random.SeedSequence(entropy).generate_state(1)[0]))
        warnings.warn(
            f"{name} was written on {document.backend}, whose random state {backend.name} cannot restore: dropout and "
            "other random operators are reseeded; everything else is restored",
            stacklevel=4,
        )
