"""Numbers that are not finite: which layer, gradient or update brought them into a training, and the way back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import GradientError, LabDLError, ModelError, UpdateError
from labdl.graph.graph import Graph
from labdl.train.batches import flattened, read
from labdl.train.state import restore
from labdl.train.watching import Sight, layers_of, node_of, watching

if TYPE_CHECKING:
    from labdl.train.loop import Loop

KEPT = 2**25  # bytes of parameters and slots; of what is larger no copy is kept
SMALL = 2**20  # copied after every epoch; what is larger only as often as it takes a fiftieth of the time
SECONDS = 60.0  # so long may the steps take that are made once more to find the cause
HUGE = 1e15  # an output that overflows in the loss rather than being the loss's own fault


class Good:
    """The last state of a training in which everything was finite: that of the start or of the end of an epoch.

    A copy in memory of models that take up to 32 MiB with their optimiser; where epochs are short next to copying, that of an
    epoch shortly before. Of larger models none is kept: there a `Checkpoint` has the last good state, if there is any.
    """

    def __init__(self, loop: Loop):
        self.loop, self.cost, self.time = loop, 0.0, 0.0
        self.state: dict[str, Any] | None = None
        # each parameter with two slots, as most optimisers have
        self.size = sum(p.size * 12 for p in loop.trainer.model.parameters())
        self.take()

    def take(self) -> None:
        """Keep the state of now, unless that would cost more than it should."""
        loop, began = self.loop, time.perf_counter()
        if self.state is not None and self.size > SMALL and began - self.time < 50 * self.cost:
            return
        self.epoch, self.batch, self.step = loop.progress.epoch, loop.progress.batch, loop.progress.step
        self.state = loop.trainer.state_dict() if self.size <= KEPT else None
        self.time = time.perf_counter()
        self.cost = self.time - began

    def restore(self) -> bool:
        """Go back to it; whether there is one."""
        trainer = self.loop.trainer
        if self.state is None:
            newest = self.loop.checkpoint and self.loop.checkpoint.latest
            if newest is None:
                return False
            from labdl.train.checkpoint import load

            load(trainer, newest)
        else:
            state = self.state
            restore(trainer, state, lambda model: model.load_state_dict(state["parameters"]), "the last good state")
        trainer.former, trainer.loop = None, self.loop  # the next training is a new one
        return True

    @property
    def words(self) -> str:
        if self.state is None:
            return "the model is as in the last checkpoint again"
        return (
            f"the model is as after epoch {self.epoch} again"
            if self.epoch
            else "the model is as before the training again"
        )


def explained(loop: Loop, batch: Any, loss: float) -> LabDLError:
    """What to raise for a loss that is not finite, the model being back in its last good state."""
    trainer, step = loop.trainer, loop.progress.step + 1
    x, y = trainer.preprocess(batch)
    error = _of_data(loop, step, x, y) or _search(loop, step, x, y)
    if error is None:
        error = _placed(
            ModelError(f"the loss is not finite at step {step}: it is {loss}; try a smaller learning rate"), "loss"
        )
    return _with_way_back(loop, error)


def check_parameters(loop: Loop) -> None:
    """Raise UpdateError or GradientError when a parameter is not finite after the last step."""
    name = _broken_parameter(loop)
    if name is not None:
        raise _with_way_back(loop, _search(loop, loop.progress.step) or _of_update(loop, loop.progress.step, name))


def _with_way_back(loop: Loop, error: LabDLError) -> LabDLError:
    if not loop.good.restore():
        return error
    return _placed(type(error)(f"{error}; {loop.good.words}"), **(error.place or {}))


def _placed(error: LabDLError, what: str | None = None, node: str | None = None) -> LabDLError:
    """The error with its place: what was not finite first, of which node of the model's graph or which layer."""
    if what is not None:
        error.place = {"node": node, "what": what}
    return error


def _layer(loop: Loop, parameter: str) -> str:
    return node_of(set(layers_of(loop.trainer.model)), parameter)


# -- looking for the cause


def _search(loop: Loop, step: int, x: Any = None, y: Any = None) -> LabDLError | None:
    """The first thing that was not finite in the steps up to this one, made once more from the last good state."""
    after = _broken_parameter(loop)
    if after is None and x is not None:
        return _of_forward(loop, step, x, y, None)
    if loop.good.state is None or time.perf_counter() - loop.good.time > SECONDS:
        return None if after is None else _of_update(loop, step, after)
    for number, x, y, update in _again(loop, step):
        if number < step - 1:
            update()
            continue
        error = _of_forward(loop, number, x, y, after if number == step else None) or _of_gradient(loop, number, x, y)
        if error is None:
            update()
            name = _broken_parameter(loop)
            error = None if name is None else _of_update(loop, number, name)
        if error is not None:
            return error
    return None


def _again(loop: Loop, until: int) -> Iterator[tuple[int, Any, Any, Callable[[], Any]]]:
    """The steps since the last good state: number, inputs, targets, and the update to be made before the next."""
    trainer, good = loop.trainer, loop.good
    good.restore()
    epoch, start, number = good.epoch, good.batch, good.step
    while number < until:
        trainer.model.train()
        for number, batch in enumerate(read(loop.loader, epoch, start), number + 1):  # noqa: B020
            if loop.plan:
                trainer.engine.learning_rate = loop.plan(number - 1) * loop.factor
            x, y = trainer.preprocess(batch)
            yield number, x, y, lambda x=x, y=y: trainer.engine.step(x, y)
            if number == until:
                return
        epoch, start = epoch + 1, 0


def _of_data(loop: Loop, step: int, x: Any, y: Any) -> LabDLError | None:
    graph = getattr(loop.trainer.model, "graph", None)
    entries = [graph.nodes[i].name for i in graph.inputs()] if isinstance(graph, Graph) else []
    for what, value in (("inputs", x), ("targets", y)):
        leaves = flattened(value)[0]
        for n, array in enumerate(leaves):
            if np.asarray(array).dtype.kind == "f" and not np.isfinite(array).all():
                node = entries[n] if what == "inputs" and len(entries) == len(leaves) else None
                error = f"the loss is not finite at step {step}: the {what} of this batch have NaN or infinity"
                return _placed(ModelError(error), what, node)
    return None


def _of_forward(loop: Loop, step: int, x: Any, y: Any, after: str | None) -> LabDLError | None:
    """The first module whose output is not finite for a batch, or the loss itself; ``after`` is what its update broke."""
    trainer = loop.trainer
    leaves, structure = flattened((x, y))
    for work in trainer.engine.works:
        seen = _Seen(work.backend)
        with watching(trainer.model, seen):
            run = work.backend.evaluate_function(work.objective(structure).run, compiled=False)
            loss = float(work.backend.to_numpy(run(*map(work.backend.tensor, leaves))[0]))
        if seen.first is not None:
            sight, largest = seen.first
            error = (f"the loss is not finite at step {step}: the output of {sight.name or 'the model'} ({sight.kind}) has NaN "
                     f"or infinity, though its inputs are finite, up to {largest:.3g}")  # fmt: skip
            return _placed(ModelError(error), "output", sight.node or None)
        if not np.isfinite(loss):
            if after is not None and step > 1 and seen.largest > HUGE:
                error = (f"the update of step {step} made {after} NaN or infinite: try a smaller learning rate; the "
                         f"model's output had grown up to {seen.largest:.3g}, the loss to {loss}")  # fmt: skip
                return _placed(UpdateError(error), "update", _layer(loop, after))
            error = (f"the loss is not finite at step {step}: the model's output is finite, up to {seen.largest:.3g}, "
                     f"but its loss is {loss}; look at the loss function")  # fmt: skip
            return _placed(ModelError(error), "loss")
    return None


def _of_gradient(loop: Loop, step: int, x: Any, y: Any) -> LabDLError | None:
    """The gradient that is not finite, the first on the way back through the model, of a loss that is."""
    for work in loop.trainer.engine.works:
        if work.scaler is None:  # its gradients may overflow: that update is left out
            broken = [name for name, g in work.by_name(work.gradients(x, y)).items() if not np.isfinite(g).all()]
            if broken:
                error = (f"the gradient of {broken[-1]} has NaN or infinity at step {step}, though the loss is "
                         "finite: look at what comes behind it, or try a smaller learning rate")  # fmt: skip
                return _placed(GradientError(error), "gradient", _layer(loop, broken[-1]))
    return None


def _of_update(loop: Loop, step: int, name: str) -> LabDLError:
    error = f"the update of step {step} made {name} NaN or infinite: try a smaller learning rate"
    return _placed(UpdateError(error), "update", _layer(loop, name))


def _broken_parameter(loop: Loop) -> str | None:
    model = loop.trainer.model
    named = list(model.named_parameters())
    bad = dispatch.get(model.backend).finite([p.value for _, p in named])
    return None if bad is None else named[bad][0]


class _Seen:
    """The first part of the model whose outputs are not finite, with the largest of its inputs."""

    def __init__(self, backend):
        self.backend, self.kinds = backend, backend.tensor_types()
        self.first: tuple[Sight, float] | None = None
        self.largest = 0.0  # of the model's outputs

    def __call__(self, sight: Sight) -> None:
        if self.first is not None:
            return
        found = self._arrays(sight.outputs)
        if not all(np.isfinite(a).all() for a in found):
            self.first = sight, _largest(self._arrays(sight.given))
        elif not sight.name:  # the model itself
            self.largest = _largest(found)

    def _arrays(self, value: Any) -> list[np.ndarray]:
        tensors = [v for v in flattened(value)[0] if isinstance(v, self.kinds)]
        return [a for a in map(self.backend.to_numpy, tensors) if a.dtype.kind == "f" or a.dtype.name == "bfloat16"]


def _largest(arrays: list[np.ndarray]) -> float:
    return float(max((np.abs(a).max(initial=0.0) for a in arrays), default=0.0))
