"""The loaders of a training: one's own with its settings, or one for a data set or a stream."""

from __future__ import annotations

from typing import Any

from labdl.data import IterableDataset, Loader, stack_samples
from labdl.data.batch_loader import BatchLoader
from labdl.data.streams.plan import check_finite
from labdl.data.streams.sample_wise import first_sample
from labdl.errors import ConfigError
from labdl.train.data_adapter import read


def dataset_of(data: Any) -> Any:
    """The data set of a loader; any other data as they are."""
    return data.dataset if isinstance(data, Loader) else data


def as_loader(data: Any, batch_size: int) -> Loader:
    """A loader as it is, or one of a data set with a batch size."""
    return data if isinstance(data, Loader) else Loader(data, batch_size)


def count_samples(data: Any) -> int | None:
    """The number of samples of a data set, a stream or a loader; None if it is unknown."""
    if isinstance(data, IterableDataset):
        return data.length
    try:
        return data.samples if isinstance(data, Loader) else len(data)
    except TypeError:  # of a stream of unknown length
        return None


def first_batch(data: Any) -> Any:
    """A batch of the first sample, as the loader makes it, or a whole one of a loader that leaves out broken samples."""
    if not isinstance(data, Loader):
        data = Loader(data, 1)
    if isinstance(data, BatchLoader):
        return first_sample(data.dataset)
    if isinstance(data.dataset, IterableDataset):
        return stack_samples([first_sample(data.dataset)], data_format=data.data_format, pad=data.pad)
    size = 1 if data.errors == "raise" else data.batch_size
    order = {"shuffle": False, "sampler": None, "batch_sampler": None, "drop_last": False}
    probe = data.replace(data.dataset, batch_size=size, workers=0, **order)
    probe.problems = []  # the training will meet them again
    batches = read(probe)
    try:
        return next(batches)
    finally:
        batches.close()


def check_evaluation_data(data: Any) -> None:
    """Raise ConfigError for a stream that may have no end."""
    if isinstance(data, Loader):
        if data.steps_per_epoch is None:
            check_evaluation_data(data.dataset)
    elif isinstance(data, IterableDataset):
        check_finite(data, "an evaluation")


def for_training(
    data: Any,
    *,
    batch_size: int | None,
    shuffle: bool | None,
    steps_per_epoch: int | None,
    default: int,
    accumulate: int,
    drop_last: bool = False,
) -> Any:
    """The data of a training: a loader of one's own and of streams, of batches for a whole step; other data as they are.

    Raises ConfigError for settings that the loader has itself, and for a stream of unknown length without
    ``steps_per_epoch``.
    """
    if not isinstance(data, Loader | IterableDataset):
        return data
    if isinstance(data, Loader):
        for name, value in (("batch_size", batch_size), ("shuffle", shuffle)):
            if value is not None and isinstance(data, BatchLoader):
                raise ConfigError(
                    f"{data.dataset.name} gives batches, received {name}={value!r}: leave it out, or give samples, such as "
                    "dataset.unbatch() or data.from_native(…, batched=False)"
                )
            if value is not None:
                raise ConfigError(f"the loader has its own {name}, received {name}={value!r}: set it in the loader")
        if data.batch_sampler is not None and accumulate > 1:
            raise ConfigError("accumulate wants batches of one size, the loader has a batch_sampler")
        changes: dict[str, Any] = {"batch_size": data.batch_size * accumulate} if accumulate > 1 else {}
        if steps_per_epoch is not None:
            changes["steps_per_epoch"] = steps_per_epoch
        if drop_last:
            changes["drop_last"] = True
        data = data.replace(data.dataset, **changes)  # another one: several trainings may run at once
    else:
        if shuffle:
            raise ConfigError(
                "a stream has an order and cannot be shuffled as a whole: use stream.shuffle(buffer_size)"
            )
        size = (default if batch_size is None else batch_size) * accumulate
        data = Loader(data, size, steps_per_epoch=steps_per_epoch, drop_last=drop_last)
    if isinstance(data.dataset, IterableDataset) and count_samples(data) is None:
        kind = "no end" if data.dataset.endless else "an unknown length"
        raise ConfigError(
            f"the stream {data.dataset.name} has {kind}: give steps_per_epoch=, the number of batches in an epoch"
            f"{'' if data.dataset.endless else ', or IterableDataset(…, length=), its number of samples'}"
        )
    return data


def count_seen(loader: Loader, batches: int) -> int | None:
    """The number of samples in the first batches of an epoch; None if batches vary."""
    if loader.batch_sampler is not None or loader.errors == "skip" or isinstance(loader, BatchLoader):
        return None
    if loader.steps_per_epoch is not None and not isinstance(loader.dataset, IterableDataset):
        return None
    return min(batches * loader.batch_size, loader.samples)
