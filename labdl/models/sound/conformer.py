"""Conformer: attention and convolution over the frames of speech (Gulati et al., 2020), as ESPnet and torchaudio have it."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import convert
from labdl.models import zoo
from labdl.nn.attention import merge_heads, split_heads
from labdl.nn.positions import count_steps
from labdl.nn.relative_positions import count_distances, shift_distances
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/2005.08100"
LEAST_FRAMES = 7  # and bins, of which two convolutions of stride 2 leave one


class RelativeSelfAttention(nn.Module):
    """Self-attention by content and by relative position: (N, steps, features) to the same shape (Dai et al., 2019).

    ``places`` are the sines and cosines of all distances (2 * steps - 1, features). Vectors that are learned for each head are
    added to the query in scores by content (u) and position (v). ``key_mask`` (N, steps) is true for steps that count.
    """

    def __init__(self, features: int, heads: int, rate: float):
        if features % heads:
            raise ValueError(f"Conformer wants heads that divide features={features}, received {heads}")
        self.heads, self.rate = heads, rate
        self.query, self.key, self.value, self.projection = (nn.Linear(features) for _ in range(4))
        self.place = nn.Linear(features, use_bias=False)
        self.u, self.v = (nn.Parameter((heads, 1, features // heads), "glorot_uniform") for _ in range(2))

    def forward(self, x, places, key_mask=None):
        query, key, value = (split_heads(part(x), self.heads) for part in (self.query, self.key, self.value))
        place = split_heads(ops.expand_dims(self.place(places), 0), self.heads)
        scale = query.shape[-1] ** -0.5
        scores = shift_distances(ops.matmul(query + self.v, ops.matrix_transpose(place)), x, x) * scale
        if key_mask is not None:
            scores = ops.where(ops.getitem(key_mask, (slice(None), None, None, slice(None))), scores, -math.inf)
        heads = ops.scaled_dot_product_attention(
            query + self.u, key, value, scores, scale=scale, rate=self.rate, training=self.training
        )
        return self.projection(merge_heads(heads))


class ConvolutionModule(nn.Module):
    """Gated linear units, a convolution of each feature over time, normalization: (N, steps, features) to the same shape.

    Steps where ``mask`` (N, steps) is false are zero for the convolution.
    """

    def __init__(self, features: int, kernel_size: int):
        if kernel_size % 2 == 0:
            raise ValueError(f"Conformer wants an odd kernel_size, received {kernel_size}")
        self.enter = nn.Linear(2 * features)
        self.depthwise = nn.DepthwiseConv1d(kernel_size, padding=kernel_size // 2, data_format="channels_last")
        self.norm = nn.BatchNorm(data_format="channels_last")
        self.leave = nn.Linear(features)

    def forward(self, x, mask=None):
        x = ops.glu(self.enter(x), axis=-1)
        if mask is not None:
            x = ops.where(ops.expand_dims(mask, -1), x, 0.0)
        return self.leave(ops.silu(self.norm(self.depthwise(x))))


class ConformerBlock(nn.Module):
    """Half a feed-forward block, self-attention, convolution and the other half, each with a skip connection."""

    def __init__(
        self,
        features: int,
        heads: int,
        feed_forward: int,
        kernel_size: int,
        *,
        relative: bool,
        rate: float,
        attention_rate: float,
        epsilon: float,
    ):
        norm = functools.partial(nn.LayerNorm, epsilon=epsilon)
        self.first_norm, self.first = norm(), nn.FeedForward(feed_forward, "silu", rate)
        self.attention_norm = norm()
        self.attention = (
            RelativeSelfAttention(features, heads, attention_rate)
            if relative
            else nn.MultiHeadAttention(heads, rate=attention_rate)
        )
        self.convolution_norm, self.convolution = norm(), ConvolutionModule(features, kernel_size)
        self.last_norm, self.last = norm(), nn.FeedForward(feed_forward, "silu", rate)
        self.norm = norm()
        self.dropout = nn.Dropout(rate)

    def forward(self, x, places=None, key_mask=None, step_mask=None):
        x = x + 0.5 * self.dropout(self.first(self.first_norm(x)))
        y = self.attention_norm(x)
        y = self.attention(y, key_mask=key_mask) if places is None else self.attention(y, places, key_mask)
        x = x + self.dropout(y)
        x = x + self.dropout(self.convolution(self.convolution_norm(x), step_mask))
        return self.norm(x + 0.5 * self.dropout(self.last(self.last_norm(x))))


class Subsampling(nn.Module):
    """Two convolutions of stride 2 over time and frequency: (N, steps, bins) to (N, about steps / 4, features)."""

    def __init__(self, features: int):
        self.first, self.second = (nn.Conv2d(features, 3, stride=2) for _ in range(2))
        self.linear = nn.Linear(features)

    def setup(self, x):
        if any(n is not None and n < LEAST_FRAMES for n in x.shape[1:]):
            raise ValueError(
                f"Conformer wants at least {LEAST_FRAMES} frames of {LEAST_FRAMES} bins, received {show(x.shape)}"
            )

    def forward(self, x):
        x = ops.relu(self.second(ops.relu(self.first(ops.expand_dims(x, 1)))))
        return self.linear(ops.flatten(ops.permute_dims(x, (0, 2, 1, 3)), 2))


class Conformer(nn.Module):
    """An encoder of speech: frames (N, steps, bins), such as log mel ones, to (N, about steps / 4, features).

    Optional ``lengths`` (N,) are the numbers of frames that count; the result is then a pair with the lengths after the
    subsampling. With ``subsample=False`` the frames have ``features`` and their number stays. ``relative`` gives scores by
    relative position; the blocks end in a normalization then, as in ESPnet, and have no positions otherwise, as in torchaudio.
    ``mask_convolutions`` keeps padding out of the convolutions, so that a sample gives the same alone and in a batch; the
    public implementations do not.
    """

    def __init__(
        self,
        features: int = 256,
        *,
        layers: int = 16,
        heads: int = 4,
        feed_forward: int = 1024,
        kernel_size: int = 31,
        relative: bool = True,
        subsample: bool = True,
        mask_convolutions: bool = True,
        rate: float = 0.1,
        attention_rate: float = 0.0,
        epsilon: float = 1e-12,
    ):
        self.features, self.relative, self.mask_convolutions = features, relative, mask_convolutions
        self.subsampling = Subsampling(features) if subsample else None
        self.scale = math.sqrt(features) if relative else 1.0
        self.blocks = nn.ModuleList(
            ConformerBlock(
                features,
                heads,
                feed_forward,
                kernel_size,
                relative=relative,
                rate=rate,
                attention_rate=attention_rate,
                epsilon=epsilon,
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(epsilon=epsilon) if relative else None
        self.dropout = nn.Dropout(rate)

    def setup(self, x, lengths=None):
        if x.ndim != 3 or (self.subsampling is None and x.shape[-1] != self.features):
            bins = "bins" if self.subsampling is not None else self.features
            raise ValueError(f"Conformer wants frames (N, steps, {bins}), received {show(x.shape)}")

    def forward(self, x, lengths=None):
        mask = None if lengths is None else ops.less(count_steps(x), ops.expand_dims(lengths, 1))
        if self.subsampling is not None:
            x = self.subsampling(x)
            for _ in range(2 if mask is not None else 0):
                mask = ops.getitem(mask, (slice(None), slice(0, -2, 2)))
        x, places = self.dropout(x * self.scale), None
        if self.relative:
            places = self.dropout(ops.sinusoidal_embedding(count_distances(x, x), self.features))
        for block in self.blocks:
            x = block(x, places, mask, mask if self.mask_convolutions else None)
        x = x if self.norm is None else self.norm(x)
        return x if mask is None else (x, ops.sum(ops.astype(mask, "int64"), axis=1))

    @property
    def public_names(self) -> public_weights.PublicNames:
        """ESPnet's names with relative positions, torchaudio's without."""
        return ESPNET if self.relative else TORCHAUDIO


class ConformerCTC(nn.Module):
    """A recognizer of speech: frames (N, steps, bins) to logits (N, about steps / 4, vocabulary) for the CTC loss.

    The first entry of the vocabulary is the blank. ``lengths`` are those of Conformer.
    """

    def __init__(self, encoder: Conformer, vocabulary: int):
        self.encoder = encoder
        self.head = nn.Linear(vocabulary)

    def forward(self, x, lengths=None):
        if lengths is None:
            return self.head(self.encoder(x))
        hidden, lengths = self.encoder(x, lengths)
        return self.head(hidden), lengths


def _pointwise(public: str, ours: str) -> Iterable[public_weights.WeightMapping]:
    """A linear layer, which is a convolution over one step in public."""
    yield convert(f"{ours}/kernel:0", f"{public}.weight", lambda a: a.T[:, :, np.newaxis], lambda a: a[:, :, 0].T)
    yield from public_weights.plain(f"{public}.bias", f"{ours}/bias:0")


def _block(
    norms: Mapping[str, str], linears: Mapping[str, str], convolution: tuple[str, str, str, str]
) -> Iterable[public_weights.WeightMapping]:
    """Names inside of a block that differ in their spelling alone."""
    for ours, public in norms.items():
        yield from public_weights.norm(public, f"{_OURS}/{ours}")
    for ours, public in linears.items():
        yield from public_weights.linear(public, f"{_OURS}/{ours}")
    enter, depthwise, norm, leave = convolution
    yield from _pointwise(enter, f"{_OURS}/convolution/enter")
    yield from public_weights.convolution(depthwise, f"{_OURS}/convolution/depthwise", axes=1)
    yield from public_weights.batch_norm(norm, f"{_OURS}/convolution/norm")
    yield from _pointwise(leave, f"{_OURS}/convolution/leave")


_OURS, _ESPNET, _TORCHAUDIO = "blocks/{}", "encoders.{}", "conformer_layers.{}"
_MODULE, _SEQUENCE = f"{_ESPNET}.conv_module", f"{_TORCHAUDIO}.conv_module.sequential"
ESPNET = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.convolution("embed.conv.0", "subsampling/first"),
            public_weights.convolution("embed.conv.2", "subsampling/second"),
            public_weights.linear("embed.out.0", "subsampling/linear"),
        ),
        public_weights.Group(
            _block(
                {
                    "first_norm": f"{_ESPNET}.norm_ff_macaron",
                    "attention_norm": f"{_ESPNET}.norm_mha",
                    "convolution_norm": f"{_ESPNET}.norm_conv",
                    "last_norm": f"{_ESPNET}.norm_ff",
                    "norm": f"{_ESPNET}.norm_final",
                },
                {
                    "first/expand": f"{_ESPNET}.feed_forward_macaron.w_1",
                    "first/contract": f"{_ESPNET}.feed_forward_macaron.w_2",
                    "last/expand": f"{_ESPNET}.feed_forward.w_1",
                    "last/contract": f"{_ESPNET}.feed_forward.w_2",
                    "attention/query": f"{_ESPNET}.self_attn.linear_q",
                    "attention/key": f"{_ESPNET}.self_attn.linear_k",
                    "attention/value": f"{_ESPNET}.self_attn.linear_v",
                    "attention/projection": f"{_ESPNET}.self_attn.linear_out",
                },
                (
                    f"{_MODULE}.pointwise_conv1",
                    f"{_MODULE}.depthwise_conv",
                    f"{_MODULE}.norm",
                    f"{_MODULE}.pointwise_conv2",
                ),
            ),
            public_weights.linear(f"{_ESPNET}.self_attn.linear_pos", f"{_OURS}/attention/place", use_bias=False),
            *(
                [
                    convert(
                        f"{_OURS}/attention/{name}:0",
                        f"{_ESPNET}.self_attn.pos_bias_{name}",
                        lambda a: a[:, 0],
                        lambda a: a[:, np.newaxis],
                    )
                ]
                for name in ("u", "v")
            ),
            needed=True,
        ),
        public_weights.Group(public_weights.norm("after_norm", "norm"), needed=True),
    )
)
TORCHAUDIO = public_weights.PublicNames(
    (
        public_weights.Group(
            _block(
                {
                    "first_norm": f"{_TORCHAUDIO}.ffn1.sequential.0",
                    "attention_norm": f"{_TORCHAUDIO}.self_attn_layer_norm",
                    "convolution_norm": f"{_TORCHAUDIO}.conv_module.layer_norm",
                    "last_norm": f"{_TORCHAUDIO}.ffn2.sequential.0",
                    "norm": f"{_TORCHAUDIO}.final_layer_norm",
                },
                {
                    "first/expand": f"{_TORCHAUDIO}.ffn1.sequential.1",
                    "first/contract": f"{_TORCHAUDIO}.ffn1.sequential.4",
                    "last/expand": f"{_TORCHAUDIO}.ffn2.sequential.1",
                    "last/contract": f"{_TORCHAUDIO}.ffn2.sequential.4",
                },
                (f"{_SEQUENCE}.0", f"{_SEQUENCE}.2", f"{_SEQUENCE}.3", f"{_SEQUENCE}.5"),
            ),
            public_weights.packed_attention(f"{_TORCHAUDIO}.self_attn", f"{_OURS}/attention"),
            needed=True,
        ),
    )
)


def _inputs(model: Conformer) -> tuple[Spec, ...]:
    return (Spec((None, 400, 80)),)


def _small() -> tuple[Conformer, tuple[Spec, ...]]:
    model = Conformer(8, layers=1, heads=2, feed_forward=12, kernel_size=3, rate=0.0)
    return model, (Spec((None, 19, 12)),)


_register: Any = functools.partial(
    zoo.register, "speech recognition", inputs=_inputs, paper=_PAPER, from_public=ESPNET.from_public
)


@_register(parameters=8_690_400, small=_small)
def conformer_small() -> Conformer:
    """Conformer, small: an encoder of 16 blocks of 144 features with relative positions (Gulati et al., 2020)."""
    return Conformer(144, feed_forward=576)


@_register(parameters=27_262_464)
def conformer_medium() -> Conformer:
    """Conformer, medium: an encoder of 16 blocks of 256 features with relative positions (Gulati et al., 2020)."""
    return Conformer()


@_register(parameters=114_850_304)
def conformer_large() -> Conformer:
    """Conformer, large: an encoder of 17 blocks of 512 features with relative positions (Gulati et al., 2020)."""
    return Conformer(512, layers=17, heads=8, feed_forward=2048)
