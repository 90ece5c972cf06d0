"""Whisper: an encoder of mel spectrograms and a decoder of text, for recognition and translation (Radford et al., 2023)."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.text.bart import blocks
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/2212.04356"


class Whisper(nn.Module):
    """Log mel spectrogram (N, bins, frames), tokens (N, steps) to logits of the next token (N, steps, vocabulary).

    Two convolutions halve the number of frames, positions of frames are sines and cosines, those of tokens are learned. The
    output matrix is the table of embeddings. A spectrogram has 3,000 frames, which are 30 seconds; ``target_mask`` (N, steps)
    is 1, or true, for tokens and 0 for padding. A target begins with tokens of the language and of the task.
    """

    public_names: ClassVar[public_weights.PublicNames]
    caches_keys: ClassVar[bool] = True  # see labdl.generation

    def __init__(
        self,
        vocabulary: int = 51865,
        *,
        features: int = 384,
        layers: int = 4,
        decoder_layers: int | None = None,
        heads: int = 6,
        feed_forward: int = 1536,
        bins: int = 80,
        positions: int = 448,
        rate: float = 0.0,
    ):
        self.bins = bins
        settings: dict[str, Any] = {
            "activation": "gelu",
            "norm_first": True,
            "final_norm": True,
            "rate": rate,
            "attention_rate": 0.0,
            "activation_rate": 0.0,
            "kernel_init": "normal",
            "key_bias": False,
        }
        convolution = functools.partial(nn.Conv1d, features, 3, padding=1, kernel_init="normal")
        self.first, self.second = convolution(), convolution(stride=2)
        self.frame_positions = nn.SinusoidalPositions(layout="halves", endpoint=True)
        self.encoder = nn.TransformerEncoder(heads, feed_forward, layers=layers, **settings)
        self.words = nn.Embedding(vocabulary, features, embeddings_init="normal")
        self.positions = nn.PositionEmbedding(positions)
        self.decoder = nn.TransformerDecoder(heads, feed_forward, layers=decoder_layers or layers, **settings)
        self.dropout = nn.Dropout(rate)

    def setup(self, frames, target, target_mask=None):
        if frames.ndim != 3 or frames.shape[1] != self.bins:
            raise ValueError(f"Whisper wants a spectrogram (N, {self.bins}, frames), received {show(frames.shape)}")

    def encode(self, frames):
        """The encoder's output, which the decoder attends to: (N, bins, frames) to (N, frames / 2, features)."""
        x = ops.gelu(self.second(ops.gelu(self.first(frames))))
        return self.encoder(self.dropout(self.frame_positions(ops.permute_dims(x, (0, 2, 1)))))

    def decode(self, target, context, target_mask=None):
        """Logits (N, steps, vocabulary) of tokens (N, steps) and the encoder's output (N, frames / 2, features)."""
        embedded = self.dropout(self.positions(self.words(target)))
        hidden = self.decoder(embedded, context, key_mask=target_mask)
        table: Any = self.words
        return ops.matmul(hidden, ops.matrix_transpose(table.embeddings))

    def forward(self, frames, target, target_mask=None):
        return self.decode(target, self.encode(frames), target_mask)


# Hugging Face's names
Whisper.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.convolution("model.encoder.conv1", "first", axes=1),
            public_weights.convolution("model.encoder.conv2", "second", axes=1),
            public_weights.norm("model.encoder.layer_norm", "encoder/norm"),
            public_weights.embedding("model.decoder.embed_tokens", "words"),
            public_weights.embedding("model.decoder.embed_positions", "positions"),
            public_weights.norm("model.decoder.layer_norm", "decoder/norm"),
            needed=True,
        ),
        blocks("model.encoder.layers.{}", "encoder/blocks/{}", cross=False, key_bias=False),
        blocks("model.decoder.layers.{}", "decoder/blocks/{}", cross=True, key_bias=False),
    ),
    ignored=r"model\.encoder\.embed_positions\.weight",  # the sines and cosines
    copies={"proj_out.weight": "model.decoder.embed_tokens.weight"},
)


def _inputs(model: Whisper) -> tuple[Spec, ...]:
    return Spec((None, model.bins, 3000)), Spec((None, 20), "int64")


def _small() -> tuple[Whisper, tuple[Spec, ...]]:
    model = Whisper(20, features=8, layers=1, heads=2, feed_forward=12, bins=5, positions=8)
    return model, (Spec((None, 5, 12)), Spec((None, 4), "int64"))


# the published files have the sines and cosines of 1,500 positions besides
_register = functools.partial(
    zoo.register,
    "speech recognition",
    inputs=_inputs,
    paper=_PAPER,
    from_public=Whisper.public_names.from_public,
)


@_register(parameters=37_184_640, small=_small)
def whisper_tiny() -> Whisper:
    """Whisper, tiny: 4 layers of 384 features in encoder and decoder (Radford et al., 2023)."""
    return Whisper()


@_register(parameters=71_825_920)
def whisper_base() -> Whisper:
    """Whisper, base: 6 layers of 512 features in encoder and decoder (Radford et al., 2023)."""
    return Whisper(features=512, layers=6, heads=8, feed_forward=2048)


@_register(parameters=240_582_912)
def whisper_small() -> Whisper:
    """Whisper, small: 12 layers of 768 features in encoder and decoder (Radford et al., 2023)."""
    return Whisper(features=768, layers=12, heads=12, feed_forward=3072)


@_register(parameters=762_321_920)
def whisper_medium() -> Whisper:
    """Whisper, medium: 24 layers of 1,024 features in encoder and decoder (Radford et al., 2023)."""
    return Whisper(features=1024, layers=24, heads=16, feed_forward=4096)


_large = functools.partial(Whisper, features=1280, layers=32, heads=20, feed_forward=5120)


@_register(parameters=1_541_384_960)
def whisper_large_v2() -> Whisper:
    """Whisper, large, version 2: 32 layers of 1,280 features in encoder and decoder (Radford et al., 2023)."""
    return _large()


@_register(parameters=1_541_570_560)
def whisper_large_v3() -> Whisper:
    """Whisper, large, version 3: 32 layers of 1,280 features, for 128 mel bins (Radford et al., 2023)."""
    return _large(51866, bins=128)


@_register(parameters=806_958_080)
def whisper_large_v3_turbo() -> Whisper:
    """Whisper, large, version 3 turbo: 32 layers of 1,280 features in the encoder, 4 in the decoder (Radford et al., 2023)."""
    return _large(51866, bins=128, decoder_layers=4)
