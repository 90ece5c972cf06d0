"""Convolutional recurrent layers over sequences of signals, images or volumes."""

from __future__ import annotations

import dataclasses

from labdl import ops
from labdl.nn.activation import ACTIVATIONS, Activation
from labdl.nn.initializers import read
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, DataFormat, Initializer, Padding, Size
from labdl.ops.operator import floats
from labdl.spec import per_axis, show

_CONVOLUTIONS = {1: ops.conv1d, 2: ops.conv2d, 3: ops.conv3d}


@dataclasses.dataclass(eq=False, repr=False)
class _ConvRecurrent(Module):
    """Base class of convolutional LSTMs: their settings, their parameters, and one step."""

    out_channels: Count
    kernel_size: Size = 3
    stride: Size = 1
    padding: Padding = "same"
    dilation: Size = 1
    activation: Activation = "tanh"
    recurrent_activation: Activation = "sigmoid"
    use_bias: bool = True
    data_format: DataFormat = "channels_first"
    kernel_init: Initializer = "fan_in_uniform"
    in_channels: Count | None = None

    def _set_parameters(self, shape: tuple[int | None, ...]) -> None:
        """Parameters for inputs of this shape, without steps."""
        name, rank = type(self).__name__, len(shape) - 2
        channels = resolve_size(name, "in_channels", self.in_channels, shape[self._channel_axis])
        window = per_axis(self.kernel_size, rank, "kernel_size")
        standard = (*range(2, 2 + rank), 1, 0)
        gates = 4 * self.out_channels
        self.kernel = Parameter((gates, channels, *window), self.kernel_init, standard=standard)
        self.recurrent_kernel = Parameter((gates, self.out_channels, *window), self.kernel_init, standard=standard)
        self.bias = Parameter((gates,), self._first_bias) if self.use_bias else None

    @property
    def _channel_axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def _first_bias(self, rng, shape):
        """Zeros, and ones for the forget gate (Jozefowicz et al., 2015)."""
        bias = read("zeros")(rng, shape)
        bias[self.out_channels : 2 * self.out_channels] = 1
        return bias

    def _enter(self, x):
        """The convolution of inputs, which needs no state."""
        return _CONVOLUTIONS[len(x.shape) - 2](
            x,
            self.kernel,
            self.bias,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
            data_format=self.data_format,
        )

    def _check_states(self, entering, hidden, cell) -> None:
        """Raise ValueError for a state that the operators would broadcast."""
        wanted = [n if n is None or n >= 0 else None for n in tuple(entering.shape)]
        wanted[self._channel_axis] = self.out_channels
        for state in (hidden, cell):
            found = wanted if state is None else tuple(state.shape)
            if len(found) != len(wanted) or any(
                m is not None and n is not None and 0 <= n != m for n, m in zip(found, wanted, strict=True)
            ):
                raise ValueError(f"{type(self).__name__} wants a state {show(tuple(wanted))}, received {show(found)}")

    def _step(self, entering, hidden, cell):
        """New hidden and cell from the convolved input; states of None are zeros."""
        gates = entering
        if hidden is not None:
            convolve = _CONVOLUTIONS[len(hidden.shape) - 2]
            recurring = convolve(hidden, self.recurrent_kernel, padding="same", data_format=self.data_format)
            gates = ops.add(entering, recurring)
        squash, gate = ACTIVATIONS[self.activation], ACTIVATIONS[self.recurrent_activation]
        i, f, g, o = ops.split(gates, 4, axis=self._channel_axis)
        fresh = ops.multiply(gate(i), squash(g))
        cell = fresh if cell is None else ops.add(ops.multiply(gate(f), cell), fresh)
        return ops.multiply(gate(o), squash(cell)), cell


@layer({"out_channels": 4}, floats(2, 3, 3, 4, 5), outputs=("output", "hidden", "cell"), category="recurrent")
class ConvLSTM(_ConvRecurrent):
    """LSTM whose products are convolutions (Shi et al., 2015): (N, steps, C, ...) to outputs, last hidden, last cell.

    One to three spatial axes; the outputs are (N, steps, out, ...), hidden and cell (N, out, ...) and zeros at first. The
    number of steps must be known at build. ``stride``, ``padding`` and ``dilation`` are those of the convolution of the input;
    that of the hidden state keeps its size. With ``data_format="channels_last"`` the input is (N, steps, ..., C).

    Parameters: kernel, recurrent_kernel and bias hold the gates input, forget, candidate, output.
    Semantics: keras.layers.ConvLSTM1D to ConvLSTM3D; ``hidden`` is what they return without return_sequences.
    """

    def setup(self, x, hidden=None, cell=None):
        if x.ndim not in (4, 5, 6):
            raise ValueError(
                f"ConvLSTM wants (N, steps, C, ...) with one to three spatial axes, received {show(x.shape)}"
            )
        self._set_parameters((x.shape[0], *x.shape[2:]))

    def forward(self, x, hidden=None, cell=None):
        outputs = []
        steps = self._enter_steps(x)
        self._check_states(steps[0], hidden, cell)
        for entering in steps:
            hidden, cell = self._step(entering, hidden, cell)
            outputs.append(hidden)
        return ops.stack(outputs, axis=1), hidden, cell

    def _enter_steps(self, x) -> list:
        """The convolution of the input at each step; of all steps at once where a reshape can infer the batch."""
        _, steps, *sizes = tuple(x.shape)
        if steps is None:
            raise ValueError(f"ConvLSTM wants a known number of steps on axis 1, received {show(tuple(x.shape))}")
        if not steps:
            raise ValueError(f"ConvLSTM wants one step or more on axis 1, received {show(tuple(x.shape))}")
        if None in sizes:
            return [self._enter(ops.getitem(x, (slice(None), at))) for at in range(steps)]
        rows = self._enter(ops.reshape(x, (-1, *sizes)))
        rows = ops.reshape(rows, (-1, steps, *tuple(rows.shape)[1:]))
        return [ops.getitem(rows, (slice(None), at)) for at in range(steps)]


@layer(
    {"out_channels": 4},
    floats(2, 3, 4, 5),
    floats(2, 4, 4, 5),
    floats(2, 4, 4, 5),
    outputs=("hidden", "cell"),
    category="recurrent",
)
class ConvLSTMCell(_ConvRecurrent):
    """One step of ConvLSTM: x (N, C, ...), hidden and cell (N, out, ...), zeros by default, to the new hidden and cell."""

    def setup(self, x, hidden=None, cell=None):
        if x.ndim not in (3, 4, 5):
            raise ValueError(f"ConvLSTMCell wants (N, C, ...) with one to three spatial axes, received {show(x.shape)}")
        self._set_parameters(x.shape)

    def forward(self, x, hidden=None, cell=None):
        entering = self._enter(x)
        self._check_states(entering, hidden, cell)
        return self._step(entering, hidden, cell)
