"""The fixed part of a training: model, loss, optimizer, metrics, settings and overridable methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from labdl.nn.module import Module
from labdl.train.output_losses import OutputLosses

if TYPE_CHECKING:
    from labdl.train.config import TrainerSettings
    from labdl.train.metrics import Metric
    from labdl.train.optimizers import BoundOptimizer, Optimizer
    from labdl.train.phases import Phase
    from labdl.train.schedules import Schedule

OVERRIDABLE = (
    "__init__",
    "preprocess",
    "forward",
    "loss",
    "backward",
    "update",
    "postprocess",
    "phases",
    "train_one_batch",
    "evaluate",
)


class TrainerMethods(Protocol):
    """Methods of a `Trainer` that the training calls and that a subclass may override."""

    def forward(self, x: Any) -> Any: ...

    def preprocess(self, batch: Any) -> tuple[Any, Any]: ...

    def postprocess(self, output: Any) -> Any: ...

    def backward(self, gradients: dict[str, Any]) -> dict[str, Any]: ...

    def update(self, gradients: dict[str, Any], optimizer: BoundOptimizer) -> None: ...

    def phases(self) -> list[Phase]: ...

    def loss_and_output(self, x: Any, y: Any) -> tuple[Any, Any]: ...

    def train_one_batch(self, *batch: Any) -> dict[str, float]: ...

    def evaluate(
        self, dataset: Any, y: Any = None, *, batch_size: int = 256, averaged: bool = False
    ) -> dict[str, float]: ...


@dataclasses.dataclass(frozen=True, eq=False)
class TrainContext:
    """Constant parts of a training.

    ``overridden`` holds the names of the methods in ``methods`` that are not those of `Trainer` itself.
    """

    model: Module
    loss_function: Callable[[Any, Any], Any]
    loss_name: str
    optimizer: Optimizer
    metrics: Mapping[str, Metric]
    schedule: Schedule | None
    settings: TrainerSettings
    backend: str | None
    compiled: bool | str | None
    seed: int | None
    methods: TrainerMethods
    overridden: frozenset[str]

    @property
    def modules(self) -> list[Module]:
        """The modules that a training step computes with."""
        loss = self.loss_function
        inner = loss.modules if isinstance(loss, OutputLosses) else []
        return [self.model, *([loss] if isinstance(loss, Module) else inner)]

    @property
    def sums_loss(self) -> bool:
        """True if the loss of a batch is the sum over its samples instead of their mean."""
        return getattr(self.loss_function, "reduction", None) == "sum"

    @property
    def standard_loss(self) -> bool:
        """True if the loss is ``loss_function(model(x), y)``, with none of these methods overridden."""
        return not self.overridden & {"forward", "loss", "phases"}

    @property
    def overrides_update(self) -> bool:
        """True if `Trainer.backward` or `Trainer.update` is overridden."""
        return bool(self.overridden & {"backward", "update"})
