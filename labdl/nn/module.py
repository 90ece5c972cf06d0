"""Module: the base class of layers and models. Once built, calling one does nothing but call its ``forward``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError, ModelError, StateDictError
from labdl.nn import initialisers
from labdl.ops.infix import scope
from labdl.spec import Spec, as_spec


@dataclass
class Parameter:
    """A tensor that belongs to a module: its declaration, and once built the backend's own variable.

    ``standard`` is the order of axes in which it is saved, where that differs from the operators' order (R7.1: a
    convolution kernel is spatial × in × out on disk). ``trainable=False`` freezes it: it keeps its value in training.
    """

    shape: tuple[int, ...]
    init: str | Callable = "zeros"
    dtype: str = "float32"
    trainable: bool = True
    standard: tuple[int, ...] | None = None
    value: Any = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def to_standard(self, array: np.ndarray) -> np.ndarray:
        return array if self.standard is None else np.ascontiguousarray(array.transpose(self.standard))

    def from_standard(self, array: np.ndarray) -> np.ndarray:
        if self.standard is None:
            return array
        return np.ascontiguousarray(array.transpose(np.argsort(self.standard)))

    @property
    def standard_shape(self) -> tuple[int, ...]:
        return self.shape if self.standard is None else tuple(self.shape[a] for a in self.standard)


class Buffer(Parameter):
    """A tensor of a module that is saved with it and never learnt, such as a running mean."""

    def __init__(self, shape: tuple[int, ...], init: str | Callable = "zeros", dtype: str = "float32"):
        super().__init__(shape, init, dtype, trainable=False)


class Module:
    """Base class of all layers and models (T/AII 008-2023, A.2).

    Subclass it as in PyTorch: make layers in ``__init__`` and use them in ``forward``. Sizes of inputs may be left out;
    `build` (or the first call) finds them, draws the weights and puts them on a backend.
    """

    is_source: ClassVar[bool] = False  # a graph feeds data here: nothing is connected to it

    training: bool
    _modules: dict[str, Module]
    _parameters: dict[str, Parameter]
    _ready: bool
    _set_up: bool
    _backend: str | None
    _input_specs: tuple[Spec, ...] | None

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        # set here, not in __init__, so that a subclass may assign layers before or without calling super().__init__()
        self.__dict__.update(_modules={}, _parameters={}, _ready=False, _set_up=False, training=True,
                             _backend=None, _input_specs=None)  # fmt: skip
        return self

    def __setattr__(self, name: str, value) -> None:
        if isinstance(value, Module | Parameter) and reserved(name):
            raise ConfigError(f"{type(self).__name__} cannot hold a layer or parameter named {name!r}, because every module "
                              "has something of that name: choose another name")  # fmt: skip
        if isinstance(value, Module):
            self._modules[name] = value
            self.__dict__["_ready"] = self._ready and value._ready
        elif isinstance(value, Parameter):
            self._parameters[name] = value
            value = Spec(value.shape, value.dtype) if value.value is None else value.value
        else:
            self._modules.pop(name, None)
            self._parameters.pop(name, None)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._modules.pop(name, None)
        self._parameters.pop(name, None)
        object.__delattr__(self, name)

    # -- running

    def forward(self, *inputs):
        """The computation; every model writes its own."""
        raise ModelError(f"{type(self).__name__} has no forward: write `def forward(self, x): ...`")

    def setup(self, *inputs: Spec) -> None:
        """Make the parameters whose shape depends on the inputs; called once, before the first forward."""

    def __call__(self, *inputs, **options):
        forward = self.forward if self._ready else self._observed
        if scope.on:
            return forward(*inputs, **options)
        scope.on = True  # a forward's infix operators mean the same on every framework
        try:
            return forward(*inputs, **options)
        finally:
            scope.on = False

    def _observed(self, *inputs, **options):
        """The slow path: shapes are wanted, a trace is being taken, or the model has not been built yet."""
        first = next((v for v in inputs if isinstance(v, Spec)), None)
        if first is None:
            owner = dispatch.owner(*inputs)
            self.build(*(dispatch.spec_of(v) for v in inputs), backend=owner.name)
            return self.forward(*inputs, **options)
        recorder = getattr(first, "recorder", None)
        if recorder is not None and recorder.is_leaf(self):
            return recorder.layer(self, inputs, options)
        self.prepare(*(v if v is None else dispatch.spec_of(v) for v in inputs))
        return self.forward(*inputs, **options)

    def prepare(self, *inputs) -> None:
        """Call `setup` unless that has happened."""
        if not self._set_up:
            self.setup(*inputs)
            self.__dict__["_set_up"] = True

    # -- building

    def build(self, *inputs, backend: str | None = None, seed: int | None = None) -> Module:
        """Find all sizes from the inputs' Specs or shapes, draw the weights, and make them variables of a backend.

        ``model.build((None, 1, 8, 8), backend="paddle")``; None is an unknown size. Building again keeps the weights and
        moves them if the backend differs. Returns the model. Raises ModelError where layers do not fit together.
        """
        specs = tuple(as_spec(i) for i in inputs)
        self._check_tree()
        try:
            self._shapes_of(*specs)
        except (ValueError, TypeError) as error:
            raise error if isinstance(error, ModelError) else ModelError(f"{type(self).__name__}: {error}") from error
        target = dispatch.get(backend)
        start = dispatch.current_seed() if seed is None else seed
        start = int(np.random.default_rng().integers(2**31)) if start is None else start
        for path, parameter in self.named_parameters():
            if parameter.value is None:
                values = initialisers.draw(parameter.init, parameter.shape, parameter.dtype, start, path)
            elif (source := dispatch.owner(parameter.value)) is target:
                continue
            else:
                values = source.to_numpy(parameter.value)
            parameter.value = target.variable(values, parameter.trainable)
        for module in self.modules():
            for name, parameter in module._parameters.items():
                module.__dict__[name] = parameter.value
            module.__dict__.update(_ready=True, _backend=target.name)
        self.__dict__["_input_specs"] = specs
        return self

    def _shapes_of(self, *specs: Spec):
        """Outputs' Specs; sets up what has not been set up, unless the shapes turn out not to fit."""
        flags = [(m, m._ready, m._set_up) for m in self.modules()]
        for module, _, _ in flags:
            module.__dict__["_ready"] = False
        try:
            return self(*specs)
        except Exception:
            for module, _, set_up in flags:
                module.__dict__["_set_up"] = set_up  # another try may come with other shapes
            raise
        finally:
            for module, ready, _ in flags:
                module.__dict__["_ready"] = ready

    def _check_tree(self) -> None:
        for path, module in self.named_modules():
            for name, value in module.__dict__.items():
                if isinstance(value, list | tuple) and any(isinstance(v, Module) for v in value):
                    raise ModelError(
                        f"{path or type(self).__name__}.{name} is a plain list of layers, which hides their parameters: "
                        f"write self.{name} = nn.ModuleList([...])"
                    )

    @property
    def built(self) -> bool:
        return self._ready

    @property
    def backend(self) -> str | None:
        """Name of the backend that holds the parameters, None before building."""
        return self._backend

    @property
    def input_specs(self) -> tuple[Spec, ...]:
        """The Specs that the model was built with."""
        if self._input_specs is None:
            raise ModelError(f"{type(self).__name__} is not built: call build((None, ...)) with the shape of its input")
        return self._input_specs

    @property
    def output_specs(self):
        """The Spec of the output for the inputs that the model was built with, or a tuple of several."""
        return self._shapes_of(*self.input_specs)

    def to(self, backend: str) -> Module:
        """Move the parameters to another backend, in place."""
        return self.build(*self.input_specs, backend=backend)

    # -- contents

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Every module once, with its path: the model itself (path ``""``), then its children in order."""
        seen: set[int] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield path, module
            stack.extend(
                (f"{path}/{name}" if path else name, child) for name, child in reversed(list(module._modules.items()))
            )

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Every parameter and buffer once, with its standard name such as ``conv1/kernel:0``."""
        seen: set[int] = set()
        for path, module in self.named_modules():
            for name, parameter in module._parameters.items():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield f"{path}/{name}:0" if path else f"{name}:0", parameter

    def parameters(self) -> Iterator[Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def trainable_variables(self) -> list:
        """The backend's own variables that training updates."""
        return [p.value for p in self.parameters() if p.trainable]

    def count_parameters(self) -> int:
        """Number of trainable values."""
        return sum(p.size for p in self.parameters() if p.trainable)

    def train(self, mode: bool = True) -> Module:
        """Training behaviour of dropout and batch normalisation, here and in all sub-modules."""
        for module in self.modules():
            module.__dict__["training"] = mode
        return self

    def eval(self) -> Module:
        """Evaluation behaviour of dropout and batch normalisation."""
        return self.train(False)

    # -- values

    def state_dict(self) -> dict[str, np.ndarray]:
        """``{standard name: NumPy array in the standard shape}`` of all parameters and buffers; fits any backend."""
        self._need_build()
        return {path: p.to_standard(dispatch.owner(p.value).to_numpy(p.value).copy())
                for path, p in self.named_parameters()}  # fmt: skip

    def load_state_dict(self, values: dict[str, np.ndarray]) -> None:
        """Put values into the parameters. Raises StateDictError naming missing, unexpected and wrongly shaped keys."""
        self._need_build()
        own = dict(self.named_parameters())
        problems = [f"missing {key}" for key in own if key not in values]
        problems += [f"unexpected {key}" for key in values if key not in own]
        problems += [f"{key} has shape {np.shape(values[key])}, the model wants {p.standard_shape}"
                     for key, p in own.items() if key in values and np.shape(values[key]) != p.standard_shape]  # fmt: skip
        problems += [f"{key} holds {np.asarray(values[key]).dtype}, the model wants {p.dtype}" for key, p in own.items()
                     if key in values and not np.can_cast(np.asarray(values[key]).dtype, p.dtype, "same_kind")]  # fmt: skip
        if problems:
            raise StateDictError(f"parameters do not match {type(self).__name__}: {'; '.join(problems)}")
        for key, parameter in own.items():
            array = parameter.from_standard(np.asarray(values[key])).astype(parameter.dtype, copy=False)
            dispatch.owner(parameter.value).assign(parameter.value, array)

    def _need_build(self) -> None:
        unbuilt = [path or type(m).__name__ for path, m in self.named_modules() if not m._ready]
        if unbuilt:
            raise ModelError(
                f"not built yet: {', '.join(unbuilt[:5])}; call build((None, ...)) with the shape of the input"
            )

    # -- showing

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}({self._describe()})"]
        for name, child in self._modules.items():
            head, *rest = repr(child).splitlines()
            lines += [f"  {name}: {head}", *(f"  {line}" for line in rest)]
        return "\n".join(lines)

    def _describe(self) -> str:
        return ""

    def summary(self) -> str:
        """A table of layers, output shapes and parameter counts."""
        from labdl.graph import trace  # graph stands above nn; the table is made from a trace

        return trace(self, *self.input_specs).summary()


_STATE = frozenset(Module().__dict__)


def reserved(name: str) -> bool:
    """Whether every module has something of this name, which a layer or parameter would hide."""
    return name in _STATE or hasattr(Module, name)
