"""Tacotron 2: text to mel spectrogram, frame by frame, with location-sensitive attention (Shen et al., 2018)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models import zoo
from labdl.models.sound.recurrence import iterate
from labdl.nn.positions import count_steps
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/1712.05884"
_STOP = 1e3  # logit of the end in frames beyond a length


class ConvNorm(nn.Module):
    """Convolution over time and batch normalization: (N, channels, steps) to the same steps."""

    def __init__(self, channels: int, kernel_size: int):
        self.conv = nn.Conv1d(channels, kernel_size, padding=kernel_size // 2)
        self.norm = nn.BatchNorm()

    def forward(self, x):
        return self.norm(self.conv(x))


class TextEncoder(nn.Module):
    """Symbols (N, steps) to features (N, steps, features): convolutions and an LSTM in both directions."""

    def __init__(self, vocabulary: int, embedding: int, features: int, layers: int, kernel_size: int, rate: float):
        self.words = nn.Embedding(vocabulary, embedding)
        self.convolutions = nn.ModuleList(ConvNorm(features, kernel_size) for _ in range(layers))
        self.lstm = nn.LSTM(features // 2, bidirectional=True)
        self.dropout = nn.Dropout(rate)

    def forward(self, tokens, lengths=None):
        x = ops.permute_dims(self.words(tokens), (0, 2, 1))
        for convolution in self.convolutions:
            x = self.dropout(ops.relu(convolution(x)))
        return self.lstm(ops.permute_dims(x, (0, 2, 1)), lengths)[0]


class FrameDecoder(nn.Module):
    """Frames so far and the features of a text to the next frame, a logit of the end, and the attention to the text.

    ``prenet_rate`` of what the prenet gives is dropped in training and in evaluation, as in the paper.
    """

    def __init__(
        self,
        bins: int,
        *,
        hidden: int,
        attention_hidden: int,
        attention_size: int,
        filters: int,
        kernel_size: int,
        prenet: int,
        prenet_rate: float,
        rate: float,
    ):
        self.prenet_rate, self.sizes = prenet_rate, (attention_hidden, hidden)
        self.prenet = nn.ModuleList(nn.Linear(prenet, use_bias=False) for _ in range(2))
        self.attention_cell, self.cell = nn.LSTMCell(attention_hidden), nn.LSTMCell(hidden)
        self.attention = nn.LocationAttention(attention_size, filters, kernel_size, use_bias=False)
        self.frame, self.stop = nn.Linear(bins), nn.Linear(1)
        self.dropout = nn.Dropout(rate)

    def forward(self, frames, context, key_mask=None):
        """Frames (N, steps, bins), each the input for the next, to frames (N, steps, bins), logits (N, steps), weights."""
        inputs = ops.permute_dims(self.enter(frames), (1, 0, 2))
        _, results = iterate(lambda state, x: self.step(x, state, context, key_mask), self.first_state(context), inputs)
        outputs, logits, weights = (ops.permute_dims(each, (1, 0, 2)) for each in results)
        return outputs, ops.squeeze(logits, -1), weights

    def enter(self, x):
        """Frames (..., bins) for the first cell."""
        for linear in self.prenet:
            x = ops.dropout(ops.relu(linear(x)), self.prenet_rate, training=True)
        return x

    def first_state(self, context):
        """Zeros for hidden and cell states, attended features, and weights of the last step and of all."""
        empty = ops.zeros_like(ops.getitem(context, (slice(None), 0)))
        one = ops.getitem(empty, (slice(None), slice(0, 1)))
        weights = ops.zeros_like(ops.getitem(context, (slice(None), slice(None), 0)))
        first, second = (ops.tile(one, (1, size)) for size in self.sizes)
        return first, first, second, second, empty, weights, weights

    def step(self, x, state, context, key_mask=None):
        """The state after a frame, and the next frame, its logit of the end, and the attention."""
        first, first_cell, second, second_cell, attended, weights, total = state
        first, first_cell = self.attention_cell(ops.concat([x, attended], axis=-1), first, first_cell)
        first = self.dropout(first)
        rows = ops.stack([weights, total], axis=1)
        attended, weights = self.attention(first, context, rows, key_mask)
        second, second_cell = self.cell(ops.concat([first, attended], axis=-1), second, second_cell)
        second = self.dropout(second)
        both = ops.concat([second, attended], axis=-1)
        state = (first, first_cell, second, second_cell, attended, weights, total + weights)
        return state, (self.frame(both), self.stop(both), weights)


class Postnet(nn.Module):
    """Convolutions that refine a whole spectrogram: (N, bins, steps) to a correction of the same shape."""

    def __init__(self, bins: int, channels: int, layers: int, kernel_size: int, rate: float):
        sizes = [*(channels,) * (layers - 1), bins]
        self.convolutions = nn.ModuleList(ConvNorm(size, kernel_size) for size in sizes)
        self.dropout = nn.Dropout(rate)

    def forward(self, x):
        for at, convolution in enumerate(self.convolutions):
            x = convolution(x)
            x = self.dropout(ops.tanh(x) if at < len(self.convolutions) - 1 else x)
        return x


class Tacotron2(nn.Module):
    """Symbols (N, steps) and a spectrogram (N, bins, frames) to the spectrogram, frame by frame from the frames before.

    Gives the spectrogram, the refined one (N, bins, frames), logits of the end (N, frames), and the attention to the symbols
    (N, frames, steps). ``lengths`` (N,) are the numbers of symbols that count; with ``frame_lengths`` (N,) frames beyond are 0
    and their logits 1000. Each frame is predicted from the true ones before it; `speak` writes from symbols alone.
    """

    public_names: ClassVar[public_weights.PublicNames]

    def __init__(
        self,
        vocabulary: int = 148,
        *,
        bins: int = 80,
        embedding: int = 512,
        features: int = 512,
        hidden: int = 1024,
        attention_hidden: int = 1024,
        attention_size: int = 128,
        filters: int = 32,
        kernel_size: int = 31,
        prenet: int = 256,
        postnet: int = 512,
        prenet_rate: float = 0.5,
        rate: float = 0.1,
        convolution_rate: float = 0.5,
    ):
        self.bins = bins
        self.encoder = TextEncoder(vocabulary, embedding, features, 3, 5, convolution_rate)
        self.decoder = FrameDecoder(
            bins,
            hidden=hidden,
            attention_hidden=attention_hidden,
            attention_size=attention_size,
            filters=filters,
            kernel_size=kernel_size,
            prenet=prenet,
            prenet_rate=prenet_rate,
            rate=rate,
        )
        self.postnet = Postnet(bins, postnet, 5, 5, convolution_rate)

    def setup(self, tokens, frames, lengths=None, frame_lengths=None):
        if tokens.ndim != 2 or frames.ndim != 3 or frames.shape[1] != self.bins or frames.shape[2] == 0:
            raise ValueError(
                f"Tacotron2 wants symbols (N, steps) and a spectrogram (N, {self.bins}, frames), received "
                f"{show(tokens.shape)} and {show(frames.shape)}"
            )

    def forward(self, tokens, frames, lengths=None, frame_lengths=None):
        context, mask = self._encode(tokens, lengths)
        before = ops.permute_dims(frames, (0, 2, 1))
        before = ops.concat([ops.zeros_like(before[:, :1]), before[:, :-1]], axis=1)
        outputs, logits, weights = self.decoder(before, context, mask)
        first, refined = self._refine(outputs)
        if frame_lengths is not None:
            inside = ops.less(count_steps(outputs), ops.expand_dims(frame_lengths, 1))
            first, refined = (ops.where(ops.expand_dims(inside, 1), each, 0.0) for each in (first, refined))
            logits = ops.where(inside, logits, _STOP)
        return first, refined, logits, weights

    def _encode(self, tokens, lengths):
        mask = None if lengths is None else ops.less(count_steps(tokens), ops.expand_dims(lengths, 1))
        return self.encoder(tokens, lengths), mask

    def _refine(self, outputs):
        first = ops.permute_dims(outputs, (0, 2, 1))
        return first, first + self.postnet(first)

    def speak(self, tokens, lengths=None, *, most: int = 2000, threshold: float = 0.5) -> tuple[Any, Any, Any]:
        """A refined spectrogram (N, bins, frames) of symbols, the numbers of frames (N,) and the attention.

        A sample ends with the first frame in which the end has a probability above ``threshold``, after ``most`` frames at
        the latest.
        """
        from labdl import to_numpy  # the package imports the models

        context, mask = self._encode(tokens, lengths)
        state = self.decoder.first_state(context)
        x = ops.tile(ops.zeros_like(context[:, 0, :1]), (1, self.bins))
        results, ends = [], np.zeros(tokens.shape[0], "int64")
        while len(results) < most and not ends.all():
            state, result = self.decoder.step(self.decoder.enter(x), state, context, mask)
            results.append(result)
            x, logits, _ = result
            over = to_numpy(ops.sigmoid(logits))[:, 0] > threshold
            ends = np.where((ends == 0) & over, len(results), ends)
        outputs, _, weights = (ops.stack([*each], axis=1) for each in zip(*results, strict=True))
        return self._refine(outputs)[1], np.where(ends == 0, len(results), ends), weights


_ATTENTION = "decoder.attention_layer"
Tacotron2.public_names = public_weights.PublicNames(
    (
        public_weights.Group(
            public_weights.embedding("embedding", "encoder/words"),
            public_weights.lstm("encoder.lstm", "encoder/lstm", bidirectional=True),
            public_weights.lstm_cell("decoder.attention_rnn", "decoder/attention_cell"),
            public_weights.lstm_cell("decoder.decoder_rnn", "decoder/cell"),
            public_weights.linear(f"{_ATTENTION}.query_layer", "decoder/attention/query", use_bias=False),
            public_weights.linear(f"{_ATTENTION}.memory_layer", "decoder/attention/key", use_bias=False),
            public_weights.linear(f"{_ATTENTION}.v", "decoder/attention/score", use_bias=False),
            public_weights.convolution(
                f"{_ATTENTION}.location_layer.location_conv", "decoder/attention/convolution", use_bias=False, axes=1
            ),
            public_weights.linear(
                f"{_ATTENTION}.location_layer.location_dense", "decoder/attention/location", use_bias=False
            ),
            public_weights.linear("decoder.linear_projection", "decoder/frame"),
            public_weights.linear("decoder.gate_layer", "decoder/stop"),
            needed=True,
        ),
        public_weights.Group(
            public_weights.linear("decoder.prenet.layers.{}", "decoder/prenet/{}", use_bias=False), needed=True
        ),
        *(
            public_weights.Group(
                public_weights.convolution(f"{part}.convolutions.{{}}.0", f"{part}/convolutions/{{}}/conv", axes=1),
                public_weights.batch_norm(f"{part}.convolutions.{{}}.1", f"{part}/convolutions/{{}}/norm"),
                needed=True,
            )
            for part in ("encoder", "postnet")
        ),
    )
)


def _inputs(model: Tacotron2) -> tuple[Spec, ...]:
    return Spec((None, 40), "int64"), Spec((None, model.bins, 32))


def _small() -> tuple[Tacotron2, tuple[Spec, ...]]:
    model = Tacotron2(
        20,
        bins=5,
        embedding=6,
        features=6,
        hidden=6,
        attention_hidden=7,
        attention_size=4,
        filters=2,
        kernel_size=3,
        prenet=4,
        postnet=6,
        prenet_rate=0.0,
        rate=0.0,
        convolution_rate=0.0,
    )
    return model, (Spec((None, 6), "int64"), Spec((None, 5, 4)))


# torchaudio's has 28,193,153: its LSTM layers have two biases, of which one is enough
@zoo.register(
    "speech synthesis",
    inputs=_inputs,
    parameters=28_182_913,
    paper=_PAPER,
    from_public=Tacotron2.public_names.from_public,
    small=_small,
)
def tacotron2(vocabulary: int = 148) -> Tacotron2:
    """Tacotron 2: symbols to mel spectrograms of 80 bins (Shen et al., 2018)."""
    return Tacotron2(vocabulary)
