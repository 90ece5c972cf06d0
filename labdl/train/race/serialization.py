"""A training as files that a worker process can open: structure, parameters, arrays, and settings as plain data."""

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
from labdl.nn.module import Module
from labdl.nn.schema import LAYERS, params_of
from labdl.saving import save, save_structure
from labdl.spec import Spec
from labdl.train import config
from labdl.train.data_adapter import as_dataset
from labdl.train.early_stopping import EarlyStopping
from labdl.train.ema import EMA
from labdl.train.losses import losses
from labdl.train.metrics import METRICS, Metric
from labdl.train.optimizers import OPTIMIZERS, Optimizer
from labdl.train.schedules import SCHEDULES, Schedule

_OWN = (
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
    """Write it all to a folder. Raises ConfigError and ModelError for what cannot travel."""
    for name in settings:
        if name in _OWN:
            raise ConfigError(f"a race gives each backend its own {name}: leave it out, or give it to `race` itself")
    config.check_names(settings)
    chosen = {name: plain(value, name) for name, value in settings.items()}
    train = _arrays(data, "data")
    parameters, graph = _model(folder, model, train)
    order = {
        "settings": chosen,
        "options": dict(options),
        "seed": seed,
        "parameters": parameters,
        "modules": _modules(graph),
        "data": _files(folder, train, "train"),
        "validation": None if validation is None else _files(folder, _arrays(validation, "validation"), "validation"),
    }
    (folder / "order.json").write_text(json.dumps(order, allow_nan=False), encoding="utf-8")


def _model(folder: Path, model: Module | Graph, data: ArrayDataset) -> tuple[bool, Graph]:
    """Save the model; whether with its parameters, and its graph."""
    if not isinstance(model, Module | Graph):
        raise ConfigError(f"model wants a Module or a Graph, received {type(model).__name__}")
    try:
        if isinstance(model, Module) and model.built and not model.unbuilt:
            graph = as_graph(model)
            save(model, folder / "model")
            return True, graph
        x = data.arrays[0]
        shape = Spec((None, *x.shape[1:]), str(x.dtype))
        graph = model if isinstance(model, Graph) else as_graph(model, shape)
        save_structure(graph, folder / "model.labdl")
    except Exception as error:  # of a forward, perhaps the user's own, that has no use for symbols
        raise ModelError(f"the model cannot travel to worker processes, because it is no graph: {error}") from error
    return False, graph


def _modules(graph: Graph) -> list[str]:
    """The Python modules that define layers of the graph, other than labdl's own."""
    found = set()
    for node in graph.nodes.values():
        cls = LAYERS.get(node.type)
        home = None if cls is None else cls.__module__
        if home == "__main__":
            raise ModelError(
                f"the layer {node.type} is defined in this notebook or script, where worker processes cannot see "
                "it: put it into a file of its own and import it from there"
            )
        if home and home.partition(".")[0] != __name__.partition(".")[0]:
            found.add(home)
    return sorted(found)


# -- data


def _arrays(value: Any, key: str) -> ArrayDataset:
    found = config.dataset(value, key) if isinstance(value, str | Path) else as_dataset(value)
    if not isinstance(found, ArrayDataset):
        raise ConfigError(
            f"a race wants {key} as arrays, an ArrayDataset or a pair (x, y), which worker processes can share; "
            f"received {type(value).__name__}"
        )
    return found


def _files(folder: Path, data: ArrayDataset, name: str) -> dict[str, Any]:
    files = []
    for i, array in enumerate(data.arrays):
        if array.dtype.hasobject:
            raise ConfigError(f"a race wants arrays of numbers, array {i} of the {name} data holds Python objects")
        files.append(f"{name}-{i}.npy")
        np.save(folder / files[-1], array, allow_pickle=False)
    return {"files": files, "name": data.name, "classes": None if data.classes is None else [*map(str, data.classes)]}


# -- settings


def plain(value: Any, key: str) -> Any:
    """A setting as JSON has it. Raises ConfigError for a function or an object that no name leads to."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(v, key) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, key) for v in value]
    if isinstance(value, Optimizer):
        return _named(value.kind, OPTIMIZERS, value, key)
    if isinstance(value, Schedule):
        return _named(value.kind, SCHEDULES, value, key)
    if isinstance(value, Metric) and dataclasses.is_dataclass(value):
        return _named(value.name, METRICS, value, key)
    if isinstance(value, EMA | EarlyStopping):
        return {f.name: plain(getattr(value, f.name), key) for f in dataclasses.fields(value) if f.init}
    if isinstance(value, Module):
        name = next((name for name, cls in losses().items() if cls is type(value)), None)
        if name is not None:
            return {"name": name, **plain(params_of(value), key)}
    raise ConfigError(
        f"a race runs in worker processes, to which {key}={value!r} cannot travel: give a name, or settings such "
        "as {'name': ...}"
    )


def _named(name: str, known: Mapping[str, Any], value: Any, key: str) -> dict[str, Any]:
    entry = known.get(name)
    if entry is None or getattr(entry, "cls", entry) is not type(value):
        raise ConfigError(
            f"a race runs in worker processes, which know no {key} {type(value).__name__}: give one of "
            f"{', '.join(known)}"
        )
    given = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    return {"name": name, **{field: plain(v, key) for field, v in given.items() if v != () or field != "groups"}}
