"""Additive attention, by contents and by location."""

from __future__ import annotations

from labdl import ops
from labdl.nn.attention import as_boolean
from labdl.nn.convolution import Conv1d
from labdl.nn.linear import Linear
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count, Initializer
from labdl.ops.operator import floats
from labdl.spec import show


def _attend(scores, key_mask):
    """The weights of the last axis; a sample without any key gets equal ones."""
    if key_mask is not None:
        # with -inf the softmax of a sample without any key would be NaN
        scores = ops.where(key_mask, scores, -1e30)
    return ops.softmax(scores, axis=-1)


@layer({"hidden_size": 5}, floats(2, 3, 4), floats(2, 6, 3), category="attention")
class AdditiveAttention(Module):
    """Additive attention (Bahdanau et al., 2015) of (N, queries, ...) to a context (N, keys, features).

    The weights are softmax over keys of v · tanh(W query + U key + b) with ``hidden_size`` units; the result
    (N, queries, features) is the weighted mean of the context. ``key_mask`` (N, keys) is true, or not 0, for keys that are
    attended to.
    """

    hidden_size: Count
    kernel_init: Initializer = "glorot_uniform"

    def setup(self, x, context, key_mask=None):
        if x.ndim != 3 or context.ndim != 3:
            raise ValueError(
                f"AdditiveAttention wants (N, queries, features) and (N, keys, features), received "
                f"{show(x.shape)} and {show(context.shape)}"
            )
        self.query = Linear(self.hidden_size, use_bias=False, kernel_init=self.kernel_init)
        self.key = Linear(self.hidden_size, kernel_init=self.kernel_init)
        self.score = Linear(1, use_bias=False, kernel_init=self.kernel_init)

    def forward(self, x, context, key_mask=None):
        sums = ops.add(ops.expand_dims(self.query(x), 2), ops.expand_dims(self.key(context), 1))
        allowed = None if key_mask is None else ops.expand_dims(as_boolean(key_mask), 1)
        return ops.matmul(_attend(ops.squeeze(self.score(ops.tanh(sums)), -1), allowed), context)


@layer(
    {"hidden_size": 5, "filters": 2, "kernel_size": 3},
    floats(2, 4),
    floats(2, 6, 3),
    floats(2, 2, 6),
    outputs=("output", "weights"),
    category="attention",
)
class LocationAttention(Module):
    """Location-sensitive attention of one query (N, ...) to a context (N, keys, features) (Chorowski et al., 2015).

    ``previous`` are the weights of the step before (N, keys), zeros at first, or several such rows (N, rows, keys): previous
    and cumulative ones in Tacotron 2. The new weights are softmax over keys of v · tanh(W query + V key + U f + b), where f
    are ``filters`` convolutions of the rows over ``kernel_size`` keys. Gives the weighted mean of the context (N, features)
    and the weights (N, keys). ``key_mask`` (N, keys) is true, or not 0, for keys that are attended to. ``use_bias=False``
    omits b (Tacotron 2).
    """

    hidden_size: Count
    filters: Count = 32
    kernel_size: Count = 31
    use_bias: bool = True
    kernel_init: Initializer = "glorot_uniform"

    def setup(self, x, context, previous, key_mask=None):
        if x.ndim != 2 or context.ndim != 3 or previous.ndim not in (2, 3):
            raise ValueError(
                "LocationAttention wants a query (N, features), a context (N, keys, features) and previous weights "
                f"(N, keys) or (N, rows, keys), received {show(x.shape)}, {show(context.shape)} and {show(previous.shape)}"
            )
        if self.kernel_size % 2 == 0:
            raise ValueError(f"LocationAttention wants an odd kernel_size, received {self.kernel_size}")
        init = self.kernel_init
        self.query = Linear(self.hidden_size, use_bias=False, kernel_init=init)
        self.key = Linear(self.hidden_size, use_bias=self.use_bias, kernel_init=init)
        self.convolution = Conv1d(
            self.filters, self.kernel_size, padding=self.kernel_size // 2, use_bias=False, kernel_init=init
        )
        self.location = Linear(self.hidden_size, use_bias=False, kernel_init=init)
        self.score = Linear(1, use_bias=False, kernel_init=init)

    def forward(self, x, context, previous, key_mask=None):
        rows = ops.expand_dims(previous, 1) if len(previous.shape) == 2 else previous
        places = self.location(ops.permute_dims(self.convolution(rows), (0, 2, 1)))
        sums = ops.add(ops.add(ops.expand_dims(self.query(x), 1), self.key(context)), places)
        scores = ops.squeeze(self.score(ops.tanh(sums)), -1)
        weights = _attend(scores, None if key_mask is None else as_boolean(key_mask))
        return ops.squeeze(ops.matmul(ops.expand_dims(weights, 1), context), 1), weights
