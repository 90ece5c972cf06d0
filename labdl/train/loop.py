"""The loop of a training: steps, epochs, validation and checkpoints, as a generator of events (D8)."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING

import numpy as np

from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, FileFormatError, StateDictError
from labdl.train.events import Epoch, Event, Started, Step
from labdl.train.finite import check_parameters, explain_loss
from labdl.train.progress import Progress

if TYPE_CHECKING:
    from labdl.train.checkpoint import Checkpoint
    from labdl.train.progress import Document
    from labdl.train.trainer import Trainer


class Loop:
    """One training of a `Trainer`: its data, its learning rates, and how far it is."""

    def __init__(self, trainer: Trainer, train: ArrayDataset, validation: ArrayDataset | None, epochs: int,
                 start: Progress, former: Document | None, checkpoint: Checkpoint | None):  # fmt: skip
        self.trainer, self.validation, self.epochs, self.checkpoint = trainer, validation, epochs, checkpoint
        self.progress = start
        if former is not None and former.progress is not None:
            self._go_on(former.progress, set(former.metrics))
        self.loader = Loader(train, start.batch_size, shuffle=start.shuffle, seed=self.progress.seed)
        now, length = self.progress, len(self.loader)
        done = (now.epoch * length + now.batch, min(now.batch * now.batch_size, now.samples))
        if now.batch > length or (now.step, now.seen) != done:
            raise FileFormatError(f"the state counts {now.step} steps, which are not {now.epoch} epochs of {length} and "
                                  f"{now.batch} of the next with {now.seen} samples")  # fmt: skip
        schedule = trainer.schedule
        self.plan = schedule and schedule.plan(trainer.optimizer.learning_rate, len(self.loader), epochs)
        if former is not None and former.schedule is not None and self.plan:
            if former.schedule != self.plan.schedule.kind and former.memory:
                raise StateDictError(f"the checkpoint remembers what {former.schedule} has observed, the trainer's schedule is "
                                     f"{self.plan.schedule.kind}: give the trainer the schedule it began with")  # fmt: skip
            if former.schedule == self.plan.schedule.kind:
                self.plan.schedule.load_state_dict(former.memory)

    def _go_on(self, former: Progress, metrics: set[str]) -> None:
        now = self.progress
        for name, value in former.order.items():
            if name != "seed" and value != getattr(now, name):
                raise ConfigError(f"the training began with {name}={value!r} and cannot go on with {getattr(now, name)!r}: "
                                  "steps would count differently; give it what it began with")  # fmt: skip
        if former.batch and metrics != set(self.trainer.metrics):
            raise ConfigError(f"the epoch under way began with the metrics {', '.join(sorted(metrics)) or 'none'}, the trainer "
                              f"has {', '.join(self.trainer.metrics) or 'none'}")  # fmt: skip
        self.progress = former

    def events(self) -> Generator[Event, None, None]:
        """See `Trainer.events`."""
        trainer, now, loader = self.trainer, self.progress, self.loader
        settings = {"loss": trainer.loss_name, "optimizer": trainer.optimizer.kind, "metrics": list(trainer.metrics),
                    "seed": now.seed, "backend": trainer.model.backend, **trainer.optimizer.settings()}  # fmt: skip
        history = {name: list(values) for name, values in now.history.items()}
        yield Started(self.epochs, len(loader), now.batch_size, now.samples, settings, now.step, history)
        while now.epoch < self.epochs:
            trainer.model.train()
            if not now.batch:
                for metric in trainer.metrics.values():
                    metric.reset()
            began, before = time.perf_counter(), now.seen
            for x, y in loader.epoch(now.epoch, now.batch):
                yield self._step(x, y)
            rate = (now.seen - before) / max(time.perf_counter() - began, 1e-9)
            means = self._ended()
            yield Epoch(now.epoch, now.step, means, rate)

    def _step(self, x: np.ndarray, y: np.ndarray) -> Step:
        trainer, now = self.trainer, self.progress
        if self.plan:
            trainer.learning_rate = self.plan(now.step)
        values = trainer.train_one_batch(x, y)
        if not np.isfinite(values["loss"]):
            explain_loss(trainer.model, now.step + 1, x, y)
        for name, value in values.items():
            now.sums[name] = now.sums.get(name, 0.0) + float(value) * len(x)
        now.step, now.batch, now.seen = now.step + 1, now.batch + 1, now.seen + len(x)
        if self.checkpoint and now.batch < len(self.loader):  # at the end of an epoch its figures belong to it
            self.checkpoint.stepped(trainer)
        return Step(now.step, values)

    def _ended(self) -> dict[str, float]:
        """The figures of the epoch that ends."""
        trainer, now = self.trainer, self.progress
        check_parameters(trainer.model, now.step)
        means = {name: total / now.seen for name, total in now.sums.items()}
        means.update({name: metric.compute() for name, metric in trainer.metrics.items() if metric.started})
        if self.validation is not None:
            found = trainer.evaluate(self.validation, batch_size=max(now.batch_size, 256))
            means.update({f"val_{name}": value for name, value in found.items()})
        if self.plan:
            self.plan.observe(means)
        for name, value in means.items():
            now.history.setdefault(name, []).append(float(value))
        now.epoch, now.batch, now.seen, now.sums = now.epoch + 1, 0, 0, {}
        if self.checkpoint:
            self.checkpoint.ended(trainer, means, last=now.epoch >= self.epochs)
        return means
