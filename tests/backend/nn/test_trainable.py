"""Frozen modules on one backend: by `trainable`, as in Keras, and by `freeze`, before and after build, in compiled steps."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError
from labdl.train import Adam, Trainer

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]

X = np.random.default_rng(0).normal(1.0, 2.0, size=(8, 5)).astype("float32")
Y = np.arange(8) % 3


class Block(nn.Module):
    def __init__(self):
        self.linear, self.norm = nn.Linear(4), nn.BatchNorm()

    def forward(self, x):
        return ops.tanh(self.norm(self.linear(x)))


class Net(nn.Module):
    def __init__(self):
        self.first, self.second, self.head = Block(), Block(), nn.Linear(3)

    def forward(self, x):
        return self.head(self.second(self.first(x)))


def of(state, prefix):
    return {key: value for key, value in state.items() if key.startswith(prefix)}


def moved(model, before):
    """The modules of the first level whose values differ from before."""
    return {
        key.partition("/")[0] for key, value in model.state_dict().items() if not np.array_equal(value, before[key])
    }


def native_flag(backend, variable):
    """What the framework itself says about a variable."""
    names = {
        "torch": "requires_grad",
        "mindspore": "requires_grad",
        "tensorflow": "trainable",
        "paddle": "stop_gradient",
    }
    return bool(getattr(variable, names[backend.name])) != (backend.name == "paddle")


@pytest.fixture(params=["before build", "after build"])
def net(request, backend):
    """A model whose first block is frozen by ``trainable``."""
    model = Net()
    if request.param == "before build":
        model.first.trainable = False
        return model.build((None, 5), backend=backend.name, seed=0)
    model.build((None, 5), backend=backend.name, seed=0)
    model.first.trainable = False
    return model


def test_a_module_that_is_not_trainable_keeps_its_values(net, backend):
    before = net.state_dict()
    assert (net.first.trainable, net.first.linear.trainable, net.second.trainable, net.trainable) == (
        False,
        False,
        True,
        True,
    )
    trainer = Trainer(net, optimizer=Adam(0.1, weight_decay=0.1))
    trainer.fit(X, Y, epochs=2, batch_size=4, progress=False)
    assert moved(net, before) == {"second", "head"}
    slots = [key for key in trainer.state_dict()["optimizer"] if "/" in key]
    assert slots
    assert not any(key.startswith("first/") for key in slots)


def test_the_framework_knows_which_parameters_are_frozen(net, backend):
    flags = {key: native_flag(backend, p.value) for key, p in net.named_parameters() if p.learnable}
    assert flags == {key: not key.startswith("first/") for key in flags}
    net.first.trainable = True
    assert all(native_flag(backend, p.value) for p in net.parameters() if p.learnable)
    assert net.first.trainable
    assert net.first.norm.trainable


def test_thawed_modules_train_again(net, backend):
    trainer = Trainer(net, optimizer=Adam(0.1))
    trainer.train_one_batch(X, Y)
    net.first.trainable, net.second.trainable = True, False
    before = net.state_dict()
    trainer.train_one_batch(X, Y)
    assert moved(net, before) == {"first", "head"}


def test_freeze_and_trainable_are_one_mechanism(backend):
    net = Net().build((None, 5), backend=backend.name, seed=0)
    net.freeze("first/*")
    assert (net.first.trainable, net.first.norm.trainable, net.trainable) == (False, False, True)
    net.first.trainable = True
    assert all(p.trainable for p in net.first.parameters() if p.learnable)
    net.trainable = False
    assert not any(m.trainable for m in net.modules())
    assert net.trainable_variables() == []
    net.unfreeze("head/*")
    assert (net.head.trainable, net.trainable, net.second.trainable) == (True, True, False)


def test_patterns_may_be_frozen_before_build(backend):
    net = Net()
    net.freeze().unfreeze("head/*").unfreeze("second/linear/*")
    net.build((None, 5), backend=backend.name, seed=0)
    names = [key for key, p in net.named_parameters() if p.trainable]
    assert names == ["second/linear/kernel:0", "second/linear/bias:0", "head/kernel:0", "head/bias:0"]
    other = Net().freeze("gone/*")
    with pytest.raises(
        ModelError, match=r"has no parameter that matches 'gone/\*': there are first/\*, second/\*, head/\*"
    ):
        other.build((None, 5), backend=backend.name)


def test_a_new_head_of_a_frozen_model_is_trained(backend):
    net = Net().build((None, 5), backend=backend.name, seed=0)
    net.trainable = False
    net.head = nn.Linear(3)
    net.build((None, 5), backend=backend.name, seed=0)
    before = net.state_dict()
    Trainer(net, optimizer="sgd").train_one_batch(X, Y)
    assert moved(net, before) == {"head"}


def test_the_names_of_the_frameworks_for_a_parameter(backend):
    net = Net().build((None, 5), backend=backend.name, seed=0)
    kernel, bias = net.get_parameter("head/kernel:0"), net.get_parameter("head/bias:0")
    kernel.requires_grad, bias.stop_gradient = False, True
    assert not kernel.trainable
    assert not bias.trainable
    assert kernel.stop_gradient
    assert not bias.requires_grad
    assert not net.head.trainable
    with pytest.raises(ConfigError, match=r"trainable is True or False, received 'no'"):
        net.trainable = "no"
    with pytest.raises(ConfigError, match=r"trainable is True or False, received 1\.5"):
        kernel.trainable = 1.5


def set_native_flag(backend, variable, flag):
    if backend.name == "paddle":
        variable.stop_gradient = not flag
    elif backend.name == "tensorflow":
        variable._trainable = flag  # it has no public way
    else:
        variable.requires_grad = flag


def test_the_flag_of_the_frameworks_variable_counts_at_the_next_training(backend):
    net = Net().build((None, 5), backend=backend.name, seed=0)
    trainer = Trainer(net, optimizer="adam")
    trainer.fit(X, Y, epochs=1, progress=False)
    for part, trained in (("head", False), ("first", False), ("head", True)):
        for parameter in net.get_module(part).parameters():
            if parameter.learnable:
                set_native_flag(backend, parameter.value, trained)
        assert net.get_module(part).trainable == trained
        before = net.state_dict()
        trainer.fit(X, Y, epochs=1, progress=False)
        assert (part in moved(net, before)) == trained
    net.first.trainable = True
    trainer.fit(X, Y, epochs=1, progress=False)
    assert moved(net, before) == {"first", "second", "head"}


def test_the_names_of_the_frameworks_for_a_module(backend):
    net = Net().build((None, 5), backend=backend.name, seed=0)
    net.first.requires_grad_(False)
    net.head.requires_grad = False
    assert (net.first.requires_grad, net.head.trainable, net.second.requires_grad) == (False, False, True)
    before = net.state_dict()
    Trainer(net, optimizer="sgd").train_one_batch(X, Y)
    assert moved(net, before) == {"second"}
    assert net.requires_grad_() is net
    assert net.first.trainable


# -- batch normalization


def statistics(model):
    return {key: value for key, value in model.state_dict().items() if "moving" in key}


@pytest.mark.parametrize("compiled", [False, True])
def test_a_frozen_batch_normalization_normalizes_with_its_running_statistics(backend, compiled):
    """Also where it has no learned parameters, and where it is frozen between two steps of a training."""

    def net():
        model = nn.Sequential(nn.Linear(4), nn.BatchNorm(affine=False), nn.BatchNorm(), nn.Linear(3))
        return model.build((None, 5), backend=backend.name, seed=0)

    model = net()
    compiled = None if backend.name == "torch" and compiled else compiled
    trainer = Trainer(model, optimizer="sgd", compiled=compiled)
    trainer.fit(X, Y, epochs=1, batch_size=8, progress=False)
    assert not all(np.array_equal(v, statistics(net())[k]) for k, v in statistics(model).items())
    model.freeze("1/*").freeze("2/*")
    before = model.state_dict()
    twin = net()
    twin.load_state_dict(before)
    twin.eval()
    model.train()
    loss = trainer.train_one_batch(X, Y)["loss"]
    assert loss == pytest.approx(Trainer(twin).evaluate((X, Y))["loss"], rel=1e-5)
    trainer.fit(X, Y, epochs=2, batch_size=8, progress=False)
    assert moved(model, before) == {"0", "3"}
    model.unfreeze().train()
    trainer.train_one_batch(X, Y)
    assert moved(model, before) == {"0", "1", "2", "3"}


def test_the_trainers_freeze_stops_running_statistics(backend):
    model = Net().build((None, 5), backend=backend.name, seed=0)
    before = model.state_dict()
    Trainer(model, optimizer="sgd", freeze="first/*").fit(X, Y, epochs=1, progress=False)
    assert moved(model, before) == {"second", "head"}


def test_a_scale_that_is_frozen_alone_leaves_statistics_moving(backend):
    model = Block().build((None, 5), backend=backend.name, seed=0)
    model.freeze("norm/gamma:0")
    before = statistics(model)
    model.train()(backend.tensor(X))
    assert not np.array_equal(statistics(model)["norm/moving_mean:0"], before["norm/moving_mean:0"])


@pytest.mark.parametrize("parameters", [True, False])
def test_files_keep_what_is_frozen(backend, tmp_path, parameters):
    """A frozen block, a bias, and a batch normalization without learned parameters."""
    model = nn.Sequential(Block(), nn.BatchNorm(affine=False), nn.Linear(3)).build((None, 5), backend=backend.name)
    model.freeze("0/*").freeze("1/*").freeze("2/bias:0")
    labdl.save(model, tmp_path / "net")
    loaded = labdl.load(tmp_path / "net", backend=backend.name, parameters=parameters)
    assert [n for n, p in loaded.named_parameters() if p.trainable] == ["2/kernel:0"]
    before = loaded.state_dict()
    Trainer(loaded, optimizer="sgd").train_one_batch(X, Y)
    assert [key for key, value in loaded.state_dict().items() if not np.array_equal(value, before[key])] == [
        "2/kernel:0"
    ]


def test_files_keep_the_frozen_bias_of_a_single_layer(backend, tmp_path):
    labdl.save(nn.Linear(3).build((None, 5), backend=backend.name).freeze("bias:0"), tmp_path / "net")
    loaded = labdl.load(tmp_path / "net", backend=backend.name)
    assert [n for n, p in loaded.named_parameters() if not p.trainable] == ["linear/bias:0"]


def test_to_native_keeps_what_is_frozen(backend):
    model = Net()
    model.first.trainable = False
    model.build((None, 5), backend=backend.name, seed=0)
    native = model.to_native()
    learned = {
        "torch": lambda: [p for p in native.parameters() if p.requires_grad],
        "paddle": lambda: [p for p in native.parameters() if not p.stop_gradient],
        "mindspore": lambda: native.trainable_params(),
        "tensorflow": lambda: native.trainable_variables,
    }[backend.name]()
    assert len(list(learned)) == 6
