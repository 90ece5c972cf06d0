"""Native checkpoints of the frameworks: loading into a model on any backend, saving, converting.

Names and layouts are in `labdl.interop.weights`, file formats in `labdl.saving.native.formats`. To write the files of
tf.train.Checkpoint needs their framework; nothing else does.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch, framework_info
from labdl.errors import ConfigError, FileFormatError, ModelError, StateDictError
from labdl.graph import GraphModule
from labdl.interop import weights
from labdl.interop.key_map import Keys
from labdl.interop.weights.tensorflow import ambiguous, keras_layer
from labdl.nn.module import Module
from labdl.nn.native import Branch, branch_of
from labdl.nn.parameter import Parameter
from labdl.saving.native.contents import ParameterSearch
from labdl.saving.native.file_formats import FRAMEWORKS, file_of, format_of, format_to, framework_of
from labdl.saving.native.formats import keras, tensorflow
from labdl.saving.native.formats.dtypes import name_of
from labdl.saving.native.named_arrays import PLAIN, read_by_name

__all__ = ["FRAMEWORKS", "convert_checkpoint", "load_checkpoint", "save_checkpoint"]

_ORDER = (
    "a graph does not record the order in which they were created, by which alone Keras distinguishes them: use the "
    "model that it was traced from"
)

_QUANTIZED = ". Integers are not taken for weights: turn quantized ones into floating-point numbers before"


def load_checkpoint(
    model: Module, path: str | Path, framework: str | None = None, *, prefix: str = "", keys: Keys | None = None
) -> Module:
    """Load the parameters of a native checkpoint into a built model of the same architecture, on any backend.

    Files: .pt, .pth, .bin and .safetensors of PyTorch's names, an index of several (``model.safetensors.index.json``) or the
    folder of one, Keras's .weights.h5, .keras and .h5 (whose layers are taken in their order), what tf.train.Checkpoint
    writes (its name without ".index"), .pdparams, and MindSpore's .ckpt. ``framework`` says whose names a .safetensors file
    has, and is otherwise known from the file.

    Of a file of a whole training, the dictionary that fits the model is taken and the rest is skipped; words that
    DataParallel, torch.compile and other wrappers add to names are removed. ``prefix`` and ``keys`` are those of
    `Module.load_state_dict`, for the names in the file with dots; a prefix may also choose a dictionary. Both are for the files
    that have names, which Keras's and TensorFlow's do not::

        load_checkpoint(model, "training.pt", prefix="ema.", keys={"fc.*": "head.*"})

    Returns the model. Raises FileFormatError for a file that is broken, or has code in the place of parameters; StateDictError
    that lists missing and unexpected parameters and other shapes, and where several dictionaries fit; the model is then
    unchanged.
    """
    model._need_build()
    path = file_of(Path(path))
    plan = _Plan(model, framework_of(path, framework, format_of(path)))
    values = plan.own(*_read(plan, path, prefix, keys), where=path.name)
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
    kind = format_to(path, framework)
    plan = _Plan(model, framework_of(path, framework, kind))
    arrays = {key: dispatch.owner(p.value).to_numpy(p.value) for key, p in plan.parameters.items()}
    _write(plan, path, kind, {key: np.asarray(array, order="C") for key, array in arrays.items()}, {})
    return path


def convert_checkpoint(
    model: Module,
    source: str | Path,
    target: str | Path,
    framework: str | None = None,
    to: str | None = None,
    *,
    prefix: str = "",
    keys: Keys | None = None,
) -> Path:
    """Write a checkpoint of one framework as one of another: ``convert_checkpoint(net, "net.pdparams", "net.pt")``.

    ``model`` is of the same architecture and built, on any backend; its own parameters are neither read nor changed.
    ``framework``, ``prefix``, ``keys`` and ``to`` are as in `load_checkpoint` and `save_checkpoint`, whose errors it raises.
    """
    model._need_build()
    source, target = file_of(Path(source)), Path(target)
    kind = format_to(target, to)
    plan = _Plan(model, framework_of(source, framework, format_of(source)))
    arrays, others = _read(plan, source, prefix, keys)
    values = plan.own(arrays, others, where=source.name)
    _write(_Plan(model, framework_of(target, to, kind)), target, kind, values, plan.dtypes(arrays))
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
        problems, advice = [], ""
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
            # PyTorch's norm over a whole weight has no axes
            given = [a.reshape(s) if not a.ndim and np.prod(s) == 1 else a for a, s in zip(given, shapes, strict=True)]
            wrong = [
                f"{self.display_name(name)} has shape {a.shape}, the model wants {shape} (here {here})"
                for name, a, shape in zip(mapping.native, given, shapes, strict=True)
                if a.shape != shape and not (mapping.any_shape and a.size == np.prod(shape))
            ]
            wanted = self.parameters[keys[0]].array_dtype
            integers = [
                f"{self.display_name(name)} holds {name_of(a.dtype)}, the model wants {name_of(wanted)} (here {here})"
                for name, a in zip(mapping.native, given, strict=True)
                if a.dtype.kind in "iub" and wanted.kind not in "iub"
            ]
            advice = _QUANTIZED if integers else advice
            wrong += integers
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
                f"{where} does not fit the model as {self.framework} has it: {'; '.join(problems[:20])}{more}{why}{advice}"
                + ("" if others else self.search().advice(self.display_name(name) for name in arrays))
            )
        return found

    def search(self, prefix: str = "", keys: Keys | None = None) -> ParameterSearch:
        """The search for the parameters in a file."""
        shapes: dict[str, tuple[int, ...] | None] = {}
        for mapping, own, sizes in self.mappings:
            for names in (mapping.native, mapping.earlier) if own else ():
                for name, shape in zip(names, sizes, strict=False):
                    shapes[name.replace("/", ".")] = None if mapping.any_shape else shape
        return ParameterSearch(shapes, self.framework, prefix, keys)

    def sizes(self) -> dict[str, int]:
        """How many numbers the model wants under each name of the framework."""
        return {
            name: math.prod(shape)
            for mapping, _, shapes in self.mappings
            for name, shape in zip(mapping.native, shapes, strict=True)
        }

    def dtypes(self, arrays: Mapping[str, Any]) -> dict[int, np.dtype]:
        """The dtype that a file has for each parameter of which it has more than one array, by key."""
        return {
            keys[0]: arrays[mapping.native[0]].dtype
            for mapping, keys, _ in self.mappings
            if len(keys) == 1 and len(mapping.native) == 2 and mapping.native[0] in arrays
        }

    def native(self, values: Mapping[int, np.ndarray], dtypes: Mapping[int, np.dtype]) -> dict[str, np.ndarray]:
        """Convert LabDL's arrays, by key, to the framework's; ``dtypes`` are those that are to become smaller."""
        arrays: dict[str, np.ndarray] = {}
        for mapping, keys, _ in self.mappings:
            made = mapping.to_native(*(values[key] for key in keys))
            if len(keys) == 1 and keys[0] in dtypes:
                made = _narrow(made, dtypes[keys[0]])
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


def _narrow(arrays: Sequence[np.ndarray], dtype: np.dtype) -> list[np.ndarray]:
    """Arrays in a smaller dtype; of a bias that is a sum of two, the second keeps what rounding takes from the first."""
    first, *others = arrays
    rounded = first.astype(dtype)
    return [rounded, *((first - rounded.astype(first.dtype)).astype(dtype) for _ in others)]


def _placeholder(parameter: Parameter) -> np.ndarray:
    """An array of a parameter's shape that takes no memory."""
    return np.broadcast_to(np.zeros((), "bool"), parameter.shape)


_NAMED = ("safetensors", "index")  # files whose names may be those of any framework


def _read(plan: _Plan, path: Path, prefix: str, keys: Keys | None) -> tuple[dict[str, Any], list[str]]:
    """The arrays of a file under the names of `labdl.interop.weights`, and the names of its other contents."""
    kind = format_of(path)
    if plan.framework == "tensorflow" and kind not in _NAMED and (prefix or keys is not None):
        raise ConfigError(f"{path.name} numbers its layers and has no names for prefix or keys")
    choose = plan.search(prefix, keys).choose
    try:
        if kind == "keras":
            return keras.read(path, keras_layer(plan.branch), plan.sizes())
        if kind == "archive":
            return keras.read_archive(path, keras_layer(plan.branch), plan.sizes())
        if kind == "objects":
            return tensorflow.read(path, keras_layer(plan.branch), plan.sizes())
        arrays = read_by_name(path, kind, choose)
    except FileFormatError as error:
        raise FileFormatError(f"{path.name} cannot be read: {error}") from error.__cause__
    except StateDictError as error:
        raise StateDictError(f"{path.name}: {error}") from None
    return {name.replace(".", "/"): array for name, array in arrays.items()}, []


def _write(
    plan: _Plan, path: Path, kind: str, values: Mapping[int, np.ndarray], dtypes: Mapping[int, np.dtype]
) -> None:
    arrays = plan.native(values, dtypes)
    if kind == "keras":
        if hidden := list(dict.fromkeys(ambiguous(keras_layer(plan.branch)))):
            raise ModelError(f"{path.name} cannot be written: of {', '.join(hidden[:5])} {_ORDER}")
        keras.write(path, arrays, keras_layer(plan.branch))
    elif kind == "objects":
        _framework_module("tensorflow").write(path, arrays, keras_layer(plan.branch))
    else:
        flat = {name.replace("/", "."): array for name, array in arrays.items()}
        more = {"note": framework_info.FACTS[plan.framework].safetensors_format} if kind == "safetensors" else {}
        PLAIN[kind].write(path, flat, **more)


def _framework_module(name: str):
    """Module that writes the files that need the framework itself."""
    dispatch.load(name)
    return importlib.import_module(f"labdl.backends.{name}.checkpoint")
