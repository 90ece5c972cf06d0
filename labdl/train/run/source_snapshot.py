"""Snapshot of the sources of a run in its folder code/: model, script and settings (docs/runs.md)."""

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
from labdl.graph.codegen.source import to_python
from labdl.graph.graph import Graph
from labdl.nn.module import Module
from labdl.train.checkpoint import encode_model
from labdl.train.race import serialization

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.progress import Progress
    from labdl.train.state import TrainState

CODE = "code"
_LARGEST = 256 * 1024  # characters of a text; longer scripts are truncated, of cells the last ones are kept
_LARGEST_STRUCTURE = 4 * 1024 * 1024
log = logging.getLogger(__name__)


def save_source(folder: Path, context: TrainContext, state: TrainState, epochs: int) -> None:
    """Write the sources of a training of ``epochs`` epochs, as far as they are available; it never raises."""
    files: dict[str, Callable[[], str | bytes | None]] = {
        "model.labdl": lambda: encode_model(context, state),
        "model.py": lambda: _model_source(context.model),
        "script.py": _script_source,
        "settings.json": lambda: json.dumps(
            trainer_settings(context, state.progress, epochs), indent=2, allow_nan=False
        ),
    }
    for name, read in files.items():
        try:
            content = read()
            if content:
                _write(folder / CODE / name, content)
        except Exception as error:  # code of the user or a disk may fail; the run does not need these files
            log.info("%s/%s/%s could not be saved: %s", folder, CODE, name, error)


def _write(path: Path, content: str | bytes) -> None:
    if isinstance(content, bytes):
        if len(content) > _LARGEST_STRUCTURE:
            return
    else:
        content = content[:_LARGEST].encode("utf-8", "replace")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def trainer_settings(context: TrainContext, progress: Progress | None, epochs: int) -> dict[str, Any]:
    """The settings of a trainer for `Trainer.from_config`, without those that cannot be stored in a file."""
    own: dict[str, Any] = {
        "loss": context.loss_function,
        "optimizer": context.optimizer,
        "metrics": list(context.metrics.values()),
        "schedule": context.schedule,
        "seed": context.seed,
        "backend": context.model.backend,
        "compiled": context.compiled,
    }
    if isinstance(context.loss_name, str) and not isinstance(context.loss_function, Module):
        own["loss"] = context.loss_name
    settings = context.settings
    own |= {
        f.name: getattr(settings, f.name)
        for f in dataclasses.fields(settings)
        if getattr(settings, f.name) != f.default and f.name not in _DATA
    }
    if progress is not None:
        own |= {
            "epochs": epochs,
            "batch_size": progress.batch_size // settings.accumulate,
            "shuffle": progress.shuffle,
        }
    plain_settings = {}
    for name, value in own.items():
        try:
            plain = serialization.plain(value, name)
        except ConfigError:
            continue  # a function, or an object of another class
        if plain is not None and plain != []:
            plain_settings[name] = plain
    return plain_settings


_DATA = ("train_dataset", "val_dataset", "output_dir", "checkpoint")


def _model_source(model: Module) -> str | None:
    graph = getattr(model, "graph", None)
    if isinstance(graph, Graph):
        return graph.to_python()
    if (
        type(model).__module__.partition(".")[0] == __name__.partition(".")[0]
    ):  # a class of LabDL such as nn.Sequential, whose source is not the model
        return to_python(as_graph(model), sequential=True)
    try:
        return inspect.getsource(type(model))
    except (OSError, TypeError):  # defined in an interactive interpreter
        return as_graph(model).to_python()


def _script_source() -> str | None:
    """The source of the main script, or in a notebook the cells executed so far."""
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
    if Path(path).resolve().is_relative_to(Path(__file__).resolve().parents[2]):  # a worker of a race
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_LARGEST)
