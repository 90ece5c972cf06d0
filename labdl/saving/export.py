"""Export of models to ONNX, source code for one framework, native checkpoints, JSON and images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from labdl.bounded.atomic_write import replace_files
from labdl.errors import ConfigError
from labdl.framework_info import TRAINING
from labdl.graph import Graph, as_graph
from labdl.nn.module import Module
from labdl.saving import load, load_structure, paths

_PORTABLE = (".json", ".svg", ".onnx")


def export(
    model: Module | Graph | str | Path,
    path: str | Path,
    target: str | None = None,
    *,
    style: Literal["modules", "flat"] = "modules",
) -> Path:
    """Export a model to a file and return its path; the suffix selects the format.

    ``.onnx``; ``.json``, the graph as data; ``.svg``, a drawing of it (see `Graph.to_svg`); ``.py``, source that needs only
    the framework ``target``, with its weights beside it: in the ``style`` "modules" with the framework's own layers where
    it has them, in "flat" with functions only; anything else is a native checkpoint (see `labdl.save_checkpoint`,
    which knows the suffixes). The model may be the path of a saved one, or of an ONNX file. Raises ConfigError for an
    unknown suffix, and for a target or style that the format does not have, ModelError for a model that it cannot represent.
    """
    path = Path(path)
    if target is not None and target not in TRAINING:
        raise ConfigError(f"target wants one of {', '.join(sorted(TRAINING))}, received {target!r}")
    if style not in ("modules", "flat"):
        raise ConfigError(f"style wants 'modules' or 'flat', received {style!r}")
    if target is not None and path.suffix in _PORTABLE:
        raise ConfigError(
            f"target is the framework of source code or a native checkpoint, {path.name} is of none: leave it out"
        )
    if style != "modules" and path.suffix != ".py":
        raise ConfigError(f"style is that of source code, {path.name} is none: leave it out, or give the suffix .py")
    if path.suffix == ".json":
        data = json.dumps(_graph(model).to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        with replace_files(path) as (file,):
            file.write(data.encode())
    elif path.suffix == ".svg":
        picture = _graph(model).to_svg()
        with replace_files(path) as (file,):
            file.write(picture.encode())
    elif path.suffix == ".onnx":
        from labdl.saving.onnx import export_onnx

        export_onnx(_model(model), path)
    elif path.suffix == ".py":
        from labdl.saving.source_export import export_source

        ready = _model(model)
        chosen = target or ready.backend
        if chosen in (None, "numpy"):
            raise ConfigError(f'{path.name} needs a target framework: export(..., target="torch")')
        export_source(ready, path, chosen, style=style)
    else:
        from labdl.saving.native.checkpoints import save_checkpoint

        save_checkpoint(_model(model), path, framework=target)
    return path


def _graph(model: Module | Graph | str | Path) -> Graph:
    if isinstance(model, str | Path):
        return _import(model).graph if Path(model).suffix == ".onnx" else load_structure(paths(model)[0])
    return as_graph(model)


def _model(model: Module | Graph | str | Path) -> Module:
    if isinstance(model, Graph):
        return model.to_module().build(backend="numpy")
    if isinstance(model, Module):
        return model
    return _import(model) if Path(model).suffix == ".onnx" else load(model, backend="numpy")


def _import(path: str | Path):
    from labdl.saving.onnx import import_onnx

    return import_onnx(path)
