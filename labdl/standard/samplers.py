"""Annex B.2: stateful samplers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from labdl import dispatch
from labdl.data import Dataset, Loader, samplers
from labdl.errors import ConfigError, StateDictError, suggest_name
from labdl.standard import validation

_KEYS = ("batch_size", "shuffle", "repeat", "drop_last_batch", "seed")
_BY_NAME = {name: getattr(samplers, name) for name in samplers.__all__ if name != "Sampler"}
_LARGEST = 1 << 31
_OF_DATASET = ("samples", "labels")  # arguments of samplers that the data set itself serves for


class Sampler:
    """The order in which a data set is read, and the position in it; created by `construct_sampler`.

    The order of an epoch follows from ``seed`` and the epoch alone (`labdl.data.Loader`), so ``state_dict`` is two numbers.
    """

    def __init__(self, loader: Loader, repeat: bool):
        self.loader, self.repeat = loader, repeat
        self.epoch = self.position = 0
        self._order: tuple[int, np.ndarray, np.ndarray] | None = None

    @property
    def batch_size(self) -> int:
        return self.loader.batch_size

    def take(self, count: int | None = None) -> list[int]:
        """The next positions in the data set, at most ``count``, or a batch of them, and none beyond the end of an epoch.

        Raises StopIteration at the end of the data, unless the sampler repeats: then the next epoch starts.
        """
        order, ends = self._current()
        if self.position >= len(order):
            if not self.repeat:
                raise StopIteration("all samples have been read: create a new sampler, or one with repeat=True")
            self.epoch, self.position = self.epoch + 1, 0
            order, ends = self._current()
        end = int(ends[np.searchsorted(ends, self.position, "right")]) if count is None else self.position + count
        chosen = order[self.position : end]
        self.position += len(chosen)
        return [int(i) for i in chosen]

    def _current(self) -> tuple[np.ndarray, np.ndarray]:
        """The order of the current epoch, and where its batches end."""
        if self._order is None or self._order[0] != self.epoch:
            batches = self.loader.batch_indices(self.epoch)
            self._order = (self.epoch, np.concatenate(batches), np.cumsum([len(batch) for batch in batches]))
        return self._order[1], self._order[2]

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
    ``drop_last_batch`` (omit an incomplete last batch) and ``seed``. ``sampler`` is the name of a class of
    `labdl.data.samplers` that replaces ``shuffle``, such as "WeightedRandomSampler", or one of batches such as
    "BucketSampler"; its settings are further keys: ``{"sampler": "PKSampler", "p": 4, "k": 8}``. The data set serves as
    ``samples`` and ``labels``. Raises ConfigError for other keys and values.
    """
    name = "sampler_config"
    chosen = validation.read(sampler_config, name).get("sampler")
    settings = {} if chosen is None else _settings_of(chosen)
    config = validation.read(sampler_config, name, dict.fromkeys((*_KEYS, "sampler", *settings)))
    seed = config.get("seed", dispatch.current_seed() or 0)
    if not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"{name}: seed wants an integer at least 0, received {seed!r}")
    shuffle = validation.flag(config, "shuffle", False, name)
    drop_last = validation.flag(config, "drop_last_batch", False, name)
    repeat = validation.flag(config, "repeat", False, name)
    own = [key for key in config if key in settings]
    if "batch_size" in settings:  # a sampler of batches, which have sizes of their own
        config.setdefault("batch_size", 1)
        with validation.naming(name, *own, "batch_size"):
            batches = _create(chosen, settings, {**config, "seed": seed, "drop_last": drop_last}, dataset)
            loader = Loader(dataset, seed=seed, batch_sampler=batches)
            _check_order(loader)
        return Sampler(loader, repeat)
    with validation.naming(name, *own):
        order = None if chosen is None else _create(chosen, settings, {**config, "seed": seed}, dataset)
    batch_size = validation.count(config, "batch_size", 1, name)
    loader = Loader(dataset, batch_size, shuffle, seed, drop_last, sampler=order)
    if order is not None:
        with validation.naming(name, *own):
            _check_order(loader)
    if not len(loader):
        raise ConfigError(
            f"{name}: drop_last_batch leaves nothing of {len(dataset)} samples in batches of "
            f"{loader.batch_size}: give a smaller batch_size"
        )
    return Sampler(loader, repeat)


def _check_order(loader: Loader) -> None:
    """Raise for settings with which a sampler gives no order of the first epoch, or positions outside of the data."""
    batches = loader.batch_indices(0)
    if not batches:
        raise ConfigError("the sampler gives no sample of the data set")
    largest = max(int(np.max(batch)) for batch in batches)
    if largest >= len(loader.dataset):
        raise ConfigError(f"the sampler gives the index {largest:,} of a data set of {len(loader.dataset):,} samples")


def _settings_of(chosen: Any) -> dict[str, inspect.Parameter]:
    """The arguments of a class of samplers by its name. Raises ConfigError."""
    if not isinstance(chosen, str) or chosen not in _BY_NAME:
        raise ConfigError(
            f"sampler_config: sampler wants one of {', '.join(_BY_NAME)}, received {chosen!r:.60}"
            f"{suggest_name(str(chosen), _BY_NAME)}"
        )
    return dict(inspect.signature(_BY_NAME[chosen]).parameters)


def _create(chosen: Any, settings: Mapping[str, inspect.Parameter], config: Mapping[str, Any], dataset: Any) -> Any:
    given = {key: value for key, value in config.items() if key in settings and key != "sampler"}
    given |= {key: dataset for key in _OF_DATASET if key in settings and key not in given}
    if "sampler" in settings:  # batches of another sampler
        shuffle = config.get("shuffle", False)
        given["sampler"] = (
            samplers.RandomSampler(dataset, seed=config["seed"]) if shuffle else samplers.SequentialSampler(dataset)
        )
    for p in settings.values():
        if isinstance(p.default, bool) and p.name in given:
            validation.flag(given, p.name, p.default, "sampler_config")
        value = given.get(p.name)
        if isinstance(value, int) and abs(value) >= _LARGEST:
            raise ConfigError(
                f"sampler_config: {p.name} wants an integer below {_LARGEST:,}, received one of {value.bit_length():,} bits"
            )
    missing = [p.name for p in settings.values() if p.default is p.empty and p.name not in given]
    if missing:
        raise ConfigError(f"sampler_config: {chosen} needs {' and '.join(missing)}")
    return _BY_NAME[chosen](**given)


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
    chosen = _sampler(dataset, sampler, "iterate_sample")
    (index,) = chosen.take(1)
    return _read(dataset, index, chosen.epoch)


def iterate_batch(dataset, sampler: Sampler | None = None) -> list:
    """The next batch of a data set in the order of a sampler, as a list of its samples (B.2.3, table B.5).

    It has batch_size elements, fewer at the end of the data unless the sampler has ``drop_last_batch``. At the end it behaves
    like `iterate_sample`. Without a sampler batches have one sample; `labdl.data.Loader` returns batches as arrays.
    """
    chosen = _sampler(dataset, sampler, "iterate_batch")
    return [_read(dataset, index, chosen.epoch) for index in chosen.take()]


def _read(dataset: Any, index: int, epoch: int) -> Any:
    """A sample, with the random numbers of the epoch where its data set has transforms."""
    return dataset.read(index, epoch) if isinstance(dataset, Dataset) else dataset[index]
