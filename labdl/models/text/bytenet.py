"""ByteNet: residual blocks of dilated convolutions for language models and translation (Kalchbrenner et al., 2016)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import convert
from labdl.models import zoo
from labdl.nn.attention import as_boolean
from labdl.nn.positions import count_steps
from labdl.spec import Spec

_PAPER = "https://arxiv.org/abs/1610.10099"


def _silence(x, mask):
    """x (N, steps, features) with zeros where the mask (N, steps) is 0."""
    return ops.where(ops.expand_dims(as_boolean(mask), -1), x, 0.0)


class ByteNetBlock(nn.Module):
    """A dilated convolution between two linear layers, with a skip connection: (N, steps, features) to the same shape.

    Each of the three is preceded by normalization and ReLU. ``causal`` convolutions see no later step. Steps where ``mask``
    (N, steps) is 0 are zero for the convolution.
    """

    def __init__(self, features: int, inner: int, kernel_size: int, dilation: int, *, causal: bool):
        reach = (kernel_size - 1) * dilation
        around = (reach, 0) if causal else (reach // 2, reach - reach // 2)
        self.enter_norm, self.enter = nn.LayerNorm(), nn.Linear(inner)
        self.middle_norm = nn.LayerNorm()
        self.middle = nn.Conv1d(inner, kernel_size, padding=(around,), dilation=dilation, data_format="channels_last")
        self.leave_norm, self.leave = nn.LayerNorm(), nn.Linear(features)

    def forward(self, x, mask=None):
        hidden = ops.relu(self.middle_norm(self.enter(ops.relu(self.enter_norm(x)))))
        if mask is not None:
            hidden = _silence(hidden, mask)
        return x + self.leave(ops.relu(self.leave_norm(self.middle(hidden))))


class ByteNetEncoder(nn.Module):
    """Tokens (N, steps) to features (N, steps, features); ``mask`` (N, steps) is 1, or true, for tokens and 0 for padding.

    The dilation doubles from block to block, and begins again with 1 after ``largest_dilation``. ``inner`` is the width of
    the convolutions, ``embedding`` that of the word vectors. ``causal`` is for decoders and language models.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        vocabulary: int,
        *,
        embedding: int,
        features: int,
        inner: int,
        blocks: int = 30,
        kernel_size: int = 3,
        largest_dilation: int = 16,
        causal: bool = False,
    ):
        cycle = int(math.log2(largest_dilation)) + 1
        self.words = nn.Embedding(vocabulary, embedding)
        self.widen = nn.Linear(features)
        self.blocks = nn.ModuleList(
            ByteNetBlock(features, inner, kernel_size, 2 ** (at % cycle), causal=causal) for at in range(blocks)
        )

    def forward(self, tokens, mask=None):
        return self.convolve(self.embed(tokens), mask)

    def embed(self, tokens):
        """Word vectors in the width of the blocks."""
        return self.widen(self.words(tokens))

    def convolve(self, x, mask=None):
        """The blocks alone: (N, steps, features) to the same shape."""
        for block in self.blocks:
            x = block(x, mask)
        return x


class ByteNetLM(nn.Module):
    """A language model: tokens (N, steps) to logits of the next token (N, steps, vocabulary).

    ``final_norm`` normalizes before the head. Settings and mask: as in ByteNetEncoder.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(self, vocabulary: int, *, final_norm: bool = False, **settings: int):
        self.decoder = ByteNetEncoder(vocabulary, causal=True, **settings)
        self.norm = nn.LayerNorm() if final_norm else None
        self.head = nn.Linear(vocabulary)

    def forward(self, tokens, mask=None):
        return self.decode(tokens, None, mask)

    def decode(self, tokens, context=None, mask=None):
        """Logits of the next token; a ``context`` (N, steps, features) is added to the word vectors."""
        x = self.decoder.embed(tokens)
        x = self.decoder.convolve(x if context is None else x + context, mask)
        return self.head(x if self.norm is None else self.norm(x))


class ByteNet(nn.Module):
    """Encoder and decoder: source (N, keys) and target (N, steps) as tokens to logits of the next token (N, steps, vocabulary).

    The decoder stands on the encoder: step by step it reads the source's features at the same place, zeros beyond the source,
    beside the target's tokens so far. As in the paper a source is padded to the longest translation that it may have.
    ``source_mask`` (N, keys) is 1, or true, for tokens and 0 for padding. Settings: as in ByteNetEncoder.
    """

    def __init__(self, source_vocabulary: int, target_vocabulary: int, *, features: int, **settings: int):
        self.encoder = ByteNetEncoder(source_vocabulary, features=features, **settings)
        self.bridge = nn.Linear(features, use_bias=False)
        self.target = ByteNetLM(target_vocabulary, features=features, **settings)

    def encode(self, source, source_mask=None):
        """The encoder's output: tokens (N, keys) to (N, keys, features)."""
        return self.encoder(source, source_mask)

    def decode(self, target, context, target_mask=None, source_mask=None):
        """Logits (N, steps, vocabulary) of tokens (N, steps) and the encoder's output (N, keys, features)."""
        if source_mask is not None:
            context = _silence(context, source_mask)
        steps = ops.getitem(count_steps(target), 0)
        context = self.bridge(context)
        beyond = ops.zeros_like(self.target.decoder.embed(target))
        return self.target.decode(target, ops.take(ops.concat([context, beyond], axis=1), steps, axis=1), target_mask)

    def forward(self, source, target, source_mask=None, target_mask=None):
        return self.decode(target, self.encode(source, source_mask), target_mask, source_mask)


def _pointwise(public: str, ours: str) -> Iterable[public_weights.WeightMapping]:
    """A linear layer, which is a convolution over one step in public."""
    yield convert(f"{ours}/kernel:0", f"{public}.weight", lambda a: a.T[:, :, np.newaxis], lambda a: a[:, :, 0].T)
    yield from public_weights.plain(f"{public}.bias", f"{ours}/bias:0")


def _stack(public: str, ours: str, convolution: str) -> list[public_weights.Group]:
    block, here = f"{public}layers.{{}}", f"{ours}blocks/{{}}"
    return [
        public_weights.Group(
            public_weights.embedding(f"{public}embedder", f"{ours}words"),
            _pointwise(f"{public}up_embedder.conv", f"{ours}widen"),
            needed=True,
        ),
        public_weights.Group(
            public_weights.norm(f"{block}.sequence1.0", f"{here}/enter_norm"),
            _pointwise(f"{block}.sequence1.2.conv", f"{here}/enter"),
            public_weights.norm(f"{block}.sequence1.3", f"{here}/middle_norm"),
            public_weights.convolution(f"{block}.{convolution}", f"{here}/middle", axes=1),
            public_weights.norm(f"{block}.sequence2.0", f"{here}/leave_norm"),
            _pointwise(f"{block}.sequence2.2.conv", f"{here}/leave"),
            needed=True,
        ),
    ]


# names of the package sequence-models
ByteNetEncoder.public_names = public_weights.PublicNames((*_stack("", "", "conv"),))
ByteNetLM.public_names = public_weights.PublicNames(
    (
        *_stack("embedder.", "decoder/", "conv.conv"),
        public_weights.Group(_pointwise("decoder.conv", "head"), needed=True),
        public_weights.Group(public_weights.norm("last_norm", "norm")),
    )
)

_SMALL = {"embedding": 4, "features": 8, "inner": 4, "blocks": 2, "kernel_size": 3}


def _small_lm() -> tuple[ByteNetLM, tuple[Spec, ...]]:
    return ByteNetLM(20, **_SMALL), (Spec((None, 5), "int64"),)


def _small() -> tuple[ByteNet, tuple[Spec, ...]]:
    return ByteNet(20, 20, **_SMALL), (Spec((None, 5), "int64"), Spec((None, 7), "int64"))


@zoo.register(
    "text generation",
    inputs=zoo.tokens(500),
    parameters=56_704_205,
    paper=_PAPER,
    from_public=ByteNetLM.public_names.from_public,
    small=_small_lm,
)
def bytenet_lm(vocabulary: int = 205) -> ByteNetLM:
    """ByteNet as a language model of bytes: 30 blocks of 512 channels (Kalchbrenner et al., 2016)."""
    return ByteNetLM(vocabulary, embedding=1024, features=1024, inner=512)


# counted from the sizes in the paper, which states no number; its German has 296 characters, its English 323
@zoo.register("translation", inputs=zoo.tokens(200, 200), parameters=278_523_496, paper=_PAPER, small=_small)
def bytenet(source_vocabulary: int = 323, target_vocabulary: int = 296) -> ByteNet:
    """ByteNet for translation of characters: 30 blocks of 800 channels in encoder and decoder (Kalchbrenner et al., 2016)."""
    return ByteNet(source_vocabulary, target_vocabulary, embedding=1600, features=1600, inner=800)
