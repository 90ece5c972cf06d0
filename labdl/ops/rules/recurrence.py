"""Shape rules of recurrence."""

from __future__ import annotations

from labdl.ops.rules.linalg import matmul
from labdl.spec import Spec, show


def _recurrent(what: str, gates: int, x, kernel, recurrent_kernel, biases, states, lengths):
    """Specs of the outputs (N, steps, H) and of one state (N, H)."""
    if x.ndim != 3:
        raise ValueError(f"{what} wants 3 axes (N, steps, features), received {show(x.shape)}")
    if x.shape[1] == 0:
        raise ValueError(f"{what} wants at least one step, received {show(x.shape)}")
    state = _state(what, gates, x.with_shape([x.shape[0], x.shape[2]]), kernel, recurrent_kernel, biases, states)
    if lengths is not None:
        _check_lengths(what, x, lengths)
    return x.with_shape([*x.shape[:2], state.shape[1]]), state


def _check_lengths(what: str, x, lengths) -> None:
    if lengths.ndim != 1 or (None not in (x.shape[0], lengths.shape[0]) and lengths.shape[0] != x.shape[0]):
        raise ValueError(f"{what} wants one length for each of {x.shape[0]} sequences, received {show(lengths.shape)}")


def _state(what: str, gates: int, x, kernel, recurrent_kernel, biases, states) -> Spec:
    if x.ndim != 2 or kernel.ndim != 2 or recurrent_kernel.ndim != 2:
        raise ValueError(
            f"{what} wants x (N, in) in each step, a kernel and a recurrent_kernel of 2 axes, received "
            f"{show(x.shape)}, {show(kernel.shape)}, {show(recurrent_kernel.shape)}"
        )
    matmul(x, kernel)
    size = recurrent_kernel.shape[0]
    if recurrent_kernel.shape[1:] != (gates * size,) or kernel.shape[1] != gates * size:
        raise ValueError(
            f"{what} wants a kernel (in, {gates} * H) and a recurrent_kernel (H, {gates} * H), received "
            f"{show(kernel.shape)} and {show(recurrent_kernel.shape)}"
        )
    for bias in biases:
        if bias.shape != (gates * size,):
            raise ValueError(f"{what} wants a bias of shape ({gates * size},), received {show(bias.shape)}")
    result = x.with_shape([x.shape[0], size])
    for state in states:
        if state is not None and (
            len(state.shape) != 2
            or state.shape[1] != size
            or (None not in (state.shape[0], x.shape[0]) and state.shape[0] != x.shape[0])
        ):
            raise ValueError(f"{what} wants a state ({x.shape[0]}, {size}), received {show(state.shape)}")
    return result


def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None, *, lengths=None, reverse=False):
    outputs, state = _recurrent("lstm", 4, x, kernel, recurrent_kernel, [bias], [hidden, cell], lengths)
    return outputs, state, state


def gru(x, kernel, recurrent_kernel, bias, recurrent_bias, hidden=None, *, lengths=None, reverse=False):
    return _recurrent("gru", 3, x, kernel, recurrent_kernel, [bias, recurrent_bias], [hidden], lengths)


def rnn(x, kernel, recurrent_kernel, bias, hidden=None, *, activation="tanh", lengths=None, reverse=False):
    return _recurrent("rnn", 1, x, kernel, recurrent_kernel, [bias], [hidden], lengths)


def lstm_cell(x, hidden, cell, kernel, recurrent_kernel, bias):
    state = _state("lstm_cell", 4, x, kernel, recurrent_kernel, [bias], [hidden, cell])
    return state, state


def gru_cell(x, hidden, kernel, recurrent_kernel, bias, recurrent_bias) -> Spec:
    return _state("gru_cell", 3, x, kernel, recurrent_kernel, [bias, recurrent_bias], [hidden])


def rnn_cell(x, hidden, kernel, recurrent_kernel, bias, activation="tanh") -> Spec:
    return _state("rnn_cell", 1, x, kernel, recurrent_kernel, [bias], [hidden])
