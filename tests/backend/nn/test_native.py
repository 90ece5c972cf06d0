"""Models as the framework's own modules and back, with the same parameters."""

import importlib

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import BackendError, ModelError

pytestmark = pytest.mark.sample(backends=2)

X = np.random.default_rng(0).normal(size=(4, 3, 6, 6)).astype("float32")


class Net(nn.Module):
    def __init__(self):
        self.stem = nn.Sequential(nn.Conv2d(4, padding=1), nn.BatchNorm(), nn.ReLU())
        self.head = nn.Linear(2)

    def forward(self, x):
        return self.head(ops.mean(self.stem(x), axis=(2, 3)))


@pytest.fixture
def net(backend):
    return Net().build((None, 3, 6, 6), backend=backend.name, seed=0)


@pytest.fixture
def framework(backend):
    return importlib.import_module(backend.name)


def names_of(native, backend):
    if backend.name == "tensorflow":
        return len(native.trainable_variables), len(native.variables)
    if backend.name == "mindspore":
        return [n for n, _ in native.parameters_and_names()]
    return list(native.state_dict())


def test_it_is_the_frameworks_own_with_its_names(net, backend, framework):
    native = net.to_native()
    base = {
        "torch": lambda: framework.nn.Module,
        "paddle": lambda: framework.nn.Layer,
        "tensorflow": lambda: framework.Module,
        "mindspore": lambda: framework.nn.Cell,
    }[backend.name]()
    assert isinstance(native, base)
    if backend.name == "tensorflow":
        assert names_of(native, backend) == (6, 8)
        return
    mean, scale = {
        "torch": ("running_mean", "weight"),
        "paddle": ("_mean", "weight"),
        "mindspore": ("moving_mean", "gamma"),
    }[backend.name]
    found = names_of(native, backend)
    assert {"stem.0.weight", "stem.0.bias", f"stem.1.{scale}", f"stem.1.{mean}", "head.weight", "head.bias"} <= set(
        found
    )
    assert len(found) == 8


def test_outputs_agree_in_both_modes(net, backend):
    native, x = net.to_native(), backend.tensor(X)
    switches = {
        "torch": lambda on: native.train(on),
        "mindspore": lambda on: native.set_train(on),
        "paddle": lambda on: native.train() if on else native.eval(),
        "tensorflow": lambda on: None,
    }
    for training in (False, True):
        switches[backend.name](training)
        actual = labdl.to_numpy(native(x, **({"training": training} if backend.name == "tensorflow" else {})))
        assert net.training is training
        np.testing.assert_allclose(actual, labdl.to_numpy(net(x)), rtol=1e-5, atol=1e-6)


def plain_step(native, x, framework, name):
    """One step of gradient descent on sum(y²), as users of the framework write it."""
    if name == "torch":
        optimizer = framework.optim.SGD(native.parameters(), 0.1)
        (native(x) ** 2).sum().backward()
        optimizer.step()
    elif name == "paddle":
        optimizer = framework.optimizer.SGD(0.1, native.parameters())
        (native(x) ** 2).sum().backward()
        optimizer.step()
    elif name == "tensorflow":
        with framework.GradientTape() as tape:
            loss = framework.reduce_sum(native(x, training=True) ** 2)
        for v, g in zip(native.trainable_variables, tape.gradient(loss, native.trainable_variables), strict=True):
            v.assign_sub(0.1 * g)
    else:
        optimizer = framework.nn.SGD(native.trainable_params(), 0.1)
        gradients = framework.value_and_grad(lambda v: (native(v) ** 2).sum(), None, optimizer.parameters)(x)[1]
        optimizer(gradients)


def test_a_plain_native_loop_trains_the_very_same_parameters(net, backend, framework):
    twin = Net().build((None, 3, 6, 6), backend=backend.name, seed=0)
    plain_step(net.to_native(), backend.tensor(X), framework, backend.name)
    variables = twin.trainable_variables()
    _, gradients = backend.gradients(lambda *_: ops.sum(twin(backend.tensor(X)) ** 2), variables)
    expected = [backend.to_numpy(v) - 0.1 * backend.to_numpy(g) for v, g in zip(variables, gradients, strict=True)]
    for value, wanted in zip(net.trainable_variables(), expected, strict=True):
        np.testing.assert_allclose(backend.to_numpy(value), wanted, rtol=1e-4, atol=1e-5)


def test_its_own_files_hold_and_restore_it(net, backend, framework, tmp_path):
    native, before = net.to_native(), net.state_dict()
    if backend.name == "torch":
        framework.save(native.state_dict(), tmp_path / "net.pt")
        state = framework.load(tmp_path / "net.pt", weights_only=True)
        assert state["head.weight"].shape == (2, 4), "as torch.nn.Linear has it"
    elif backend.name == "paddle":
        framework.save(native.state_dict(), str(tmp_path / "net.pdparams"))
    elif backend.name == "tensorflow":
        framework.train.Checkpoint(model=native).write(str(tmp_path / "net"))
    else:
        framework.save_checkpoint(native, str(tmp_path / "net.ckpt"))
    net.load_state_dict({k: np.zeros_like(v) for k, v in before.items()})
    if backend.name == "torch":
        native.load_state_dict(state)
    elif backend.name == "paddle":
        native.set_state_dict(framework.load(str(tmp_path / "net.pdparams")))
    elif backend.name == "tensorflow":
        framework.train.Checkpoint(model=native).read(str(tmp_path / "net")).assert_consumed()
    else:
        framework.load_checkpoint(str(tmp_path / "net.ckpt"), native)
    for key, value in net.state_dict().items():
        np.testing.assert_array_equal(value, before[key])


def test_the_frameworks_deployment_takes_it(net, backend, framework, tmp_path):
    native, x = net.eval().to_native(), backend.tensor(X)
    expected = labdl.to_numpy(net(x))
    if backend.name == "torch":
        actual = framework.compile(native, fullgraph=True)(x)
    elif backend.name == "paddle":
        spec = framework.static.InputSpec([None, 3, 6, 6], "float32")
        framework.jit.save(framework.jit.to_static(native, full_graph=True, input_spec=[spec]), str(tmp_path / "net"))
        actual = framework.jit.load(str(tmp_path / "net"))(x)
    elif backend.name == "tensorflow":
        spec = framework.TensorSpec([None, 3, 6, 6], "float32")
        signature = framework.function(native, input_signature=[spec]).get_concrete_function()
        framework.saved_model.save(native, str(tmp_path / "net"), signatures=signature)
        loaded = framework.saved_model.load(str(tmp_path / "net"))
        actual = next(iter(loaded.signatures["serving_default"](x).values()))
    else:
        actual = framework.train.Model(native).predict(x)
    np.testing.assert_allclose(labdl.to_numpy(actual), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.sample(False)
def test_keras_trains_it_and_uses_it_as_a_layer(backend, tmp_path):
    if backend.name != "tensorflow":
        assert "keras" not in type(Net().build((1, 3, 6, 6), backend=backend.name).to_native()).__mro__[1].__module__
        return
    import keras
    import tensorflow as tf

    net = Net().build((None, 3, 6, 6), backend="tensorflow", seed=0)
    native, before = net.to_native(), net.state_dict()
    assert isinstance(native, keras.Model)
    assert [v.path for v in native.trainable_variables][:3] == ["stem/0/kernel", "stem/0/bias", "stem/1/gamma"]
    native.compile(keras.optimizers.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = native.fit(X, np.arange(4) % 2, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    after = net.state_dict()
    assert all(not np.array_equal(after[k], v) for k, v in before.items() if k != "stem/0/bias:0")
    np.testing.assert_allclose(native.predict(X, verbose=0), labdl.to_numpy(net.eval()(X)), rtol=1e-5, atol=1e-6)

    native.save_weights(tmp_path / "net.weights.h5")
    net.load_state_dict(before)
    native.load_weights(tmp_path / "net.weights.h5")
    np.testing.assert_array_equal(net.state_dict()["head/kernel:0"], after["head/kernel:0"])
    native.export(tmp_path / "net", input_signature=[tf.TensorSpec([None, 3, 6, 6])], verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "net"))
    np.testing.assert_allclose(loaded.serve(X), native.predict(X, verbose=0), rtol=1e-5, atol=1e-6)
    with pytest.raises(ModelError, match="cannot rebuild a model of LabDL"):
        native.save(tmp_path / "net.keras")

    whole = keras.Sequential([keras.Input((3, 6, 6)), native, keras.layers.Dense(3)])
    whole.compile("sgd", "mse")
    before = net.state_dict()["head/kernel:0"]
    whole.fit(X, np.ones((4, 3)), verbose=0)
    assert whole.output_shape == (None, 3)
    assert not np.array_equal(net.state_dict()["head/kernel:0"], before)


def test_a_native_layer_that_is_not_built_yet(backend, framework):
    lazy = {
        "torch": lambda: framework.nn.LazyLinear(4),
        "tensorflow": lambda: framework.keras.layers.Dense(4),
        "paddle": lambda: framework.nn.Linear(5, 4),
        "mindspore": lambda: framework.nn.Dense(5, 4),
    }
    model = nn.Sequential(nn.from_native(lazy[backend.name]()), nn.Linear(3))
    assert [v.shape for v in model.build((None, 5)).trainable_variables()][1:] == [(4,), (4, 3), (3,)]
    assert model(np.ones((2, 5), "float32")).shape == (2, 3)


def test_a_native_layer_knows_when_it_is_trained(backend, framework):
    drop = {
        "torch": lambda: framework.nn.Dropout(0.9),
        "tensorflow": lambda: framework.keras.layers.Dropout(0.9),
        "paddle": lambda: framework.nn.Dropout(0.9),
        "mindspore": lambda: framework.nn.Dropout(p=0.9),
    }
    model, ones = nn.Sequential(nn.from_native(drop[backend.name]())).build((None, 50)), np.ones((4, 50), "float32")
    assert (labdl.to_numpy(model(ones)) == 0).any()
    np.testing.assert_array_equal(labdl.to_numpy(model.eval()(ones)), ones)


def test_a_frozen_native_parameter_stays_as_it_is(backend, framework):
    native = native_layer(framework, backend.name)
    if backend.name == "torch":
        native[0].weight.requires_grad_(False)
    elif backend.name == "paddle":
        native[0].weight.stop_gradient = True
    elif backend.name == "mindspore":
        native[0].weight.requires_grad = False
    else:
        native = framework.keras.layers.Dense(4, trainable=False)
    model = nn.Sequential(nn.from_native(native), nn.Linear(3)).build((None, 5), backend=backend.name, seed=0)
    before = model.state_dict()
    labdl.Trainer(model, optimizer=labdl.train.SGD(0.5)).train_one_batch(np.ones((3, 5), "float32"), np.arange(3))
    changed = {k for k, v in model.state_dict().items() if not np.array_equal(v, before[k])}
    frozen = {k for k, v in model.named_parameters() if k.startswith("0/") and not v.trainable}
    assert frozen
    assert not frozen & changed
    assert "1/kernel:0" in changed


def native_layer(framework, name):
    if name == "torch":
        return framework.nn.Sequential(framework.nn.Linear(5, 4), framework.nn.Tanh())
    if name == "paddle":
        return framework.nn.Sequential(framework.nn.Linear(5, 4), framework.nn.Tanh())
    if name == "mindspore":
        return framework.nn.SequentialCell(framework.nn.Dense(5, 4), framework.nn.Tanh())

    class Own(framework.Module):
        def __init__(self):
            super().__init__()
            self.w = framework.Variable(np.random.default_rng(0).normal(size=(5, 4)).astype("float32"), name="w")

        def __call__(self, x):
            return framework.tanh(x @ self.w)

    return Own()


def test_a_native_module_learns_inside_a_model(backend, framework):
    native = native_layer(framework, backend.name)
    model = nn.Sequential(nn.from_native(native), nn.Linear(3)).build((None, 5), backend=backend.name, seed=0)
    assert model.output_specs.shape == (None, 3)
    x, y = np.random.default_rng(0).normal(size=(6, 5)).astype("float32"), np.arange(6) % 3
    before = model.state_dict()
    trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(0.5))
    first = trainer.train_one_batch(x, y)["loss"]
    for _ in range(5):
        last = trainer.train_one_batch(x, y)["loss"]
    assert last < first
    assert any(not np.array_equal(v, before[k]) for k, v in model.state_dict().items() if k.startswith("0/"))
    hidden = labdl.to_numpy(native(backend.tensor(x)))
    np.testing.assert_allclose(labdl.to_numpy(model[0](backend.tensor(x))), hidden, rtol=1e-6)
    with pytest.raises(BackendError, match=f"is a native .* of {backend.name}, which does not run on numpy"):
        model.to("numpy")
    with pytest.raises(ModelError, match="from_native wants a module of a framework, received int"):
        nn.from_native(3)
