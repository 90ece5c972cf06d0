"""Python code that trains a document with the settings of the Train panel."""

from __future__ import annotations

import dataclasses
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from labdl import framework_info
from labdl.data import SOURCES
from labdl.data.csv_features import CHOICES
from labdl.data.opening import PIPELINE_SUFFIX
from labdl.errors import ConfigError, suggest_name
from labdl.lab.training.options import FIRST, OPTIONS, kind_of, schedules
from labdl.lab.training.task_choices import task_loss, task_metrics
from labdl.settings import create
from labdl.tasks import TASKS
from labdl.tasks.task import Task
from labdl.train import EarlyStopping, losses
from labdl.train.config import TrainerSettings
from labdl.train.metrics import METRICS
from labdl.train.optimizers import OPTIMIZERS

FILES = (".csv", ".npz")  # of data sets

_NEEDED = {"backend": str, "dataset": str, "optimizer": str, "learning_rate": float, "epochs": int, "batch_size": int}
_MOST = 10**9  # largest number of epochs, batch size and seed


def train_code(path: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Python code that trains a document, and the folder of its run.

    Raises ConfigError for a setting that is missing, unknown or out of range; every part of the request is checked before it
    becomes code.
    """
    chosen = {key: _plain(key, settings.get(key), kind) for key, kind in _NEEDED.items()}
    document = PurePosixPath(path)
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", document.stem)
    run = f"runs/{time.strftime('%Y%m%d-%H%M%S')}-{stem}-{secrets.token_hex(2)}"
    backend = _one_of("backend", chosen["backend"], framework_info.NAMES)
    task = _task(settings)
    data = _dataset_lines(chosen["dataset"], settings) if task is None else _task_lines(chosen["dataset"])
    optimizer = _one_of("optimizer", chosen["optimizer"], OPTIMIZERS)
    rate = chosen["learning_rate"]
    if not rate > 0:
        raise ConfigError(f"learning_rate must be above 0, received {rate!r:.80}")
    epochs, size = (_whole(key, chosen[key], 1) for key in ("epochs", "batch_size"))
    seed = _whole("seed", settings.get("seed", 0), 0)
    fresh = _one_of("parameters", settings.get("parameters", "new"), ("new", "saved")) == "new"
    given = _settings("optimizer_settings", settings)
    if "learning_rate" in given:
        raise ConfigError("optimizer_settings must not contain learning_rate: it is a separate setting")
    made = OPTIMIZERS[optimizer].code(learning_rate=rate, **given)
    lines = [
        "import labdl",
        "",
        f"labdl.seed({seed})",
        *data,
        f"model = labdl.load({document.name!r}, backend={backend!r}{', parameters=False' if fresh else ''})",
        f"optimizer = {made}",
        f"trainer = labdl.{'Trainer' if task is None else 'tasks.create_trainer'}(",
        *(f"    {argument}," for argument in _trainer(settings, chosen["dataset"], task, seed)),
        ")",
        "run = trainer.start(",
        f"    {'train_set, validation=test_set, ' if task is None else ''}epochs={epochs}, batch_size={size},",
        f"    health=0.05, folder={run!r}, save_to={document.stem + '.npz'!r},",  # shown on the canvas
        ")",
    ]
    return {"code": "\n".join(lines) + "\n", "run": str(document.parent / run)}


def loss_of(settings: Mapping[str, Any]) -> str:
    """The name of the chosen loss, or the default for the data set. Raises ConfigError."""
    source = SOURCES.get(settings.get("dataset") or "")
    usual = FIRST[kind_of(source.classes if source else 0)][0]
    return _one_of("loss", settings.get("loss") or usual, losses.losses())


def _trainer(settings: Mapping[str, Any], dataset: str, task: Task | None, seed: int) -> list[str]:
    """The arguments of the trainer, as Python."""
    if task is None:
        metrics = f"metrics={_metrics(settings, dataset)!r}"
        arguments = ["model", f"loss={_loss(settings)}", "optimizer=optimizer", metrics]
    else:
        arguments = _task_arguments(settings, dataset, task, seed)
    schedule = settings.get("schedule")
    if schedule is not None:
        schedule_settings = _settings("schedule_settings", settings)
        cls = schedules()[_one_of("schedule", schedule, schedules())]
        _check_monitored("schedule", getattr(create(cls, schedule_settings), "metric", None), settings, dataset)
        arguments.append(f"schedule={_call(f'labdl.train.{cls.__name__}', schedule_settings)}")
    if settings.get("stopping") is not None:
        stopping_settings = _settings("stopping", settings)
        _check_monitored("stopping", create(EarlyStopping, stopping_settings).monitor, settings, dataset)
        arguments.append(f"stopping={_call('labdl.train.EarlyStopping', stopping_settings)}")
    options = _settings("options", settings)
    for key in options:
        _one_of("options", key, OPTIONS)
    defaults = {field.name: field.default for field in dataclasses.fields(create(TrainerSettings, options))}
    arguments += [f"{key}={_to_python(value)}" for key, value in options.items() if value != defaults[key]]
    return arguments


def _loss(settings: Mapping[str, Any]) -> str:
    name, loss_settings = loss_of(settings), _settings("loss_settings", settings)
    loss = losses.loss(name, **loss_settings)
    return _call(f"labdl.nn.{type(loss).__name__}", loss_settings) if loss_settings else repr(name)


def _task(settings: Mapping[str, Any]) -> Task | None:
    name = settings.get("task")
    return None if name is None else TASKS[_one_of("task", name, TASKS)]


def _task_lines(name: str) -> list[str]:
    """The lines before the trainer of a task: the settings of a pipeline say how its data set is split."""
    return [f"pipeline = labdl.data.Pipeline.load({name!r})"] if name.endswith(PIPELINE_SUFFIX) else []


def _task_arguments(settings: Mapping[str, Any], dataset: str, task: Task, seed: int) -> list[str]:
    """The arguments of `labdl.tasks.create_trainer`; a loss and metrics that are those of the task are left out."""
    if dataset in SOURCES or not _is_path(dataset):
        raise ConfigError(f"a task wants the folder or the file of a data set, received {dataset!r:.80}")
    is_pipeline = dataset.endswith(PIPELINE_SUFFIX)
    arguments = ["model", "pipeline.open_data()" if is_pipeline else repr(PurePosixPath(dataset).as_posix())]
    arguments.append(f"task={task.name!r}")
    if is_pipeline:
        arguments.append("validation=1 - pipeline.split.fraction")
    size = settings.get("size")
    if size is not None:
        arguments.append(f"size={_whole('size', size, 1)}")
    usual, usual_settings = task_loss(task)
    if usual is not None and (loss_of(settings), _settings("loss_settings", settings)) != (usual, usual_settings):
        arguments.append(f"loss={_loss(settings)}")
    metrics, usual_metrics = _metrics(settings, dataset), task_metrics(task)
    if metrics != list(usual_metrics):
        calls = [(METRICS[name].__name__, usual_metrics.get(name)) for name in metrics]
        listed = [
            _call(f"labdl.train.{cls}", given) if given else repr(name)
            for name, (cls, given) in zip(metrics, calls, strict=True)
        ]
        arguments.append(f"metrics=[{', '.join(listed)}]")
    return [*arguments, "optimizer=optimizer", f"seed={seed}"]


def _is_path(name: str) -> bool:
    """Whether a data set is named by its path from the document's folder."""
    return not PurePosixPath(name).is_absolute() and "\0" not in name and 0 < len(name) <= 1000


def _dataset_lines(name: str, settings: Mapping[str, Any]) -> list[str]:
    return [f"train_set, test_set = {_dataset(name, settings)}"]


def _dataset(name: str, settings: Mapping[str, Any]) -> str:
    """The call that returns a data set: by name, or from a file beside the document."""
    if name in SOURCES:
        return f"labdl.data.{name}()"
    file = PurePosixPath(name)
    is_pipeline = name.endswith(PIPELINE_SUFFIX)
    if (file.suffix not in FILES and not is_pipeline) or not _is_path(name):
        raise ConfigError(
            f"dataset wants one of {', '.join(SOURCES)}, or a .csv, .npz or {PIPELINE_SUFFIX} file, received {name!r:.80}"
            f"{suggest_name(name, SOURCES)}"
        )
    if is_pipeline:
        return f"labdl.data.Pipeline.load({name!r}).datasets()"
    given: dict[str, Any] = {}
    if file.suffix == ".csv":
        target, scale = settings.get("target"), settings.get("scale", True)
        if target is not None:
            given["target"] = _plain("target", target, str)
        if not isinstance(scale, bool):
            raise ConfigError(f"scale wants true or false, received {scale!r:.80}")
        if not scale:
            given["scale"] = False
        for argument, choices in CHOICES.items():
            value = settings.get(argument, choices[0])
            if _one_of(argument, value, choices) != choices[0]:
                given[argument] = value
    arguments = ", ".join([repr(name), *(f"{key}={value!r}" for key, value in given.items())])
    return f"labdl.data.{file.suffix[1:]}({arguments})"


def _metrics(settings: Mapping[str, Any], dataset: str) -> list[str]:
    source = SOURCES.get(dataset)
    names = settings.get("metrics", list(FIRST[kind_of(source.classes if source else 0)][1]))
    if not isinstance(names, list):
        raise ConfigError(f"metrics wants a list of names, received {names!r:.80}")
    chosen = list(dict.fromkeys(_one_of("metrics", name, METRICS) for name in names))
    losses.metrics(chosen)
    return chosen


def _check_monitored(owner: str, figure: str | None, settings: Mapping[str, Any], dataset: str) -> None:
    """Check that epochs will have the monitored metric."""
    names = ["loss", *_metrics(settings, dataset)]
    if figure is not None:
        _one_of(owner, figure, [*(f"val_{name}" for name in names), *names])


def _settings(key: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    given = settings.get(key)
    if given is not None and not isinstance(given, dict):
        raise ConfigError(f"{key} wants settings by name, received {given!r:.80}")
    return {name: _tuple(value) for name, value in (given or {}).items()}


def _call(name: str, settings: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_to_python(value)}' for key, value in settings.items())})"


def _to_python(value: Any) -> str:
    """Python source of a validated setting: strings, numbers, booleans, None, and tuples of them."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_to_python, value))}{',' if len(value) == 1 else ''})"
    if value is not None and type(value) not in (str, int, float, bool):
        raise ConfigError(f"a setting wants a text, a number or a list of them, received {value!r:.80}")
    return repr(value)


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


def _plain(key: str, value: Any, kind: type) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ConfigError(f"{key} wants {'a text' if kind is str else 'a number'}, received {value!r:.80}")
    return value


def _whole(key: str, value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        raise ConfigError(f"{key} must be a whole number from {least} to {_MOST:,}, received {value!r:.80}")
    return value


def _one_of(key: str, value: Any, allowed) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(
            f"{key} wants one of {', '.join(allowed)}, received {value!r:.80}{suggest_name(value, allowed)}"
        )
    return value
