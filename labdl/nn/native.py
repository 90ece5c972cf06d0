"""Conversion between modules and native ones: `to_native`, and native modules inside a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch
from labdl.errors import BackendError, ModelError
from labdl.nn.module import Module
from labdl.nn.parameter import Buffer, Parameter
from labdl.spec import Spec


class Branch(NamedTuple):
    """Structure of a module for conversion to a native one: kind, parameters and submodules by name.

    ``settings`` is the layer itself, whose hyper-parameters some frameworks need for shapes; None for an inner path.
    """

    kind: str
    parameters: dict[str, Parameter]
    parts: dict[str, Branch]
    settings: Module | None = None


def branch_of(module: Module) -> Branch:
    """Structure of a module and its submodules."""
    parts: dict[str, Branch] = {}
    for name, part in module._modules.items():
        target, *words = name.split("/")  # the model of a graph has layers named "encoder/0"
        at = parts
        while words:
            at = at.setdefault(target, Branch("", {}, {})).parts
            target, *words = words
        at[target] = branch_of(part)
    return Branch(type(module).__name__, dict(module._parameters), parts, module)


def to_native(module: Module):
    """See `Module.to_native`."""
    module._need_build()
    return dispatch.get(module.backend).native_module(module, branch_of(module), module.train)


class NativeModule(Module):
    """A framework's module inside a model: its parameters become the model's, and it computes its own forward."""

    def __init__(self, native: Any):
        owner = dispatch.owner_of_native(native)
        if owner is None:
            raise ModelError(f"from_native wants a module of a framework, received {type(native).__name__}")
        self.native, self.home = native, owner

    def prepare(self, *inputs, **named) -> None:
        self._infer_specs(inputs)  # lazy layers and those of Keras create their variables at the first call
        for name, (value, learned) in self.home.native_parameters(self.native).items():
            spec = self.home.spec_of(value)
            made = Parameter(spec.shape, dtype=spec.dtype) if learned else Buffer(spec.shape, dtype=spec.dtype)
            made.value = value
            setattr(self, name.replace(".", "_"), made)

    def forward(self, *inputs):
        if any(isinstance(v, Spec) for v in inputs):
            return self._infer_specs(inputs)
        tensors = [self.home.tensor(v) if isinstance(v, np.ndarray) else v for v in inputs]
        return self.home.native_call(self.native, self.training, tensors)

    def _infer_specs(self, inputs):
        """Infer output Specs by running batches of two and three samples: sizes that differ are unknown."""
        if any(n is None for v in inputs for n in v.shape[1:]):
            raise ModelError(f"the native {type(self.native).__name__} wants known sizes, except for the batch")
        found = []
        for batch in (2, 3):
            zeros = [self.home.tensor(np.zeros([batch if n is None else n for n in v.shape], v.dtype)) for v in inputs]
            results = self.home.native_call(self.native, False, zeros)
            found.append([self.home.spec_of(r) for r in (results if isinstance(results, tuple | list) else [results])])
        specs = [
            Spec(tuple(a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)), one.dtype)
            for one, other in zip(*found, strict=True)
        ]
        return specs[0] if len(specs) == 1 else tuple(specs)

    def __repr__(self) -> str:
        return f"NativeModule({type(self.native).__name__})"


def from_native(native: Any) -> NativeModule:
    """A module for a ``torch.nn.Module``, ``paddle.nn.Layer``, Keras layer, ``tf.Module`` or ``mindspore.nn.Cell``.

    The parameters remain the native module's variables, under its names with "_" for ".", and are trained and saved with
    the model. It runs on its own framework only, and cannot be part of a graph. Raises ModelError for any other object.
    """
    return NativeModule(native)


def check_native_modules(module: Module, target) -> None:
    """Raise BackendError if a native module belongs to another framework than ``target``."""
    for path, part in module.named_modules():
        if isinstance(part, NativeModule) and part.home is not target:
            kind = f"native {type(part.native).__name__} of {part.home.name}"
            raise BackendError(f"{path or 'the model'} is a {kind}, which does not run on {target.name}")
