"""WaveNet: gated dilated convolutions that write a waveform sample by sample (van den Oord et al., 2016)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.interop.weights.mapping import convert
from labdl.models import zoo
from labdl.spec import Spec, show

_PAPER = "https://arxiv.org/abs/1609.03499"


class WaveNetBlock(nn.Module):
    """A gated dilated convolution: (N, steps, residual) to the next block's input and a part of the result (N, steps, skip).

    Each step sees ``kernel_size`` steps that are ``dilation`` apart: itself and earlier ones, or with ``causal=False`` as
    many on both sides. Optional ``conditions`` (N, steps, any) are added before the gates.
    """

    def __init__(
        self, residual: int, gate: int, skip: int, kernel_size: int, dilation: int, *, causal: bool, scale: float
    ):
        self.reach = (kernel_size - 1) * dilation
        self.around = (self.reach, 0) if causal else (self.reach // 2, self.reach - self.reach // 2)
        self.residual, self.scale = residual, scale
        self.dilated = nn.Conv1d(gate, kernel_size, dilation=dilation, data_format="channels_last")
        self.condition = nn.Linear(gate, use_bias=False)
        self.leave = nn.Linear(residual + skip)

    def forward(self, x, conditions=None):
        return self.combine(x, ops.pad(x, ((0, 0), self.around, (0, 0))), conditions)

    def combine(self, x, window, conditions=None):
        """The results for steps x (N, steps, residual), with the steps around them in ``window``."""
        gates = self.dilated(window)
        if conditions is not None:
            gates = gates + self.condition(conditions)
        signal, gate = ops.split(gates, 2, axis=-1)
        leaving = self.leave(ops.tanh(signal) * ops.sigmoid(gate))
        onward = ops.getitem(leaving, (..., slice(0, self.residual)))
        return (x + onward) * self.scale, ops.getitem(leaving, (..., slice(self.residual, None)))


class WaveNet(nn.Module):
    """One-hot samples (N, classes, steps) to logits of the sample after each (N, classes, steps).

    ``layers`` blocks are divided into ``stacks`` of equal size, in which the dilation doubles from block to block. Optional
    ``conditions`` (N, channels, steps), such as a mel spectrogram in the rate of the samples, say what is spoken.
    ``enter_norm`` learns direction and norm of the first layer apart, ``scale_residual`` multiplies each sum by the root of
    a half. With ``causal=False`` each step sees later ones, too, as a vocoder may that does not write sample by sample.
    `first_state` and `step` compute the same step by step.
    """

    def __init__(
        self,
        classes: int = 256,
        *,
        layers: int = 20,
        stacks: int = 2,
        residual: int = 512,
        gate: int = 512,
        skip: int = 512,
        kernel_size: int = 3,
        causal: bool = True,
        enter_norm: bool = False,
        scale_residual: bool = True,
        rate: float = 0.0,
    ):
        if layers % stacks or gate % 2:
            raise ValueError(
                f"WaveNet wants stacks that divide layers={layers} and an even gate, received {stacks}, {gate}"
            )
        self.classes, self.causal, self.residual, self.skip = classes, causal, residual, skip
        self.enter = nn.Linear(residual, weight_norm=0 if enter_norm else None)
        self.blocks: Any = nn.ModuleList(
            WaveNetBlock(
                residual,
                gate,
                skip,
                kernel_size,
                2 ** (at % (layers // stacks)),
                causal=causal,
                scale=0.5**0.5 if scale_residual else 1.0,
            )
            for at in range(layers)
        )
        self.dropout = nn.Dropout(rate)
        self.hidden, self.head = nn.Linear(skip), nn.Linear(classes)

    def setup(self, x, conditions=None):
        for name, each in (("samples", x), ("conditions", conditions)):
            if each is not None and each.ndim != 3:
                raise ValueError(f"WaveNet wants {name} (N, channels, steps), received {show(each.shape)}")

    def forward(self, x, conditions=None):
        x = self.enter(ops.permute_dims(x, (0, 2, 1)))
        conditions = None if conditions is None else ops.permute_dims(conditions, (0, 2, 1))
        parts = []
        for block in self.blocks:
            x, part = block(self.dropout(x), conditions)
            parts.append(part)
        return ops.permute_dims(self._read(parts), (0, 2, 1))

    def _read(self, parts: Sequence[Any]):
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return self.head(ops.relu(self.hidden(ops.relu(total))))

    def first_state(self, x) -> list[Any]:
        """The state before the first sample, for samples x (N, classes): zeros, as the parallel pass has before it."""
        empty = ops.expand_dims(ops.zeros_like(ops.getitem(x, (slice(None), slice(0, 1)))), -1)
        return [ops.tile(empty, (1, block.reach, self.residual)) for block in self.blocks]

    def step(self, x, state: Sequence[Any], conditions=None) -> tuple[Any, list[Any]]:
        """Logits (N, classes) of the sample after x (N, classes), and the state after it.

        ``state`` are the inputs of each block (N, steps before, residual). ``conditions`` (N, channels) are those of the step.
        """
        if not self.causal:
            raise ValueError("this WaveNet is not causal, so it cannot write sample by sample: give causal=True")
        x = self.enter(ops.expand_dims(x, 1))
        conditions = None if conditions is None else ops.expand_dims(conditions, 1)
        parts, after = [], []
        for block, before in zip(self.blocks, state, strict=True):
            window = ops.concat([before, x], axis=1)
            after.append(ops.getitem(window, (slice(None), slice(1, None))))
            x, part = block.combine(x, window, conditions)
            parts.append(part)
        return ops.squeeze(self._read(parts), 1), after

    @property
    def public_names(self) -> public_weights.PublicNames:
        """The names of r9y9's wavenet_vocoder if it is causal, of ESPnet otherwise."""
        return wavenet_vocoder_names(self.residual) if self.causal else espnet_names()


def _pointwise(public: str, ours: str, use_bias: bool = True) -> Iterable[public_weights.WeightMapping]:
    """A linear layer, which is a convolution over one step in public."""
    yield convert(f"{ours}/kernel:0", f"{public}.weight", lambda a: a.T[:, :, np.newaxis], lambda a: a[:, :, 0].T)
    if use_bias:
        yield from public_weights.plain(f"{public}.bias", f"{ours}/bias:0")


def _norm(public: str, ours: str) -> Iterable[public_weights.WeightMapping]:
    """A linear layer whose direction and norm are learned apart."""
    for theirs, here in (("weight_v", "kernel_direction"), ("weight_g", "kernel_gain")):
        yield convert(f"{ours}/{here}:0", f"{public}.{theirs}", lambda a: a.T[:, :, np.newaxis], lambda a: a[:, :, 0].T)
    yield from public_weights.plain(f"{public}.bias", f"{ours}/bias:0")


def _groups(leave: Iterable[public_weights.WeightMapping], condition: str, last: str) -> Iterable[public_weights.Group]:
    block = "conv_layers.{}"
    yield public_weights.Group(
        public_weights.convolution(f"{block}.conv", "blocks/{}/dilated", axes=1), leave, needed=True
    )
    yield public_weights.Group(_pointwise(f"{block}.{condition}", "blocks/{}/condition", use_bias=False))
    yield public_weights.Group(_pointwise(f"{last}.1", "hidden"), _pointwise(f"{last}.3", "head"), needed=True)


def wavenet_vocoder_names(residual: int) -> public_weights.PublicNames:
    """The names of r9y9's wavenet_vocoder, which has two layers for the results of a block."""
    both = [f"conv_layers.{{}}.conv1x1_{name}" for name in ("out", "skip")]

    def join(*parts: np.ndarray) -> np.ndarray:
        return np.concatenate([part[:, :, 0].T if part.ndim == 3 else part for part in parts], axis=-1)

    def separate(add_step: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], list[np.ndarray]]:
        return lambda a: [add_step(part) for part in np.split(a, [residual], axis=-1)]

    leave = [
        *public_weights.combine(
            [f"{name}.weight" for name in both],
            "blocks/{}/leave/kernel:0",
            join,
            separate(lambda a: a.T[:, :, np.newaxis]),
        ),
        *public_weights.combine(
            [f"{name}.bias" for name in both], "blocks/{}/leave/bias:0", join, separate(lambda a: a)
        ),
    ]
    return public_weights.PublicNames(
        (
            public_weights.Group(_norm("first_conv", "enter"), needed=True),
            *_groups(leave, "conv1x1c", "last_conv_layers"),
        )
    )


def espnet_names() -> public_weights.PublicNames:
    """ESPnet's names, without weight normalization."""
    return public_weights.PublicNames(
        (
            public_weights.Group(_pointwise("first_conv", "enter"), needed=True),
            *_groups(_pointwise("conv_layers.{}.conv1x1_out", "blocks/{}/leave"), "conv1x1_aux", "last_conv"),
        )
    )


def _inputs(model: WaveNet) -> tuple[Spec, ...]:
    return (Spec((None, model.classes, 1000)),)


def _small() -> tuple[WaveNet, tuple[Spec, ...]]:
    model = WaveNet(8, layers=4, stacks=2, residual=6, gate=8, skip=4, kernel_size=2)
    return model, (Spec((None, 8, 12)),)


@zoo.register(
    "speech synthesis",
    inputs=_inputs,
    parameters=21_528_320,
    paper=_PAPER,
    from_public=wavenet_vocoder_names(512).from_public,
    small=_small,
)
def wavenet(classes: int = 256) -> WaveNet:
    """WaveNet: 20 blocks of 512 channels in two stacks, as in r9y9's wavenet_vocoder (van den Oord et al., 2016)."""
    return WaveNet(classes, enter_norm=True, rate=0.05)
