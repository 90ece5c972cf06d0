"""Annex B.2: stateful samplers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from labdl import dispatch
from labdl.data import Loader
from labdl.errors import ConfigError, StateDictError
from labdl.standard import validation

_KEYS = ("batch_size", "shuffle", "repeat", "drop_last_batch", "seed")


class Sampler:
    """The order in which a data set is read, and the position in it; created by `construct_sampler`.

    The order of an epoch follows from ``seed`` and the epoch alone (`labdl.data.Loader`), so ``state_dict`` is two numbers.
    """

    def __init__(self, loader: Loader, repeat: bool):
        self.loader, self.repeat = loader, repeat
        self.epoch = self.position = 0
        self._order: tuple[int, np.ndarray] | None = None

    @property
    def batch_size(self) -> int:
        return self.loader.batch_size

    def take(self, count: int) -> list[int]:
        """The next positions in the data set, at most ``count`` and none beyond the end of an epoch.

        Raises StopIteration at the end of the data, unless the sampler repeats: then the next epoch starts.
        """
        size = len(self.loader.dataset)
        end = len(self.loader) * self.batch_size if self.loader.drop_last else size
        if self.position >= end:
            if not self.repeat:
                raise StopIteration("all samples have been read: create a new sampler, or one with repeat=True")
            self.epoch, self.position = self.epoch + 1, 0
        if self._order is None or self._order[0] != self.epoch:
            self._order = (self.epoch, self.loader.indices(self.epoch)[:end])
        chosen = self._order[1][self.position : self.position + count]
        self.position += len(chosen)
        return [int(i) for i in chosen]

    def state_dict(self) -> dict[str, int]:
        """Current epoch and position."""
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, values: Mapping[str, int]) -> None:
        """Continue from a position. Raises StateDictError for an invalid state."""
        if set(values) != {"epoch", "position"} or not all(isinstance(n, int) and n >= 0 for n in values.values()):
            raise StateDictError(f"a sampler continues from an epoch and a position, received {dict(values)}")
        self.epoch, self.position = values["epoch"], values["position"]


def construct_sampler(sampler_config: Mapping[str, Any], dataset) -> Sampler:
    """A sampler of a data set (B.2.1, table B.3).

    ``sampler_config`` may have ``batch_size`` (default 1), ``shuffle``, ``repeat`` (start again after the last sample),
    ``drop_last_batch`` (omit an incomplete last batch) and ``seed``. Raises ConfigError for other keys and values.
    """
    name = "sampler_config"
    config = validation.read(sampler_config, name, _KEYS)
    seed = config.get("seed", dispatch.current_seed() or 0)
    if not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"{name}: seed wants an integer at least 0, received {seed!r}")
    loader = Loader(
        dataset,
        validation.count(config, "batch_size", 1, name),
        validation.flag(config, "shuffle", False, name),
        seed,
        validation.flag(config, "drop_last_batch", False, name),
    )
    if not len(loader):
        raise ConfigError(
            f"{name}: drop_last_batch leaves nothing of {len(dataset)} samples in batches of "
            f"{loader.batch_size}: give a smaller batch_size"
        )
    return Sampler(loader, validation.flag(config, "repeat", False, name))


_in_order: WeakKeyDictionary[Any, Sampler] = WeakKeyDictionary()


def _sampler(dataset, sampler: Sampler | None, name: str) -> Sampler:
    """The given sampler, or the sequential default sampler of the data set."""
    if sampler is None:
        sampler = _in_order.get(dataset) or _in_order.setdefault(dataset, construct_sampler({"repeat": True}, dataset))
    elif len(dataset) != len(validation.check_instance(sampler, Sampler, name, "construct_sampler").loader.dataset):
        raise ConfigError(f"the sampler is for {len(sampler.loader.dataset)} samples, the data set has {len(dataset)}")
    return sampler


def iterate_sample(dataset, sampler: Sampler | None = None):
    """The next sample of a data set in the order of a sampler (B.2.2, table B.4).

    Without a sampler, the samples are repeated in their own order. After the last one StopIteration is raised, as by
    Python's ``next``, unless the sampler repeats.
    """
    return dataset[_sampler(dataset, sampler, "iterate_sample").take(1)[0]]


def iterate_batch(dataset, sampler: Sampler | None = None) -> list:
    """The next batch of a data set in the order of a sampler, as a list of its samples (B.2.3, table B.5).

    It has batch_size elements, fewer at the end of the data unless the sampler has ``drop_last_batch``. At the end it behaves
    like `iterate_sample`. Without a sampler batches have one sample; `labdl.data.Loader` returns batches as arrays.
    """
    sampler = _sampler(dataset, sampler, "iterate_batch")
    return [dataset[i] for i in sampler.take(sampler.batch_size)]
