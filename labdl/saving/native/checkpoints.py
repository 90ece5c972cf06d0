"""Native checkpoints of the frameworks: loading into a model on any backend, saving, converting.

Names and layouts are in `labdl.interop.weights`, file formats in `labdl.saving.native.formats`. The files of
tf.train.Checkpoint need their framework; all others do not.
"""

from __future__ import annotations

import glob
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch, framework_info
from labdl.bounded.files import open_file
from labdl.errors import ConfigError, FileFormatError, ModelError, StateDictError
from labdl.graph import GraphModule
from labdl.interop import weights
from labdl.interop.weights.tensorflow import ambiguous, keras_layer
from labdl.nn.module import Module
from labdl.nn.native import Branch, branch_of
from labdl.nn.parameter import Parameter
from labdl.saving.native.formats import keras, mindspore, paddle, safetensors, torch, torch_legacy

__all__ = ["FRAMEWORKS", "convert_checkpoint", "load_checkpoint", "save_checkpoint"]

FRAMEWORKS = framework_info.TRAINING
_FACTS = [framework_info.FACTS[name] for name in FRAMEWORKS]
_SUFFIXES = {
    **{
        f".{suffix.rpartition('.')[2]}": facts.checkpoint_format
        for facts in _FACTS
        for suffix in facts.checkpoint_suffixes
    },
    ".safetensors": "safetensors",
}
_HOMES = {
    **{facts.checkpoint_format: facts.name for facts in _FACTS},
    "objects": "tensorflow",
    "legacy": "torch",
    "safetensors": "torch",
}
_SIGNATURES = {
    b"PK\x03\x04": "torch",
    b"\x89HDF": "keras",
    b"\x80\x02\x8a\n": "legacy",
}  # the last is PyTorch's magic number
_ORDER = (
    "a graph does not record the order in which they were created, by which alone Keras distinguishes them: use the "
    "model that it was traced from"
)


def load_checkpoint(model: Module, path: str | Path, framework: str | None = None) -> Module:
    """Load the parameters of a native checkpoint into a built model of the same architecture, on any backend.

    Files: .pt, .pth and .safetensors of PyTorch's names, Keras's .weights.h5, what tf.train.Checkpoint writes (its name
    without ".index"), .pdparams, and MindSpore's .ckpt. ``framework`` says whose names a .safetensors file has, and is
    otherwise known from the file. Returns the model. Raises FileFormatError for a file that is broken, or more than data;
    StateDictError that lists missing and unexpected parameters and other shapes; the model is then unchanged.
    """
    model._need_build()
    plan = _Plan(model, _framework(path, framework, _format_of(Path(path))))
    values = plan.own(*_read(plan, Path(path)), where=Path(path).name)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    model.load_state_dict({names[key]: plan.parameters[key].to_standard(value) for key, value in values.items()})
    return model


def save_checkpoint(model: Module, path: str | Path, framework: str | None = None) -> Path:
    """Save the parameters of a model, on any backend, as a file that the same architecture in a framework loads.

    The suffix selects the format, as in `load_checkpoint`; ``framework="tensorflow"`` without a suffix of Keras's gives
    the files of tf.train.Checkpoint(model=...). Returns the path. Raises ConfigError for an unknown suffix, and
    ModelError where Keras's file depends on an order of layers that a graph does not record.
    """
    model._need_build()
    path = Path(path)
    kind = _format_to(path, framework)
    plan = _Plan(model, _framework(path, framework, kind))
    arrays = {key: dispatch.owner(p.value).to_numpy(p.value) for key, p in plan.parameters.items()}
    _write(plan, path, kind, {key: np.asarray(array, order="C") for key, array in arrays.items()})
    return path


def convert_checkpoint(
    model: Module, source: str | Path, target: str | Path, framework: str | None = None, to: str | None = None
) -> Path:
    """Write a checkpoint of one framework as one of another: ``convert_checkpoint(net, "net.pdparams", "net.pt")``.

    ``model`` is of the same architecture and built, on any backend; its own parameters are neither read nor changed.
    ``framework`` and ``to`` are as in `load_checkpoint` and `save_checkpoint`, whose errors it raises.
    """
    model._need_build()
    source, target = Path(source), Path(target)
    kind = _format_to(target, to)
    plan = _Plan(model, _framework(source, framework, _format_of(source)))
    values = plan.own(*_read(plan, source), where=source.name)
    _write(_Plan(model, _framework(target, to, kind)), target, kind, values)
    return target


class _BoundLink(NamedTuple):
    """One link of a model: for each parameter of LabDL its key and name, and the shapes of the framework's arrays."""

    mapping: weights.WeightMapping
    keys: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]


class _Plan:
    """A model's parameters under the names of a framework. A parameter's key is its identity, so tied ones share a key."""

    def __init__(self, model: Module, framework: str):
        self.branch, self.framework = _tree(model), framework
        self.parameters = {id(p): p for p in model.parameters()}
        named = dict(_named_parameters(self.branch))
        self.mappings = []
        for mapping in weights.mappings(weights.layer_table(framework), self.branch):
            own = [named[name] for name in mapping.own]
            shapes = tuple(a.shape for a in mapping.to_native(*(_placeholder(p) for p in own)))
            self.mappings.append(_BoundLink(mapping, tuple(map(id, own)), shapes))

    def own(self, arrays: Mapping[str, Any], others: list[str], where: str) -> dict[int, np.ndarray]:
        """Convert the framework's arrays to LabDL's, by key. Raises StateDictError where they do not fit."""
        found: dict[int, np.ndarray] = {}
        problems = []
        current = {
            old: new for mapping, *_ in self.mappings for old, new in zip(mapping.earlier, mapping.native, strict=False)
        }
        arrays = {current.get(name, name): array for name, array in arrays.items()}
        known = {name for mapping, *_ in self.mappings for name in (*mapping.native, *mapping.aliases)}
        there = {key for mapping, keys, _ in self.mappings if arrays.keys() >= set(mapping.native) for key in keys}
        for mapping, keys, shapes in self.mappings:
            here = " and ".join(mapping.own)
            missing = [name for name in mapping.native if name not in arrays]
            if missing or not keys:
                # a tied parameter may be in the file under one of its names alone
                problems += [
                    f"missing {self.display_name(name)} (here {here})" for name in missing if not there.issuperset(keys)
                ]
                continue
            given = [np.asarray(arrays[name]) for name in mapping.native]
            wrong = [
                f"{self.display_name(name)} has shape {a.shape}, the model wants {shape} (here {here})"
                for name, a, shape in zip(mapping.native, given, shapes, strict=True)
                if a.shape != shape and not (mapping.any_shape and a.size == np.prod(shape))
            ]
            problems += wrong
            if wrong:
                continue
            for key, name, array in zip(keys, mapping.own, mapping.from_native(*given), strict=True):
                if key in found and not np.array_equal(found[key], array):
                    problems.append(f"{name} is one parameter of several names in the model, which differ in the file")
                found[key] = array
        problems += [
            f"unexpected {name:.200}" for name in [*(self.display_name(n) for n in arrays if n not in known), *others]
        ]
        if problems:
            more = f"; and {len(problems) - 20} more" if len(problems) > 20 else ""
            hidden = list(dict.fromkeys(ambiguous(keras_layer(self.branch)))) if self.framework == "tensorflow" else []
            why = f". Of {', '.join(hidden[:5])} {_ORDER}" if hidden else ""
            raise StateDictError(
                f"{where} does not fit the model as {self.framework} has it: {'; '.join(problems[:20])}{more}{why}"
            )
        return found

    def native(self, values: Mapping[int, np.ndarray]) -> dict[str, np.ndarray]:
        """Convert LabDL's arrays, by key, to the framework's."""
        arrays: dict[str, np.ndarray] = {}
        for mapping, keys, _ in self.mappings:
            made = mapping.to_native(*(values[key] for key in keys))
            arrays.update(zip(mapping.native, made, strict=True))
            arrays.update(zip(mapping.aliases, made[-len(mapping.aliases) :] if mapping.aliases else (), strict=True))
        return arrays

    def display_name(self, name: str) -> str:
        return name if self.framework == "tensorflow" else name.replace("/", ".")


def _tree(model: Module) -> Branch:
    """The tree of a model's layers. A graph module is flat; its graph records the kinds of the groups."""
    groups = model.graph.groups if isinstance(model, GraphModule) else {}

    def with_kinds(branch: Branch, path: str) -> Branch:
        parts = {name: with_kinds(part, weights.join(path, name)) for name, part in branch.parts.items()}
        return branch._replace(parts=parts, kind=branch.kind or groups.get(path, ""))

    return with_kinds(branch_of(model), "")


def _named_parameters(branch: Branch, path: str = "") -> Iterator[tuple[str, Parameter]]:
    for name, parameter in branch.parameters.items():
        yield weights.join(path, name), parameter
    for name, part in branch.parts.items():
        yield from _named_parameters(part, weights.join(path, name))


def _placeholder(parameter: Parameter) -> np.ndarray:
    """An array of a parameter's shape that takes no memory."""
    return np.broadcast_to(np.zeros((), "bool"), parameter.shape)


def _framework(path, framework: str | None, kind: str) -> str:
    home = _HOMES.get(kind, kind)
    if framework is not None and framework not in FRAMEWORKS:
        raise ConfigError(f"framework wants one of {', '.join(FRAMEWORKS)}, received {framework!r}")
    if kind != "safetensors" and framework not in (None, home):
        raise ConfigError(
            f"{Path(path).name} is a file of {home}, not of {framework}: a .safetensors file may have the "
            "names of any framework"
        )
    return framework or home


def _format_of(path: Path) -> str:
    """Detect the format of an existing file from its first bytes, not its name."""
    if path.with_name(f"{path.name}.index").exists():
        return "objects"
    with open_file(path) as file:
        head = file.read(4)
    if head in _SIGNATURES:
        return _SIGNATURES[head]
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise FileFormatError(
            f"{path.name} is not a checkpoint that LabDL can read: it reads {', '.join(_SUFFIXES)} and those of "
            "tf.train.Checkpoint"
        )
    return kind


def _format_to(path: Path, framework: str | None) -> str:
    kind = _SUFFIXES.get(path.suffix.lower())
    if framework == "tensorflow" and kind not in ("keras", "safetensors"):
        return "objects"
    if kind is None:
        raise ConfigError(
            f"{path.name} does not have the suffix of a checkpoint: choose one of {', '.join(_SUFFIXES)}, or "
            "framework='tensorflow' for tf.train.Checkpoint"
        )
    return kind


_PLAIN = {"torch": torch, "paddle": paddle, "mindspore": mindspore, "safetensors": safetensors, "legacy": torch_legacy}


def _read(plan: _Plan, path: Path) -> tuple[dict[str, Any], list[str]]:
    """The arrays of a file under the names of `labdl.interop.weights`, and the names of its other contents."""
    kind = _format_of(path)
    try:
        if kind == "keras":
            return keras.read(path, keras_layer(plan.branch))
        if kind == "objects":
            for part in (f"{path.name}.index", f"{path.name}.data-*"):
                for file in path.parent.glob(glob.escape(part).replace("[*]", "*")):
                    open_file(file).close()  # TensorFlow would wait for a pipe
            return _framework_module("tensorflow").read(path, keras_layer(plan.branch))
        arrays = _PLAIN[kind].read(path)
    except FileFormatError as error:
        raise FileFormatError(f"{path.name} cannot be read: {error}") from error.__cause__
    by_name = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
    return {name.replace(".", "/"): array for name, array in by_name.items()}, [n for n in arrays if n not in by_name]


def _write(plan: _Plan, path: Path, kind: str, values: Mapping[int, np.ndarray]) -> None:
    arrays = plan.native(values)
    if kind == "keras":
        if hidden := list(dict.fromkeys(ambiguous(keras_layer(plan.branch)))):
            raise ModelError(f"{path.name} cannot be written: of {', '.join(hidden[:5])} {_ORDER}")
        keras.write(path, arrays, keras_layer(plan.branch))
    elif kind == "objects":
        _framework_module("tensorflow").write(path, arrays, keras_layer(plan.branch))
    else:
        flat = {name.replace("/", "."): array for name, array in arrays.items()}
        more = {"note": framework_info.FACTS[plan.framework].safetensors_format} if kind == "safetensors" else {}
        _PLAIN[kind].write(path, flat, **more)


def _framework_module(name: str):
    """Module that reads and writes the files that need the framework itself."""
    dispatch.load(name)
    return importlib.import_module(f"labdl.backends.{name}.checkpoint")
