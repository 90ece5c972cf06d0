"""XLNet: permutation language modeling with two streams of attention and a memory (Yang et al., 2019)."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.nn.attention import as_boolean, merge_heads, split_heads
from labdl.nn.positions import count_steps
from labdl.nn.relative_positions import count_distances, shift_distances
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/1906.08237"


@dataclass(frozen=True)
class XLNetConfig:
    """Sizes of an XLNet; the defaults are those of XLNet-base.

    ``memory_steps`` is the number of steps that are remembered for the next segment; with 0 there is no second result.
    ``two_streams`` gives the vector of a step that is to be predicted.
    """

    vocabulary: int = 32000
    features: int = 768
    layers: int = 12
    heads: int = 12
    head_size: int = 64
    feed_forward: int = 3072
    rate: float = 0.1
    memory_steps: int = 0
    two_streams: bool = True
    epsilon: float = 1e-12


class RelativeAttention(nn.Module):
    """Attention by content, by relative position and by whether two steps are of the same segment.

    ``x`` (N, queries, features) attends to ``context`` (N, keys, features), which ends with the steps of the queries, where
    ``allowed`` (N, 1, queries, keys) is true. ``places`` are the sines and cosines of all distances and ``same`` (N, 1,
    queries, keys) says that query and key are of one segment. Vectors that are learned for each head are added to the query
    in scores by content (u), position (v) and segment (w), as in Transformer-XL (Dai et al., 2019). With ``targets`` x are
    the steps of these rows alone.
    """

    def __init__(self, config: XLNetConfig):
        c = config
        self.heads, self.size, self.rate = c.heads, c.head_size, c.rate
        linear = functools.partial(nn.Linear, use_bias=False, kernel_init="normal")
        self.query, self.key, self.value, self.place = (linear(c.heads * c.head_size) for _ in range(4))
        self.projection = linear(c.features)
        self.u, self.v, self.w = (nn.Parameter((c.heads, 1, c.head_size), "normal") for _ in range(3))
        self.segments = nn.Parameter((2, c.heads, c.head_size), "normal")

    def forward(self, x, context, places, same, allowed=None, targets=None):
        query = self.query(x)
        if targets is not None:  # to the places of the steps that are predicted
            query = ops.matmul(ops.matrix_transpose(targets), query)
        query, key, value = (split_heads(each, self.heads) for each in (query, self.key(context), self.value(context)))
        place = ops.permute_dims(ops.reshape(self.place(places), (-1, self.heads, self.size)), (1, 2, 0))
        by_distance = ops.matmul(query + self.v, place)
        by_segment = ops.matmul(query + self.w, ops.permute_dims(self.segments, (1, 2, 0)))
        one, other = (ops.getitem(by_segment, (..., slice(at, at + 1))) for at in (0, 1))
        scale = self.size**-0.5
        scores = (
            shift_distances(by_distance, x if targets is None else ops.matrix_transpose(targets), context)
            + ops.where(same, one, other)
        ) * scale
        heads = ops.scaled_dot_product_attention(
            query + self.u,
            key,
            value,
            # a step that may see nothing sees everything alike, as in the published implementation
            scores if allowed is None else ops.where(allowed, scores, -1e30),
            scale=scale,
            rate=self.rate,
            training=self.training,
        )
        features = merge_heads(heads)
        return self.projection(features if targets is None else ops.matmul(targets, features))


class XLNetBlock(nn.Module):
    """Relative attention and a feed-forward block, each with a skip connection and a normalization after it."""

    def __init__(self, config: XLNetConfig):
        c = config
        self.attention, self.attention_norm = RelativeAttention(c), nn.LayerNorm(epsilon=c.epsilon)
        self.mlp = nn.FeedForward(c.feed_forward, "gelu", c.rate, kernel_init="normal")
        self.mlp_norm = nn.LayerNorm(epsilon=c.epsilon)
        self.dropout = nn.Dropout(c.rate)

    def forward(self, x, context, places, same, allowed=None, targets=None):
        attended = self.attention(x, context, places, same, allowed, targets)
        x = self.attention_norm(x + self.dropout(attended))
        return self.mlp_norm(x + self.dropout(self.mlp(x)))


class XLNetEncoder(nn.Module):
    """Tokens (N, steps) to features (N, steps, features), or (N, targets, features) of the second stream.

    ``allowed`` (N, steps, steps) is true where a step may attend to another, which gives the order in which steps are
    predicted; each step of the first stream sees itself, too. ``targets`` (N, targets, steps) are one-hot rows of the steps
    that the second stream predicts, from their places and without seeing them. ``mask`` (N, steps) is 1, or true, for tokens
    and 0 for padding; ``types`` (N, steps) are numbers of segments, 0 if left out. ``memory`` (layers, N, steps before,
    features) is the second result of the call for the steps before, if ``memory_steps`` of the config is above 0.
    """

    def __init__(self, config: XLNetConfig):
        self.memory_steps, self.features = config.memory_steps, config.features
        self.words = nn.Embedding(config.vocabulary, config.features, embeddings_init="normal")
        self.unknown = nn.Parameter((1, 1, config.features), "normal") if config.two_streams else None
        self.blocks = nn.ModuleList(XLNetBlock(config) for _ in range(config.layers))
        self.dropout = nn.Dropout(config.rate)

    def setup(self, tokens, allowed=None, targets=None, mask=None, types=None, memory=None):
        if tokens.ndim != 2:
            raise ValueError(f"XLNet wants tokens (N, steps), received {show(tokens.shape)}")
        for name, each, axes in (("allowed", allowed, 3), ("targets", targets, 3), ("memory", memory, 4)):
            if each is not None and each.ndim != axes:
                raise ValueError(f"XLNet wants {name} of {axes} axes, received {show(each.shape)}")
        if targets is not None and self.unknown is None:
            raise ValueError("XLNet takes targets with two streams only: give two_streams=True")
        if memory is not None and memory.shape[0] not in (len(self.blocks), None):
            raise ValueError(f"XLNet wants a memory of {len(self.blocks)} layers, received {show(memory.shape)}")

    def forward(self, tokens, allowed=None, targets=None, mask=None, types=None, memory=None):
        before = None if memory is None else ops.getitem(memory, 0)
        x = self.dropout(self.words(tokens))
        distances = count_distances(x, _append(before, x))
        places = self.dropout(ops.sinusoidal_embedding(distances, self.features, layout="halves"))
        content, query = _masks(x, before, mask, allowed)
        same = _same_segment(ops.zeros_like(tokens) if types is None else types, before)
        guess = None
        if targets is not None and self.unknown is not None:
            guess = self.dropout(ops.zeros_like(ops.getitem(targets, (..., slice(0, 1)))) + self.unknown)
        contexts = []
        for at, block in enumerate(self.blocks):
            contexts.append(_append(None if memory is None else ops.getitem(memory, at), x))
            content_stream = x
            if guess is None or at < len(self.blocks) - 1:  # else nothing reads the first stream any more
                content_stream = block(x, contexts[at], places, same, content)
            if guess is not None:
                guess = block(guess, contexts[at], places, same, query, targets)
            x = content_stream
        result = self.dropout(x if guess is None else guess)
        if not self.memory_steps:
            return result
        last = (slice(None), slice(None), slice(-self.memory_steps, None))
        return result, ops.stop_gradient(ops.getitem(ops.stack(contexts, axis=0), last))


def _append(before, x):
    """Steps in memory, if there are any, and the steps of x after them."""
    return x if before is None else ops.concat([before, x], axis=1)


def _masks(x, before, mask, allowed):
    """Where the first and the second stream may attend, (N or 1, 1, queries or 1, keys) each, or None for everywhere."""
    parts = []
    if allowed is not None:
        parts.append(ops.expand_dims(as_boolean(allowed), 1))
    if mask is not None:
        parts.append(ops.getitem(as_boolean(mask), (slice(None), None, None, slice(None))))
    if not parts:
        return None, None
    query = functools.reduce(ops.logical_and, parts)
    steps = count_steps(x)
    itself = ops.equal(ops.expand_dims(steps, 2), ops.expand_dims(steps, 1))
    content = ops.logical_or(query, ops.expand_dims(itself, 1))
    if before is None:
        return content, query
    free = ops.getitem(
        ops.ones_like(ops.getitem(before, (..., 0)), dtype="bool"), (slice(None), None, None, slice(None))
    )
    return tuple(
        ops.concat([ops.logical_or(free, ops.getitem(each, (..., slice(0, 1)))), each], axis=-1)
        for each in (content, query)
    )


def _same_segment(types, before):
    """Whether query and key are of one segment, (N, 1, queries, keys); steps in memory are of segment 0."""
    types = ops.astype(types, "int64")
    keys = types
    if before is not None:
        keys = ops.concat([ops.zeros_like(ops.getitem(before, (..., 0)), dtype="int64"), types], axis=1)
    return ops.expand_dims(ops.equal(ops.expand_dims(types, 2), ops.expand_dims(keys, 1)), 1)


class XLNet(nn.Module):
    """A language model: tokens (N, steps) to logits of words (N, targets, vocabulary), of all steps without ``targets``.

    The output matrix is the table of word embeddings. Inputs: as in XLNetEncoder; with ``memory_steps`` of the config above 0
    there is a second result, the memory for the steps that follow.
    """

    def __init__(self, config: XLNetConfig | None = None):
        config = config or XLNetConfig()
        self.encoder = XLNetEncoder(config)
        self.bias = nn.Parameter((config.vocabulary,))

    def forward(self, tokens, allowed=None, targets=None, mask=None, types=None, memory=None):
        result = self.encoder(tokens, allowed, targets, mask, types, memory)
        hidden, *rest = result if isinstance(result, tuple) else (result,)
        table: Any = self.encoder.words
        logits = ops.matmul(hidden, ops.matrix_transpose(table.embeddings)) + self.bias
        return (logits, *rest) if rest else logits

    @property
    def public_names(self) -> public_weights.PublicNames:
        """Hugging Face's names."""
        return public_names(two_streams=self.encoder.unknown is not None)


class XLNetForSequenceClassification(nn.Module):
    """XLNet with a classifier of whole sequences, by their last step: tokens (N, steps) to logits (N, classes).

    ``mask`` and ``types`` are those of XLNetEncoder; padding stands before a text.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, config: XLNetConfig | None = None, classes: int = 2):
        config = replace(config or XLNetConfig(), two_streams=False, memory_steps=0)
        self.encoder = XLNetEncoder(config)
        self.pooler = nn.Linear(config.features, kernel_init="normal")
        self.dropout = nn.Dropout(config.rate)
        self.head = nn.Linear(classes, kernel_init="normal")

    def forward(self, tokens, mask=None, types=None):
        last = ops.getitem(self.encoder(tokens, mask=mask, types=types), (slice(None), -1))
        return self.head(self.dropout(ops.tanh(self.pooler(last))))


LARGE = XLNetConfig(features=1024, layers=24, heads=16, feed_forward=4096)
# for checks
SMALL = XLNetConfig(vocabulary=20, features=8, layers=2, heads=2, head_size=4, feed_forward=16, rate=0.0)
_BLOCK, _OURS = "transformer.layer.{}", "encoder/blocks/{}"
_ATTENTION = f"{_BLOCK}.rel_attn"


_MATRICES = (("q", "query"), ("k", "key"), ("v", "value"), ("r", "place"), ("o", "projection"))
_VECTORS = (("r_w_bias", "u"), ("r_r_bias", "v"), ("r_s_bias", "w"))


def _to_public(*own: np.ndarray) -> list[np.ndarray]:
    """Public matrices are (features, heads, size of a head), that of the output too; the vectors have those sizes."""
    matrices, vectors = own[: len(_MATRICES)], own[len(_MATRICES) :]
    heads, _, size = vectors[0].shape
    *entering, leaving = matrices
    return [*(a.reshape(-1, heads, size) for a in (*entering, leaving.T)), *(a[:, 0] for a in vectors)]


def _from_public(*public: np.ndarray) -> list[np.ndarray]:
    *matrices, leaving = (a.reshape(len(a), -1) for a in public[: len(_MATRICES)])
    return [*matrices, leaving.T, *(a[:, np.newaxis] for a in public[len(_MATRICES) :])]


def _groups() -> Iterable[public_weights.Group]:
    attention = public_weights.WeightMapping(
        (
            *(f"{_OURS}/attention/{part}/kernel:0" for _, part in _MATRICES),
            *(f"{_OURS}/attention/{part}:0" for _, part in _VECTORS),
        ),
        tuple(f"{_BLOCK}.rel_attn.{name}" for name, _ in (*_MATRICES, *_VECTORS)),
        _to_public,
        _from_public,
    )
    yield public_weights.Group(public_weights.embedding("transformer.word_embedding", "encoder/words"), needed=True)
    yield public_weights.Group(
        [attention],
        public_weights.plain(f"{_BLOCK}.rel_attn.seg_embed", f"{_OURS}/attention/segments:0"),
        public_weights.norm(f"{_BLOCK}.rel_attn.layer_norm", f"{_OURS}/attention_norm"),
        public_weights.linear(f"{_BLOCK}.ff.layer_1", f"{_OURS}/mlp/expand"),
        public_weights.linear(f"{_BLOCK}.ff.layer_2", f"{_OURS}/mlp/contract"),
        public_weights.norm(f"{_BLOCK}.ff.layer_norm", f"{_OURS}/mlp_norm"),
        needed=True,
    )


def public_names(*, two_streams: bool) -> public_weights.PublicNames:
    """Hugging Face's names of an XLNet; the vector of unknown words is that of the second stream."""
    unknown = "transformer.mask_emb"
    return public_weights.PublicNames(
        (
            *_groups(),
            public_weights.Group(
                public_weights.plain(unknown, "encoder/unknown:0") if two_streams else (),
                public_weights.plain("lm_loss.bias", "bias:0"),
                needed=True,
            ),
        ),
        ignored=None if two_streams else unknown.replace(".", r"\."),
        copies={"lm_loss.weight": "transformer.word_embedding.weight"},
    )


XLNetForSequenceClassification.public_names = public_weights.PublicNames(
    (
        *_groups(),
        public_weights.Group(public_weights.linear("sequence_summary.summary", "pooler")),
        public_weights.Group(public_weights.linear("logits_proj", "head")),
    ),
    ignored=r"transformer\.mask_emb",  # of the second stream
)


def _inputs(model: XLNet, steps: int = 64, targets: int = 10) -> tuple[Spec, ...]:
    return Spec((None, steps), "int64"), Spec((None, steps, steps), "bool"), Spec((None, targets, steps))


def _small() -> tuple[XLNet, tuple[Spec, ...]]:
    model = XLNet(SMALL)
    return model, _inputs(model, 5, 2)


_register = functools.partial(
    zoo.register, "text encoding", inputs=_inputs, paper=_PAPER, from_public=public_names(two_streams=True).from_public
)


@_register(parameters=116_750_336, small=_small)
def xlnet_base(memory_steps: int = 0) -> XLNet:
    """XLNet-base, cased: 12 layers of 768 features (Yang et al., 2019)."""
    return XLNet(XLNetConfig(memory_steps=memory_steps))


@_register(parameters=360_300_800)
def xlnet_large(memory_steps: int = 0) -> XLNet:
    """XLNet-large, cased: 24 layers of 1,024 features (Yang et al., 2019)."""
    return XLNet(replace(LARGE, memory_steps=memory_steps))
