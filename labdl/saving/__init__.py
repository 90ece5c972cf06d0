"""Saving and loading: structure as HDF5, parameters as .npz; both open on any backend."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labdl import dispatch
from labdl.bounded.atomic_write import replace_files
from labdl.errors import ConfigError, ModelError, StateDictError
from labdl.graph import GraphModule, as_graph, parameter_prefix
from labdl.graph.tracing.trace import branching_inputs
from labdl.nn import build
from labdl.nn.module import Module
from labdl.nn.trainable import freeze_named, frozen_patterns
from labdl.saving.detector import detector_dict, read_detector
from labdl.saving.lora import load_lora, save_lora
from labdl.saving.parameters import ParameterFile, load_parameters, save_parameters, values_of, write_parameters
from labdl.saving.preprocessing import preprocessing_dict, read_preprocessing
from labdl.saving.structure import (
    StructureFile,
    decode,
    encode,
    identity,
    load_structure,
    open_structure,
    save_structure,
)

__all__ = [
    "decode",
    "encode",
    "load",
    "load_lora",
    "load_parameters",
    "load_structure",
    "save",
    "save_lora",
    "save_parameters",
    "save_structure",
    "swap_parameters",
]

_SUFFIXES = (".labdl", ".h5", ".hdf5", ".npz")
_NOTE = "labdl structure "  # prefix of the archive comment of a parameter file that was saved with a structure


def paths(path: str | Path) -> tuple[Path, Path]:
    """Paths of the structure file and the parameter file of a model, from either path or their common stem."""
    path = Path(path)
    stem = path.with_suffix("") if path.suffix in _SUFFIXES else path
    structure = path if path.suffix in (".h5", ".hdf5") else stem.with_name(f"{stem.name}.labdl")
    return structure, stem.with_name(f"{stem.name}.npz")


def save(model: Module, path: str | Path) -> tuple[Path, Path]:
    """Save a built model: ``name.labdl`` (structure) and ``name.npz`` (parameters); returns both paths.

    The structure includes the names of classes, which parameters are frozen, the `preprocessing` and the ``task_name`` of the
    model, and of a detector its form, by which `labdl.infer.Inference.of` reads its outputs.
    Both are completely on disk before the first replaces an older one. Raises ModelError when the model is not
    built or does something that a graph cannot hold, such as returning a tuple of one tensor.
    """
    structure, parameters = paths(path)
    model._need_build()
    graph = as_graph(model)
    _refuse_single_tuple(model)
    detector = detector_dict(model)
    # `labdl.infer.Inference.of` gives a detector that takes them the sizes of pictures in each call, and a model that a task
    # on texts has trained the segments of pairs
    given = {"sizes"} if detector is not None and detector["takes_sizes"] else set()
    given |= {"types"} if model.task_name is not None else set()
    for name in branching_inputs(model, graph):
        if name in given:
            continue
        warnings.warn(
            f"the saved model needs {name!r} in each call: the forward of {type(model).__name__} branches on it, and a file "
            f"holds one way through a forward; to save the other, build the model without {name}=",
            stacklevel=2,
        )
    mark = identity(graph)
    home = parameter_prefix(model, graph)
    frozen = [home + name for name in frozen_patterns(model)]
    prepare = preprocessing_dict(model.preprocessing)
    data = encode(
        graph,
        saved_with=mark,
        class_names=model.class_names,
        frozen=frozen,
        preprocessing=prepare,
        detector=detector,
        task=model.task_name,
    )
    with replace_files(parameters, structure) as (values, file):
        write_parameters(values, ((home + name, array) for name, array in values_of(model)), note=_NOTE + mark)
        file.write(data)
    return structure, parameters


def _refuse_single_tuple(model: Module) -> None:
    """Raise ModelError for a forward that returns a tuple of one tensor, which a graph gives back as the tensor."""
    returned = model._shapes_of(*model.input_specs, **model._input_options)
    if isinstance(returned, list | tuple) and len(returned) == 1:
        raise ModelError(
            f"the forward of {type(model).__name__} returns a {type(returned).__name__} of one tensor, and the loaded model "
            "would return the tensor: return the tensor itself"
        )


def load(
    path: str | Path,
    backend: str | None = None,
    parameters: bool = True,
    seed: int | None = None,
    *,
    constants: Mapping[str, Any] | None = None,
) -> GraphModule:
    """A built model from ``name.labdl`` and ``name.npz``, or from ``name.onnx``, on any backend.

    Parameters go from the file to the backend one by one. ``parameters=False`` draws new weights (from ``seed``) and needs
    no .npz. ``constants`` are values of inputs of an ONNX file that shapes or axes follow from, such as ``{"axes": [1]}``.
    Raises FileNotFoundError, FileFormatError, StateDictError when the parameters are of another structure, or ConfigError for
    an argument without effect.
    """
    structure, weights = paths(path)
    if parameters and seed is not None:
        raise ConfigError(
            "seed draws new parameters, these are those of the file: leave it out, or give parameters=False"
        )
    if Path(path).suffix == ".onnx" and not structure.exists():
        from labdl.saving.onnx import import_onnx

        model = import_onnx(path, backend, constants)
        return model if parameters else model.graph.to_module().build(backend=backend, seed=seed)
    if constants:
        raise ConfigError("constants are values of inputs of ONNX files; this is a file of LabDL: leave them out")
    if parameters and structure.exists() and not weights.exists():
        raise FileNotFoundError(f"{weights} is missing: train and save the model, or load it with parameters=False")
    opened = open_structure(structure)
    model = opened.graph.to_module()
    if opened.class_names is not None:
        model.class_names = opened.class_names
    if opened.preprocessing is not None:
        model.preprocessing = read_preprocessing(opened.preprocessing, structure.name)
    if opened.detector is not None:
        model.__dict__["detector_form"] = read_detector(opened.detector, structure.name)
    model.task_name = opened.task
    if not parameters:
        return freeze_named(model.build(backend=backend, seed=seed), opened.frozen)
    with ParameterFile(weights) as file:
        _check_same_save(opened, file, structure.name)

        def fitting(model: Module) -> ParameterFile:
            model._fitting(file.entries)
            return file

        build.build(model, tuple(model._inputs), backend, seed, {}, fitting)
    return freeze_named(model, opened.frozen)


def _check_same_save(opened: StructureFile, file: ParameterFile, name: str) -> None:
    """Check that two files come from the same save, if they record it; names and shapes are checked later.

    A structure that was edited, and parameters that were saved alone, belong to no save. So do two files of which a save
    that was cut short replaced one.
    """
    mark = file.note.removeprefix(_NOTE)
    if mark == file.note or mark == opened.saved_with:
        return
    if opened.saved_with:
        raise StateDictError(
            f"{file.name} was saved with another structure than {name}: a save was cut short, or one of them was replaced. "
            f"Save the model again, or load with parameters=False and put in the values with labdl.swap_parameters"
        )
    if mark != identity(opened.graph):
        warnings.warn(f"{name} was changed since {file.name} was saved with it", stacklevel=3)


def swap_parameters(model: Module, path: str | Path, names: str = "*") -> list[str]:
    """Put the values of a parameter file into a model that is in use, and return the names of those that were set.

    ``names`` is a pattern such as "encoder/*": what matches it must be in the model and in the file, the rest is not touched.
    Values are changed in place, so a `Trainer` goes on with them and keeps its optimizer's state; swap between two steps
    (in the loop over `Trainer.events`, or while a `Run` is paused). The whole file is checked first: when it is damaged
    (FileFormatError) or does not fit (StateDictError), the model stays as it was.
    """
    model._need_build()
    with ParameterFile(path) as file:
        chosen = model._fitting(file.matching(names), names)
        file.verify(chosen)
        for name, parameter in chosen.items():
            array = parameter.from_standard(file[name]).astype(parameter.array_dtype, copy=False)
            dispatch.owner(parameter.value).assign(parameter.value, array)
    return list(chosen)
