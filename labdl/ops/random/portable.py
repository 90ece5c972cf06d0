"""Random operators: numbers from the backend or, in portable mode, from NumPy, equal on every backend."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from labdl import dispatch

if TYPE_CHECKING:
    from labdl.ops.operator.definition import Operator


def portable_or_own(own: Callable | None, draw_with_numpy: Callable) -> Callable:
    """Wrap a backend's random operator to use NumPy's numbers in portable mode."""

    def draw(*args, **kwargs):
        return (draw_with_numpy if own is None or dispatch.portable() else own)(*args, **kwargs)

    return draw


def draw_with_numpy(backend, entry: Operator, cast: Callable) -> Callable:
    """A primitive that needs only its tensor's shape and dtype, drawn by NumPy; ``cast`` is the backend's astype."""
    each_time = getattr(backend, "each_time", lambda make, spec: backend.tensor(make()))

    def draw(x, *args, **kwargs):
        spec = backend.spec_of(x)
        if None in spec.shape:
            raise ValueError(f"{entry.name}: portable random numbers need known sizes, received {spec.shape}")
        made = dataclasses.replace(spec, dtype="float64" if spec.dtype == "float64" else "float32")

        def make():
            return entry.body(np.broadcast_to(np.float32(0), spec.shape), *args, **kwargs).astype(made.dtype)

        return cast(each_time(make, made), spec.dtype)

    return draw
