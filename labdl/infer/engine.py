"""The engine of inference: NumPy arrays through a model in evaluation mode, by a function that is made once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError, ModelError
from labdl.graph.compiled import Compilable
from labdl.graph.graph import Graph
from labdl.graph.module import GraphModule
from labdl.infer.evaluating import evaluating
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import input_ports
from labdl.saving import load
from labdl.spec import Spec
from labdl.train.exits import running
from labdl.train.turns import turns


class Engine:
    """A model, or a function that uses it, computed batch by batch; several threads may call it.

    The model is in evaluation mode while it computes, and as it was before afterwards. ``function`` takes the place of the
    model where more is to be computed than its outputs.
    """

    def __init__(self, model: Module, *, backend: str | None = None, compiled: bool | str | None = None,
                 function: Callable | None = None):  # fmt: skip
        self.model, self.backend, self.compiled = model, backend, compiled
        self._computed = model if function is None else function
        self._lock = threading.RLock()
        self._evaluate: Callable | None = None
        self._seen = -1
        self._parts: list[Any] = []  # modules and variables that the function was made for
        self._modules: list[Module] = []

    @contextmanager
    def tensors(self, inputs: Sequence[np.ndarray]) -> Iterator[Any]:
        """The backend's tensors that the model gives for one batch: one, or several in tuples and dictionaries.

        Meanwhile no other thread computes where the backend does not say that it is ``concurrent``, where the first call
        compiles, and while a run goes on in the background, which may be training this very model.
        """
        with self._lock:
            backend, evaluate, modules = self._made(inputs)
        together = getattr(backend, "concurrent", False) and not self.compiled and not running
        with nullcontext() if together else turns, evaluating(modules):
            yield evaluate(*map(backend.tensor, inputs))

    def arrays(self, inputs: Sequence[np.ndarray]) -> Any:
        """The same as NumPy arrays."""
        with self.tensors(inputs) as found:
            return each(self.native.to_numpy, found)

    @property
    def native(self):
        """The backend that computes."""
        return dispatch.get(self.model.backend or self.backend)

    def _made(self, inputs: Sequence[np.ndarray]) -> tuple[Any, Callable, list[Module]]:
        """The backend and the function, made anew only when other layers or variables compute."""
        model = self.model
        if self._seen != Parameter.changes:
            if model.unbuilt:
                specs = [Spec((None, *a.shape[1:]), str(a.dtype)) for a in inputs]
                model.build(*specs, backend=model.backend or self.backend)
            self._modules = list(model.modules())
            parts = [*self._modules, *(p.value for p in model.parameters())]
            if len(parts) != len(self._parts) or any(a is not b for a, b in zip(parts, self._parts, strict=True)):
                computed = Compilable(self._computed, [model], self.native)
                self._evaluate = self.native.evaluate_function(computed, compiled=self.compiled)
                self._parts = parts
            self._seen = Parameter.changes
        assert self._evaluate is not None
        return self.native, self._evaluate, self._modules


def as_model(model: Module | Graph | str | Path, backend: str | None = None) -> Module:
    """A model from a model, a graph, or the path of a saved one, on a backend if one is named.

    Raises ConfigError for anything else.
    """
    if isinstance(model, str | Path):
        return load(model, backend=backend)
    if isinstance(model, Graph):
        return model.to_module()
    if not isinstance(model, Module):
        raise ConfigError(
            f"model wants a Module, a Graph or the path of a saved model, received {type(model).__name__}"
        )
    if model.built and backend not in (None, model.backend):
        model.to(backend)  # type: ignore[arg-type]
    return model


def input_count(model: Module) -> int:
    """How many inputs a model takes; what a data set holds beside them are targets."""
    if isinstance(model, GraphModule):
        return len(model.graph.inputs())
    if model.built:
        return len(model.input_specs)
    return max(sum(not port.optional for port in input_ports(type(model))), 1)


def each(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of every tensor in an output that may be several, in tuples and dictionaries."""
    if isinstance(value, list | tuple):
        return tuple(each(function, v) for v in value)
    if isinstance(value, dict):
        return {name: each(function, v) for name, v in value.items()}
    return function(value)


def split(outputs: Any, samples: int) -> list[Any]:
    """The outputs of each sample of a batch. Raises ModelError for an output that has no axis of samples."""

    def check(array: np.ndarray) -> None:
        if not array.ndim or len(array) != samples:
            raise ModelError(f"a batch of {samples} samples gave an output of shape {array.shape}: each output wants "
                             "the samples on its first axis")  # fmt: skip

    each(check, outputs)
    if isinstance(outputs, np.ndarray):
        return list(outputs)
    return [each(lambda array, at=at: array[at], outputs) for at in range(samples)]


def joined(parts: Sequence[Any]) -> Any:
    """The outputs of several batches as those of one."""
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(joined(column) for column in zip(*parts, strict=True))
    if isinstance(first, dict):
        return {name: joined([part[name] for part in parts]) for name in first}
    return np.concatenate(parts)
