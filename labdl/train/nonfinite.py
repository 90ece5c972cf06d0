"""Search for the operator, layer, gradient or update that produced the first NaN or infinity of a training."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.data import IterableDataset
from labdl.errors import GradientError, LabDLError, ModelError, UpdateError
from labdl.graph.graph import Graph
from labdl.ops.operator.observation import observe_operators
from labdl.train.binding import convert
from labdl.train.data_adapter import flatten, read
from labdl.train.monitor.activations import layer_names, layer_of, observe_calls
from labdl.train.nonfinite_origin import GradientTracker, Origin, OriginTracker
from labdl.train.precision import describe_skips
from labdl.train.train_step import objective, phase_gradients, train_step

if TYPE_CHECKING:
    from labdl.data import Loader
    from labdl.train.context import TrainContext
    from labdl.train.learning_rate import LearningRate
    from labdl.train.progress import Progress
    from labdl.train.snapshot import Snapshot
    from labdl.train.state import PhaseState, TrainState

SECONDS = 60.0  # largest time of the steps that are repeated to find the cause
_GIVES = "which gives NaN or infinity"
HUGE = 1e15  # an output of this size may overflow in any loss, so that the loss is not the cause


class NonFiniteCheck:
    """Finds the cause of a loss or parameter that is not finite, and restores the last finite state of the model."""

    def __init__(
        self,
        context: TrainContext,
        state: TrainState,
        *,
        loader: Loader,
        steps: int,
        progress: Progress,
        learning_rate: LearningRate,
        snapshot: Snapshot,
    ):
        self.context, self.state, self.loader, self.steps = context, state, loader, steps
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
        if self.progress.epochs is not None and self.progress.epoch + 1 >= self.progress.epochs:
            for phase in self.state.phases:
                if phase.scaler is not None and phase.scaler.skipped_in_a_row and not phase.optimizer.step:
                    raise GradientError(describe_skips(phase.optimizer.names[0], phase.scaler))

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
        # the batches of a stream are not there again without reading it from its beginning
        again = not isinstance(self.loader.dataset, IterableDataset)
        if not again or self.snapshot.values is None or time.perf_counter() - self.snapshot.time > SECONDS:
            return None if after is None else self._update_error(step, after)
        for number, x, y, update in self._repeat(step):
            error = self._check_data(number, x, y)
            if error is None and number < step - 1:
                update()
                continue
            error = error or self._check_forward(number, x, y, after if number == step else None)
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
            batches = itertools.islice(read(self.loader, epoch, start), self.steps - start)
            for number, batch in enumerate(batches, number + 1):  # noqa: B020
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

    def _observe(self, phase: PhaseState, x: Any, y: Any) -> tuple[float, Origin | None, OriginTracker]:
        """Repeat the forward of a phase: its loss, the origin of one that is not finite, and what was observed."""
        backend, (leaves, structure) = self.state.backend, flatten((x, y))
        tracker = OriginTracker(backend, self.context.model)
        with observe_calls(self.context.model, tracker.module_called), observe_operators(tracker.operator_called):
            run = backend.evaluate_function(objective(self.context, phase, structure).run, compiled=False)
            result = run(*map(backend.tensor, leaves))[0]
        loss = float(backend.to_numpy(result))
        return loss, None if np.isfinite(loss) else tracker.origin(result, bool(np.isnan(loss))), tracker

    def _check_forward(self, step: int, x: Any, y: Any, after: str | None) -> LabDLError | None:
        """Error for the cause of a loss that is not finite; the step broke the parameter ``after``."""
        for phase in self.state.phases:
            loss, origin, tracker = self._observe(phase, x, y)
            if origin is not None:
                return self._origin_error(step, origin) or self._loss_error(step, loss, origin, tracker.largest, after)
        return None

    def _origin_error(self, step: int, origin: Origin) -> LabDLError | None:
        """Error for a loss that is not finite because of the model; None if its output is finite."""
        paths = {id(module): path for path, module in self.context.model.named_modules()}
        beginning, line, call = f"the loss is not finite at step {step}", origin.line, origin.module or origin.receiver
        owner = None if line is None else paths.get(id(line.location.module))
        if line is not None and origin.module is None and (call is not None or owner is not None):
            return _set_place(ModelError(f"{beginning}: {line.describe(_GIVES)}"), "output", owner or None)
        if call is None:
            return None
        name = f"{call.name or 'the model'} ({call.kind})"
        if origin.module is None:
            error = (
                f"{beginning}: the inputs of {name} have NaN or infinity, though all layers before it gave finite outputs: "
                "look at what the forward computes between them"
            )
        else:
            finite = np.isfinite(call.largest)
            inputs = (
                f"though its inputs are finite, up to {call.largest:.3g}" if finite else "and its inputs have infinity"
            )
            error = f"{beginning}: the output of {name} has NaN or infinity, {inputs}"
            error += "" if line is None else f"; the cause is {line.describe(_GIVES)}"
        return _set_place(ModelError(error), "output", call.node or None)

    def _loss_error(
        self, step: int, loss: float, origin: Origin, largest: float | None, after: str | None
    ) -> LabDLError:
        """Error for a loss that is not finite though the model's output is, up to ``largest``."""
        if after is not None and step > 1 and largest is not None and largest > HUGE:
            error = (
                f"the update of step {step} made {after} NaN or infinite: try a smaller learning rate; the "
                f"model's output had grown up to {largest:.3g}, the loss to {loss}"
            )
            return _set_place(UpdateError(error), "update", self._layer(after))
        output = "has infinity, and" if largest is None else f"is finite, up to {largest:.3g}, but"
        error = f"the loss is not finite at step {step}: the model's output {output} its loss is {loss}; "
        error += "look at the loss function" if origin.line is None else f"the cause is {origin.line.describe(_GIVES)}"
        return _set_place(ModelError(error), "loss")

    def _check_gradients(self, step: int, x: Any, y: Any) -> LabDLError | None:
        """Error for the first gradient, in the order of backpropagation, that is not finite."""
        for phase in self.state.phases:
            if phase.scaler is None:  # with loss scaling, gradients may overflow and the update is skipped
                arrays = phase.to_arrays(phase_gradients(self.context, self.state, phase, x, y))
                broken = [name for name, g in arrays.items() if not np.isfinite(g).all()]
                if broken:
                    advice = (
                        self._steep_operator(phase, x, y)
                        or "look at the layers after it, or try a smaller learning rate"
                    )
                    error = (
                        f"the gradient of {broken[-1]} has NaN or infinity at step {step}, though the loss is finite"
                    )
                    return _set_place(GradientError(f"{error}: {advice}"), "gradient", self._layer(broken[-1]))
        return None

    def _steep_operator(self, phase: PhaseState, x: Any, y: Any) -> str:
        """The operator in a person's code that makes a gradient NaN or infinite, empty where none does."""
        tracker, (leaves, structure) = GradientTracker(self.state.backend), flatten((x, y))
        with observe_operators(tracker.operator_called):
            objective(self.context, phase, structure).run(*map(self.state.backend.tensor, leaves))
        what = "whose gradient is not finite, also where its result is not selected,"
        return "" if tracker.line is None else f"the cause is {tracker.line.describe(what)}"

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
