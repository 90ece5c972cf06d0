"""ONNX writers of recurrent networks: one LSTM, GRU or RNN node for a whole sequence.

ONNX has the steps before the batch, an axis for the directions, weights as (directions, gates * H, in), and gates in an
order of its own.
"""

from __future__ import annotations

import numpy as np

from labdl import ops
from labdl.saving.onnx.exporter.registry import writes

# positions of ONNX's gates among LabDL's: input, output, forget, candidate; update, reset, new
LSTM_GATES, GRU_GATES, RNN_GATES = (0, 3, 1, 2), (1, 0, 2), (0,)


def _gates(weight, order):
    """Reorder the gates on the last axis."""
    size = weight.shape[-1] // len(order)
    return (
        weight
        if order == (0,)
        else ops.take(weight, np.concatenate([np.arange(size) + g * size for g in order]), axis=-1)
    )


def _direction(x):
    """Add a leading axis for the one direction."""
    return None if x is None else ops.expand_dims(x, 0)


def _run(e, kind, order, x, kernel, recurrent_kernel, biases, states, lengths, reverse, **attributes):
    """All outputs with the batch first, then the last states."""
    size = recurrent_kernel.shape[0]
    weights = [_direction(ops.permute_dims(_gates(w, order), (1, 0))) for w in (kernel, recurrent_kernel)]
    biases = [_gates(b, order) for b in biases]
    both = _direction(ops.concat([biases[0], biases[1] if len(biases) > 1 else ops.zeros_like(biases[0])], axis=0))
    lengths = None if lengths is None else e.cast(lengths, "int32")
    given = [_direction(state) for state in states]
    if any(s is not None for s in given):
        given = [ops.zeros_like(next(g for g in given if g is not None)) if s is None else s for s in given]
    found = e(
        kind,
        ops.permute_dims(x, (1, 0, 2)),
        *weights,
        both,
        lengths,
        *given,
        hidden_size=size,
        direction="reverse" if reverse else "forward",
        outputs=1 + len(states),
        **attributes,
    )
    steps, batch = x.shape[1], x.shape[0]
    outputs = ops.squeeze(e.value(found[0], (steps, 1, batch, size), x.dtype), 1)
    last = [ops.squeeze(e.value(name, (1, batch, size), x.dtype), 0) for name in found[1:]]
    return [ops.permute_dims(outputs, (1, 0, 2)), *last]


@writes("lstm")
def lstm(e, x, kernel, recurrent_kernel, bias, hidden, cell, lengths, reverse):
    return _run(e, "LSTM", LSTM_GATES, x, kernel, recurrent_kernel, [bias], [hidden, cell], lengths, reverse)


@writes("gru")
def gru(e, x, kernel, recurrent_kernel, bias, recurrent_bias, hidden, lengths, reverse):
    return _run(
        e,
        "GRU",
        GRU_GATES,
        x,
        kernel,
        recurrent_kernel,
        [bias, recurrent_bias],
        [hidden],
        lengths,
        reverse,
        linear_before_reset=1,
    )


@writes("rnn")
def rnn(e, x, kernel, recurrent_kernel, bias, hidden, activation, lengths, reverse):
    return _run(
        e,
        "RNN",
        RNN_GATES,
        x,
        kernel,
        recurrent_kernel,
        [bias],
        [hidden],
        lengths,
        reverse,
        activations=[{"tanh": "Tanh", "relu": "Relu"}[activation]],
    )
