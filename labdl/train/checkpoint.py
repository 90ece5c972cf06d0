"""Checkpoint folders: the complete state of a training on disk, from which it can be resumed.

``folder/step-00001234/`` holds ``model.npz`` (parameters under standard names) and, where the model can be a graph,
``model.labdl``, so that ``labdl.load(".../model")`` opens it; ``optimizer.npz`` (``step``, ``learning_rate`` and each
``<parameter>/<slot>``); ``state.json``, and ``state.npz`` with the arrays that it names. The files contain only data and do
not depend on the backend.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import re
import secrets
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labdl.bounded.atomic_write import flush_folder
from labdl.bounded.files import read_file
from labdl.errors import ConfigError, FileFormatError
from labdl.graph import as_graph
from labdl.nn.parameter import Parameter
from labdl.saving import encode as encode_structure
from labdl.saving import load_parameters, save_parameters, swap_parameters
from labdl.settings import set_plain_numbers
from labdl.train import pytree, state_dict
from labdl.train.aliases import CHECKPOINT, accept_other_names
from labdl.train.directions import Direction, Mode, Monitor, find_direction, monitored_value
from labdl.train.progress import MonitoredValue, Progress, TrainingDocument, parse_document

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.state import TrainState

_NAME = re.compile(r"step-(\d{8,})(?:-(\d+))?")
log = logging.getLogger(__name__)
_PART = re.compile(r"\.step-[\d-]+\.[0-9a-f]{8}\.part")
_STATE = "state.json"
_LARGEST = 2**26  # bytes of state.json, far above the size of any history
_write_lock = threading.Lock()  # one writer at a time, so that partial folders are those of killed processes


@accept_other_names("setting of Checkpoint", CHECKPOINT)
@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Saves checkpoints of a training in a folder: the last ones, and the best.

    ``every`` is "epoch" or a number of steps; the end of the training is always saved. ``keep`` is the number of the last
    checkpoints that are kept, None for all. With ``monitor``, a value of an epoch such as "val_loss", the best checkpoint is
    kept as well, and written at the end of its epoch independently of ``every``. ``mode`` says whether the lowest value is the
    best, "min", or the highest, "max"; "auto" takes it from the metric, and a value of your own wants "min" or "max". A folder
    belongs to one training.
    """

    folder: str | Path
    every: Literal["epoch"] | int = "epoch"
    keep: int | None = 3
    monitor: str | None = None
    mode: Mode = "auto"

    def __post_init__(self):
        set_plain_numbers(self)
        if not isinstance(self.folder, str | Path) or not str(self.folder):
            raise ConfigError(f"Checkpoint: folder wants a path, received {self.folder!r}")
        if self.every != "epoch" and not _is_count(self.every):
            raise ConfigError(
                f"Checkpoint: every wants 'epoch' or a number of steps at least 1, received {self.every!r}"
            )
        if self.keep is not None and not _is_count(self.keep):
            raise ConfigError(f"Checkpoint: keep wants a number at least 1, or None for all, received {self.keep!r}")
        if self.mode not in ("auto", "min", "max"):
            raise ConfigError(f"Checkpoint: mode wants 'auto', 'min' or 'max', received {self.mode!r}")

    @property
    def latest(self) -> Path | None:
        """The newest checkpoint, None if there is none."""
        return latest(self.folder)

    @property
    def best(self) -> Path | None:
        """The best checkpoint by the monitored value, None if there is none."""
        return best(self.folder)

    def save(self, context: TrainContext, state: TrainState, values: Mapping[str, float] | None = None) -> Path:
        """Write a checkpoint now, with the values of the epoch at its end, and remove old ones."""
        monitored = None
        if self.monitor is not None and values is not None:
            value = float(monitored_value(self, self.monitor, values))
            monitored = MonitoredValue(self.monitor, self._direction(context), value)
        if state.last_checkpoint is not None and not state.last_checkpoint.exists():
            log.warning(
                "%s was deleted while the training was active: its checkpoints are lost, and new ones are written",
                self.folder,
            )
        path = state.last_checkpoint = save(context, state, self.folder, monitored=monitored)
        if self.keep is not None:
            kept = {*checkpoints(self.folder)[-self.keep :], path, best(self.folder)}
            for other in checkpoints(self.folder):
                if other not in kept:
                    remove(other)
        return path

    def save_after_step(self, context: TrainContext, state: TrainState) -> Path | None:
        """Write a checkpoint after a step if one is due, and return its path."""
        return self.save(context, state) if self._due(state) else None

    def save_after_epoch(
        self, context: TrainContext, state: TrainState, values: Mapping[str, float] | None, *, last: bool = False
    ) -> Path | None:
        """Write a checkpoint at the end of an epoch if one is due, and return its path; the ``last`` epoch is always saved.

        ``values`` are those of the epoch, or None where the monitored one was not measured.
        """
        improves = values is not None and self._improves(context, values)
        due = last or self.every == "epoch" or self._due(state) or improves
        return self.save(context, state, values) if due else None

    def save_if_better(self, context: TrainContext, state: TrainState, values: Mapping[str, float]) -> Path | None:
        """Write a checkpoint after a validation within an epoch if the monitored value improves, and return its path."""
        return self.save(context, state, values) if self.monitor in values and self._improves(context, values) else None

    def _due(self, state: TrainState) -> bool:
        return self.every != "epoch" and state.progress is not None and state.progress.step % self.every == 0

    def _improves(self, context: TrainContext, values: Mapping[str, float]) -> bool:
        if self.monitor is None:
            return False
        path = best(self.folder)
        former = None if path is None else _read_monitored(path)
        value = monitored_value(self, self.monitor, values)
        return _is_better(value, former.value if former else None, self._direction(context))

    @property
    def monitoring(self) -> Monitor | None:
        """The value that is monitored, and in which mode."""
        return None if self.monitor is None else Monitor("Checkpoint", self.monitor, self.mode)

    def _direction(self, context: TrainContext) -> Direction:
        assert self.monitoring is not None
        return find_direction(self.monitoring, context.metrics)


def save(
    context: TrainContext, state: TrainState, folder: str | Path, *, monitored: MonitoredValue | None = None
) -> Path:
    """Write the state of a training to a new checkpoint in the folder, and return its path.

    The checkpoint is written under a hidden name and renamed when it is complete. Hidden folders left by a crash are removed
    by the next call.
    """
    folder, values = Path(folder), state_dict.training_state(context, state)
    training: dict[str, Any] = {**values["training"], "monitored": monitored and dataclasses.asdict(monitored)}
    text, arrays = pytree.encode(training)
    structure = encode_model(context, state)
    step = (training["progress"] or {}).get("step", int(values["optimizer"]["step"]))
    folder.mkdir(parents=True, exist_ok=True)
    with _write_lock:
        _clean(folder)
        part = folder / f".step-{step:08d}.{secrets.token_hex(4)}.part"
        part.mkdir()
        try:
            save_parameters(context.model, part / "model.npz")
            if structure is not None:
                _write(part / "model.labdl", structure)
            save_parameters(values["optimizer"], part / "optimizer.npz")
            save_parameters(arrays, part / "state.npz")
            _write(part / _STATE, text.encode())
            flush_folder(part)
            target = _unused_name(folder, step)
            os.rename(part, target)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        flush_folder(folder)
    return target


def restore(context: TrainContext, state: TrainState, path: str | Path) -> TrainingDocument:
    """Restore parameters, optimizers and the rest of a checkpoint; see `labdl.train.state_dict.restore`.

    Raises FileFormatError for a broken checkpoint, StateDictError and ConfigError for one of another model or optimizer. Warns
    if the random number generator of another backend cannot be restored.
    """
    path = Path(path)
    training = pytree.decode(_read_state(path), _read_arrays(path, "state"), f"{path}/{_STATE}")
    values = {"optimizer": _read_arrays(path, "optimizer"), "training": training}
    parameters = _existing(path / "model.npz")
    return state_dict.restore(context, state, values, lambda model: swap_parameters(model, parameters), str(path))


def read_progress(path: str | Path) -> Progress | None:
    """The progress of the training in a checkpoint, read without its arrays. Raises FileFormatError."""
    file = Path(path) / _STATE
    return parse_document(pytree.decode(_read_state(Path(path)), None, str(file)), str(file)).progress


def checkpoints(folder: str | Path) -> list[Path]:
    """The checkpoints in a folder, the newest last."""
    numbered = []
    for path in Path(folder).glob("step-*"):
        name = _NAME.fullmatch(path.name)
        if name and (path / _STATE).is_file():
            numbered.append(((int(name[1]), int(name[2] or 0)), path))
    return [path for _, path in sorted(numbered)]


def latest(folder: str | Path) -> Path | None:
    """The newest checkpoint in a folder, None if there is none."""
    return next(reversed(checkpoints(folder)), None)


def best(folder: str | Path) -> Path | None:
    """The best checkpoint in a folder by the value that the newest monitored one names; the first of equal ones."""
    candidates = []
    for path in checkpoints(folder):
        try:
            monitored = _read_monitored(path)
        except FileFormatError:
            continue  # a broken checkpoint is never the best; loading it raises
        if monitored is not None:
            candidates.append((path, monitored))
    best_path, value = None, None
    for path, m in candidates:
        rule = candidates[-1][1]
        if (m.name, m.mode) == (rule.name, rule.mode) and _is_better(m.value, value, m.mode):
            best_path, value = path, m.value
    return best_path


def checkpoint_to_resume(resume: bool | str | Path | None, checkpoint: Checkpoint | None) -> Path | None:
    """The checkpoint to resume from, None for a new training. Raises ConfigError and FileNotFoundError."""
    newest = None if checkpoint is None else checkpoint.latest
    path = None
    if resume == "last" and checkpoint is not None and not Path("last").exists():  # as ckpt_path of Lightning
        resume = True
    if resume is True:
        if checkpoint is None:
            raise ConfigError(
                "resume=True wants a checkpoint=labdl.train.Checkpoint(folder), or give the folder: resume=folder"
            )
        path = newest
    elif resume:
        path = Path(resume) if (Path(resume) / _STATE).is_file() else latest(resume)
        if path is None:
            raise FileNotFoundError(
                f"{resume} has no checkpoint: it wants folders named step-… as Checkpoint writes them"
            )
    if newest is not None and (path is None or path.resolve() != newest.resolve()):
        raise ConfigError(
            f"{newest.parent} already has checkpoints up to {newest.name}: give resume=True to resume from there, or "
            "Checkpoint another folder"
        )
    return path


def encode_model(context: TrainContext, state: TrainState) -> bytes | None:
    """The structure file of the model, None if it cannot be traced; cached until a layer changes."""
    if state.structure is None or state.structure[0] != Parameter.changes:
        try:
            data = encode_structure(as_graph(context.model), class_names=context.model.class_names)
        except Exception:  # a forward of the user may raise anything when traced; parameters are enough to resume
            data = None
        state.structure = (Parameter.changes, data)
    return state.structure[1]


# -- files


def _is_count(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_better(value: float, former: float | None, mode: str) -> bool:
    """Return True if a value is better than the former one; NaN never is."""
    if value != value:
        return False
    return former is None or (value < former if mode == "min" else value > former)


def _read_monitored(path: Path) -> MonitoredValue | None:
    """The monitored value of a checkpoint, read without its arrays."""
    values = pytree.decode(_read_state(path), None, f"{path}/{_STATE}")
    monitored = values.get("monitored") if isinstance(values, dict) else None
    return parse_document(values, f"{path}/{_STATE}").monitored if monitored is not None else None


def _read_state(path: Path) -> bytes:
    return read_file(_existing(path / _STATE), _LARGEST, "state of a training")


def _read_arrays(path: Path, name: str) -> dict[str, Any]:
    return load_parameters(_existing(path / f"{name}.npz"))


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise FileFormatError(f"{file.parent} is not a complete checkpoint: it has no file {file.name}")
    return file


def _unused_name(folder: Path, step: int) -> Path:
    """A path that does not exist yet; of several checkpoints of the same step, later ones are numbered."""
    names = [name for path in folder.glob(f"step-{step:08d}*") if (name := _NAME.fullmatch(path.name))]
    n = max((int(name[2] or 1) for name in names if int(name[1]) == step), default=0) + 1
    return folder / f"step-{step:08d}{f'-{n}' if n > 1 else ''}"


def _write(path: Path, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def remove(path: Path) -> None:
    """Rename to a hidden name, then delete: a crash leaves no partial checkpoint."""
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    os.rename(path, hidden)
    shutil.rmtree(hidden, ignore_errors=True)


def _clean(folder: Path) -> None:
    for path in folder.glob(".step-*.part"):
        if _PART.fullmatch(path.name) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
