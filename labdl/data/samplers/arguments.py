"""The arguments of samplers: their checks, and the random numbers of an epoch."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.errors import ConfigError

_LARGEST = 1 << 36  # of the counts of indices: half a terabyte an epoch


def count_of(samples: Any) -> int:
    """The number of samples: of a data set, or the number itself. Raises ConfigError."""
    sized = hasattr(samples, "__len__") and type(samples) not in (str, bytes)
    if sized:
        return len(samples)
    if not is_integer(samples):
        raise ConfigError(f"a sampler wants a data set, or its number of samples, received {type(samples).__name__}")
    if not 0 <= samples <= _LARGEST:
        raise ConfigError(f"a sampler wants a number of samples from 0 to {_LARGEST:,}, received {samples!r:.80}")
    return int(samples)


def check_count(name: str, value: Any) -> int:
    """An integer of at least 1. Raises ConfigError with the name of the argument."""
    if not is_integer(value) or not 1 <= value <= _LARGEST:
        raise ConfigError(f"a sampler wants {name} from 1 to {_LARGEST:,}, received {value!r:.80}")
    return int(value)


def check_batch_size(value: Any) -> int:
    """A number of samples of at least 1. Raises ConfigError."""
    if not is_integer(value) or not 1 <= value <= _LARGEST:
        raise ConfigError(f"batch_size wants an integer at least 1, received {value!r:.80}")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """True or False. Raises ConfigError with the name of the argument."""
    if not isinstance(value, bool | np.bool_):
        raise ConfigError(f"a sampler wants {name}=True or False, received {value!r:.80}")
    return bool(value)


def check_seed(value: Any) -> int:
    """An integer of at least 0. Raises ConfigError."""
    if not is_integer(value) or value < 0:
        raise ConfigError(f"a sampler wants a seed that is an integer of at least 0, received {value!r:.80}")
    return int(value)


def generator(seed: int, epoch: Any) -> np.random.Generator:
    """The random numbers of an epoch. Raises ConfigError for an epoch that is none."""
    if not is_integer(epoch) or epoch < 0:
        raise ConfigError(f"a sampler wants an epoch that is an integer of at least 0, received {epoch!r:.80}")
    return np.random.default_rng([seed, int(epoch)])


def check_sampler(value: Any) -> Any:
    """A sampler, or another object with its methods. Raises ConfigError."""
    if not callable(getattr(value, "indices", None)) or not hasattr(value, "__len__"):
        raise ConfigError(f"batches want a sampler of labdl.data.samplers, received {type(value).__name__}")
    return value


def as_indices(indices: Any) -> np.ndarray:
    """Indices (N,) int64. Raises ConfigError."""
    array = _array(indices)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= 1 << 63:
        raise ConfigError(f"a sampler wants a list of at least one index from 0, received {indices!r:.80}")
    return array.astype(np.int64)


def check_weights(name: str, weights: Any) -> np.ndarray:
    """Weights (N,) float64. Raises ConfigError for negative ones, and if none is above 0."""
    array = _array(weights)
    numbers = array.astype("float64") if array.dtype.kind in "biuf" else np.array([np.nan])
    with np.errstate(over="ignore"):
        total = numbers.sum()
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(total) or numbers.min() < 0 or not total > 0:
        raise ConfigError(f"{name} wants weights (N,) of at least 0, not all 0, received {weights!r:.80}")
    return numbers


def check_lengths(lengths: Any) -> np.ndarray:
    """Lengths (N,) of samples. Raises ConfigError."""
    array = _array(lengths)
    if array.ndim != 1 or not array.size:
        raise ConfigError(f"BucketSampler wants a length for each sample, received the shape {array.shape}")
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all() or array.min() < 0:
        raise ConfigError(f"BucketSampler wants lengths that are numbers of at least 0, received {lengths!r:.80}")
    return array


def check_boundaries(boundaries: Any) -> tuple[Any, ...] | None:
    """Lengths that divide buckets, in increasing order, or None. Raises ConfigError."""
    if boundaries is None:
        return None
    array = _array(boundaries)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iuf" or not (np.diff(array) > 0).all():
        raise ConfigError(f"BucketSampler wants boundaries in increasing order, received {boundaries!r:.80}")
    return tuple(array.tolist())


def check_rank(rank: int, world: int) -> tuple[int, int]:
    """The rank of a process among ``world``. Raises ConfigError."""
    if not is_integer(world) or not 1 <= world <= _LARGEST or not is_integer(rank) or not 0 <= rank < world:
        raise ConfigError(
            f"a rank is at least 0 and below world, the number of processes, received {rank!r:.60} of {world!r:.60}"
        )
    return int(rank), int(world)


def share_of_rank(order: np.ndarray, rank: int, world: int, count: int) -> np.ndarray:
    """``count`` of the indices of an epoch, each ``world``-th from ``rank`` on; behind the last comes the first again."""
    return order[(rank + world * np.arange(count)) % len(order)] if count else order[:0]


def group_by_label(labels: Any) -> list[np.ndarray]:
    """The indices of each label, of a data set or an array (N,). Raises ConfigError."""
    array = _array(labels.labels() if hasattr(labels, "labels") else labels)
    if array.ndim != 1 or not array.size:
        raise ConfigError(f"a sampler by classes wants labels (N,), received the shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ConfigError(f"a sampler by classes wants a label for each sample, received {np.isnan(array).sum():,} NaN")
    try:
        _, groups = np.unique(array, return_inverse=True)
    except TypeError:  # of values that have no order
        raise ConfigError(
            f"a sampler by classes wants numbers or texts as labels, received {array[:5]!r:.80}"
        ) from None
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


def is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _array(values: Any) -> np.ndarray:
    """The values as an array; one of no axes for lists of different lengths, which no argument is."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.array(None)
