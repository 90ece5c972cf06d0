"""The memory of a row of a batch, offered to the transform that computes what comes into it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

Reserve = Callable[[tuple[int, ...], np.dtype], "np.ndarray | None"]


def find_read_into(source: Any) -> Callable[..., Any] | None:
    """The method ``read_into`` of a data set; None without one, or for a class that overrides ``read`` alone."""
    owner = next((cls for cls in type(source).__mro__ if "read" in vars(cls)), None)
    return source.read_into if owner is not None and "read_into" in vars(owner) else None


class _Offer(threading.local):
    reserve: Reserve | None = None


_OFFER = _Offer()


@contextmanager
def offer_row(reserve: Reserve) -> Iterator[None]:
    """Context in which the first `empty_or_row` of this thread may take a row from ``reserve(shape, dtype)``.

    Only for calls whose result goes into the batch and is kept nowhere else: the memory serves later batches, too.
    """
    _OFFER.reserve = reserve
    try:
        yield
    finally:
        _OFFER.reserve = None


def empty_or_row(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array to be written: an offered row of this shape and dtype, else new memory."""
    reserve, _OFFER.reserve = _OFFER.reserve, None
    row = None if reserve is None else reserve(shape, dtype)
    return np.empty(shape, dtype) if row is None else row
