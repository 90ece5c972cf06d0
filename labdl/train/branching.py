"""A branch: another run that begins with the exact state of one under way, and goes on beside it with its own copy."""

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
from labdl.runs.eventfile import EVENTS
from labdl.train.events import Event

if TYPE_CHECKING:
    from labdl.train.loop import Loop
    from labdl.train.run import Run
    from labdl.train.trainer import Trainer

_INSTEAD = "keep a checkpoint, and start another training from it with resume="
_LONGEST = 1000  # epochs that a branch tells of the time before it


def begun(run: Run, epochs: int | None, folder: str | Path | None) -> Run:
    """Another run from where this one is, with the turn and at the border between two steps. Raises ConfigError and OSError."""
    target = _place(run.folder, folder)
    try:
        trainer, events = _branched(run.trainer, run._loop, target, epochs)
        save_to = None if run.save_to is None else target / run.save_to.name
        return type(run)(trainer, events, target, save_to, _origin(run, target))
    except BaseException:
        with contextlib.suppress(OSError):  # something lies in it
            target.rmdir()
        raise


def _branched(
    trainer: Trainer, loop: Loop, folder: Path, epochs: int | None
) -> tuple[Trainer, Generator[Event, None, None]]:
    """A copy of a trainer and the events with which it goes on from here, which is the border between two steps.

    Raises ConfigError for what cannot be copied.
    """
    now = loop.progress
    total = loop.epochs if epochs is None else epochs
    if total <= now.epoch or loop._over:
        raise ConfigError(f"a branch wants epochs that are still to come: {now.epoch} of {total} are done; give it epochs= for "
                          "more in all")  # fmt: skip
    memo: dict[int, Any] = {}
    made = _copied(trainer, loop, folder, memo)
    made.load_state_dict(trainer.state_dict())
    events = made.events(loop.loader.dataset, validation=loop.validation, epochs=total, shuffle=now.shuffle,
                         batch_size=now.batch_size // trainer.settings.accumulate, health=loop.health)  # fmt: skip
    assert made.loop is not None
    made.loop.take_course(loop)
    return made, events


def _origin(run: Run, target: Path) -> dict[str, Any]:
    """What the start event of a branch in the folder ``target`` tells of the run that it comes from."""
    now = run._loop.progress
    history = {name: values[-_LONGEST:] for name, values in now.history.items()}
    return {"parent": {"id": run.id, "folder": relative(run.folder, target), "step": now.step},
            **({"history": history} if history else {})}  # fmt: skip


def relative(folder: Path, base: Path) -> str:
    """How a page that knows the folder ``base`` finds another one."""
    try:
        return Path(os.path.relpath(folder.resolve(), base.resolve())).as_posix()
    except ValueError:  # on another drive
        return folder.resolve().as_posix()


def _place(parent: Path, folder: str | Path | None) -> Path:
    """An empty folder for a branch: the one given, or the first beside the parent's that is free. Raises ConfigError."""
    if folder is not None:
        if (Path(folder) / EVENTS).exists():
            raise ConfigError(f"{folder} holds a run already: give the branch another folder=")
        Path(folder).mkdir(parents=True, exist_ok=True)
        return Path(folder)
    n = 0
    while True:
        n += 1
        made = parent.with_name(f"{parent.name}-branch-{n}")
        try:
            made.mkdir(parents=True)
        except FileExistsError:
            continue
        return made


# -- copies


def _copied(trainer: Trainer, loop: Loop, folder: Path, memo: dict[int, Any]) -> Trainer:
    """A trainer like this one, of a copy of its model, and with nothing done yet."""
    from labdl.train.trainer import Trainer

    own = type(trainer)
    if own.__init__ is not Trainer.__init__:
        raise ConfigError(f"{own.__name__} has a constructor of its own, so that no like of it can be made: {_INSTEAD}")
    model = _model(trainer.model, "the model", memo)
    loss: Any = trainer.loss_function
    loss = _model(loss, "the loss", memo) if isinstance(loss, Module) else _checked(loss, "the loss")
    kept = loop.checkpoint and dataclasses.replace(loop.checkpoint, folder=folder / "checkpoints")
    settings = {f.name: getattr(trainer.settings, f.name) for f in dataclasses.fields(trainer.settings)}
    settings.update(stopping=copy.deepcopy(loop.stopping), checkpoint=kept, output_dir=None)
    made = own(model, loss=loss, optimizer=trainer.optimizer, backend=trainer.model.backend, compiled=trainer.compiled,
               seed=trainer.seed, schedule=trainer.schedule, **settings)  # fmt: skip
    made.loss_name = trainer.loss_name
    memo.update({id(trainer): made, id(trainer.engine): made.engine})
    for metric in trainer.metrics.values():
        _checked(getattr(metric, "function", None), "a metric")
    made.metrics = _deep(trainer.metrics, "a metric", memo)
    for name in vars(trainer).keys() - vars(made).keys():
        setattr(made, name, _deep(getattr(trainer, name), f"{own.__name__}.{name}", memo))
    return made


def _model(model: Module, name: str, memo: dict[int, Any]) -> Module:
    """A copy with variables of its own, which have the same values."""
    for path, module in model.named_modules():
        where = f"{name}'s {path}" if path else name
        if isinstance(module.__dict__.get("forward"), Hooks):
            raise ConfigError(f"{where} has hooks, which know this model alone: remove them, or {_INSTEAD}")
        for value in module.__dict__.values():
            if isinstance(value, FunctionType):  # a method of the model goes with it
                _checked(value, where)
            elif isinstance(value, ModuleType):  # a backend, as modules of a framework hold it
                memo[id(value)] = value
        memo[id(module.__dict__.get("_called"))] = None  # inputs of the last call, for `Module.backward`
    memo.pop(id(None), None)
    for parameter in _parameters(model):
        if parameter.value is not None:
            memo[id(parameter.value)] = _variable(parameter)
        if parameter.gradient is not None:
            memo[id(parameter.gradient)] = None
    made = _deep(model, name, memo)
    Parameter.changes += 1
    return made


def _parameters(model: Module) -> Iterator[Parameter]:
    for module in model.modules():
        yield from module._parameters.values()


def _variable(parameter: Parameter) -> Any:
    backend = dispatch.owner(parameter.value)
    array = np.array(backend.to_numpy(parameter.value)).astype(parameter.array_dtype, copy=False)
    made = backend.variable(np.asarray(array, order=parameter.order), parameter.learnable)
    device = backend.device_of(parameter.value)
    if backend.device_of(made) != device:
        made = backend.move_variable(made, device)
    if parameter.learnable and not parameter.trainable:
        backend.set_trainable(made, False)
    return made


def _deep(value: Any, name: str, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except Exception as error:  # whatever an object, perhaps the user's own, says of being copied
        raise ConfigError(f"{name} cannot be copied ({type(error).__name__}: {error}): {_INSTEAD}") from error


def _checked(value: Any, name: str) -> Any:
    """The value, unless it is a function that holds on to a model: its copy would compute with the parent's parameters."""
    if isinstance(value, MethodType):
        held: list[Any] = [value.__self__]
    elif isinstance(value, FunctionType):
        held = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
        held += [value.__globals__.get(word) for word in value.__code__.co_names]
    else:
        return value
    if any(isinstance(v, Module | Parameter) for v in held):
        raise ConfigError(f"{name} is computed by {value.__qualname__}, which holds on to a model of its own accord, so that "
                          f"a branch would train with this run's: {_INSTEAD}")  # fmt: skip
    return value


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - asking is the test
    except ValueError:
        return False
    return True
