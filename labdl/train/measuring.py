"""Figures of a model over a data set, as its trainer computes them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from labdl.data import Loader
from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.train.batches import read, size_of

if TYPE_CHECKING:
    from labdl.train.report import PerClass
    from labdl.train.trainer import Trainer


def measured(
    trainer: Trainer, dataset: Any, batch_size: int, averaged: bool, classes: PerClass | None = None
) -> dict[str, float]:
    """Mean losses over a data set and the metrics of all of it, in evaluation mode; ``classes`` is told what was decided."""
    engine, model = trainer.engine, trainer.model
    ready(trainer, dataset)
    was_training = model.training
    metrics = {name: metric.fresh() for name, metric in trainer.metrics.items()}  # training's own may be under way
    totals: dict[str, float] = {}
    seen = 0
    onlooker = trainer.onlooker if trainer.onlooker is not None and trainer.onlooker.dataset is dataset else None
    if onlooker is not None:
        onlooker.begin()
    with engine.averaged() if averaged else nullcontext():
        model.eval()
        try:
            for batch in read(Loader(dataset, batch_size)):
                x, y = trainer.preprocess(batch)
                values, output = engine.evaluate(x, y)
                if onlooker is not None:
                    onlooker.see(x, y, output, seen)
                output, size = trainer.postprocess(output), size_of(x)
                for name, value in values.items():
                    totals[name] = totals.get(name, 0.0) + value * size
                for metric in metrics.values():
                    metric.update(output, y)
                if classes is not None:
                    classes.add(output, y)
                seen += size
        finally:
            model.train(was_training)
    return {**{name: total / seen for name, total in totals.items()},
            **{name: metric.compute() for name, metric in metrics.items()}}  # fmt: skip


def ready(trainer: Trainer, dataset: Any) -> None:
    """Build what is not built, with the first sample of a data set."""
    engine = trainer.engine
    if not engine.ready:
        engine.prepare(*trainer.preprocess(next(read(Loader(dataset, 1)))))


def pair_of(batch: Any, model: Module) -> tuple[Any, Any]:
    """Inputs and targets of a batch that is no pair. Raises ConfigError where nobody says which is which.

    ``{"X": …, "Y": …}``, as table B.10 has it, or a tuple of as many arrays as the model has inputs, and the targets.
    """
    if isinstance(batch, Mapping) and batch.keys() == {"X", "Y"}:
        return batch["X"], batch["Y"]
    if not isinstance(batch, tuple):
        names = f"a dictionary of {', '.join(map(str, batch))}" if isinstance(batch, Mapping) else type(batch).__name__
        raise ConfigError(f"a batch of this data set is {names}: make a Trainer of your own whose preprocess(batch) gives "
                          "(inputs, targets)")  # fmt: skip
    count = max(1, len(batch) - 1) if model.unbuilt else sum(spec is not None for spec in model.input_specs)
    if len(batch) < count:
        raise ConfigError(f"the model has {count} inputs, the data set gives {len(batch)} arrays")
    inputs, targets = batch[:count], batch[count:]
    return inputs[0] if count == 1 else inputs, (targets or (None,))[0] if len(targets) < 2 else targets
