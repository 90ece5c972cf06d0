"""Recurrent networks: whole sequences, and one step at a time (PyTorch's semantics)."""

from labdl.ops import costs, rules
from labdl.ops.array.shape import expand_dims, split, stack, zeros_like
from labdl.ops.math.arithmetic import add, multiply, subtract
from labdl.ops.math.comparison import greater, where
from labdl.ops.math.products import matmul
from labdl.ops.math.trigonometry import tanh
from labdl.ops.neural.activation import relu, sigmoid
from labdl.ops.neural.linear import linear
from labdl.ops.operator import case, floats, ints, operator
from labdl.ops.operator.value_checks import refuse_outside


def _lengths_of(name):
    """The check of the lengths of sequences: 0 is an empty one."""

    def check_values(x, lengths=None, **_):
        refuse_outside(f"{name} wants lengths", lengths, 0, x.shape[1])

    return check_values


def _unroll(step, inputs, states, size, lengths, reverse):
    """``step(input, *states)`` along axis 1 of the inputs: (outputs, *last states); the first state is the output."""
    zeros = zeros_like(inputs[:, 0, :size])
    states = tuple(zeros if state is None else state for state in states)
    count = inputs.shape[1]
    outputs = [zeros] * count
    for at in reversed(range(count)) if reverse else range(count):
        found = step(inputs[:, at], *states)
        outputs[at] = found[0]
        if lengths is not None:
            inside = expand_dims(greater(lengths, at), -1)
            outputs[at] = where(inside, found[0], zeros)
            found = tuple(where(inside, new, old) for new, old in zip(found, states, strict=True))
        states = found
    return stack(outputs, axis=1), *states


def _lstm_step(projected, hidden, cell, recurrent_kernel):
    i, f, g, o = split(add(projected, matmul(hidden, recurrent_kernel)), 4, axis=-1)
    cell = add(multiply(sigmoid(f), cell), multiply(sigmoid(i), tanh(g)))
    return multiply(sigmoid(o), tanh(cell)), cell


@operator(
    rules.lstm,
    case(floats(4, 3, 3), floats(3, 8), floats(2, 8), floats(8)),
    case(floats(4, 2, 3), floats(3, 8), floats(2, 8), floats(8), floats(4, 2), floats(4, 2)),
    case(floats(4, 3, 3), floats(3, 8), floats(2, 8), floats(8), floats(4, 2), floats(4, 2), reverse=True),
    case(floats(3, 4, 2), floats(2, 8), floats(2, 8), floats(8), lengths=ints(3, low=1, high=5)),
    case(floats(3, 4, 2), floats(2, 8), floats(2, 8), floats(8), lengths=ints(3, low=1, high=5), reverse=True),
    composite=True,
    checked=True,
    check_values=_lengths_of("lstm"),
    cost=costs.recurrence,
    precision="half",
)
def lstm(x, kernel, recurrent_kernel, bias, hidden=None, cell=None, *, lengths=None, reverse=False):
    """Long short-term memory over x (N, steps, in): (outputs (N, steps, H), last hidden (N, H), last cell (N, H)).

    kernel (in, 4H), recurrent_kernel (H, 4H) and bias (4H) hold the gates input, forget, candidate, output in this order,
    as in torch.nn.LSTM and Keras (Hochreiter & Schmidhuber, 1997). The initial states are zero by default.

    ``lengths`` (N,) are the lengths of the sequences: beyond them states are kept and outputs are zero. ``reverse`` starts
    at the last step; outputs keep the order of the steps.
    """

    def step(projected, hidden, cell):
        return _lstm_step(projected, hidden, cell, recurrent_kernel)

    inputs = linear(x, kernel, bias)
    return _unroll(step, inputs, (hidden, cell), recurrent_kernel.shape[0], lengths, reverse)


@operator(
    rules.lstm_cell,
    case(floats(3, 4), floats(3, 2), floats(3, 2), floats(4, 8), floats(2, 8), floats(8)),
    composite=True,
    precision="half",
)
def lstm_cell(x, hidden, cell, kernel, recurrent_kernel, bias):
    """One step of `lstm` from x (N, in), hidden (N, H) and cell (N, H): the new (hidden, cell)."""
    return _lstm_step(linear(x, kernel, bias), hidden, cell, recurrent_kernel)


def _gru_step(projected, hidden, recurrent_kernel, recurrent_bias):
    reset, update, new = split(projected, 3, axis=-1)
    past = split(linear(hidden, recurrent_kernel, recurrent_bias), 3, axis=-1)
    reset, update = sigmoid(add(reset, past[0])), sigmoid(add(update, past[1]))
    new = tanh(add(new, multiply(reset, past[2])))
    return (add(new, multiply(update, subtract(hidden, new))),)


@operator(
    rules.gru,
    case(floats(4, 3, 3), floats(3, 6), floats(2, 6), floats(6), floats(6)),
    case(floats(4, 3, 3), floats(3, 6), floats(2, 6), floats(6), floats(6), floats(4, 2), reverse=True),
    case(floats(3, 4, 2), floats(2, 6), floats(2, 6), floats(6), floats(6), lengths=ints(3, low=1, high=5)),
    case(
        floats(3, 4, 2), floats(2, 6), floats(2, 6), floats(6), floats(6), lengths=ints(3, low=1, high=5), reverse=True
    ),
    composite=True,
    checked=True,
    check_values=_lengths_of("gru"),
    cost=costs.recurrence,
    precision="half",
)
def gru(x, kernel, recurrent_kernel, bias, recurrent_bias, hidden=None, *, lengths=None, reverse=False):
    """Gated recurrent units over x (N, steps, in): (outputs (N, steps, H), last hidden (N, H)).

    kernel (in, 3H), recurrent_kernel (H, 3H), bias (3H) and recurrent_bias (3H) hold reset, update, new in this order; the
    reset gate acts after the recurrent product, as in torch.nn.GRU and Keras's reset_after (Cho et al., 2014).

    ``lengths`` (N,) are the lengths of the sequences: beyond them states are kept and outputs are zero. ``reverse`` starts
    at the last step; outputs keep the order of the steps.
    """

    def step(projected, hidden):
        return _gru_step(projected, hidden, recurrent_kernel, recurrent_bias)

    return _unroll(step, linear(x, kernel, bias), (hidden,), recurrent_kernel.shape[0], lengths, reverse)


@operator(
    rules.gru_cell,
    case(floats(3, 4), floats(3, 2), floats(4, 6), floats(2, 6), floats(6), floats(6)),
    composite=True,
    precision="half",
)
def gru_cell(x, hidden, kernel, recurrent_kernel, bias, recurrent_bias):
    """One step of `gru` from x (N, in) and hidden (N, H): the new hidden."""
    return _gru_step(linear(x, kernel, bias), hidden, recurrent_kernel, recurrent_bias)[0]


_ACTIVATIONS = {"tanh": tanh, "relu": relu}


@operator(
    rules.rnn,
    case(floats(4, 3, 3), floats(3, 2), floats(2, 2), floats(2)),
    case(floats(4, 2, 3), floats(3, 2), floats(2, 2), floats(2), floats(4, 2), activation="relu", reverse=True),
    case(floats(3, 4, 2), floats(2, 2), floats(2, 2), floats(2), lengths=ints(3, low=1, high=5)),
    composite=True,
    checked=True,
    check_values=_lengths_of("rnn"),
    cost=costs.recurrence,
    precision="half",
)
def rnn(x, kernel, recurrent_kernel, bias, hidden=None, *, activation="tanh", lengths=None, reverse=False):
    """Simple recurrent network over x (N, steps, in): (outputs (N, steps, H), last hidden (N, H)); tanh or relu.

    kernel (in, H), recurrent_kernel (H, H), bias (H); as in torch.nn.RNN, whose two biases are summed (Elman, 1990).

    ``lengths`` (N,) are the lengths of the sequences: beyond them states are kept and outputs are zero. ``reverse`` starts
    at the last step; outputs keep the order of the steps.
    """

    def step(projected, hidden):
        return (_ACTIVATIONS[activation](add(projected, matmul(hidden, recurrent_kernel))),)

    return _unroll(step, linear(x, kernel, bias), (hidden,), recurrent_kernel.shape[0], lengths, reverse)


@operator(
    rules.rnn_cell,
    case(floats(3, 4), floats(3, 2), floats(4, 2), floats(2, 2), floats(2)),
    case(floats(3, 4), floats(3, 2), floats(4, 2), floats(2, 2), floats(2), activation="relu"),
    composite=True,
    precision="half",
)
def rnn_cell(x, hidden, kernel, recurrent_kernel, bias, activation="tanh"):
    """One step of `rnn` from x (N, in) and hidden (N, H): the new hidden."""
    return _ACTIVATIONS[activation](add(linear(x, kernel, bias), matmul(hidden, recurrent_kernel)))
