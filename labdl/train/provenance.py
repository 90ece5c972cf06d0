"""What was trained, kept beside a run in its folder code/: model, script and settings (docs/runs.md)."""

from __future__ import annotations

import dataclasses
import inspect
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labdl.errors import ConfigError
from labdl.graph import as_graph
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.train import parcel
from labdl.train.checkpoint import structure

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer

CODE = "code"
_LARGEST = 256 * 1024  # characters of a text; of a script that is longer the beginning, of cells the last ones
_LARGEST_STRUCTURE = 4 * 1024 * 1024
log = logging.getLogger(__name__)


def keep(trainer: Trainer, folder: Path) -> None:
    """Write what can be found out; a training never fails for it."""
    made: dict[str, Callable[[], str | bytes | None]] = {
        "model.labdl": lambda: structure(trainer),
        "model.py": lambda: _model(trainer.model),
        "script.py": _script,
        "settings.json": lambda: json.dumps(settings(trainer), indent=2, allow_nan=False),
    }
    for name, make in made.items():
        try:
            found = make()
            if found:
                _write(folder / CODE / name, found)
        except Exception as error:  # of somebody's code, or of a disk: what was trained can be told without it
            log.info("%s/%s/%s could not be kept: %s", folder, CODE, name, error)


def _write(path: Path, content: str | bytes) -> None:
    if isinstance(content, bytes):
        if len(content) > _LARGEST_STRUCTURE:
            return
    else:
        content = content[:_LARGEST].encode("utf-8", "replace")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def settings(trainer: Trainer) -> dict[str, Any]:
    """The settings of a trainer as `Trainer.from_config` takes them, without those that no file can hold."""
    own: dict[str, Any] = {"loss": trainer.loss_function, "optimizer": trainer.optimizer,
                           "metrics": list(trainer.metrics.values()), "schedule": trainer.schedule, "seed": trainer.seed,
                           "backend": trainer.model.backend, "compiled": trainer.compiled}  # fmt: skip
    if isinstance(trainer.loss_name, str) and not isinstance(trainer.loss_function, Module):
        own["loss"] = trainer.loss_name
    chosen = trainer.settings
    own |= {f.name: getattr(chosen, f.name) for f in dataclasses.fields(chosen)
            if getattr(chosen, f.name) != f.default and f.name not in _DATA}  # fmt: skip
    if trainer.loop is not None:
        now = trainer.loop.progress
        own |= {
            "epochs": trainer.loop.epochs,
            "batch_size": now.batch_size // chosen.accumulate,
            "shuffle": now.shuffle,
        }
    found = {}
    for name, value in own.items():
        try:
            plain = parcel.plain(value, name)
        except ConfigError:
            continue  # a function, or an object of somebody's own
        if plain is not None and plain != []:
            found[name] = plain
    return found


_DATA = ("train_dataset", "val_dataset", "output_dir", "checkpoint")


def _model(model: Module) -> str | None:
    graph = getattr(model, "graph", None)
    if isinstance(graph, Graph):
        return graph.to_python()
    if type(model).__module__.partition(".")[0] == __name__.partition(".")[0]:  # nn.Sequential, whose code says nothing
        return repr(model)
    try:
        return inspect.getsource(type(model))
    except (OSError, TypeError):  # typed into an interpreter
        return as_graph(model).to_python()


def _script() -> str | None:
    """The script that is run, or in a notebook the cells so far, the last one the one that trains."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        cells = [str(cell) for cell in shell.user_ns.get("In", ()) if cell]
        kept, size = [], 0
        for cell in reversed(cells):
            size += len(cell) + 10
            if size > _LARGEST:
                break
            kept.append(cell.rstrip())
        return "\n\n# %%\n".join(reversed(kept))
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None or not Path(path).is_file() or Path(path).suffix != ".py":
        return None
    if Path(path).resolve().is_relative_to(Path(__file__).resolve().parents[1]):  # a worker of a race
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_LARGEST)
