"""RNN-T: a transducer of an Emformer, which reads speech in segments, and a recurrent network of what it has written.

Graves (2012), Shi et al. (2021); as torchaudio's emformer_rnnt_model.
"""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import transpose
from labdl.models import zoo
from labdl.models.sound.recurrence import iterate
from labdl.nn.attention import as_boolean, merge_heads, split_heads
from labdl.nn.positions import count_steps
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/2010.10759"


class EmformerBlock(nn.Module):
    """Self-attention within segments and a feed-forward block: (N, steps, features) to the same shape.

    ``allowed`` (steps, steps) or (N, 1, steps, steps) is true where a step may attend to another.
    """

    def __init__(self, features: int, heads: int, feed_forward: int, rate: float):
        self.heads, self.rate = heads, rate
        self.enter_norm = nn.LayerNorm()
        self.query, self.key_value, self.projection = nn.Linear(features), nn.Linear(2 * features), nn.Linear(features)
        self.mlp_norm, self.mlp = nn.LayerNorm(), nn.FeedForward(feed_forward, "gelu", rate)
        self.norm = nn.LayerNorm()
        self.dropout = nn.Dropout(rate)

    def forward(self, x, allowed):
        y = self.enter_norm(x)
        key, value = ops.split(self.key_value(y), 2, axis=-1)
        heads = (split_heads(part, self.heads) for part in (self.query(y), key, value))
        attended = ops.scaled_dot_product_attention(*heads, allowed, rate=self.rate, training=self.training)
        x = x + self.dropout(self.projection(merge_heads(attended)))
        return self.norm(x + self.dropout(self.mlp(self.mlp_norm(x))))


class Emformer(nn.Module):
    """Frames (N, steps + right_context, features) to (N, steps, features), segment by segment (Shi et al., 2021).

    A step attends to the steps of its segment of ``segment`` steps, to ``left_context`` steps before it and to a copy of the
    ``right_context`` steps after it, which is computed for each segment, so that no later step is needed. ``lengths`` (N,) are
    the numbers of steps that count, without the right context. There is no memory bank.
    """

    def __init__(
        self,
        features: int,
        layers: int,
        heads: int,
        feed_forward: int,
        *,
        segment: int,
        left_context: int,
        right_context: int,
        rate: float,
    ):
        if features % heads:
            raise ValueError(f"Emformer wants heads that divide features={features}, received {heads}")
        self.segment, self.left, self.right = segment, left_context, right_context
        self.blocks = nn.ModuleList(EmformerBlock(features, heads, feed_forward, rate) for _ in range(layers))

    def setup(self, x, lengths=None):
        if x.shape[1] is None or x.shape[1] <= self.right:
            raise ValueError(
                f"Emformer wants a known number of steps above the right context of {self.right}, received {show(x.shape)}"
            )

    def forward(self, x, lengths=None):
        steps = x.shape[1] - self.right
        copies, allowed = _segments(steps, self.segment, self.left, self.right)
        mask = as_boolean(ops.tensor_like(x, allowed.astype("int64"), "int64"))
        x = ops.take(x, ops.tensor_like(x, np.concatenate([copies, np.arange(steps)]), "int64"), axis=1)
        if lengths is not None:
            # places of the copies count as 0
            places = ops.maximum(ops.subtract(count_steps(x), len(copies)), -1)
            counts = ops.less(places, ops.expand_dims(lengths, 1))
            mask = ops.logical_and(mask, ops.getitem(counts, (slice(None), None, None, slice(None))))
        for block in self.blocks:
            x = block(x, mask)
        return ops.getitem(x, (slice(None), slice(len(copies), None)))


@functools.lru_cache(8)
def _segments(steps: int, segment: int, left: int, right: int) -> tuple[np.ndarray, np.ndarray]:
    """The steps of which each segment has a copy, and where copies and steps may attend: (copies + steps) squared."""
    count = math.ceil(steps / segment)
    starts = [min((at + 1) * segment, steps) for at in range(count)]
    copies = np.array([start + n for start in starts for n in range(right)], "int64")
    owner = np.concatenate([np.repeat(np.arange(count), right), np.arange(steps) // segment])
    place = np.arange(steps)
    near = (place >= owner[:, None] * segment - left) & (place < (owner[:, None] + 1) * segment)
    return copies, np.concatenate([owner[:, None] == owner[None, : len(copies)], near], 1)


class Transcriber(nn.Module):
    """Frames (N, steps, bins) to features (N, steps / reduction, features): frames are reduced in number, then an Emformer."""

    def __init__(self, features: int, reduced: int, reduction: int, emformer: Emformer):
        self.reduction, self.reduced = reduction, reduced
        self.enter = nn.Linear(reduced, use_bias=False)
        self.emformer = emformer
        self.leave, self.norm = nn.Linear(features), nn.LayerNorm()

    def setup(self, x, lengths=None):
        if x.ndim != 3 or x.shape[1] is None or x.shape[1] < self.reduction:
            raise ValueError(
                f"RNNT wants frames (N, steps, bins) with a known number of at least {self.reduction} steps, received "
                f"{show(x.shape)}"
            )

    def forward(self, x, lengths=None):
        steps = x.shape[1] // self.reduction
        x = ops.getitem(self.enter(x), (slice(None), slice(0, steps * self.reduction)))
        x = ops.reshape(x, (-1, steps, self.reduction * self.reduced))
        return self.norm(self.leave(self.emformer(x, lengths)))


class Predictor(nn.Module):
    """Symbols (N, steps) to features (N, steps, features) of those so far: embeddings and normalized LSTM layers."""

    def __init__(self, vocabulary: int, features: int, embedding: int, layers: int, hidden: int, rate: float):
        self.words, self.enter_norm = nn.Embedding(vocabulary, embedding), nn.LayerNorm()
        self.cells: Any = nn.ModuleList(
            nn.LayerNormLSTMCell(hidden, joint=True, normalize_cell=True, epsilon=1e-3) for _ in range(layers)
        )
        self.hidden_size = hidden
        self.leave, self.norm = nn.Linear(features), nn.LayerNorm()
        self.dropout = nn.Dropout(rate)

    def forward(self, symbols):
        x = ops.permute_dims(self.enter_norm(self.words(symbols)), (1, 0, 2))
        empty = ops.tile(ops.zeros_like(ops.getitem(x, (0, slice(None), slice(0, 1)))), (1, self.hidden_size))
        for cell in self.cells:

            def advance(state, step, cell=cell):
                state = cell(step, *state)
                return state, state[0]

            x = self.dropout(iterate(advance, (empty, empty), x)[1])
        return self.norm(self.leave(ops.permute_dims(x, (1, 0, 2))))

    def step(self, symbols, *states):
        """Features (N, features) behind one more symbol each (N,), and the new states: hidden and cell (N, hidden) a layer."""
        x, new = self.enter_norm(self.words(symbols)), []
        for at, cell in enumerate(self.cells):
            hidden, memory = cell(x, *states[2 * at : 2 * at + 2])
            new += [hidden, memory]
            x = self.dropout(hidden)
        return self.norm(self.leave(x)), tuple(new)


class RNNT(nn.Module):
    """Frames (N, steps, bins), symbols (N, labels + 1) to logits (N, steps / reduction, labels + 1, vocabulary).

    They say what comes next at each step after each number of labels, for `nn.RNNTLoss`. ``symbols`` are what has been
    written, a blank first. The last ``right_context`` frames are context alone. With ``lengths`` (N,), the frames that count
    without this context, the result is a pair with the lengths of the steps. ``segment`` and ``right_context`` are in frames,
    ``left_context`` is in steps; ``reduction`` frames of ``reduced`` features are one step.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        vocabulary: int = 4097,
        *,
        features: int = 1024,
        layers: int = 20,
        heads: int = 8,
        feed_forward: int = 2048,
        segment: int = 16,
        left_context: int = 30,
        right_context: int = 4,
        reduction: int = 4,
        reduced: int = 128,
        embedding: int = 512,
        predictor_layers: int = 3,
        rate: float = 0.1,
        predictor_rate: float = 0.3,
    ):
        if segment % reduction or right_context % reduction:
            raise ValueError(
                f"RNNT wants a segment and a right_context that are multiples of reduction={reduction}, received {segment} "
                f"and {right_context}"
            )
        self.reduction = reduction
        emformer = Emformer(
            reduction * reduced,
            layers,
            heads,
            feed_forward,
            segment=segment // reduction,
            left_context=left_context,
            right_context=right_context // reduction,
            rate=rate,
        )
        self.transcriber = Transcriber(features, reduced, reduction, emformer)
        self.predictor = Predictor(vocabulary, features, embedding, predictor_layers, embedding, predictor_rate)
        self.joiner = nn.Linear(vocabulary)

    def forward(self, frames, symbols, lengths=None):
        if lengths is not None:
            lengths = ops.floor_divide(lengths, self.reduction)
        logits = self.join(self.transcriber(frames, lengths), self.predictor(symbols))
        return logits if lengths is None else (logits, lengths)

    def join(self, heard, written):
        """Logits (N, steps, symbols, vocabulary) of features (N, steps, features) and (N, symbols, features)."""
        return self.joiner(ops.relu(ops.expand_dims(heard, 2) + ops.expand_dims(written, 1)))


_BLOCK, _OURS = "transcriber.transformer.emformer_layers.{}", "transcriber/emformer/blocks/{}"
_CELL, _OUR_CELL = "predictor.lstm_layers.{}", "predictor/cells/{}"
RNNT.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.linear("transcriber.input_linear", "transcriber/enter", use_bias=False),
            public_weights.linear("transcriber.output_linear", "transcriber/leave"),
            public_weights.norm("transcriber.layer_norm", "transcriber/norm"),
            public_weights.embedding("predictor.embedding", "predictor/words"),
            public_weights.norm("predictor.input_layer_norm", "predictor/enter_norm"),
            public_weights.linear("predictor.linear", "predictor/leave"),
            public_weights.norm("predictor.output_layer_norm", "predictor/norm"),
            public_weights.linear("joiner.linear", "joiner"),
            needed=True,
        ),
        public_weights.Group(
            public_weights.linear(f"{_BLOCK}.attention.emb_to_key_value", f"{_OURS}/key_value"),
            public_weights.linear(f"{_BLOCK}.attention.emb_to_query", f"{_OURS}/query"),
            public_weights.linear(f"{_BLOCK}.attention.out_proj", f"{_OURS}/projection"),
            public_weights.norm(f"{_BLOCK}.pos_ff.0", f"{_OURS}/mlp_norm"),
            public_weights.linear(f"{_BLOCK}.pos_ff.1", f"{_OURS}/mlp/expand"),
            public_weights.linear(f"{_BLOCK}.pos_ff.4", f"{_OURS}/mlp/contract"),
            public_weights.norm(f"{_BLOCK}.layer_norm_input", f"{_OURS}/enter_norm"),
            public_weights.norm(f"{_BLOCK}.layer_norm_output", f"{_OURS}/norm"),
            needed=True,
        ),
        public_weights.Group(
            public_weights.linear(f"{_CELL}.x2g", _OUR_CELL, use_bias=False),
            [transpose(f"{_OUR_CELL}/recurrent_kernel:0", f"{_CELL}.p2g.weight", (1, 0))],
            public_weights.norm(f"{_CELL}.c_norm", f"{_OUR_CELL}/cell_norm"),
            public_weights.norm(f"{_CELL}.g_norm", f"{_OUR_CELL}/gate_norm"),
            needed=True,
        ),
    )
)


def _inputs(model: RNNT) -> tuple[Spec, ...]:
    return Spec((None, 132, 80)), Spec((None, 11), "int64")


def _small() -> tuple[RNNT, tuple[Spec, ...]]:
    model = RNNT(
        20,
        features=8,
        layers=1,
        heads=2,
        feed_forward=12,
        segment=4,
        left_context=1,
        right_context=2,
        reduction=2,
        reduced=4,
        embedding=6,
        predictor_layers=1,
        rate=0.0,
        predictor_rate=0.0,
    )
    return model, (Spec((None, 14, 5)), Spec((None, 4), "int64"))


@zoo.register(
    "speech recognition",
    inputs=_inputs,
    parameters=76_738_049,
    paper=_PAPER,
    from_public=RNNT.public_names.from_public,
    small=_small,
)
def emformer_rnnt_base(vocabulary: int = 4097) -> RNNT:
    """RNN-T of an Emformer of 20 layers and 3 LSTM layers, for streaming recognition (Shi et al., 2021)."""
    return RNNT(vocabulary)
