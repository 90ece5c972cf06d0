"""A phase at work: from a batch to an update of its parameters, with what the settings ask for in between."""

from __future__ import annotations

import math
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl.errors import GradientError, ModelError
from labdl.graph.compiled import Compilable
from labdl.nn.parameter import Parameter
from labdl.ops.infix import neutral
from labdl.train import gradients as on_gradients
from labdl.train.batches import Structure, flattened, mapped, rebuilt, size_of
from labdl.train.objective import Objective
from labdl.train.optimizers import BoundOptimizer
from labdl.train.scaling import LossScaler

if TYPE_CHECKING:
    from labdl.train.phases import Phase
    from labdl.train.trainer import Trainer


class Pieces(list):
    """Outputs of the parts of a batch, one behind the other."""


class Work:
    """Updates the parameters of a phase, batch by batch."""

    def __init__(self, trainer: Trainer, phase: Phase, backend):
        self.trainer, self.phase, self.backend = trainer, phase, backend
        self.scaler = LossScaler() if trainer.settings.precision == "float16" else None
        self.optimizer = BoundOptimizer(phase.optimizer or trainer.optimizer, backend, self.learnt())  # type: ignore[arg-type]
        self.kept: list[Any] | None = None  # the gradients of the last update
        self._steps: dict[Structure, Callable] = {}

    def learnt(self) -> dict[str, Parameter]:
        """The parameters of the phase that are not frozen, by standard name."""
        found = {name: p for name, p in self.trainer.model.named_parameters() if p.trainable
                 and any(fnmatchcase(name, pattern) for pattern in self.phase.parameters)}  # fmt: skip
        if not found:
            if self.phase.parameters == ("*",):
                raise ModelError("the model has no trainable parameters")
            raise ModelError(f"the phase {self.phase.name!r} has no trainable parameters: none matches "
                             f"{' or '.join(map(repr, self.phase.parameters))}")  # fmt: skip
        return found

    def follow(self, backend) -> None:
        """Go on with the parameters that are learnt now, and where they are now."""
        learnt = self.learnt()
        if [id(p.value) for p in learnt.values()] != [id(v) for v in self.optimizer.variables]:
            self.optimizer.rebind(learnt, backend)
        if backend is not self.backend:
            self.backend = backend
            self.forget()

    def forget(self) -> None:
        """Make the steps anew when they are wanted."""
        self._steps.clear()

    def __call__(self, x, y) -> tuple[dict[str, float], Any]:
        """One update on a batch of arrays: its losses by name, and its output as tensors."""
        plain = type(x) is np.ndarray and type(y) is np.ndarray
        structure = None if plain else flattened((x, y))[1]
        step = self._steps.get(structure)
        if step is None:
            step = self._steps[structure] = self._made(structure)
        return step(x, y)

    def objective(self, structure: Structure, scaled: bool = False) -> Objective:
        """What is differentiated, for batches of a structure."""
        return Objective(self.phase.function, structure, self.trainer.settings.low_precision, scaled)

    def gradients(self, x, y) -> list[Any]:
        """Those of a batch, with nothing updated and in the precision of the parameters' own."""
        leaves, structure = flattened((x, y))
        run = self.backend.gradient_function(self.objective(structure).run, self.optimizer, compiled=False)
        return list(run(*map(self.backend.tensor, leaves))[1])

    def by_name(self, gradients: list[Any]) -> dict[str, np.ndarray]:
        """Gradients as arrays under standard names, laid out as the parameters are saved; zeros where there is none."""
        found = {}
        for (name, p), g in zip(self.optimizer.parameters.items(), gradients, strict=True):
            array = np.zeros(p.shape, "float32") if g is None else np.array(self.backend.to_numpy(g))
            found[name] = p.to_standard(array)
        return found

    # -- making the step

    def _made(self, structure: Structure) -> Callable:
        trainer, backend = self.trainer, self.backend
        settings, parts = trainer.settings, self.scaler is not None or trainer.settings.accumulate > 1
        objective = self.objective(structure, scaled=self.scaler is not None)
        compilable = Compilable(objective.run, trainer.engine.modules, backend, trainer.engine.size)
        if parts:
            return self._grouped(objective, compilable)
        changed = self._overrides or settings.gradient_norm or settings.keep_gradients or settings.clips
        run = backend.train_function(compilable, self.optimizer, compiled=trainer.compiled,
                                     update=neutral(self._change) if changed else None,
                                     timed=trainer.engine.updates.timed)  # fmt: skip
        tensor, to_numpy = backend.tensor, backend.to_numpy

        def step(x, y):
            if structure is None:
                result = run(tensor(x), tensor(y))
                if not changed and objective.simple:
                    return {"loss": float(to_numpy(result[0]))}, result[1]
            else:
                result = run(*map(tensor, flattened((x, y))[0]))
            values, output, told = objective.read(result)
            return self._told(values, told), output

        return step

    def _grouped(self, objective: Objective, compilable: Compilable) -> Callable:
        """One update from the gradients of several parts of a batch, each weighing as many samples as it has."""
        trainer, backend, scaler = self.trainer, self.backend, self.scaler
        differentiate = backend.gradient_function(compilable, self.optimizer, compiled=trainer.compiled)
        update = trainer.engine.updates.timed(
            backend.update_function(self.optimizer, neutral(self._change), compiled=trainer.compiled)
        )

        def step(x, y):
            count = size_of(x)
            size = trainer.engine.size or math.ceil(count / trainer.settings.accumulate)
            sums, losses, outputs = [], {}, Pieces()
            for start in range(0, count, size):
                part = slice(start, start + size)
                leaves = [leaf[part] for leaf in flattened((x, y))[0]]
                weight = 1.0 if trainer.engine.adds_up else min(size, count - start) / count
                scale = [] if scaler is None else [backend.tensor(np.asarray(scaler.scale, "float32"))]
                result, found = differentiate(*map(backend.tensor, leaves), *scale)
                values, output, _ = objective.read(result if scaler is None else result[1:])
                sums = list(found) if size >= count else on_gradients.added(sums, found, weight)
                for name, value in values.items():
                    losses[name] = losses.get(name, 0.0) + weight * float(backend.to_numpy(value))
                outputs.append(output)
            if scaler is not None:
                scale, good = scaler.scale, backend.finite([g for g in sums if g is not None]) is None
                scaler.update(good)
                if not good:
                    self.kept = None
                    return {**losses, **({"gradient_norm": 0.0} if trainer.settings.gradient_norm else {})}, outputs
                sums = on_gradients.scaled(sums, 1 / scale)
            return self._told(losses, list(update(sums) or ())), outputs

        return step

    @property
    def _overrides(self) -> bool:
        from labdl.train.trainer import Trainer

        own = type(self.trainer)
        return own.backward is not Trainer.backward or own.update is not Trainer.update

    def _change(self, gradients) -> tuple:
        """The update, and what is told of it: runs inside of a compiled step where there is one."""
        trainer, settings, gradients, told = self.trainer, self.trainer.settings, list(gradients), []
        if self._overrides:
            found = trainer.backward(dict(zip(self.optimizer.names, gradients, strict=True)))
            gradients = [found.get(name) for name in self.optimizer.names]
        raw = gradients
        if settings.gradient_norm or settings.clip_norm is not None:
            length = on_gradients.norm(raw)
            if length is None:
                raise GradientError("no parameter has a gradient: the loss does not depend on them")
            told += [length] * settings.gradient_norm
            if settings.clip_norm is not None:
                gradients = on_gradients.clipped_norm(raw, length, settings.clip_norm)
        if settings.clip_value is not None:
            gradients = on_gradients.clipped_value(gradients, settings.clip_value)
        if settings.keep_gradients:
            self._there = [g is not None for g in raw]
            told += [g for g in raw if g is not None]
        if self._overrides:
            trainer.update(dict(zip(self.optimizer.names, gradients, strict=True)), self.optimizer)
        else:
            self.optimizer.update(gradients)
        return tuple(told)

    def _told(self, values: dict[str, Any], told: list[Any]) -> dict[str, float]:
        """Numbers of a step, with what its update told."""
        settings, read = self.trainer.settings, self.backend.to_numpy
        numbers = {name: value if type(value) is float else float(read(value)) for name, value in values.items()}
        if settings.gradient_norm:
            numbers["gradient_norm"] = float(read(told[0]))
        if settings.keep_gradients:
            left = iter(told[settings.gradient_norm :])
            self.kept = [next(left) if there else None for there in self._there]
        return numbers


def joined(backend, output: Any) -> Any:
    """An output as arrays, that of a batch in parts as one."""
    if not isinstance(output, Pieces):
        return backend.to_numpy(output) if output is not None and type(output) not in (tuple, list, dict) \
            else mapped(backend.to_numpy, output)  # fmt: skip
    arrays = [mapped(backend.to_numpy, piece) for piece in output]
    columns = zip(*(flattened(a)[0] for a in arrays), strict=True)
    return rebuilt(flattened(arrays[0])[1], iter([np.concatenate(column) for column in columns]))
