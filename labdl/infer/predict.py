"""Predictor: NumPy arrays through a model in evaluation mode, by a function that is built once."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.data.conversion import as_array, as_inputs
from labdl.errors import ConfigError, ModelError
from labdl.graph.graph import Graph
from labdl.graph.lowering.compilable import Compilable
from labdl.graph.module import GraphModule
from labdl.infer.data_adapter import iterate_inputs
from labdl.nn.eval_mode import eval_mode
from labdl.nn.index_limits import check_indices, index_limits
from labdl.nn.input_arrays import build_for, fit_inputs
from labdl.nn.module import Module
from labdl.nn.named_inputs import describe_inputs, place_named, takes_by_name
from labdl.nn.output_kind import EVEN_ODDS, OutputKind, output_kind
from labdl.nn.parameter import Parameter
from labdl.nn.schema import input_ports
from labdl.nn.signature import call_as_built, given_inputs
from labdl.saving import load
from labdl.train.run.locks import compute_lock
from labdl.train.run.shutdown import active_runs


class Predictor:
    """Thread-safe evaluation of a model, or of a function that uses it, batch by batch.

    The model is in evaluation mode while it computes, and its mode is restored. ``function`` replaces the model where more
    than its outputs is to be computed.
    """

    def __init__(
        self,
        model: Module,
        *,
        backend: str | None = None,
        compiled: bool | str | None = None,
        function: Callable | None = None,
    ):
        self.model, self.backend, self.compiled = model, backend, compiled
        self._computed = functools.partial(call_as_built, model) if function is None else function
        self._lock = threading.RLock()
        self._evaluate: Callable | None = None
        self._seen = -1
        self._parts: list[Any] = []  # modules and variables that the function was built for
        self._modules: list[Module] = []

    @contextmanager
    def tensors(self, inputs: Sequence[np.ndarray]) -> Iterator[Any]:
        """Outputs of the model for one batch as tensors of the backend: one, or several in tuples and dictionaries.

        Other threads wait if the backend is not ``concurrent``, if the function is compiled, and while a background run is
        active, which may be training this model.
        """
        with self._lock:
            backend, evaluate, modules = self._build_function(inputs)
        inputs = fit_inputs(self.model, inputs)
        if self.model._input_specs is not None:
            check_indices(tuple(inputs), index_limits(self.model))
        together = getattr(backend, "concurrent", False) and not self.compiled and not active_runs
        with nullcontext() if together else compute_lock, eval_mode(modules):
            yield evaluate(*map(backend.tensor, inputs))

    def arrays(self, inputs: Sequence[np.ndarray]) -> Any:
        """Outputs of the model for one batch as NumPy arrays."""
        with self.tensors(inputs) as found:
            return map_tensors(self.native.to_numpy, found)

    @property
    def native(self):
        """The backend that computes."""
        return dispatch.get(self.model.backend or self.backend)

    def _build_function(self, inputs: Sequence[np.ndarray]) -> tuple[Any, Callable, list[Module]]:
        """Backend, function and modules; the function is rebuilt when layers or variables have been replaced."""
        model = self.model
        if self._seen != Parameter.changes:
            if model.unbuilt:
                build_for(model, inputs, backend=model.backend or self.backend)
            self._modules = list(model.modules())
            parts = [*self._modules, *(p.value for p in model.parameters())]
            if len(parts) != len(self._parts) or any(a is not b for a, b in zip(parts, self._parts, strict=True)):
                computed = Compilable(self._computed, [model], self.native)
                self._evaluate = self.native.evaluate_function(computed, compiled=self.compiled)
                self._parts = parts
            self._seen = Parameter.changes
        assert self._evaluate is not None
        return self.native, self._evaluate, self._modules


def predict_with(
    predictor: Predictor,
    x: Any,
    batch_size: int,
    *,
    labels: bool = False,
    transform: Callable[[Any], Any] | None = None,
) -> Any:
    """The outputs for all samples of x, batch by batch, or their classes: see `labdl.predict`.

    ``transform`` is applied to the outputs of each batch, as NumPy arrays.
    """
    model = predictor.model
    inputs, count = inputs_of(model, x)
    parts = [predictor.arrays(batch) for batch in iterate_inputs(inputs, count, batch_size)]
    outputs = concatenate_outputs(parts if transform is None else list(map(transform, parts)))
    return predicted_labels(outputs, model.class_names, output_kind(model)) if labels else outputs


def as_model(model: Module | Graph | str | Path, backend: str | None = None) -> Module:
    """Convert a graph or the path of a saved model to a model; moves a model to ``backend`` if given.

    Raises ConfigError for any other object.
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
    """Number of inputs of a model; further arrays of a data set are targets."""
    if isinstance(model, GraphModule):
        return len(model.graph.inputs())
    if model._input_specs is not None:
        return len(given_inputs(model))
    return max(sum(not port.optional for port in input_ports(type(model))), 1)


def inputs_of(model: Module, data: Any) -> tuple[Any, int]:
    """The inputs in data for a prediction, and their number: a pair (x, y) as for training, or a tuple or list of inputs.

    Inputs in a dictionary are those of these names; a model that is not built is built for them.
    """
    if isinstance(data, tuple) and len(data) == 2 and isinstance(as_inputs(data[0]), tuple | dict):
        data = data[0]
    if isinstance(data, dict):
        data = _inputs_by_name(model, data)
    count = input_count(model)
    if count > 1 and isinstance(data, list) and len(data) == count:
        data = as_inputs(data)
    if isinstance(data, tuple):
        most = _most_inputs(model)  # without inputs that can be given by name alone
        count = len(data) if most is None else min(len(data), max(most, count))
    return data, count


def _inputs_by_name(model: Module, entries: dict[str, Any]) -> Any:
    if not takes_by_name(model, entries):
        raise ConfigError(f"the inputs are {describe_inputs(model, entries)}: name the entries so")
    arrays = {name: as_array(value, f"the input {name}") for name, value in entries.items()}
    if model.unbuilt:
        build_for(model, arrays, backend=model.backend)
    return place_named(model, arrays)


def _most_inputs(model: Module) -> int | None:
    """The largest number of inputs of a call, None without a limit."""
    if isinstance(model, GraphModule):
        return len(model._taken)
    ports = input_ports(type(model))
    return None if any(port.variadic for port in ports) else len(ports)


def map_tensors(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to every tensor of an output, through tuples and dictionaries."""
    if isinstance(value, list | tuple):
        return tuple(map_tensors(function, v) for v in value)
    if isinstance(value, dict):
        return {name: map_tensors(function, v) for name, v in value.items()}
    return function(value)


def split_batch(outputs: Any, samples: int) -> list[Any]:
    """Split the outputs of a batch into those of its samples. Raises ModelError for an output without a batch axis."""

    def check(array: np.ndarray) -> None:
        if not array.ndim or len(array) != samples:
            raise ModelError(
                f"a batch of {samples} samples gave an output of shape {array.shape}: each output wants "
                "the samples on its first axis"
            )

    map_tensors(check, outputs)
    if isinstance(outputs, np.ndarray):
        return list(outputs)
    return [map_tensors(lambda array, at=at: array[at], outputs) for at in range(samples)]


def concatenate_outputs(parts: Sequence[Any]) -> Any:
    """Concatenate the outputs of several batches."""
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(concatenate_outputs(column) for column in zip(*parts, strict=True))
    if isinstance(first, dict):
        return {name: concatenate_outputs([part[name] for part in parts]) for name in first}
    return np.concatenate(parts)


def predicted_labels(outputs: Any, names: Sequence[str] | None = None, kind: OutputKind = "logits") -> np.ndarray:
    """The predicted class of each sample, by name if there are names; a single score is that of class 1.

    Raises ModelError for several outputs.
    """
    if not isinstance(outputs, np.ndarray):
        raise ModelError(f"labels wants one array of scores (N, ..., classes), the model has {len(outputs)} outputs")
    single = outputs.ndim < 2 or outputs.shape[-1] == 1
    classes = (
        (outputs.reshape(len(outputs), -1)[:, 0] > EVEN_ODDS[kind]).astype("int64") if single else outputs.argmax(-1)
    )
    count = 2 if single else outputs.shape[-1]
    if names is not None and len(names) != count:
        raise ModelError(f"the model has {len(names)} class_names and {count} classes: give one name for each class")
    return classes if names is None else np.array(names)[classes]
