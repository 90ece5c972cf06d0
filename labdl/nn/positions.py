"""Positions of transformers: class token, learned and fixed vectors, and biases of relative positions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Literal

import numpy as np

from labdl import dispatch, ops
from labdl.nn.decoding import current
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initializer, Positive, Whole
from labdl.ops.operator import floats, ints
from labdl.spec import Spec, show


def _sequence(self, x) -> tuple[int | None, int]:
    """Steps and features of (N, steps, features)."""
    if x.ndim != 3 or x.shape[-1] is None:
        raise ValueError(f"{type(self).__name__} wants (N, steps, features), received {show(x.shape)}")
    return x.shape[1:]


def _check_positions(self, positions) -> None:
    if positions is not None and (positions.ndim not in (1, 2) or "int" not in positions.dtype):
        raise ValueError(
            f"{type(self).__name__} wants integer positions (steps,) or (N, steps), received {show(positions.shape)} "
            f"of {positions.dtype}"
        )


def _table(x, shape: tuple[int, ...], compute: Callable[[], np.ndarray], dtype: str | None = None):
    """A constant of this shape on the backend of x; where only shapes are computed, it takes neither time nor memory."""
    only_shapes = isinstance(x, Spec) and getattr(dispatch.owner(x), "only_shapes", False)
    return ops.tensor_like(x, np.broadcast_to(0.0, shape) if only_shapes else compute(), dtype)


def count_steps(x):
    """The positions 0, 1, ... of the steps of x (N, steps, ...): (1, steps)."""
    steps = x.shape[1]
    if steps is not None:
        return _table(x, (1, steps), lambda: np.arange(steps)[None], "int64")
    first = ops.getitem(x, (slice(0, 1), slice(None), *(0,) * (len(x.shape) - 2)))
    return ops.subtract(ops.cumulative_sum(ops.ones_like(first, dtype="int64"), axis=1), 1)


def _positions_of_step():
    """The positions (N, 1) in a step of a generation, None elsewhere."""
    state = current.get()
    return None if state is None else state.positions


@layer({}, floats(2, 3, 4), category="transformer")
class ClassToken(Module):
    """Prepends a learned vector to the steps: (N, steps, features) to (N, steps + 1, features)."""

    token_init: Initializer = "zeros"

    def setup(self, x):
        self.token = Parameter((1, 1, _sequence(self, x)[1]), self.token_init)

    def forward(self, x):
        first = ops.getitem(x, (slice(None), slice(0, 1)))
        return ops.concat([ops.add(ops.zeros_like(first), self.token), x], axis=1)


@layer({"size": 8}, floats(2, 3, 4), category="transformer")
class PositionEmbedding(Module):
    """Adds a learned vector for each position to (N, steps, features) (Gehring et al., 2017).

    ``size`` is the largest number of steps. The optional integers ``positions`` (steps,) or (N, steps) replace 0, 1, 2 ...,
    such as those of `ops.positions_from_mask`. The table has ``offset`` rows before that of position 0: 2 in OPT, BART and
    RoBERTa.
    """

    size: Count
    embeddings_init: Initializer = "normal"
    offset: Whole = 0

    def setup(self, x, positions=None):
        _check_positions(self, positions)
        self.embeddings = Parameter((self.offset + self.size, _sequence(self, x)[1]), self.embeddings_init)

    def forward(self, x, positions=None):
        positions = _positions_of_step() if positions is None else positions
        steps = x.shape[1]
        if positions is None and steps is not None:
            if steps > self.size:
                raise ValueError(
                    f"PositionEmbedding has positions for size={self.size} steps, received {show(x.shape)}"
                )
            return ops.add(x, ops.getitem(self.embeddings, slice(self.offset, self.offset + steps)))
        rows = ops.add(count_steps(x) if positions is None else positions, self.offset)
        return ops.add(x, ops.embedding(rows, self.embeddings))


@layer({}, floats(2, 3, 4), category="transformer")
class SinusoidalPositions(Module):
    """Adds sin(p / base^(2i/d)) and cos(p / base^(2i/d)) to features 2i and 2i + 1 at position p (Vaswani et al., 2017).

    (N, steps, d) to the same shape, without parameters. ``layout="halves"`` adds the sines to the first half of the features
    and the cosines to the second, ``endpoint`` makes the slowest rate 1 / base exactly (both in Whisper). The optional
    integers ``positions`` (steps,) or (N, steps) replace 0, 1, 2 ...
    """

    base: Positive = 10000.0
    layout: Literal["interleaved", "halves"] = "interleaved"
    endpoint: bool = False

    def setup(self, x, positions=None):
        _check_positions(self, positions)
        steps, features = _sequence(self, x)
        self.any_steps = steps is None
        # raises for a number of features that the layout does not allow
        ops.sinusoidal_embedding(Spec((steps,)), features, base=self.base, layout=self.layout, endpoint=self.endpoint)

    def forward(self, x, positions=None):
        positions = _positions_of_step() if positions is None else positions
        sizes, settings = x.shape[1:], (self.base, self.layout, self.endpoint)
        if positions is None and not self.any_steps:
            return ops.add(x, _table(x, sizes, lambda: _waves(*sizes, *settings)))
        positions = count_steps(x) if positions is None else positions
        waves = ops.sinusoidal_embedding(
            positions, sizes[1], base=self.base, layout=self.layout, endpoint=self.endpoint
        )
        return ops.add(x, ops.astype(waves, dispatch.spec_of(x).dtype))


@functools.lru_cache(8)
def _waves(steps: int, features: int, base: float, layout: str, endpoint: bool) -> np.ndarray:
    """The sines and cosines of the first positions, computed once."""
    positions = np.arange(steps, dtype="float64")
    return ops.sinusoidal_embedding(positions, features, base=base, layout=layout, endpoint=endpoint)


@layer({"heads": 2, "buckets": 4, "max_distance": 3}, ints(2, 6), category="transformer")
class RelativePositionBias(Module):
    """A learned number for each head and bucket of relative positions, the ``bias`` of MultiHeadAttention (T5).

    From the steps of x (N, steps, ...), and of a ``context`` (N, keys, ...) that keys come from, to (1, ``heads``, steps,
    keys); layers of attention may share it. There are ``buckets`` of distances, the last of them from ``max_distance`` on;
    ``bidirectional=False`` is for causal attention. See `ops.relative_position_buckets` (Raffel et al., 2020).
    """

    heads: Count
    buckets: Count = 32
    max_distance: Count = 128
    bidirectional: bool = True
    embeddings_init: Initializer = "normal"

    def setup(self, x, context=None):
        for each in (x, context):
            if each is not None and each.ndim < 2:
                raise ValueError(f"RelativePositionBias wants (N, steps, ...), received {show(each.shape)}")
        self.embeddings = Parameter((self.buckets, self.heads), self.embeddings_init)

    def forward(self, x, context=None):
        state = current.get()
        if state is not None and state.is_step and context is None:
            queries, keys = state.positions, state.key_positions()
        else:
            queries, keys = count_steps(x), count_steps(x if context is None else context)
        apart = ops.subtract(ops.expand_dims(keys, 1), ops.expand_dims(queries, 2))
        buckets = ops.relative_position_buckets(
            apart, buckets=self.buckets, max_distance=self.max_distance, bidirectional=self.bidirectional
        )
        return ops.permute_dims(ops.embedding(buckets, self.embeddings), (0, 3, 1, 2))
