"""Checkpoint folders: the whole state of a training on the disk, from which a training that was killed goes on (R6.6).

``folder/step-00001234/`` holds ``model.npz`` (parameters under standard names) and, where the model can be a graph,
``model.labdl``, so that ``labdl.load(".../model")`` opens it; ``optimizer.npz`` (``step``, ``learning_rate`` and each
``<parameter>/<slot>``); ``state.json``, and ``state.npz`` with the arrays that it names. All of it is data, of any backend.
"""

from __future__ import annotations

import dataclasses
import os
import re
import secrets
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labdl.errors import ConfigError, FileFormatError
from labdl.graph import as_graph
from labdl.nn.parameter import Parameter
from labdl.saving import encode as encode_structure
from labdl.saving import load_parameters, save_parameters, swap_parameters
from labdl.saving.atomic import flush_folder
from labdl.train import plain
from labdl.train.progress import Monitored, document
from labdl.train.schedules.base import watched
from labdl.train.state import collect, restore

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

_NAME = re.compile(r"step-(\d{8,})(?:-(\d+))?")
_PART = re.compile(r"\.step-[\d-]+\.[0-9a-f]{8}\.part")
_STATE = "state.json"
_LARGEST = 2**28  # bytes of state.json: more than any history has
_writing = threading.Lock()  # so that a part that is found was left behind, by a process that is no more


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Keeps the state of a training in a folder: the last ones, and the best.

    ``every`` is "epoch" or a number of steps, and the end of the training counts always; ``keep`` is how many of the last
    ones stay, None for all. With ``monitor``, a figure of an epoch such as "val_loss", the best so far by ``mode`` ("min" or
    "max") is kept besides, and is written at the end of its epoch whatever ``every`` says. A folder belongs to one training.
    """

    folder: str | Path
    every: Literal["epoch"] | int = "epoch"
    keep: int | None = 3
    monitor: str | None = None
    mode: Literal["min", "max"] = "min"

    def __post_init__(self):
        if not isinstance(self.folder, str | Path) or not str(self.folder):
            raise ConfigError(f"Checkpoint: folder wants a path, received {self.folder!r}")
        if self.every != "epoch" and not _counts(self.every):
            raise ConfigError(
                f"Checkpoint: every wants 'epoch' or a number of steps at least 1, received {self.every!r}"
            )
        if self.keep is not None and not _counts(self.keep):
            raise ConfigError(f"Checkpoint: keep wants a number at least 1, or None for all, received {self.keep!r}")
        if self.mode not in ("min", "max"):
            raise ConfigError(f"Checkpoint: mode wants 'min' or 'max', received {self.mode!r}")

    @property
    def latest(self) -> Path | None:
        """The newest checkpoint, None if there is none."""
        return latest(self.folder)

    @property
    def best(self) -> Path | None:
        """The best checkpoint by the monitored figure, None if there is none."""
        return best(self.folder)

    def save(self, trainer: Trainer, values: Mapping[str, float] | None = None) -> Path:
        """Write a checkpoint now, with the figures of the epoch that ends, and remove those that need not stay."""
        monitored = None
        if self.monitor is not None and values is not None:
            monitored = Monitored(self.monitor, self.mode, float(watched(self, self.monitor, values)))
        made = save(trainer, self.folder, monitored=monitored)
        if self.keep is not None:
            kept = {*checkpoints(self.folder)[-self.keep :], made, best(self.folder)}
            for path in checkpoints(self.folder):
                if path not in kept:
                    _remove(path)
        return made

    def stepped(self, trainer: Trainer) -> None:
        """After a step within an epoch."""
        if self._due(trainer):
            self.save(trainer)

    def ended(self, trainer: Trainer, values: Mapping[str, float], *, last: bool = False) -> None:
        """After an epoch with these figures, the last one of the training perhaps."""
        if last or self.every == "epoch" or self._due(trainer) or self._better(values):
            self.save(trainer, values)

    def _due(self, trainer: Trainer) -> bool:
        return self.every != "epoch" and trainer.progress is not None and trainer.progress.step % self.every == 0

    def _better(self, values: Mapping[str, float]) -> bool:
        if self.monitor is None:
            return False
        found = best(self.folder)
        former = None if found is None else _monitored(found)
        return _ahead(watched(self, self.monitor, values), former.value if former else None, self.mode)


def save(trainer: Trainer, folder: str | Path, *, monitored: Monitored | None = None) -> Path:
    """Write the state of a training to a new checkpoint in the folder, and return its path.

    It appears whole or not at all: until everything is on the disk it has a hidden name, and what a crash has left under one
    is removed by the next call.
    """
    folder, state = Path(folder), collect(trainer)
    training = {**state["training"], "monitored": monitored and dataclasses.asdict(monitored)}
    text, arrays = plain.encode(training)
    encoded = structure(trainer)
    step = (training["progress"] or {}).get("step", int(state["optimizer"]["step"]))
    folder.mkdir(parents=True, exist_ok=True)
    with _writing:
        _clean(folder)
        part = folder / f".step-{step:08d}.{secrets.token_hex(4)}.part"
        part.mkdir()
        try:
            save_parameters(trainer.model, part / "model.npz")
            if encoded is not None:
                _write(part / "model.labdl", encoded)
            save_parameters(state["optimizer"], part / "optimizer.npz")
            save_parameters(arrays, part / "state.npz")
            _write(part / _STATE, text.encode())
            flush_folder(part)
            target = _free(folder, step)
            os.rename(part, target)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        flush_folder(folder)
    return target


def load(trainer: Trainer, path: str | Path) -> None:
    """Take up the training of a checkpoint: the next `Trainer.fit`, `start` or `events` goes on with it.

    Raises FileFormatError for a broken one, StateDictError and ConfigError for that of another model or optimiser. Warns where
    the random numbers of another backend cannot be taken over.
    """
    path = Path(path)
    training = plain.decode(_text(path), _arrays(path, "state"), f"{path}/{_STATE}")
    values = {"optimizer": _arrays(path, "optimizer"), "training": training}
    parameters = _there(path / "model.npz")
    restore(trainer, values, lambda model: swap_parameters(model, parameters), str(path))


def checkpoints(folder: str | Path) -> list[Path]:
    """The checkpoints in a folder, the newest last."""
    found = []
    for path in Path(folder).glob("step-*"):
        name = _NAME.fullmatch(path.name)
        if name and (path / _STATE).is_file():
            found.append(((int(name[1]), int(name[2] or 0)), path))
    return [path for _, path in sorted(found)]


def latest(folder: str | Path) -> Path | None:
    """The newest checkpoint in a folder, None if there is none."""
    return next(reversed(checkpoints(folder)), None)


def best(folder: str | Path) -> Path | None:
    """The best checkpoint in a folder by the figure that the newest one with a figure was measured by; the first of equals."""
    measured = []
    for path in checkpoints(folder):
        try:
            figure = _monitored(path)
        except FileFormatError:
            continue  # what is broken is not the best; who loads it is told
        if figure is not None:
            measured.append((path, figure))
    found, value = None, None
    for path, m in measured:
        rule = measured[-1][1]
        if (m.name, m.mode) == (rule.name, rule.mode) and _ahead(m.value, value, m.mode):
            found, value = path, m.value
    return found


def source(resume: bool | str | Path | None, checkpoint: Checkpoint | None) -> Path | None:
    """The checkpoint to go on from, None for a new training. Raises ConfigError and FileNotFoundError."""
    newest = None if checkpoint is None else checkpoint.latest
    found = None
    if resume is True:
        if checkpoint is None:
            raise ConfigError(
                "resume=True wants a checkpoint=labdl.train.Checkpoint(folder), or give the folder: resume=folder"
            )
        found = newest
    elif resume:
        found = Path(resume) if (Path(resume) / _STATE).is_file() else latest(resume)
        if found is None:
            raise FileNotFoundError(
                f"{resume} holds no checkpoint: it wants folders named step-… as Checkpoint writes them"
            )
    if newest is not None and (found is None or found.resolve() != newest.resolve()):
        raise ConfigError(f"{newest.parent} holds checkpoints up to {newest.name} already: give resume=True to go on from "
                          "there, or Checkpoint another folder")  # fmt: skip
    return found


def structure(trainer: Trainer) -> bytes | None:
    """The structure file, None for a model that cannot be a graph; made again when a layer has changed."""
    made = trainer.structure
    if made is None or made[0] != Parameter.changes:
        try:
            data = encode_structure(as_graph(trainer.model))
        except (
            Exception
        ):  # a forward, perhaps the user's own, that has no use for symbols; the parameters are enough to go on
            data = None
        made = trainer.structure = (Parameter.changes, data)
    return made[1]


# -- inside


def _counts(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _ahead(value: float, former: float | None, mode: str) -> bool:
    """Whether a figure is better; NaN never is."""
    if value != value:
        return False
    return former is None or (value < former if mode == "min" else value > former)


def _monitored(path: Path) -> Monitored | None:
    """The figure of a checkpoint, read without its arrays."""
    told = plain.decode(_text(path), None, f"{path}/{_STATE}")
    given = told.get("monitored") if isinstance(told, dict) else None
    return document(told, f"{path}/{_STATE}").monitored if given is not None else None


def _text(path: Path) -> bytes:
    file = _there(path / _STATE)
    if file.stat().st_size > _LARGEST:
        raise FileFormatError(f"{file} is larger than any state and is not read")
    return file.read_bytes()


def _arrays(path: Path, name: str) -> dict[str, Any]:
    return load_parameters(_there(path / f"{name}.npz"))


def _there(file: Path) -> Path:
    if not file.is_file():
        raise FileFormatError(f"{file.parent} is no whole checkpoint: it has no file {file.name}")
    return file


def _free(folder: Path, step: int) -> Path:
    """A name behind those of the same step that are there: nothing is ever written over."""
    taken = [name for path in folder.glob(f"step-{step:08d}*") if (name := _NAME.fullmatch(path.name))]
    n = max((int(name[2] or 1) for name in taken if int(name[1]) == step), default=0) + 1
    return folder / f"step-{step:08d}{f'-{n}' if n > 1 else ''}"


def _write(path: Path, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    """Under a hidden name first, so that a crash leaves no half of it."""
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    os.rename(path, hidden)
    shutil.rmtree(hidden, ignore_errors=True)


def _clean(folder: Path) -> None:
    for path in folder.glob(".step-*.part"):
        if _PART.fullmatch(path.name) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
