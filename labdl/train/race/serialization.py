"""Serialization of a training for worker processes: structure, parameters, arrays, and settings as plain data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data import ArrayDataset
from labdl.errors import ConfigError, ModelError
from labdl.graph import as_graph
from labdl.graph.graph import Graph
from labdl.nn.input_arrays import specs_for
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, params_of
from labdl.nn.trainable import frozen_patterns
from labdl.saving import save, save_structure
from labdl.train import config
from labdl.train.class_weight import weight_list
from labdl.train.data_adapter import as_dataset
from labdl.train.early_stopping import EarlyStopping
from labdl.train.ema import EMA
from labdl.train.losses import losses
from labdl.train.metrics import METRICS, Metric
from labdl.train.optimizers import OPTIMIZERS, Optimizer
from labdl.train.schedules import SCHEDULES, Schedule
from labdl.train.swa import SWA

RACE_ARGUMENTS = (
    "backend",
    "seed",
    "train_dataset",
    "val_dataset",
    "output_dir",
    "checkpoint",
    "epochs",
    "batch_size",
    "shuffle",
)


def pack(
    folder: Path,
    model: Module | Graph,
    data: Any,
    validation: Any,
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
    seed: int,
) -> None:
    """Write a training to a folder. Raises ConfigError and ModelError if it cannot be serialized."""
    for name in settings:
        if name in RACE_ARGUMENTS:
            raise ConfigError(f"{name} is not a setting of the trainers in a race: leave it out, or pass it to `race`")
    config.check_names(settings)
    plain_settings = {name: plain(value, name) for name, value in settings.items()}
    train = _arrays(data, "data")
    parameters, graph = _model(folder, model, train)
    if isinstance(model, Module) and (frozen := frozen_patterns(model)):  # a graph does not record it
        plain_settings["freeze"] = [*config.TrainerSettings(freeze=settings.get("freeze", ())).freeze, *frozen]
    job = {
        "settings": plain_settings,
        "options": {**options, "class_weight": _pairs(options.get("class_weight"))},
        "seed": seed,
        "parameters": parameters,
        "modules": _modules(graph),
        "data": _files(folder, train, "train"),
        "validation": None if validation is None else _files(folder, _arrays(validation, "validation"), "validation"),
    }
    (folder / "job.json").write_text(json.dumps(job, allow_nan=False), encoding="utf-8")


def _model(folder: Path, model: Module | Graph, data: ArrayDataset) -> tuple[bool, Graph]:
    """Save the model; returns whether its parameters are saved, and its graph."""
    if not isinstance(model, Module | Graph):
        raise ConfigError(f"model wants a Module or a Graph, received {type(model).__name__}")
    try:
        if isinstance(model, Module) and model.built and not model.unbuilt:
            graph = as_graph(model)
            save(model, folder / "model")
            return True, graph
        x = data.arrays[0]
        graph = model if isinstance(model, Graph) else as_graph(model, *specs_for(model, [x]))
        save_structure(graph, folder / "model.labdl")
    except Exception as error:  # a forward of the user may raise anything when traced
        raise ModelError(
            f"the model cannot be sent to worker processes, because it cannot be traced: {error}"
        ) from error
    return False, graph


def _modules(graph: Graph) -> list[str]:
    """The Python modules that define layers of the graph, except those of LabDL."""
    modules = set()
    for node in graph.nodes.values():
        cls = LAYERS.get(node.type)
        module = None if cls is None else cls.__module__
        if module == "__main__":
            raise ModelError(
                f"the layer {node.type} is defined in this notebook or script, where worker processes cannot "
                "import it: move it to a module and import it from there"
            )
        if module and module.partition(".")[0] != __name__.partition(".")[0]:
            modules.add(module)
    return sorted(modules)


# -- data


def _arrays(value: Any, key: str) -> ArrayDataset:
    arrays = config.dataset(value, key) if isinstance(value, str | Path) else as_dataset(value)
    if not isinstance(arrays, ArrayDataset):
        raise ConfigError(
            f"a race wants {key} as arrays, an ArrayDataset or a pair (x, y), which worker processes can share; "
            f"received {type(value).__name__}"
        )
    return arrays


def _files(folder: Path, data: ArrayDataset, name: str) -> dict[str, Any]:
    files = []
    for i, array in enumerate(data.arrays):
        if array.dtype.hasobject:
            raise ConfigError(f"a race wants arrays of numbers, array {i} of the {name} data holds Python objects")
        files.append(f"{name}-{i}.npy")
        np.save(folder / files[-1], array, allow_pickle=False)
    return {"files": files, "name": data.name, "classes": None if data.classes is None else [*map(str, data.classes)]}


# -- settings


def _pairs(class_weight: Any) -> Any:
    """Class weights as pairs, because keys of JSON are text."""
    if not isinstance(class_weight, Mapping):
        return weight_list(class_weight) or class_weight
    return [[key if isinstance(key, str) else int(key), float(weight)] for key, weight in class_weight.items()]


def plain(value: Any, key: str) -> Any:
    """Convert a setting to JSON. Raises ConfigError for a function or an object that is not in a registry."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(v, key) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, key) for v in value]
    if isinstance(value, Optimizer):
        return _registry_entry(value.kind, OPTIMIZERS, value, key)
    if isinstance(value, Schedule):
        return _registry_entry(value.kind, SCHEDULES, value, key)
    if isinstance(value, Metric) and dataclasses.is_dataclass(value):
        return _registry_entry(value.name, METRICS, value, key)
    if isinstance(value, EMA | SWA | EarlyStopping):
        return {
            **({"name": "swa"} if isinstance(value, SWA) else {}),
            **{f.name: plain(getattr(value, f.name), key) for f in dataclasses.fields(value) if f.init},
        }
    if isinstance(value, Module):
        name = next((name for name, cls in losses().items() if cls is type(value)), None)
        if name is not None:
            return {"name": name, **plain(params_of(value), key)}
    raise ConfigError(
        f"a race runs in worker processes, to which {key}={value!r} cannot be sent: give a name, or settings such "
        "as {'name': ...}"
    )


def _registry_entry(name: str, registry: Mapping[str, Any], value: Any, key: str) -> dict[str, Any]:
    entry = registry.get(name)
    if entry is None or getattr(entry, "cls", entry) is not type(value):
        raise ConfigError(
            f"a race runs in worker processes, which do not have the {key} {type(value).__name__}: give one of "
            f"{', '.join(registry)}"
        )
    settings = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    return {"name": name, **{field: plain(v, key) for field, v in settings.items() if v != () or field != "groups"}}
