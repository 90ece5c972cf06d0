"""The whole state of a training as plain data and arrays: taken from a trainer, and put into one, on any backend."""

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
from labdl.ops.random import random_state, set_random_state
from labdl.train.progress import VERSION, Document, Features, Randomness, document

if TYPE_CHECKING:
    from labdl.train.step import Work
    from labdl.train.trainer import Trainer


def collect(trainer: Trainer) -> dict[str, Any]:
    """All but the parameters: ``optimizer``, the slots as arrays, and ``training``, plain data and arrays."""
    works = trainer.engine.bind()
    model, loop, former, progress = trainer.model, trainer.loop, trainer.former, trainer.progress
    schedule, memory = (former.schedule, former.memory) if former else (None, {})
    if loop and loop.plan:
        schedule, memory = loop.plan.schedule.kind, loop.plan.schedule.state_dict()
    told = Document(
        format="labdl training", version=VERSION, labdl=sys.modules["labdl"].__version__, backend=str(model.backend),
        model=type(model).__name__, loss=trainer.loss_name, optimizer=kind_of(works),
        settings=works[0].optimizer.rule.settings(), schedule=schedule, memory=memory,
        # those of an epoch that has ended are not needed any more
        metrics={name: metric.seen if progress and progress.batch else None for name, metric in trainer.metrics.items()},
        progress=progress, random=Randomness(**random_state(model.backend)), monitored=None, features=_features(trainer),
    )  # fmt: skip
    return {"optimizer": _slots(works), "training": dataclasses.asdict(told)}


def kind_of(works: list[Work]) -> str:
    """What the optimiser is called, or those of several phases."""
    return " + ".join(work.optimizer.rule.kind for work in works)


def _slots(works: list[Work]) -> dict[str, np.ndarray]:
    first = works[0].optimizer.state_dict()
    if len(works) == 1:
        return first
    whole = {"step": first["step"], "learning_rate": first["learning_rate"]}
    return whole | {
        f"{work.phase.name}/{key}": value for work in works for key, value in work.optimizer.state_dict().items()
    }


def _slots_of(works: list[Work], values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """For each phase what is its own. Raises StateDictError for what is nobody's."""
    if len(works) == 1:
        return [values]
    names = [work.phase.name for work in works]
    strange = [key for key in values if "/" in key and key.partition("/")[0] not in names]
    if strange:
        raise StateDictError(f"the state does not match the phases {', '.join(names)}: unexpected {strange[0]}")
    return [
        {key.partition("/")[2]: value for key, value in values.items() if key.startswith(f"{name}/")} for name in names
    ]


def _features(trainer: Trainer) -> Features:
    engine, former = trainer.engine, trainer.former
    stopping, rate = trainer.loop.memory() if trainer.loop else (former.features.stopping, former.features.rate) if former \
        else (None, None)  # fmt: skip
    scalers = {work.phase.name: work.scaler.state_dict() for work in engine.works if work.scaler}
    return Features(engine.averages and engine.averages.state_dict(), scalers or None, stopping, rate,
                    [work.phase.name for work in engine.works] if len(engine.works) > 1 else None)  # fmt: skip


def restore(trainer: Trainer, state: Mapping[str, Any], put_parameters: Callable[[Module], object], name: str) -> None:
    """Take up a training; ``put_parameters`` changes them all or raises, ``name`` is where the state comes from.

    Where anything does not fit, parameters and optimiser stay as they were.
    """
    missing = [part for part in ("optimizer", "training") if not isinstance(state.get(part), Mapping)]
    if missing:
        raise FileFormatError(f"{name} is no state of a training: it has no {missing[0]}")
    told = document(dict(state["training"]), name)
    works = trainer.engine.bind()
    if told.optimizer != kind_of(works):
        raise ConfigError(f"{name} is of a training with {told.optimizer}, the trainer has {kind_of(works)}: give it "
                          "the optimizer it began with, or load the parameters alone")  # fmt: skip
    slots = _slots_of(works, state["optimizer"])
    for work, own in zip(works, slots, strict=True):
        work.optimizer.check(own)
    _restore_features(trainer, told)
    _restore_metrics(trainer, told, name)
    _restore_random(trainer, told, name)
    put_parameters(trainer.model)
    for work, own in zip(works, slots, strict=True):
        work.optimizer.load_state_dict(own)
    if trainer.engine.averages is not None and told.features.average is None:
        trainer.engine.averages.begin()  # with the parameters that were loaded
    trainer.former, trainer.loop = told, None


def _restore_features(trainer: Trainer, told: Document) -> None:
    engine, features = trainer.engine, told.features
    for work in engine.works:
        scaling = (features.scaling or {}).get(work.phase.name)
        if work.scaler is not None and scaling is not None:
            work.scaler.load_state_dict(scaling)
    if engine.averages is not None and features.average is not None:
        engine.averages.load_state_dict(features.average)


def _restore_metrics(trainer: Trainer, told: Document, name: str) -> None:
    """The statistics of the epoch under way."""
    for key, metric in trainer.metrics.items():
        metric.reset()
        statistics = told.metrics.get(key)
        if statistics is None:
            continue
        try:
            metric.value(*statistics)
        except Exception as error:  # whatever a metric, perhaps the user's own, says of numbers that are not its own
            raise FileFormatError(f"{name} holds no statistics of the metric {key!r}: {error}") from None
        metric.add(copy.deepcopy(statistics))


def _restore_random(trainer: Trainer, told: Document, name: str) -> None:
    backend = dispatch.get(trainer.model.backend)
    try:
        known = set_random_state(dataclasses.asdict(told.random), backend.name)
    except ValueError as error:
        raise FileFormatError(f"{name}: {error}") from None
    if not known:
        begun = (told.progress.seed, told.progress.step) if told.progress else (0, 0)
        backend.seed(int(np.random.SeedSequence(begun).generate_state(1)[0]))
        warnings.warn(f"{name} was written on {told.backend}, whose random numbers {backend.name} cannot go on with: dropout "
                      "and the like are seeded anew, all else goes on", stacklevel=4)  # fmt: skip
