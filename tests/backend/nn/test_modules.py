"""Modules on one backend: freezing while training, ties, moves, explicit and user-defined gradients."""

from contextlib import nullcontext

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import BackendError, GradientError, ModelError, StateDictError

pytestmark = pytest.mark.smoke


class Net(nn.Module):
    def __init__(self):
        self.first, self.norm, self.head = nn.Linear(4), nn.BatchNorm(), nn.Linear(3)

    def forward(self, x):
        return self.head(ops.tanh(self.norm(self.first(x))))


X = np.random.default_rng(0).normal(size=(6, 5)).astype("float32")
G = np.random.default_rng(1).normal(size=(6, 3)).astype("float32")


@pytest.fixture
def net(backend):
    return Net().build((None, 5), backend=backend.name, seed=0)


def slopes(model, weights, key=None, step=1e-2):
    """Central differences of sum(model(X) * weights) on NumPy: for the input, or for a parameter."""
    twin = Net().build((None, 5), backend="numpy", seed=0).train(model.training)
    twin.load_state_dict(model.state_dict())
    target = X.copy() if key is None else twin.get_parameter(key).value
    start = twin.state_dict()
    found = np.zeros(target.shape)
    for at in np.ndindex(target.shape):
        ends = []
        for sign in (1, -1):
            twin.load_state_dict(start)
            target[at] += sign * step
            ends.append(float(np.sum(weights.astype("float64") * twin(target if key is None else X))))
            target[at] -= sign * step
        found[at] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("training", [True, False])
def test_backward_gives_the_gradients_of_inputs_and_parameters(net, backend, training):
    net.train(training)
    net(backend.tensor(X))
    before = net.state_dict()
    given = net.backward(backend.tensor(G))
    np.testing.assert_allclose(labdl.to_numpy(given), slopes(net, G), rtol=0.02, atol=5e-3)
    for key, value in net.state_dict().items():
        np.testing.assert_array_equal(value, before[key], err_msg="running statistics stay as they were")
    kernel = net.get_parameter("head/kernel:0")
    if not training:
        assert kernel.gradient is None
        return
    expected = slopes(net, G, "head/kernel:0")
    np.testing.assert_allclose(labdl.to_numpy(kernel.gradient), expected, rtol=0.02, atol=5e-3)
    net.backward(backend.tensor(G))
    np.testing.assert_allclose(labdl.to_numpy(kernel.gradient), 2 * expected, rtol=0.02, atol=1e-2)
    net.zero_gradient()
    assert kernel.gradient is None


def test_backward_of_a_part_and_of_what_does_not_fit(net, backend):
    with pytest.raises(ModelError, match="wants a forward call before it, or the inputs"):
        Net().build((None, 5), backend=backend.name).backward()
    features = np.ones((2, 4), "float32")
    given = labdl.to_numpy(net.head.backward(backend.tensor(G[:2]), backend.tensor(features)))
    np.testing.assert_allclose(given, G[:2] @ net.state_dict()["head/kernel:0"].T, rtol=1e-5, atol=1e-6)
    with pytest.raises(GradientError, match=r"wants gradients of shape \(2, 3\), received \(2, 2\)"):
        net.head.backward(backend.tensor(G[:2, :2]), backend.tensor(features))


def test_a_gradient_written_by_hand_takes_the_place_of_the_real_one(net, backend):
    @net.head.register_backward_function
    def clipped(gradient, x):
        return ops.full_like(x, 2.0), {"kernel:0": ops.full_like(net.head.kernel, 3.0)}

    def loss(x, kernel, bias):
        return ops.sum(net.head(x))

    features = backend.tensor(np.ones((2, 4), "float32"))
    head = [net.get_parameter(f"head/{k}:0").value for k in ("kernel", "bias")]
    _, found = backend.gradients(loss, [features, *head])
    given, kernel, bias = (labdl.to_numpy(g) for g in found)
    np.testing.assert_array_equal(given, np.full((2, 4), 2.0))
    np.testing.assert_array_equal(kernel, np.full((4, 3), 3.0))
    np.testing.assert_array_equal(bias, np.zeros(3))
    net.head.register_backward_function(lambda gradient, x: (x, x, x))
    with pytest.raises(GradientError, match=r"gives 3 gradient\(s\) for 1 input"):
        backend.gradients(loss, [features, *head])


@pytest.mark.parametrize("shape", [(4,), (2, 1), (2, 4, 1), (3, 4), (4, 2), ()])
def test_a_gradient_written_by_hand_has_the_shape_of_its_tensor(net, backend, shape):
    features = backend.tensor(np.ones((2, 4), "float32"))

    def gradient():
        return backend.gradients(lambda x: ops.sum(net.head(x)), [features])

    wrong = backend.tensor(np.ones(shape, "float32"))
    net.head.register_backward_function(lambda gradient, x: wrong)
    with pytest.raises(GradientError, match=r"Linear gives a gradient of shape .* for an input of shape \(2, 4\)"):
        gradient()
    net.head.register_backward_function(lambda gradient, x: (x, {"bias:0": wrong}))
    with pytest.raises(GradientError, match=r"Linear gives a gradient of shape .* for 'bias:0' of shape \(3,\)"):
        gradient()


class _OwnError(RuntimeError):
    pass


@pytest.mark.parametrize("error", [_OwnError, KeyError, ArithmeticError])
def test_an_error_in_a_gradient_written_by_hand_arrives_as_it_is(net, backend, error):
    @net.head.register_backward_function
    def failing(gradient, x):
        raise error("of the person")

    features = backend.tensor(np.ones((2, 4), "float32"))
    with pytest.raises(error, match="of the person"):
        backend.gradients(lambda x: ops.sum(net.head(x)), [features])
    trainer = labdl.Trainer(net, optimizer=labdl.train.SGD(0.1), compiled=False)
    with pytest.raises(error, match="of the person"):
        trainer.train_one_batch(X, np.arange(6) % 3)


@pytest.mark.sample(False)
@pytest.mark.slow
def test_a_gradient_written_by_hand_trains_in_the_frameworks_compiler(backend):
    def trained(compiled):
        net = Net().build((None, 5), backend=backend.name, seed=0)

        @net.head.register_backward_function
        def doubled(gradient, x):
            kernel = ops.permute_dims(net.head.kernel, (1, 0))
            return 2 * ops.matmul(gradient, kernel), {"kernel:0": ops.full_like(net.head.kernel, 3.0)}

        trainer = labdl.Trainer(net, optimizer=labdl.train.SGD(0.1), compiled=compiled)
        for _ in range(3):
            trainer.train_one_batch(X, np.arange(6) % 3)
        return net.state_dict()

    eager = trained(compiled=False)
    start = Net().build((None, 5), backend=backend.name, seed=0).state_dict()
    np.testing.assert_allclose(eager["head/kernel:0"], start["head/kernel:0"] - 3 * 0.1 * 3.0, rtol=1e-5)
    without_flat_form = backend.name in ("paddle", "mindspore")
    warned = pytest.warns(UserWarning, match="not compiled but runs as it is") if without_flat_form else nullcontext()
    with warned:
        compiled = trained(compiled=True)
    for key, value in compiled.items():
        np.testing.assert_allclose(value, eager[key], rtol=1e-5, atol=1e-6)


def test_a_frozen_part_keeps_its_values_while_the_rest_learns(net, backend):
    y = np.array([0, 1, 2, 0, 1, 2])
    trainer = labdl.Trainer(net, optimizer=labdl.train.SGD(0.5, momentum=0.9))
    trainer.train_one_batch(X, y)
    net.first.freeze()
    frozen = net.state_dict()
    trainer.train_one_batch(X, y)
    after = net.state_dict()
    assert all(np.array_equal(after[k], frozen[k]) for k in ("first/kernel:0", "first/bias:0"))
    assert not np.array_equal(after["head/kernel:0"], frozen["head/kernel:0"])
    net.unfreeze("first/kernel:0")
    trainer.train_one_batch(X, y)
    last = net.state_dict()
    assert not np.array_equal(last["first/kernel:0"], after["first/kernel:0"])
    assert np.array_equal(last["first/bias:0"], after["first/bias:0"])
    with pytest.raises(ModelError, match="has no parameter that matches 'gone"):
        net.freeze("gone/*")


class Tied(nn.Module):
    def __init__(self):
        self.up, self.again = nn.Linear(4), nn.Linear(4)
        self.tie("again/kernel", to="up/kernel")

    def forward(self, x):
        return self.again(self.up(x))


def test_tied_parameters_are_one_through_training_and_files(backend, tmp_path):
    model = Tied().build((None, 4), backend=backend.name, seed=0)
    assert list(model.state_dict()) == ["up/kernel:0", "up/bias:0", "again/bias:0"]
    assert model.count_parameters() == 24
    assert model.up.kernel is model.again.kernel
    labdl.Trainer(model, optimizer="sgd").train_one_batch(X[:, :4], np.zeros(6, int))
    labdl.save(model, tmp_path / "tied")
    again = labdl.load(tmp_path / "tied", backend=backend.name)
    assert again.up.kernel is again.again.kernel
    assert list(again.state_dict()) == list(model.state_dict())
    inputs = backend.tensor(X[:, :4])
    np.testing.assert_allclose(labdl.to_numpy(again(inputs)), labdl.to_numpy(model(inputs)), rtol=1e-6)


def test_a_model_moves_to_a_device_and_names_what_it_cannot_find(net, backend):
    before = net.state_dict()
    net.to(backend.current_device())
    assert all(backend.device_of(p.value) == backend.current_device() for p in net.parameters())
    assert all(np.array_equal(v, before[k]) for k, v in net.state_dict().items())
    labdl.Trainer(net, optimizer="sgd").train_one_batch(X, np.zeros(6, int))
    assert not np.array_equal(net.state_dict()["head/kernel:0"], before["head/kernel:0"])
    with pytest.raises(BackendError, match=r"'gpu:7' is neither a backend .* nor a device of"):
        net.to("gpu:7")


def test_hooks_observe_and_replace(net, backend):
    seen = []
    remove = net.head.register_forward_hook(lambda module, inputs, outputs: seen.append(tuple(outputs.shape)))
    net.head.register_forward_hook(lambda module, inputs: (ops.multiply(inputs[0], 0.0),), before=True)
    result = labdl.to_numpy(net.eval()(backend.tensor(X)))
    np.testing.assert_allclose(result, np.broadcast_to(net.state_dict()["head/bias:0"], (6, 3)), atol=1e-6)
    assert seen == [(6, 3)]
    remove()
    net(backend.tensor(X))
    assert len(seen) == 1
    assert len(labdl.trace(net).nodes) == 5


def test_part_of_a_graph_runs_separately(net, backend):
    model = labdl.trace(net).to_module().build(backend=backend.name)
    model.load_state_dict(net.state_dict())
    model.eval()
    x = backend.tensor(X)
    first = model.run("first", {"input": x})
    np.testing.assert_allclose(labdl.to_numpy(first), labdl.to_numpy(net.eval().first(x)), rtol=1e-6)
    both = model.run(["tanh", "head"], {"first": first})
    np.testing.assert_allclose(labdl.to_numpy(both[1]), labdl.to_numpy(net(x)), rtol=1e-5, atol=1e-6)
    with pytest.raises(ModelError, match="'head' cannot be computed without 'input'"):
        model.run("head", {})
    with pytest.raises(ModelError, match="has no output 'nowhere': its nodes are input, first"):
        model.run("nowhere", {"input": x})


def test_training_goes_on_with_its_momentum_after_a_move(net, backend):
    """On another backend and back, the optimizer's state comes along."""
    y = np.array([0, 1, 2, 0, 1, 2])
    twin = Net().build((None, 5), backend=backend.name, seed=0)
    stays, moves = (labdl.Trainer(m, optimizer=labdl.train.SGD(0.1, momentum=0.9)) for m in (twin, net))
    for trainer in (stays, moves):
        trainer.train_one_batch(X, y)
    net.to("numpy").to(backend.name)
    for trainer in (stays, moves):
        trainer.train_one_batch(X, y)
        trainer.train_one_batch(X, y)
    for key, value in twin.state_dict().items():
        np.testing.assert_allclose(net.state_dict()[key], value, rtol=1e-5, atol=1e-6)


def test_layer_replaced_during_training_is_trained(net, backend):
    trainer = labdl.Trainer(net, optimizer="sgd")
    trainer.train_one_batch(X, np.zeros(6, int))
    net.head = nn.Linear(2)
    trainer.train_one_batch(X, np.zeros(6, int))
    before = net.state_dict()["head/kernel:0"]
    assert before.shape == (4, 2)
    trainer.train_one_batch(X, np.ones(6, int))
    assert not np.array_equal(net.state_dict()["head/kernel:0"], before)


def test_a_number_is_a_parameter_too(backend, tmp_path):
    class Scaled(nn.Module):
        def __init__(self):
            self.scale, self.layer = nn.Parameter((), "ones"), nn.Linear(2)

        def forward(self, x):
            return self.layer(x) * self.scale

    model, other = (Scaled().build((None, 3), seed=seed) for seed in (0, 1))
    model.load_state_dict({"scale:0": np.array(2.5, "float32")}, names="scale:0")
    values = model.state_dict()
    np.testing.assert_array_equal(values["scale:0"], np.array(2.5, "float32"), strict=True)
    labdl.save_parameters(model, tmp_path / "scaled.npz")
    other.load_state_dict(labdl.load_parameters(tmp_path / "scaled.npz"))
    np.testing.assert_equal(other.state_dict(), values)


def test_tensors_of_the_framework_are_values_too(net, backend):
    values = {key: value + 1 for key, value in net.state_dict().items()}
    net.load_state_dict({key: backend.variable(value) for key, value in values.items()})
    np.testing.assert_equal(net.state_dict(), values)
    with pytest.raises(StateDictError, match=r"head/bias:0 is of the type dict, not an array"):
        net.load_state_dict({**values, "head/bias:0": {}})
