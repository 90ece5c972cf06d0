"""How long a training and its epochs are: limits of steps and batches, and the steps at which it validates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Gt, Le

from labdl.data import ArrayDataset, IterableDataset, Loader
from labdl.errors import ConfigError
from labdl.nn.types import Count
from labdl.train.data_adapter import NestedDataset
from labdl.train.loaders import count_samples
from labdl.train.validation_split import part_of

if TYPE_CHECKING:
    from labdl.train.config import TrainerSettings

Batches = Count | Annotated[float, Gt(0), Le(1)]  # a number of batches, or a share of them


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of one training: those of the trainer's settings, or the few batches of a ``fast_dev_run``.

    A step consists of ``accumulate`` batches; all numbers of training batches count steps. ``steps_per_epoch`` is that of a
    data set; loaders and streams have their own. ``validation_freq`` is the number of epochs from one validation to the
    next, or the numbers of the epochs that are validated, counted from 1; ``max_time`` are seconds.
    """

    max_steps: int | None = None
    train_batches: int | float | None = None
    val_batches: int | float | None = None
    val_check_interval: int | float | None = None
    drop_last: bool = False
    steps_per_epoch: int | None = None
    validation_freq: int | tuple[int, ...] = 1
    max_time: float | None = None

    @classmethod
    def of(
        cls,
        settings: TrainerSettings,
        steps_per_epoch: int | None = None,
        *,
        validation_steps: int | None = None,
        validation_freq: int | Sequence[int] | None = None,
    ) -> Limits:
        """The limits by the settings of a trainer, of which the keywords of a training replace some. Raises ConfigError."""
        few = int(settings.fast_dev_run)
        frequency = settings.check_val_every_n_epoch if validation_freq is None else _frequency(validation_freq)
        return cls(
            max_steps=few or settings.max_steps,
            train_batches=few or settings.limit_train_batches,
            val_batches=few or check_count("validation_steps", validation_steps) or settings.limit_val_batches,
            val_check_interval=None if few else settings.val_check_interval,
            drop_last=settings.drop_last,
            steps_per_epoch=steps_per_epoch,
            validation_freq=1 if few else frequency,
            max_time=settings.max_time,
        )

    def loader(self, data: Any, batch_size: int, shuffle: bool, seed: int) -> Loader:
        """The loader of a training: a loader as it is, or one of a data set. Raises ConfigError if it has no batch."""
        if not isinstance(data, Loader):
            data = Loader(
                data,
                batch_size,
                shuffle=shuffle,
                seed=seed,
                drop_last=self.drop_last,
                steps_per_epoch=self.steps_per_epoch,
            )
        if self.steps_per_epoch is None and not len(data):
            raise ConfigError(
                f"drop_last leaves no batch of {data.batch_size:,} samples, there are {len(data.dataset):,}: give a "
                "smaller batch_size"
            )
        return data

    def steps(self, loader: Loader) -> int:
        """Number of steps in an epoch."""
        return limit_batches(len(loader), self.train_batches)

    def epochs(self, steps: int) -> int | None:
        """Number of epochs of so many steps that ``max_steps`` takes; None without one."""
        return None if self.max_steps is None else math.ceil(self.max_steps / steps)

    def validation_interval(self, steps: int) -> int | None:
        """Number of steps between two validations in an epoch of so many steps; None if it validates only at the end.

        Raises ConfigError for more steps than an epoch has.
        """
        interval = self.val_check_interval
        if isinstance(interval, int) and interval > steps:
            raise ConfigError(
                f"val_check_interval={interval:,} is more than an epoch, which has {steps:,} steps: give a smaller number, "
                "or a larger steps_per_epoch"
            )
        return None if interval is None else limit_batches(steps, interval)

    def validates(self, epoch: int) -> bool:
        """Whether an epoch, counted from 1, is validated."""
        frequency = self.validation_freq
        return epoch % frequency == 0 if isinstance(frequency, int) else epoch in frequency

    def validation(self, data: Any, batch_size: int) -> Any:
        """The validation data, of which a limit leaves the first batches."""
        limit = self.val_batches
        if data is None or limit is None:
            return data
        if isinstance(data, Loader):
            return data.replace(data.dataset, steps_per_epoch=limit_batches(_length(data, limit), limit))
        if isinstance(data, IterableDataset):
            known = count_samples(data)
            batches = int(limit) if known is None else math.ceil(known / batch_size)
            return data.take(batch_size * limit_batches(batches, _whole(limit, known, data.name)))
        steps = limit_batches(math.ceil(len(data) / batch_size), limit)
        if isinstance(data, ArrayDataset | NestedDataset):
            return part_of(data, 0, min(len(data), steps * batch_size))
        return Loader(data, batch_size, steps_per_epoch=steps)


def check_count(name: str, value: Any) -> int | None:
    """Return a number of epochs, steps or samples as an integer, None as it is; raise ConfigError for anything else."""
    if value is None:
        return None
    if not _is_count(value):
        raise ConfigError(f"{name} wants an integer at least 1, received {value!r}")
    return int(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= 1


def _frequency(value: int | Sequence[int]) -> int | tuple[int, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and value and all(map(_is_count, value)):
        return tuple(map(int, value))
    if not _is_count(value):
        raise ConfigError(
            "validation_freq wants a number of epochs, at least 1, or the numbers of the epochs to validate, such as "
            f"[1, 5, 10], received {value!r}"
        )
    return int(value)  # type: ignore[arg-type]


def limit_batches(batches: int, limit: int | float | None) -> int:
    """The number of batches that a limit leaves: that number, or that share of them, but at least one."""
    if limit is None:
        return batches
    return min(batches, limit) if isinstance(limit, int) else max(1, int(batches * limit))


def _length(loader: Loader, limit: int | float) -> int:
    try:
        return len(loader)
    except TypeError:  # of a stream of unknown length
        return int(_whole(limit, None, loader.dataset.name))


def _whole(limit: int | float, known: int | None, name: str) -> int | float:
    if known is None and not isinstance(limit, int):
        raise ConfigError(f"limit_val_batches={limit} is a share, and the length of {name} is not known: give a number")
    return limit
