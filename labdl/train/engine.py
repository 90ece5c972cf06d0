"""A trainer on its backend: the model built and bound, its phases at work, its averages."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError, ModelError
from labdl.graph.compiled import Compilable
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.spec import Spec
from labdl.train.averaging import Averages
from labdl.train.batches import Structure, flattened
from labdl.train.objective import Objective
from labdl.train.pace import Stopwatch
from labdl.train.phases import checked
from labdl.train.step import Work, joined

if TYPE_CHECKING:
    from labdl.train.trainer import Trainer


class Engine:
    """Computes for a trainer. ``size`` is that of the batches to come, or of their parts; None where it is not known."""

    def __init__(self, trainer: Trainer):
        self.trainer = trainer
        self.works: list[Work] = []
        self.averages: Averages | None = None
        self.size: int | None = None
        self.backend: Any = None
        self.batch: tuple[Any, Any] | None = None  # that of the last step, as arrays
        self.updates = Stopwatch()  # the time that optimisers take, where their updates are calls of their own
        self._seen: tuple[int, bool] | None = None
        self._traced: list[Any] = []
        self._evaluations: dict[Structure, Any] = {}

    @property
    def modules(self) -> list[Module]:
        """The modules in which the steps compute."""
        return [m for m in (self.trainer.model, self.trainer.loss_function) if isinstance(m, Module)]

    @property
    def adds_up(self) -> bool:
        """Whether the loss of a batch is the sum over its samples, not their mean."""
        return getattr(self.trainer.loss_function, "reduction", None) == "sum"

    @property
    def ready(self) -> bool:
        """Whether nothing is to be made before the next step."""
        return bool(self.works) and self._seen == _surroundings()

    def expect(self, size: int) -> None:
        """Batches of another size will come: what was compiled for the size before is made again."""
        if size != self.size:
            self.size = size
            for work in self.works:
                work.forget()

    # -- computing

    def step(self, x, y) -> tuple[dict[str, float], Any]:
        """One update of each phase: the losses by name, and the output as tensors."""
        if self._seen != _surroundings():
            self.prepare(x, y)
        works, self.batch = self.works, (x, y)
        if len(works) == 1 and not works[0].phase.name:
            values, output = works[0](x, y)
        else:
            values, output = self._phases(x, y)
        if self.averages is not None:
            self.averages.update()
        return values, output

    def _phases(self, x, y) -> tuple[dict[str, float], Any]:
        values, output = {"loss": 0.0}, None
        for work in self.works:
            found, made = work(x, y)
            values["loss"] += found["loss"]
            values.update({_renamed(name, work.phase.name): value for name, value in found.items()})
            output = output if made is None else made
        return values, output

    def evaluate(self, x, y) -> tuple[dict[str, float], Any]:
        """The losses of a batch by name, and the output as arrays; nothing is updated."""
        if self._seen != _surroundings():
            self.prepare(x, y)
        leaves, structure = flattened((x, y))
        if structure not in self._evaluations:
            trainer = self.trainer
            objective = Objective(trainer.loss_and_output, structure, trainer.settings.low_precision)
            compilable = Compilable(objective.run, self.modules, self.backend)
            run = self.backend.evaluate_function(compilable, compiled=trainer.compiled)
            self._evaluations[structure] = objective, run
        objective, run = self._evaluations[structure]
        values, output, _ = objective.read(run(*map(self.backend.tensor, leaves)))
        return {name: float(self.backend.to_numpy(v)) for name, v in values.items()}, self.arrays(output)

    def arrays(self, output: Any) -> Any:
        """An output as arrays."""
        return joined(self.backend, output)

    def averaged(self) -> AbstractContextManager:
        """While it lasts, the parameters are their averages, where there are any."""
        return nullcontext() if self.averages is None else self.averages.instead()

    def gradients(self, x, y) -> dict[str, np.ndarray]:
        """Those of a batch, with nothing updated; of several phases, each for its own parameters."""
        self.prepare(x, y)
        return {name: g for work in self.works for name, g in work.by_name(work.gradients(x, y)).items()}

    def kept(self) -> dict[str, np.ndarray]:
        """Those of the last update. Raises ConfigError where they were not kept."""
        if not self.works or any(work.kept is None for work in self.works):
            raise ConfigError("there are no gradients of an update here: make the trainer with keep_gradients=True and train "
                              "a step, or ask for those of a batch with gradients(x, y)")  # fmt: skip
        return {name: g for work in self.works for name, g in work.by_name(work.kept).items()}  # type: ignore[arg-type]

    # -- making ready

    def prepare(self, x, y=None) -> Any:
        """The backend, with model and loss built for such a batch, and optimisers at work on what is learnt now.

        A model may change while it is trained: parts are frozen, layers replaced, all of it moved elsewhere.
        """
        model, trainer = self.trainer.model, self.trainer
        if self.ready:
            return self.backend
        if model.unbuilt:
            inputs = x if type(x) is tuple else (x,)
            if not all(isinstance(a, np.ndarray) for a in inputs):
                raise ModelError(f"the model is not built, and how inputs such as {type(x).__name__} reach it only its trainer "
                                 "knows: call model.build((None, ...)) first")  # fmt: skip
            specs = [Spec((None, *a.shape[1:]), str(a.dtype)) for a in inputs]
            model.build(*specs, backend=trainer.backend, seed=trainer.seed)
        known, former = self.backend, self._traced
        self.bind()
        self._traced = [dispatch.portable(), *(part for root in self.modules for part in root.modules())]
        if former != self._traced:  # compiled steps hold the layers, and the way of drawing numbers, that were
            self._evaluations.clear()
            for work in self.works:
                work.forget()
        if self.backend is not known or not self._built_loss:
            self._evaluations.clear()
            self._build_loss(y)
        self._seen = _surroundings()
        return self.backend

    def bind(self) -> list[Work]:
        """The optimisers at work on the parameters of the model, which is built."""
        model, trainer = self.trainer.model, self.trainer
        model._need_build()
        if not self.works and trainer.backend not in (None, model.backend):
            model.to(trainer.backend)  # type: ignore[arg-type]
        backend = dispatch.get(model.backend)
        if not self.works:
            for pattern in trainer.settings.freeze:
                model.freeze(pattern)
            self.works = [Work(trainer, phase, backend) for phase in checked(trainer.phases())]
        for work in self.works:
            work.follow(backend)
        rule = trainer.settings.average
        if rule is not None:
            learnt = {name: p for work in self.works for name, p in work.optimizer.parameters.items()}
            if self.averages is None:
                self.averages = Averages(rule, learnt)
            elif [id(p.value) for p in learnt.values()] != [id(v) for v in self.averages.variables]:
                self.averages.follow(learnt)
        self.backend = backend
        return self.works

    _built_loss = False

    def _build_loss(self, y) -> None:
        """A loss may hold weights of classes: they are on the backend before a compiler sees it."""
        self._built_loss, loss, model = True, self.trainer.loss_function, self.trainer.model
        if self.trainer.plain and isinstance(y, np.ndarray) and isinstance(loss, Module) \
                and isinstance(model.output_specs, Spec):  # fmt: skip
            spec = dispatch.spec_of(self.backend.tensor(y))
            loss.build(model.output_specs, Spec((None, *spec.shape[1:]), spec.dtype), backend=self.backend.name)

    # -- learning rates

    @property
    def learning_rate(self) -> float:
        """That of the first phase; where it is set, the others keep their ratio to it."""
        return self.works[0].optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self.works[0].optimizer.learning_rate = value
        if len(self.works) > 1:
            base = self.works[0].optimizer.rule.learning_rate
            for work in self.works[1:]:
                work.optimizer.learning_rate = work.optimizer.rule.learning_rate * (value / base if base else 1.0)


def _surroundings() -> tuple[int, bool]:
    """What steps that are made rest on: parameters, and who draws random numbers."""
    return Parameter.changes, dispatch.portable()


def _renamed(name: str, phase: str) -> str:
    """A figure of a phase: loss_generator, gradient_norm_generator, and its part loss_generator_pixels."""
    if not phase:
        return name
    head, _, rest = name.partition("_")
    return f"loss_{phase}" + (f"_{rest}" if rest else "") if head == "loss" else f"{name}_{phase}"
