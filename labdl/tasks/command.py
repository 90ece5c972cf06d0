"""`labdl train`: train a model with the settings of a file, as a run that is recorded."""

from __future__ import annotations

import argparse
import inspect
import secrets
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labdl.data.opening import open_dataset
from labdl.errors import ConfigError
from labdl.models import zoo
from labdl.nn.module import Module
from labdl.saving import load, paths
from labdl.tasks.fine_tuning import create_trainer
from labdl.tasks.text_models import is_pretrained_name
from labdl.train.aliases import TRAINER, full_names
from labdl.train.config import names, parse_yaml, read
from labdl.train.progress_bar import follow
from labdl.train.run.run import Run
from labdl.train.trainer import Trainer

INTERRUPTED = 128 + signal.SIGINT


def apply_changes(settings: Mapping[str, Any], changes: list[str]) -> dict[str, Any]:
    """The settings with changes such as "epochs=5" and "optimizer.learning_rate=0.01"; values are read as YAML.

    A setting that is a name becomes a dictionary where a part of it is changed. Raises ConfigError.
    """
    changed = dict(settings)
    for change in changes:
        path, sign, text = change.partition("=")
        *parents, name = path.strip().split(".")
        if not sign or not all([*parents, name]):
            raise ConfigError(f"--set wants NAME=VALUE, such as epochs=5, received {change!r:.80}")
        try:
            value = parse_yaml(text)
        except ValueError as error:
            raise ConfigError(f"--set {path}: the value cannot be read: {error}") from None
        inner = changed
        for parent in parents:
            before = inner.get(parent, {})
            if not isinstance(before, Mapping | str):
                raise ConfigError(f"--set {path}: {parent} is {before!r:.60}, which has no settings")
            inner[parent] = {"name": before} if isinstance(before, str) else dict(before)
            inner = inner[parent]
        inner[name] = value
    return changed


def run(options: argparse.Namespace) -> int:
    """Train with the settings of ``options.config`` and its ``changes``; returns the exit status, 0 or `INTERRUPTED`."""
    settings = apply_changes(read(options.config), options.changes)
    trainer = _task_trainer(full_names(settings, TRAINER)) if "task" in settings else _trainer(settings)
    if trainer.settings.train_dataset is None:
        raise ConfigError(
            f"{options.config} has no train_dataset: give the name of a data set, such as digits, or a file"
        )
    folder = options.folder or trainer.settings.output_dir or _new_folder()
    events = trainer.events(health=trainer.settings.health, resume=True if options.resume else None)
    training = Run(trainer, follow(events) if options.progress else events, folder, Path(folder) / "model.npz")  # type: ignore[arg-type]
    try:
        training.wait()
        status = 0
    except KeyboardInterrupt:
        training.stop()
        training.wait()
        status = INTERRUPTED
    values = "  ".join(f"{name} {column[-1]:.4g}" for name, column in training.history.items() if column)
    print(f"{training.folder}: {training.status}{f', {values}' if values else ''}")
    return status


def _trainer(settings: dict[str, Any]) -> Trainer:
    model = settings.pop("model", None)
    return Trainer.from_config(_model(model, settings.get("backend")), settings)


def _task_trainer(settings: dict[str, Any]) -> Trainer:
    """The trainer of a task for the files of a data set and a model of the zoo, which gets its classes, or of a file."""
    model, folder = settings.pop("model", None), settings.pop("train_dataset", None)
    if not isinstance(folder, str):
        raise ConfigError(
            f"train_dataset of a task wants the folder or the file of a data set, received {folder!r:.80}"
        )
    validation = settings.pop("val_dataset", None)
    if validation is not None:
        settings["validation"] = open_dataset(validation)
    if not (isinstance(model, str) and (model in zoo.ZOO or is_pretrained_name(model))):
        model = _model(model, settings.get("backend"))
    unknown = set(settings) - set(inspect.signature(create_trainer).parameters) - set(names())
    if unknown:
        raise ConfigError(
            f"a task has no setting {', '.join(sorted(unknown))}; settings of Trainer are {', '.join(names())}"
        )
    return create_trainer(model, folder, **settings)


def _model(value: Any, backend: str | None) -> Module:
    """The model of the settings: a .labdl file, the name of a zoo model, or that with settings."""
    if isinstance(value, str) and value.endswith(".labdl"):
        return load(value, backend=backend, parameters=paths(Path(value))[1].exists())
    name, settings = (value, {}) if isinstance(value, str) else (None, {})
    if isinstance(value, Mapping):
        settings = {str(key): setting for key, setting in value.items()}
        name = settings.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(
            f"model wants a .labdl file, the name of a zoo model or {{name: ..., classes: ...}}, received {value!r:.80}"
        )
    return zoo.create(name, **settings)


def _new_folder() -> Path:
    return Path("runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
