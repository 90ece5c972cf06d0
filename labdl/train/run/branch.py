"""Branches of a run: a copy of its trainer that continues from the exact state of the run."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError
from labdl.nn.hooks import Hooks
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.runs.reading.event_file import EVENTS
from labdl.train.events import Event

if TYPE_CHECKING:
    from labdl.train.loop import Loop
    from labdl.train.progress import Progress
    from labdl.train.trainer import Trainer

_INSTEAD = "save a checkpoint and start another training from it with resume="
_LONGEST = 1000  # epochs of the history before the branch


def branch_trainer(
    trainer: Trainer, loop: Loop, folder: Path, epochs: int | None
) -> tuple[Trainer, Generator[Event, None, None]]:
    """Copy a trainer between two steps; returns the copy and the events of its training to ``epochs`` epochs in total.

    Raises ConfigError for a trainer that cannot be copied.
    """
    now = loop.progress
    total = loop.epochs if epochs is None else epochs
    if total <= now.epoch or loop.should_stop:
        raise ConfigError(f"a branch wants more epochs: {now.epoch} of {total} are complete; give it a larger epochs=")
    clone = _copy_trainer(trainer, loop, folder, {})
    clone.load_state_dict(trainer.state_dict())
    size = now.batch_size // trainer.settings.accumulate
    train, options = loop.loader.dataset, {"shuffle": now.shuffle, "batch_size": size}
    options["steps_per_epoch"] = loop.limits.steps_per_epoch
    if loop.own_loader:
        train, options = loop.loader.replace(train, batch_size=size), {}
    events = clone.events(train, validation=loop.validation, epochs=total, health=loop.health, **options)
    assert clone.loop is not None
    clone.loop.copy_schedule(loop)
    return clone, events


def branch_origin(parent: str, folder: Path, target: Path, progress: Progress) -> dict[str, Any]:
    """Fields of the start event of a branch about its parent: id, folder and history."""
    history = {name: values[-_LONGEST:] for name, values in progress.history.items()}
    return {
        "parent": {"id": parent, "folder": relative(folder, target), "step": progress.step},
        **({"history": history} if history else {}),
    }


@contextlib.contextmanager
def branch_folder(parent: Path, folder: str | Path | None) -> Iterator[Path]:
    """A context with a folder for a branch, the given one or a new one next to the parent's, removed again after an error.

    Raises ConfigError for a folder that has a run.
    """
    target = _make_folder(parent, folder)
    try:
        yield target
    except BaseException:
        with contextlib.suppress(OSError):  # it is not empty
            target.rmdir()
        raise


def relative(folder: Path, base: Path) -> str:
    """The path of a folder relative to ``base``, for links."""
    try:
        return Path(os.path.relpath(folder.resolve(), base.resolve())).as_posix()
    except ValueError:  # on another drive
        return folder.resolve().as_posix()


def _make_folder(parent: Path, folder: str | Path | None) -> Path:
    if folder is not None:
        if (Path(folder) / EVENTS).exists():
            raise ConfigError(f"{folder} already has a run: give the branch another folder=")
        Path(folder).mkdir(parents=True, exist_ok=True)
        return Path(folder)
    n = 0
    while True:
        n += 1
        target = parent.with_name(f"{parent.name}-branch-{n}")
        try:
            target.mkdir(parents=True)
        except FileExistsError:
            continue
        return target


# -- copies


def _copy_trainer(trainer: Trainer, loop: Loop, folder: Path, memo: dict[int, Any]) -> Trainer:
    """Create a trainer with the same settings and a copy of the model; ``memo`` is that of `copy.deepcopy`."""
    own, context = type(trainer), trainer.context
    if "__init__" in context.overridden:
        raise ConfigError(f"{own.__name__} overrides __init__ and cannot be copied: {_INSTEAD}")
    model = _copy_model(context.model, "the model", memo)
    loss: Any = context.loss_function
    loss = _copy_model(loss, "the loss", memo) if isinstance(loss, Module) else _check_function(loss, "the loss")
    checkpoint = loop.checkpoint and dataclasses.replace(loop.checkpoint, folder=folder / "checkpoints")
    settings = {f.name: getattr(context.settings, f.name) for f in dataclasses.fields(context.settings)}
    settings.update(stopping=copy.deepcopy(loop.stopping), checkpoint=checkpoint, output_dir=None)
    clone = own(
        model,
        loss=loss,
        optimizer=context.optimizer,
        backend=context.model.backend,
        compiled=context.compiled,
        seed=context.seed,
        schedule=context.schedule,
        **settings,
    )
    for metric in context.metrics.values():
        _check_function(getattr(metric, "function", None), "a metric")
    memo.update({id(trainer): clone, id(trainer.state): clone.state})
    metrics = _deepcopy(context.metrics, "a metric", memo)
    clone.context = dataclasses.replace(clone.context, loss_name=context.loss_name, metrics=metrics)
    memo[id(context)] = clone.context
    for name in vars(trainer).keys() - vars(clone).keys():
        setattr(clone, name, _deepcopy(getattr(trainer, name), f"{own.__name__}.{name}", memo))
    return clone


def _copy_model(model: Module, name: str, memo: dict[int, Any]) -> Module:
    """Copy a model with new variables of the same values."""
    for path, module in model.named_modules():
        where = f"{name}'s {path}" if path else name
        if isinstance(module.__dict__.get("forward"), Hooks):
            raise ConfigError(f"{where} has hooks, which cannot be copied: remove them, or {_INSTEAD}")
        for value in module.__dict__.values():
            if isinstance(value, FunctionType):  # methods are copied with the model
                _check_function(value, where)
            elif isinstance(value, ModuleType):  # a backend, in modules of a framework
                memo[id(value)] = value
        memo[id(module.__dict__.get("_called"))] = None  # inputs of the last call, for `Module.backward`
    memo.pop(id(None), None)
    for parameter in _parameters(model):
        if parameter.value is not None:
            memo[id(parameter.value)] = _copy_variable(parameter)
        if parameter.gradient is not None:
            memo[id(parameter.gradient)] = None
    clone = _deepcopy(model, name, memo)
    Parameter.changes += 1
    return clone


def _parameters(model: Module) -> Iterator[Parameter]:
    for module in model.modules():
        yield from module._parameters.values()


def _copy_variable(parameter: Parameter) -> Any:
    backend = dispatch.owner(parameter.value)
    array = np.array(backend.to_numpy(parameter.value)).astype(parameter.array_dtype, copy=False)
    variable = backend.variable(np.asarray(array, order=parameter.order), parameter.learnable)
    device = backend.device_of(parameter.value)
    if backend.device_of(variable) != device:
        variable = backend.move_variable(variable, device)
    if parameter.learnable and not parameter.trainable:
        backend.set_trainable(variable, False)
    return variable


def _deepcopy(value: Any, name: str, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except Exception as error:  # objects of the user may raise anything when they are copied
        raise ConfigError(f"{name} cannot be copied ({type(error).__name__}: {error}): {_INSTEAD}") from error


def _check_function(value: Any, name: str) -> Any:
    """Return the value. Raises ConfigError for a function that refers to a model, as it would use that of the parent."""
    if isinstance(value, MethodType):
        references: list[Any] = [value.__self__]
    elif isinstance(value, FunctionType):
        references = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        references += [value.__globals__.get(word) for word in value.__code__.co_names]
    else:
        return value
    if any(isinstance(v, Module | Parameter) for v in references):
        raise ConfigError(
            f"{name} is computed by {value.__qualname__}, which refers to a model, so that a branch would use the model "
            f"of this run: {_INSTEAD}"
        )
    return value


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - raises for an empty cell
    except ValueError:
        return False
    return True
