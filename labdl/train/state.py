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
from labdl.errors import ConfigError, FileFormatError
from labdl.nn.module import Module
from labdl.ops.random import random_state, set_random_state
from labdl.train.progress import VERSION, Document, Randomness, document

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer


def collect(trainer: Trainer) -> dict[str, Any]:
    """All but the parameters: ``optimizer``, the slots as arrays, and ``training``, plain data and arrays."""
    bound = trainer._bind()
    model, loop, former, progress = trainer.model, trainer._loop, trainer._former, trainer.progress
    schedule, memory = (former.schedule, former.memory) if former else (None, {})
    if loop and loop.plan:
        schedule, memory = loop.plan.schedule.kind, loop.plan.schedule.state_dict()
    told = Document(
        format="labdl training", version=VERSION, labdl=sys.modules["labdl"].__version__, backend=str(model.backend),
        model=type(model).__name__, loss=trainer.loss_name, optimizer=trainer.optimizer.kind,
        settings=trainer.optimizer.settings(), schedule=schedule, memory=memory,
        # those of an epoch that has ended are not needed any more
        metrics={name: metric.seen if progress and progress.batch else None for name, metric in trainer.metrics.items()},
        progress=progress, random=Randomness(**random_state(model.backend)), monitored=None,
    )  # fmt: skip
    return {"optimizer": bound.state_dict(), "training": dataclasses.asdict(told)}


def restore(trainer: Trainer, state: Mapping[str, Any], put_parameters: Callable[[Module], object], name: str) -> None:
    """Take up a training; ``put_parameters`` changes them all or raises, ``name`` is where the state comes from.

    Where anything does not fit, parameters and optimiser stay as they were.
    """
    missing = [part for part in ("optimizer", "training") if not isinstance(state.get(part), Mapping)]
    if missing:
        raise FileFormatError(f"{name} is no state of a training: it has no {missing[0]}")
    told = document(dict(state["training"]), name)
    if told.optimizer != trainer.optimizer.kind:
        raise ConfigError(f"{name} is of a training with {told.optimizer}, the trainer has {trainer.optimizer.kind}: give it "
                          "the optimizer it began with, or load the parameters alone")  # fmt: skip
    bound = trainer._bind()
    bound.check(state["optimizer"])
    _restore_metrics(trainer, told, name)
    _restore_random(trainer, told, name)
    put_parameters(trainer.model)
    bound.load_state_dict(state["optimizer"])
    trainer._former, trainer._loop = told, None


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
