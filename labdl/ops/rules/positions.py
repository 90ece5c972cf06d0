"""Shape rules of positions and of local windows."""

from __future__ import annotations

import math

from labdl.ops.rules.elementwise import float_of
from labdl.spec import Size, Spec, per_axis, show

_LARGEST_DISTANCE = 1_000_000  # a table has an entry for each distance


def sinusoidal_embedding(positions, features, *, base=10000.0, layout="interleaved", endpoint=False) -> Spec:
    if features < 1 or (layout == "halves" and features % 2):
        raise ValueError(
            f"sinusoidal_embedding wants at least one feature, with halves an even number, received {features}"
        )
    if not base > 0:
        raise ValueError(f"sinusoidal_embedding wants a base above 0, received {base}")
    return Spec((*positions.shape, features), float_of(positions.dtype))


def check_buckets(buckets: int, max_distance: int, bidirectional: bool) -> tuple[int, int]:
    """Buckets of one direction, and how many of them hold one distance each. Raises ValueError."""
    each = buckets // 2 if bidirectional else buckets
    exact = each // 2
    if exact < 1 or (bidirectional and buckets % 2):
        raise ValueError(
            f"relative_position_buckets wants at least {4 if bidirectional else 2} buckets, an even number if it is "
            f"bidirectional, received {buckets}"
        )
    if not exact < max_distance <= _LARGEST_DISTANCE:
        raise ValueError(
            f"relative_position_buckets with {buckets} buckets wants a max_distance from {exact + 1} to "
            f"{_LARGEST_DISTANCE}, received {max_distance}"
        )
    return each, exact


def relative_position_buckets(distances, *, buckets=32, max_distance=128, bidirectional=True) -> Spec:
    check_buckets(buckets, max_distance, bidirectional)
    return Spec(distances.shape, "int64")


def relative_shift(scores, keys=None) -> Spec:
    if scores.ndim < 2 or None in scores.shape[-2:]:
        raise ValueError(
            f"relative_shift wants scores (..., queries, distances) with known sizes, received {show(scores.shape)}"
        )
    distances = scores.shape[-1]
    if keys is not None and not 0 <= keys <= distances:
        raise ValueError(f"relative_shift wants at most {distances} keys, one for each distance, received {keys}")
    return scores.with_shape([*scores.shape[:-1], distances if keys is None else keys])


def local_attention_mask(query, key, window, *, causal=False) -> Spec:
    if query.ndim < 2 or key.ndim < 2:
        raise ValueError(
            f"local_attention_mask wants query and key (..., steps, features), received {show(query.shape)} and "
            f"{show(key.shape)}"
        )
    return Spec((query.shape[-2], key.shape[-2]), "bool")


def _count_windows(name: str, sizes, window) -> int:
    if any(n is None or k is None or k < 1 or n % k for n, k in zip(sizes, window, strict=True)):
        raise ValueError(f"{name} wants windows of known sizes that divide {show(sizes)}, received {show(window)}")
    return math.prod(n // k for n, k in zip(sizes, window, strict=True))


def window_partition(x, size) -> Spec:
    if x.ndim < 3:
        raise ValueError(f"window_partition wants (N, ..., C) with spatial axes, received {show(x.shape)}")
    window = per_axis(size, x.ndim - 2, "size")
    count = _count_windows("window_partition", x.shape[1:-1], window)
    batch: Size = None if x.shape[0] is None else x.shape[0] * count
    return x.with_shape([batch, *window, x.shape[-1]])


def window_reverse(windows, sizes) -> Spec:
    if windows.ndim < 3:
        raise ValueError(
            f"window_reverse wants windows (N * count, ..., C) with spatial axes, received {show(windows.shape)}"
        )
    whole = per_axis(sizes, windows.ndim - 2, "sizes")
    count = _count_windows("window_reverse", whole, windows.shape[1:-1])
    batch = windows.shape[0]
    if batch is not None and batch % count:
        raise ValueError(f"window_reverse: {batch} windows are not {count} for each sample")
    return windows.with_shape([None if batch is None else batch // count, *whole, windows.shape[-1]])
