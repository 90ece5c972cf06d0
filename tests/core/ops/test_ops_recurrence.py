"""The bodies of recurrent operators against PyTorch's layers."""

import numpy as np
import pytest

from labdl import ops

torch = pytest.importorskip("torch")
N, STEPS, FEATURES, SIZE = 3, 5, 4, 2
GATES = {"lstm": 4, "gru": 3, "rnn": 1}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def weights(rng, name):
    gates = GATES[name]
    kernel, recurrent = rng.normal(size=(FEATURES, gates * SIZE)), rng.normal(size=(SIZE, gates * SIZE))
    biases = [rng.normal(size=gates * SIZE) for _ in range(2 if name == "gru" else 1)]
    return kernel, recurrent, *biases


def reference(name, kernel, recurrent, biases, reverse, **options):
    """PyTorch's layer with these weights; reverse is the second direction of a bidirectional one."""
    layer = getattr(torch.nn, name.upper())(FEATURES, SIZE, batch_first=True, bidirectional=True, **options).double()
    ending = "l0_reverse" if reverse else "l0"
    with torch.no_grad():
        getattr(layer, f"weight_ih_{ending}").copy_(torch.tensor(kernel.T))
        getattr(layer, f"weight_hh_{ending}").copy_(torch.tensor(recurrent.T))
        getattr(layer, f"bias_ih_{ending}").copy_(torch.tensor(biases[0]))
        getattr(layer, f"bias_hh_{ending}").copy_(torch.tensor(biases[1]) if len(biases) > 1 else torch.tensor(0.0))
    return layer


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("lengths", [None, [5, 2, 3]])
@pytest.mark.parametrize("started", [False, True])
def test_sequence(rng, name, reverse, lengths, started):
    x, (kernel, recurrent, *biases) = rng.normal(size=(N, STEPS, FEATURES)), weights(rng, name)
    states = [rng.normal(size=(N, SIZE)) for _ in range(2 if name == "lstm" else 1)]
    layer = reference(name, kernel, recurrent, biases, reverse)
    given = torch.tensor(x)
    if lengths:
        given = torch.nn.utils.rnn.pack_padded_sequence(given, torch.tensor(lengths), True, enforce_sorted=False)
    both = [torch.tensor(np.stack([s, s])) for s in states]
    start = (tuple(both) if name == "lstm" else both[0]) if started else None
    expected, last = layer(given, start)
    if lengths:
        expected = torch.nn.utils.rnn.pad_packed_sequence(expected, True)[0]
    ends = last if isinstance(last, tuple) else (last,)
    options = {} if lengths is None else {"lengths": np.array(lengths)}
    ours, *found = getattr(ops, name)(
        x, kernel, recurrent, *biases, *(states if started else ()), reverse=reverse, **options
    )
    at = slice(SIZE, None) if reverse else slice(0, SIZE)
    np.testing.assert_allclose(ours, expected.detach().numpy()[..., at], rtol=1e-9)
    for state, end in zip(found, ends, strict=True):
        np.testing.assert_allclose(state, end.detach().numpy()[int(reverse)], rtol=1e-9)


def test_relu(rng):
    x, (kernel, recurrent, bias) = rng.normal(size=(N, STEPS, FEATURES)), weights(rng, "rnn")
    expected, last = reference("rnn", kernel, recurrent, [bias], False, nonlinearity="relu")(torch.tensor(x))
    ours, hidden = ops.rnn(x, kernel, recurrent, bias, activation="relu")
    np.testing.assert_allclose(ours, expected.detach().numpy()[..., :SIZE])
    np.testing.assert_allclose(hidden, last.detach().numpy()[0])
    with pytest.raises(ValueError, match="wants activation: one of tanh, relu"):
        ops.rnn(x, kernel, recurrent, bias, activation="elu")


def test_a_cell_is_one_step(rng):
    x, hidden, cell = rng.normal(size=(N, FEATURES)), rng.normal(size=(N, SIZE)), rng.normal(size=(N, SIZE))
    for name in GATES:
        states = (hidden, cell) if name == "lstm" else (hidden,)
        given = weights(rng, name)
        _, *expected = getattr(ops, name)(x[:, None], *given, *states)
        found = getattr(ops, f"{name}_cell")(x, *states, *given)
        for ours, theirs in zip(found if name == "lstm" else (found,), expected, strict=True):
            np.testing.assert_allclose(ours, theirs)


def test_errors_of_wrong_shapes(rng):
    kernel, recurrent, bias = weights(rng, "lstm")
    x = rng.normal(size=(N, STEPS, FEATURES))
    for wrong in (
        (x[0], kernel, recurrent, bias),
        (x, kernel[:, :4], recurrent, bias),
        (x, kernel, recurrent, bias[:2]),
        (x[:, :0], kernel, recurrent, bias),
    ):
        with pytest.raises(ValueError, match="lstm wants"):
            ops.lstm(*wrong)
    with pytest.raises(ValueError, match="one length for each of 3"):
        ops.lstm(x, kernel, recurrent, bias, lengths=np.array([1, 2]))
