"""Files of low-rank adapters: what `labdl.nn.add_lora` trains, without the base model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from labdl import dispatch
from labdl.bounded.atomic_write import replace_files
from labdl.errors import FileFormatError, ModelError, StateDictError
from labdl.nn.linear import Linear
from labdl.nn.lora import adapt, lora_paths
from labdl.nn.lora_linear import LoRALinear
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.saving.parameters import ParameterFile, write_parameters

Model = TypeVar("Model", bound=Module)

_NOTE = "labdl lora "  # prefix of the archive comment, which has the settings that shapes do not tell
_SETTINGS = ("lora_alpha", "lora_dropout")
_ENDS = ("lora_a:0", "lora_b:0")


def save_lora(model: Module, path: str | Path) -> None:
    """Save the adapters of a model as .npz, and the parameters of other modules that are trained, such as a new head.

    Names are the standard ones, such as ``encoder/blocks/0/attention/query/lora_a:0``. The file is written atomically. Raises
    ModelError for a model without adapters.
    """
    model._need_build()
    adapters = {path: part for path, part in model.named_modules() if type(part) is LoRALinear}
    if not adapters:
        raise ModelError(f"{type(model).__name__} has no adapters to save: labdl.nn.add_lora adds them")
    settings = {path: {name: getattr(part, name) for name in _SETTINGS} for path, part in adapters.items()}
    usual = next(iter(settings.values()))
    others = {path: each for path, each in settings.items() if each != usual}
    note = _NOTE + json.dumps({**usual, **({"others": others} if others else {})})
    if len(note.encode()) > 0xFFFF:
        raise ModelError(
            "the adapters differ in lora_alpha or lora_dropout in too many layers for a file: save the model"
        )
    chosen = {name: parameter for name, parameter in model.named_parameters() if name in _trained_names(model)}
    with replace_files(path) as (file,):
        values = ((name, p.to_standard(dispatch.owner(p.value).to_numpy(p.value))) for name, p in chosen.items())
        write_parameters(file, values, note=note)


def load_lora(model: Model, path: str | Path) -> Model:
    """Put the adapters of a file of `save_lora` onto their base model; returns the model.

    The model gets the adapters that it lacks, and all else but the modules in the file is frozen, so that the training may go
    on; `labdl.nn.merge_lora` makes the weights of them. Raises FileFormatError for another file, MissingFileError without the
    file, StateDictError for adapters of another model, which stays as it was.
    """
    model._need_build()
    with ParameterFile(path) as file:
        settings = _read_settings(file)
        _check_fit(model, file, settings)
        values = {name: file[name] for name in file.entries}
    missing = {path: each for path, each in settings.items() if type(model.get_module(path)) is Linear}
    others = {name.rpartition("/")[0] for name in values if not name.endswith(_ENDS)}
    if missing:
        adapt(model, missing, others)
    model.load_state_dict(values, strict=False)
    return model


def _trained_names(model: Module) -> set[str]:
    """Names of the adapters, and of all parameters and buffers of modules of which a parameter is trained."""
    names = set()
    for path, part in model.named_modules():
        if type(part) is LoRALinear:
            chosen = [name for name in part._parameters if f"{name}:0" in _ENDS]
        else:
            chosen = list(part._parameters) if any(p.trainable for p in part._parameters.values()) else []
        names |= {"/".join(filter(None, (path, name))) + ":0" for name in chosen}
    return names


def _read_settings(file: ParameterFile) -> dict[str, dict[str, Any]]:
    """The settings of the adapters in a file, by path. Raises FileFormatError."""
    paths = [name.removesuffix(f"/{_ENDS[0]}") for name in file.entries if name.endswith(f"/{_ENDS[0]}")]
    try:
        note = json.loads(file.note.removeprefix(_NOTE)) if file.note.startswith(_NOTE) else None
    except (ValueError, RecursionError):
        note = None
    if not isinstance(note, dict) or not paths:
        raise FileFormatError(f"{file.name} is no file of adapters: labdl.save_lora writes them")
    others = note.get("others", {})
    settings = {}
    for path in paths:
        own = others.get(path, note) if isinstance(others, dict) else note
        given = {name: own.get(name) for name in _SETTINGS} if isinstance(own, dict) else {}
        if not all(isinstance(value, int | float) and 0 <= value < 1e9 for value in given.values()) or not given:
            raise FileFormatError(f"{file.name} has adapters of settings that are no numbers: {given!r:.100}")
        shape = file.entries[f"{path}/{_ENDS[0]}"].shape
        settings[path] = {"r": shape[-1] if shape else 0, **given}
    return settings


def _check_fit(model: Module, file: ParameterFile, settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise StateDictError if an adapter or another array of a file has no place in the model."""
    parameters, adapters = model.get_parameters(), set(lora_paths(model))
    modules = model.get_modules()
    for name, entry in file.entries.items():
        path, _, word = name.rpartition("/")
        if f"/{word}" in (f"/{end}" for end in _ENDS) and path in settings:
            kernel = _kernel(modules.get(path))
            if kernel is None:
                raise StateDictError(
                    f"{type(model).__name__} has no Linear layer {path!r:.200}, as {file.name} wants it"
                )
            rank = settings[path]["r"]
            wanted = (kernel.shape[0], rank) if word == _ENDS[0] else (rank, kernel.shape[1])
        elif name in parameters:
            wanted = parameters[name].standard_shape
        else:
            raise StateDictError(f"{type(model).__name__} has no parameter {name!r:.200}, which {file.name} has")
        if entry.shape != wanted or entry.dtype.kind not in "fiub":
            raise StateDictError(f"{name} has the shape {entry.shape} in {file.name}, the model wants {wanted}")
    others = adapters - set(settings)
    if others or any(f"{path}/{end}" not in file.entries for path in settings for end in _ENDS):
        raise StateDictError(f"{file.name} lacks adapters that the model has: {', '.join(sorted(others)[:5])}")
    for path in adapters:
        if modules[path].r != settings[path]["r"]:  # type: ignore[attr-defined]
            raise StateDictError(f"{path} has an adapter of another rank than in {file.name}: merge it first")


def _kernel(layer: Module | None) -> Parameter | None:
    return layer._parameters.get("kernel") if type(layer) in (Linear, LoRALinear) and layer is not None else None
