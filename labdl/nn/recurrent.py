"""Recurrent layers over sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from labdl import ops
from labdl.nn.initializers import uniform
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.normalization import LayerNorm
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count, Depth, Positive, Rate
from labdl.ops.operator import floats
from labdl.spec import show


def _suffix(at: int, reverse: bool) -> str:
    return (f"_{at}" if at else "") + ("_reverse" if reverse else "")


@dataclass(eq=False, repr=False)
class _Recurrent(Module):
    """Base class of recurrent layers, which differ in the operator and the number of its gates."""

    hidden_size: Count
    layers: Depth = 1
    bidirectional: bool = False
    rate: Rate = 0.0

    gates: ClassVar[int]
    weights: ClassVar[tuple[str, ...]] = ("kernel", "recurrent_kernel", "bias")

    def setup(self, x, lengths=None, *states):
        name, hidden = type(self).__name__, self.hidden_size
        if x.ndim != 3:
            raise ValueError(f"{name} wants 3 axes (N, steps, features), received {show(x.shape)}")
        size, init = resolve_size(name, "in_features", None, x.shape[-1]), uniform(hidden**-0.5)
        count = self.layers * len(self._directions)
        for state in states:
            if state is not None and (state.ndim != 3 or state.shape[0] not in (count, None)):
                raise ValueError(f"{name} wants a state ({count}, N, {hidden}), received {show(state.shape)}")
        shapes = {"kernel": (size, self.gates * hidden), "recurrent_kernel": (hidden, self.gates * hidden)}
        for at in range(self.layers):
            for reverse in self._directions:
                for weight in self.weights:
                    shape = shapes.get(weight, (self.gates * hidden,))
                    # in PyTorch's own order, or its kernels copy both at every step
                    setattr(self, weight + _suffix(at, reverse), Parameter(shape, init, order="F"))
            shapes["kernel"] = (len(self._directions) * hidden, self.gates * hidden)

    @property
    def _directions(self) -> tuple[bool, ...]:
        return (False, True) if self.bidirectional else (False,)

    def _run(self, operator, x, lengths, states, **options):
        """Run all layers and directions; returns the last layer's outputs, and the final values of each state, stacked."""
        ends: list[list] = [[] for _ in states]
        for at in range(self.layers):
            outputs = []
            for reverse in self._directions:
                place = len(ends[0])
                begin = [None if state is None else ops.getitem(state, place) for state in states]
                weights = [getattr(self, weight + _suffix(at, reverse)) for weight in self.weights]
                output, *last = operator(x, *weights, *begin, lengths=lengths, reverse=reverse, **options)
                outputs.append(output)
                for each, end in zip(ends, last, strict=True):
                    each.append(end)
            x = ops.concat(outputs, axis=-1) if self.bidirectional else outputs[0]
            if at < self.layers - 1:
                x = ops.dropout(x, self.rate, training=self.training)
        return (x, *(ops.stack(each, axis=0) for each in ends))


@layer({"hidden_size": 16}, floats(2, 5, 3), outputs=("output", "hidden"))
class RNN(_Recurrent):
    """Simple recurrent network (Elman, 1990): (N, steps, in) to outputs (N, steps, hidden) and last hidden state.

    Layers, directions, lengths, states and the names of parameters are as in LSTM. Semantics: torch.nn.RNN with
    batch_first=True, whose two biases are summed.
    """

    activation: Literal["tanh", "relu"] = "tanh"

    gates = 1

    def forward(self, x, lengths=None, hidden=None):
        return self._run(ops.rnn, x, lengths, [hidden], activation=self.activation)


@layer({"hidden_size": 16}, floats(2, 5, 3), outputs=("output", "hidden"))
class GRU(_Recurrent):
    """Gated recurrent units (Cho et al., 2014): (N, steps, in) to outputs (N, steps, hidden) and last hidden state.

    Layers, directions, lengths, states and the names of parameters are as in LSTM, with an additional recurrent_bias. The
    order of the gates is reset, update, new. Semantics: torch.nn.GRU with batch_first=True.
    """

    gates = 3
    weights = ("kernel", "recurrent_kernel", "bias", "recurrent_bias")

    def forward(self, x, lengths=None, hidden=None):
        return self._run(ops.gru, x, lengths, [hidden])


@layer({"hidden_size": 16}, floats(2, 5, 3), outputs=("output", "hidden", "cell"))
class LSTM(_Recurrent):
    """Long short-term memory (Hochreiter & Schmidhuber, 1997): (N, steps, in) to outputs, last hidden and last cell state.

    ``layers`` are stacked, with dropout of ``rate`` between them in training. ``bidirectional`` also reads each layer's
    input backwards and concatenates both outputs: (N, steps, 2 * hidden). ``lengths`` (N,) are the lengths of the
    sequences: outputs after the end are zero. States are (layers * directions, N, hidden): layer 0 forwards, layer 0
    backwards, layer 1 forwards and so on; zeros by default.

    Parameters: kernel (in, 4 * hidden), recurrent_kernel (hidden, 4 * hidden) and bias (4 * hidden,) hold the gates
    input, forget, candidate, output. Those of layer k above 0 have the suffix "_k", those of the backward direction
    "_reverse": kernel, kernel_reverse, kernel_1, kernel_1_reverse. Semantics: torch.nn.LSTM with batch_first=True, whose
    two biases are summed.
    """

    gates = 4

    def forward(self, x, lengths=None, hidden=None, cell=None):
        return self._run(ops.lstm, x, lengths, [hidden, cell])


def _zeros(x, size: int):
    """Zeros (N, size) for x (N, features)."""
    return ops.repeat(ops.zeros_like(ops.getitem(x, (slice(None), slice(0, 1)))), size, axis=1)


@dataclass(eq=False, repr=False)
class _Cell(Module):
    """Base class of recurrent cells: one step of a recurrent layer."""

    hidden_size: Count

    gates: ClassVar[int]
    weights: ClassVar[tuple[str, ...]] = ("kernel", "recurrent_kernel", "bias")

    def setup(self, x, *states):
        name, hidden = type(self).__name__, self.hidden_size
        if x.ndim != 2:
            raise ValueError(f"{name} wants 2 axes (N, features), received {show(x.shape)}")
        size, init = resolve_size(name, "in_features", None, x.shape[-1]), uniform(hidden**-0.5)
        shapes = {"kernel": (size, self.gates * hidden), "recurrent_kernel": (hidden, self.gates * hidden)}
        for weight in self.weights:
            setattr(self, weight, Parameter(shapes.get(weight, (self.gates * hidden,)), init))

    def _step(self, operator, x, states, **options):
        states = [_zeros(x, self.hidden_size) if state is None else state for state in states]
        return operator(x, *states, *(getattr(self, weight) for weight in self.weights), **options)


@layer({"hidden_size": 4}, floats(2, 3), floats(2, 4), outputs=("hidden",))
class RNNCell(_Cell):
    """One step of RNN: x (N, in) and hidden (N, hidden, zeros by default) to the new hidden.

    Semantics: torch.nn.RNNCell, whose two biases are summed.
    """

    activation: Literal["tanh", "relu"] = "tanh"

    gates = 1

    def forward(self, x, hidden=None):
        return self._step(ops.rnn_cell, x, [hidden], activation=self.activation)


@layer({"hidden_size": 4}, floats(2, 3), floats(2, 4), outputs=("hidden",))
class GRUCell(_Cell):
    """One step of GRU: x (N, in) and hidden (N, hidden, zeros by default) to the new hidden. Semantics: torch.nn.GRUCell."""

    gates = 3
    weights = ("kernel", "recurrent_kernel", "bias", "recurrent_bias")

    def forward(self, x, hidden=None):
        return self._step(ops.gru_cell, x, [hidden])


@layer({"hidden_size": 4}, floats(2, 3), floats(2, 4), floats(2, 4), outputs=("hidden", "cell"))
class LSTMCell(_Cell):
    """One step of LSTM: x (N, in), hidden and cell (N, hidden, zeros by default) to the new hidden and cell.

    Semantics: torch.nn.LSTMCell, whose two biases are summed.
    """

    gates = 4

    def forward(self, x, hidden=None, cell=None):
        return self._step(ops.lstm_cell, x, [hidden, cell])


@layer({"hidden_size": 4}, floats(2, 3), floats(2, 4), floats(2, 4), outputs=("hidden", "cell"))
class LayerNormLSTMCell(Module):
    """One step of LSTM with layer normalization (Ba et al., 2016): x (N, in), hidden and cell to the new hidden and cell.

    hidden and cell are (N, hidden) and zeros by default. The gates (input, forget, candidate, output) are the sum of two
    products, each normalized over all gates; ``joint`` normalizes their sum (torchaudio's RNN-T). The biases are those of
    the normalizations. The new cell is normalized before the output gate; ``normalize_cell`` also passes it to the next
    step in this form (TensorFlow Addons, torchaudio).
    """

    hidden_size: Count
    joint: bool = False
    normalize_cell: bool = False
    epsilon: Positive = 1e-5

    def setup(self, x, hidden=None, cell=None):
        if x.ndim != 2:
            raise ValueError(f"LayerNormLSTMCell wants 2 axes (N, features), received {show(x.shape)}")
        size = resolve_size("LayerNormLSTMCell", "in_features", None, x.shape[-1])
        init = uniform(self.hidden_size**-0.5)
        self.kernel = Parameter((size, 4 * self.hidden_size), init)
        self.recurrent_kernel = Parameter((self.hidden_size, 4 * self.hidden_size), init)
        if self.joint:
            self.gate_norm = LayerNorm(epsilon=self.epsilon)
        else:
            self.kernel_norm, self.recurrent_norm = LayerNorm(epsilon=self.epsilon), LayerNorm(epsilon=self.epsilon)
        self.cell_norm = LayerNorm(epsilon=self.epsilon)

    def forward(self, x, hidden=None, cell=None):
        hidden, cell = (_zeros(x, self.hidden_size) if state is None else state for state in (hidden, cell))
        entering, recurring = ops.matmul(x, self.kernel), ops.matmul(hidden, self.recurrent_kernel)
        if self.joint:
            gates = self.gate_norm(ops.add(entering, recurring))
        else:
            gates = ops.add(self.kernel_norm(entering), self.recurrent_norm(recurring))
        i, f, g, o = ops.split(gates, 4, axis=-1)
        cell = ops.add(ops.multiply(ops.sigmoid(f), cell), ops.multiply(ops.sigmoid(i), ops.tanh(g)))
        normal = self.cell_norm(cell)
        return ops.multiply(ops.sigmoid(o), ops.tanh(normal)), normal if self.normalize_cell else cell
