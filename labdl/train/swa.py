"""Stochastic weight averaging: the mean of the parameters at the ends of the last epochs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from labdl import ops
from labdl.nn.parameter import Parameter
from labdl.nn.types import Count, Whole
from labdl.settings import Share, check
from labdl.signature import show_plain_types
from labdl.train.ema import EMA, Averages


@show_plain_types
@dataclasses.dataclass
class SWA:
    """Stochastic weight averaging (Izmailov et al., 2018): the mean of the parameters at the ends of epochs.

    ``start`` is the first epoch whose parameters are averaged, counted from 0, or a share of all epochs; ``every`` the number
    of epochs between two that are averaged. At the end of the training the model gets the means, and its layers of batch
    normalization the statistics of one pass over the training data with them. Checkpoints, early stopping and validations
    during the training are those of the parameters themselves. The learning rate is that of the schedule: SWA wants one that
    stays high, constant or cyclic. Semantics: torch.optim.swa_utils.AveragedModel and update_bn.

    Example: ``Trainer(model, optimizer=SGD(0.05), average=SWA(start=0.75))``.
    """

    start: Whole | Share = 0.75
    every: Count = 1
    evaluate: ClassVar[bool] = False

    def __post_init__(self):
        check(self)

    def includes(self, epoch: int, epochs: int) -> bool:
        """True if the parameters at the end of an epoch, counted from 0, are averaged."""
        first = self.start if isinstance(self.start, int) else int(epochs * self.start)
        return epoch >= first and (epoch - first) % self.every == 0


class EpochAverages(Averages):
    """The means of a model's parameters at the ends of epochs; ``updates`` is the number of these epochs."""

    def update(self) -> None:
        """An update of the parameters within an epoch: nothing to average."""

    def end_epoch(self, epoch: int, epochs: int) -> None:
        """Average the parameters at the end of an epoch, if they are to be."""
        if not self.rule.includes(epoch, epochs):
            return
        for name, p in self.parameters.items():
            value, now = self.values[name], ops.stop_gradient(p.value)
            self.values[name] = ops.add(value, ops.multiply(ops.subtract(now, value), 1 / (self.updates + 1)))
        self.updates += 1


def averages_of(rule: EMA | SWA, parameters: Mapping[str, Parameter]) -> Averages:
    """The averages of parameters by a rule."""
    return EpochAverages(rule, parameters) if isinstance(rule, SWA) else Averages(rule, parameters)
