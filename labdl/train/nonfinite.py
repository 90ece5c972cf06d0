"""Search for the layer, gradient or update that produced the first NaN or infinity of a training."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import GradientError, LabDLError, ModelError, UpdateError
from labdl.graph.graph import Graph
from labdl.ops.operator import Operator
from labdl.ops.operator.observation import observe_operators
from labdl.train.binding import convert
from labdl.train.data_adapter import flatten, read
from labdl.train.monitor.activations import ModuleCall, layer_names, layer_of, observe_calls
from labdl.train.source_location import Location, caller_location
from labdl.train.train_step import objective, phase_gradients, train_step

if TYPE_CHECKING:
    from labdl.data import Loader
    from labdl.train.context import TrainContext
    from labdl.train.learning_rate import LearningRate
    from labdl.train.progress import Progress
    from labdl.train.snapshot import Snapshot
    from labdl.train.state import TrainState

SECONDS = 60.0  # largest time of the steps that are repeated to find the cause
HUGE = 1e15  # an output of this size may overflow in any loss, so that the loss is not the cause


class NonFiniteCheck:
    """Finds the cause of a loss or parameter that is not finite, and restores the last finite state of the model."""

    def __init__(
        self,
        context: TrainContext,
        state: TrainState,
        *,
        loader: Loader,
        progress: Progress,
        learning_rate: LearningRate,
        snapshot: Snapshot,
    ):
        self.context, self.state, self.loader = context, state, loader
        self.progress, self.learning_rate, self.snapshot = progress, learning_rate, snapshot

    def explain_loss(self, batch: Any, loss: float) -> LabDLError:
        """Return the error for a loss that is not finite, and restore the last finite state."""
        step = self.progress.step + 1
        x, y = convert(self.context, self.state, *self.context.methods.preprocess(batch))
        error = self._check_data(step, x, y) or self._search(step, x, y)
        if error is None:
            message = f"the loss is not finite at step {step}: it is {loss}; try a smaller learning rate"
            error = _set_place(ModelError(message), "loss")
        return self._restore(error)

    def check_parameters(self) -> None:
        """Raise UpdateError or GradientError when a parameter is not finite after the last step."""
        name, step = self._broken_parameter(), self.progress.step
        if name is not None:
            raise self._restore(self._search(step) or self._update_error(step, name))

    def _restore(self, error: LabDLError) -> LabDLError:
        if not self.snapshot.restore():
            return error
        return _set_place(type(error)(f"{error}; {self.snapshot.describe()}"), **(error.place or {}))

    # -- searching for the cause

    def _search(self, step: int, x: Any = None, y: Any = None) -> LabDLError | None:
        """Repeat the steps since the last finite state up to this one, and return an error for the first NaN or infinity."""
        after = self._broken_parameter()
        if after is None and x is not None:
            return self._check_forward(step, x, y, None)
        if self.snapshot.values is None or time.perf_counter() - self.snapshot.time > SECONDS:
            return None if after is None else self._update_error(step, after)
        for number, x, y, update in self._repeat(step):
            if number < step - 1:
                update()
                continue
            error = self._check_forward(number, x, y, after if number == step else None)
            error = error or self._check_gradients(number, x, y)
            if error is None:
                update()
                name = self._broken_parameter()
                error = None if name is None else self._update_error(number, name)
            if error is not None:
                return error
        return None

    def _repeat(self, until: int) -> Iterator[tuple[int, Any, Any, Callable[[], Any]]]:
        """Yield the steps since the last finite state: number, inputs, targets, and a function that runs the update."""
        context, state = self.context, self.state
        self.snapshot.restore()
        epoch, start, number = self.snapshot.epoch, self.snapshot.batch, self.snapshot.step
        while number < until:
            context.model.train()
            for number, batch in enumerate(read(self.loader, epoch, start), number + 1):  # noqa: B020
                self.learning_rate.replay(number - 1)
                x, y = convert(context, state, *context.methods.preprocess(batch))
                yield number, x, y, lambda x=x, y=y: train_step(context, state, x, y)
                if number == until:
                    return
            epoch, start = epoch + 1, 0

    def _check_data(self, step: int, x: Any, y: Any) -> LabDLError | None:
        graph = getattr(self.context.model, "graph", None)
        entries = [graph.nodes[i].name for i in graph.inputs()] if isinstance(graph, Graph) else []
        for what, value in (("inputs", x), ("targets", y)):
            leaves = flatten(value)[0]
            for n, array in enumerate(leaves):
                if np.asarray(array).dtype.kind == "f" and not np.isfinite(array).all():
                    node = entries[n] if what == "inputs" and len(entries) == len(leaves) else None
                    error = f"the loss is not finite at step {step}: the {what} of this batch have NaN or infinity"
                    return _set_place(ModelError(error), what, node)
        return None

    def _check_forward(self, step: int, x: Any, y: Any, after: str | None) -> LabDLError | None:
        """Error for the first module whose output is not finite, or for the loss; the step broke the parameter ``after``."""
        backend = self.state.backend
        leaves, structure = flatten((x, y))
        for phase in self.state.phases:
            finder = _FirstNonFinite(backend)
            with observe_calls(self.context.model, finder), observe_operators(finder.operator_called):
                run = backend.evaluate_function(objective(self.context, phase, structure).run, compiled=False)
                loss = float(backend.to_numpy(run(*map(backend.tensor, leaves))[0]))
            if finder.first is not None:
                return self._output_error(step, finder, finder.first)
            if not np.isfinite(loss):
                if after is not None and step > 1 and finder.largest > HUGE:
                    error = (
                        f"the update of step {step} made {after} NaN or infinite: try a smaller learning rate; the "
                        f"model's output had grown up to {finder.largest:.3g}, the loss to {loss}"
                    )
                    return _set_place(UpdateError(error), "update", self._layer(after))
                error = (
                    f"the loss is not finite at step {step}: the model's output is finite, up to {finder.largest:.3g}, "
                    f"but its loss is {loss}; look at the loss function"
                )
                return _set_place(ModelError(error), "loss")
        return None

    def _output_error(self, step: int, finder: _FirstNonFinite, call: ModuleCall) -> LabDLError:
        """Error for the first module whose output is not finite, or for the operator before or in it that is the cause."""
        beginning, cause = f"the loss is not finite at step {step}", finder.operator
        inputs = finder.arrays(call.inputs)
        if all(np.isfinite(a).all() for a in inputs):
            error = (
                f"{beginning}: the output of {call.name or 'the model'} ({call.kind}) has NaN or infinity, though its inputs "
                f"are finite, up to {_largest(inputs):.3g}"
            )
            if cause is not None:
                error += f"; the cause is {cause}"
            return _set_place(ModelError(error), "output", call.node or None)
        if cause is None:
            error = (
                f"{beginning}: the inputs of {call.name} ({call.kind}) have NaN or infinity, though all layers before it gave "
                "finite outputs: look at what the forward computes between them"
            )
            return _set_place(ModelError(error), "output", call.node or None)
        paths = {id(module): path for path, module in self.context.model.named_modules()}
        return _set_place(ModelError(f"{beginning}: {cause}"), "output", paths.get(id(cause.location.module)) or None)

    def _check_gradients(self, step: int, x: Any, y: Any) -> LabDLError | None:
        """Error for the first gradient, in the order of backpropagation, that is not finite."""
        for phase in self.state.phases:
            if phase.scaler is None:  # with loss scaling, gradients may overflow and the update is skipped
                arrays = phase.to_arrays(phase_gradients(self.context, self.state, phase, x, y))
                broken = [name for name, g in arrays.items() if not np.isfinite(g).all()]
                if broken:
                    error = (
                        f"the gradient of {broken[-1]} has NaN or infinity at step {step}, though the loss is "
                        "finite: look at the layers after it, or try a smaller learning rate"
                    )
                    return _set_place(GradientError(error), "gradient", self._layer(broken[-1]))
        return None

    def _update_error(self, step: int, name: str) -> LabDLError:
        error = f"the update of step {step} made {name} NaN or infinite: try a smaller learning rate"
        return _set_place(UpdateError(error), "update", self._layer(name))

    def _broken_parameter(self) -> str | None:
        model = self.context.model
        named = list(model.named_parameters())
        bad = dispatch.get(model.backend).finite([p.value for _, p in named])
        return None if bad is None else named[bad][0]

    def _layer(self, parameter: str) -> str:
        return layer_of(set(layer_names(self.context.model)), parameter)


def _set_place(error: LabDLError, what: str | None = None, node: str | None = None) -> LabDLError:
    """Set the place of an error: what was not finite first, and the node or layer."""
    if what is not None:
        error.place = {"node": node, "what": what}
    return error


@dataclasses.dataclass(frozen=True)
class _OperatorCall:
    """A call of an operator in a person's code whose result is not finite, with its finite inputs."""

    name: str
    location: Location
    inputs: list[np.ndarray]

    def __str__(self) -> str:
        bounds = [f for a in self.inputs if a.size for f in (float(a.min()), float(a.max()))]
        between = f" for inputs between {min(bounds):.3g} and {max(bounds):.3g}" if bounds else ""
        return f"ops.{self.name} in {self.location}, which gives NaN or infinity{between}"


class _FirstNonFinite:
    """Finds the first module or node, and the first operator of a person's code, whose outputs are not finite."""

    def __init__(self, backend):
        self.backend, self.tensor_types = backend, backend.tensor_types()
        self.first: ModuleCall | None = None
        self.operator: _OperatorCall | None = None
        self.largest = 0.0  # of the model's outputs

    def operator_called(self, entry: Operator, args: tuple, result: Any) -> None:
        if self.first is not None or self.operator is not None:
            return
        inputs = self.arrays(args)
        if all(np.isfinite(a).all() for a in self.arrays(result)) or not all(np.isfinite(a).all() for a in inputs):
            return
        location = caller_location()
        if location is not None:
            self.operator = _OperatorCall(entry.name, location, inputs)

    def __call__(self, call: ModuleCall) -> None:
        if self.first is not None:
            return
        outputs = self.arrays(call.outputs)
        if not all(np.isfinite(a).all() for a in outputs):
            self.first = call
        elif not call.name:  # the model itself
            self.largest = _largest(outputs)

    def arrays(self, value: Any) -> list[np.ndarray]:
        tensors = [v for v in flatten(value)[0] if isinstance(v, self.tensor_types)]
        return [a for a in map(self.backend.to_numpy, tensors) if a.dtype.kind == "f" or a.dtype.name == "bfloat16"]


def _largest(arrays: list[np.ndarray]) -> float:
    return float(max((np.abs(a).max(initial=0.0) for a in arrays), default=0.0))
