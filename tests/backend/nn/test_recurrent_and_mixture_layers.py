"""Convolutional LSTM, mixtures of experts and the adaptive softmax against torch, Keras and published formulas."""

import numpy as np
import pytest
from composites import Composite, check, numbers

import labdl
from labdl import nn, ops
from labdl.errors import ModelError
from labdl.interop import weights
from labdl.nn.native import branch_of
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)

torch = pytest.importorskip("torch")
F = torch.nn.functional
CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}


def inner(kernel):
    """A kernel of a file, window × in × out, as torch has it."""
    rank = kernel.ndim - 2
    return kernel.permute(rank + 1, rank, *range(rank))


def conv_lstm(p, x, hidden=None, cell=None, *, activation=torch.tanh, padding="same", stride=1):
    """The steps of Shi et al. (2015), without peepholes."""
    convolve, outputs = CONVOLUTIONS[x.ndim - 3], []
    for at in range(x.shape[1]):
        gates = convolve(x[:, at], inner(p["kernel"]), p["bias"], stride=stride, padding=padding)
        hidden = torch.zeros_like(gates[:, : gates.shape[1] // 4]) if hidden is None else hidden
        cell = torch.zeros_like(hidden) if cell is None else cell
        gates = gates + convolve(hidden, inner(p["recurrent_kernel"]), padding="same")
        i, f, g, o = gates.chunk(4, 1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * activation(g)
        hidden = torch.sigmoid(o) * activation(cell)
        outputs.append(hidden)
    return torch.stack(outputs, 1), hidden, cell


def mixture(p, x, *, top_k, normalize, activation=F.gelu):
    """Token by token and expert by expert: Shazeer et al. (2017), with the loss of Fedus et al. (2021)."""
    tokens = x.reshape(-1, x.shape[-1])
    probabilities = torch.softmax(tokens @ p["router"], -1)
    values, places = probabilities.topk(top_k, -1)
    values = values / values.sum(-1, keepdim=True) if normalize else values
    rows = []
    for token, factors, chosen in zip(tokens, values, places, strict=True):
        parts = []
        for factor, e in zip(factors, chosen, strict=True):
            y = activation(token @ p["hidden_kernel"][e] + p["hidden_bias"][e, 0])
            parts.append(factor * (y @ p["output_kernel"][e] + p["output_bias"][e, 0]))
        rows.append(sum(parts))
    experts = probabilities.shape[-1]
    used = torch.bincount(places.flatten(), minlength=experts) / places.numel()
    return torch.stack(rows).reshape(*x.shape[:-1], -1), experts * (used * probabilities.mean(0)).sum()


def adaptive_softmax(p, x, target, *, cutoffs, div_value, head_bias):
    module = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs, div_value, head_bias)
    theirs = {}
    for name, value in p.items():
        path, _, word = name.rpartition("/")
        path = path.replace("/", ".")
        theirs[f"{path}.weight" if word == "kernel" else f"{path}.bias"] = value.T if word == "kernel" else value
    assert theirs.keys() == module.state_dict().keys()
    return tuple(torch.func.functional_call(module, theirs, (x, target)))


def adaptive(cutoffs, div_value=4.0, head_bias=False):
    return Composite(
        nn.AdaptiveLogSoftmaxWithLoss(classes=10, cutoffs=cutoffs, div_value=div_value, head_bias=head_bias),
        [numbers(6, 8), np.array([0, 3, 9, 5, 2, 7])],
        lambda p, x, t: adaptive_softmax(p, x, t, cutoffs=list(cutoffs), div_value=div_value, head_bias=head_bias),
    )


CASES = {
    "convolutional LSTM": Composite(nn.ConvLSTM(4), [numbers(2, 3, 3, 4, 5)], conv_lstm),
    "of signals, with states": Composite(
        nn.ConvLSTM(2, kernel_size=5, activation="relu"),
        [numbers(2, 3, 3, 6), numbers(2, 2, 6, seed=1), numbers(2, 2, 6, seed=2)],
        lambda p, x, h, c: conv_lstm(p, x, h, c, activation=torch.relu),
    ),
    "of volumes, strided": Composite(
        nn.ConvLSTM(2, padding=1, stride=2),
        [numbers(1, 2, 2, 4, 3, 4)],
        lambda p, x: conv_lstm(p, x, padding=1, stride=2),
    ),
    "convolutional cell": Composite(
        nn.ConvLSTMCell(4),
        [numbers(2, 3, 4, 5), numbers(2, 4, 4, 5, seed=1), numbers(2, 4, 4, 5, seed=2)],
        lambda p, x, h, c: conv_lstm(p, x[:, None], h, c)[1:],
    ),
    "two of five experts": Composite(
        nn.MixtureOfExperts(5, hidden_features=6),
        [numbers(2, 3, 4)],
        lambda p, x: mixture(p, x, top_k=2, normalize=True),
    ),
    "one expert": Composite(
        nn.MixtureOfExperts(4, hidden_features=6, top_k=1, out_features=3, activation="relu"),
        [numbers(7, 4)],
        lambda p, x: mixture(p, x, top_k=1, normalize=False, activation=torch.relu),
    ),
    "three experts, not normalized": Composite(
        nn.MixtureOfExperts(4, hidden_features=6, top_k=3, normalize=False),
        [numbers(2, 2, 3, 4)],
        lambda p, x: mixture(p, x, top_k=3, normalize=False),
    ),
    "adaptive softmax": adaptive((3, 6), 2.0),
    "adaptive softmax with a bias": adaptive((2,), 2.0, True),
    "adaptive softmax of three clusters": adaptive((2, 4, 7), 1.5),
}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_equal_the_formula(case, backend):
    check(CASES[case], backend)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("padding", ["same", "valid"])
def test_convolutional_lstm_equals_keras(rank, padding, backend):
    if backend.name != "tensorflow":
        return  # Keras runs on TensorFlow here
    import keras

    options = {"padding": padding, "data_format": "channels_last"}
    native = getattr(keras.layers, f"ConvLSTM{rank}D")(4, 3, return_sequences=True, return_state=True, **options)
    x = numbers(2, 3, *(6, 5, 4)[:rank], 3)
    layer = nn.ConvLSTM(4, **options).build(x.shape, backend=backend.name, seed=0)
    native.build(x.shape)
    own = dict(layer.named_parameters())
    found = {}
    for mapping in weights.mappings(weights.layer_table("tensorflow"), branch_of(layer)):
        values = mapping.to_native(*(labdl.to_numpy(own[f"{n}:0"].value) for n in mapping.own))
        found.update(zip(mapping.native, values, strict=True))
    native.set_weights([found[name] for name in ("kernel", "recurrent_kernel", "bias")])
    outputs = layer(backend.tensor(x)), native(backend.tensor(x))
    for ours, theirs in zip(*outputs, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(ours), labdl.to_numpy(theirs), rtol=1e-4, atol=1e-5)
    assert layer.state_dict()["bias:0"].tolist() == [0] * 4 + [1] * 4 + [0] * 8, "as unit_forget_bias"


def test_steps_must_be_known_and_sizes_need_not(backend):
    with pytest.raises(ModelError, match="ConvLSTM wants a known number of steps on axis 1"):
        nn.ConvLSTM(2).build((None, None, 3, 4, 4), backend=backend.name)
    with pytest.raises(ModelError, match=r"ConvLSTM wants \(N, steps, C, "):
        nn.ConvLSTM(2).build((None, 3, 4), backend=backend.name)
    open_, closed = (
        nn.ConvLSTM(2).build(s, backend=backend.name, seed=0) for s in ((None, 2, 3, None, 5), (2, 2, 3, 4, 5))
    )
    x = backend.tensor(numbers(2, 2, 3, 4, 5))
    np.testing.assert_allclose(labdl.to_numpy(open_(x)[0]), labdl.to_numpy(closed(x)[0]), rtol=1e-5, atol=1e-6)


def test_adaptive_softmax_gives_all_probabilities(backend):
    layer = nn.AdaptiveLogSoftmaxWithLoss(classes=10, cutoffs=(3, 6), div_value=2.0).build(
        (None, 8), Spec((None,), "int64"), backend=backend.name, seed=0
    )
    x = numbers(5, 8)
    logs = labdl.to_numpy(layer.log_prob(x))
    np.testing.assert_allclose(np.exp(logs).sum(-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(labdl.to_numpy(layer.predict(backend.tensor(x))), logs.argmax(-1))
    target = np.array([9, 0, 4, 3, 8])
    output, loss = layer(backend.tensor(x), backend.tensor(target))
    np.testing.assert_allclose(labdl.to_numpy(output), logs[np.arange(5), target], rtol=1e-5)
    assert float(labdl.to_numpy(loss)) == pytest.approx(-logs[np.arange(5), target].mean(), rel=1e-5)


@pytest.mark.parametrize(
    ("layer", "sentence"),
    [
        (
            lambda: nn.AdaptiveLogSoftmaxWithLoss(classes=10, cutoffs=(6, 3)),
            "cutoffs in ascending order below classes=10",
        ),
        (
            lambda: nn.AdaptiveLogSoftmaxWithLoss(classes=10, cutoffs=(3, 10)),
            "cutoffs in ascending order below classes=10",
        ),
        (
            lambda: nn.AdaptiveLogSoftmaxWithLoss(classes=10, cutoffs=(3, 6, 8), div_value=4.0),
            "leave none: use a smaller div_value",
        ),
        (lambda: nn.MixtureOfExperts(2, 4, top_k=3), "top_k=3 is more than experts=2"),
    ],
)
def test_wrong_settings_raise(layer, sentence):
    with pytest.raises(ModelError, match=sentence):
        layer().build((None, 8), *([Spec((None,), "int64")] if "top_k" not in sentence else []), backend="numpy")


@pytest.mark.sample(backends=1)
def test_the_balance_loss_is_a_part_of_the_loss(backend):
    """Trained with it alone, experts that were used unevenly are used evenly."""
    model = nn.MixtureOfExperts(4, hidden_features=4, top_k=1).build((None, 6), backend=backend.name, seed=0)
    model.load_state_dict({"router:0": np.array([[1.0, 0, 0, 0]] * 6, "float32")}, strict=False)
    x = np.abs(numbers(64, 6))

    def loss(outputs, target):
        return {"task": ops.mean(ops.square(ops.subtract(outputs[0], target))), "balance": outputs[1]}

    trainer = labdl.Trainer(model, loss=loss, optimizer="adam", learning_rate=0.1)
    first = float(labdl.to_numpy(model(backend.tensor(x))[1]))
    trainer.fit(x, x, epochs=20, batch_size=16)
    last = float(labdl.to_numpy(model.eval()(backend.tensor(x))[1]))
    assert first > 3
    assert last < 0.6 * first


@pytest.mark.parametrize("shape", [(2, 1, 5), (1, 2, 5), (2, 2, 1), (5,), (2, 3, 5)], ids=str)
@pytest.mark.parametrize("layer", [nn.ConvLSTM, nn.ConvLSTMCell])
def test_states_are_not_broadcast(layer, shape, backend):
    x = numbers(2, 3, 3, 5) if layer is nn.ConvLSTM else numbers(2, 3, 5)
    model = layer(2).build(x.shape, backend=backend.name)
    right, wrong = backend.tensor(numbers(2, 2, 5)), backend.tensor(numbers(*shape))
    for states in ((wrong, right), (right, wrong)):
        with pytest.raises(ValueError, match=rf"{layer.__name__} wants a state \(2, 2, 5\), received"):
            model(backend.tensor(x), *states)
    with pytest.raises(ModelError, match=rf"{layer.__name__} wants a state \(2, 2, 5\), received"):
        layer(2).build(x.shape, shape, (2, 2, 5), backend=backend.name)


def test_a_sequence_without_steps_is_refused(backend):
    with pytest.raises(ModelError, match="ConvLSTM wants one step or more on axis 1"):
        nn.ConvLSTM(2).build((2, 0, 3, 5), backend=backend.name)


def test_an_expert_that_overflows_counts_only_where_it_is_chosen(backend):
    model = nn.MixtureOfExperts(3, hidden_features=4, top_k=1, activation="relu").build((None, 2), backend=backend.name)
    values = model.state_dict()
    values["router:0"] = np.array([[9, -9, -9], [9, -9, -9]], "float32")
    values["hidden_kernel:0"][2] = values["output_kernel:0"][2] = 3e38
    model.load_state_dict(values)
    variables = [p.value for p in model.parameters()]
    x = np.abs(numbers(4, 2)) + 1
    value, found = backend.gradients(lambda v, *_: ops.sum(model(v)[0]), [backend.tensor(x), *variables])
    assert all(np.isfinite(labdl.to_numpy(v)).all() for v in (value, *found))
