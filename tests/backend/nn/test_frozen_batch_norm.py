"""FrozenBatchNorm on one backend: its numbers, its constancy in training, and the weights of batch normalization."""

import numpy as np
import pytest
from safetensors.numpy import save_file

import labdl
from labdl import nn
from labdl.errors import ModelError
from labdl.train import Adam, Trainer

pytestmark = pytest.mark.sample(backends=2)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 3, 5, 5)).astype("float32")
Y = np.arange(6) % 2
STATE = {
    "gamma:0": RNG.uniform(0.5, 1.5, 4).astype("float32"),
    "beta:0": RNG.normal(size=4).astype("float32"),
    "moving_mean:0": RNG.normal(size=4).astype("float32"),
    "moving_variance:0": RNG.uniform(0.5, 1.5, 4).astype("float32"),
}


def net(norm):
    return nn.Sequential(nn.Conv2d(4), norm, nn.ReLU(), nn.GlobalAvgPool(), nn.Linear(2))


@pytest.mark.parametrize("training", [True, False])
def test_it_normalizes_with_its_constants(backend, training):
    x = RNG.normal(size=(2, 4, 3)).astype("float32")
    layer = nn.FrozenBatchNorm(epsilon=1e-3).build((None, 4, 3), backend=backend.name).train(training)
    layer.load_state_dict(STATE)
    gamma, beta, mean, variance = (value[:, None] for value in STATE.values())
    expected = (x - mean) / np.sqrt(variance + 1e-3) * gamma + beta
    np.testing.assert_allclose(labdl.to_numpy(layer(backend.tensor(x))), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_equal(layer.state_dict(), STATE)


@pytest.mark.parametrize("compiled", [False, None])
def test_no_training_changes_it(backend, compiled):
    model = net(nn.FrozenBatchNorm()).build((None, 3, 5, 5), backend=backend.name, seed=0)
    model[1].load_state_dict(STATE)
    before = model.state_dict()
    model.unfreeze("0/*").trainable = True
    trainer = Trainer(model, optimizer=Adam(0.1, weight_decay=0.1), compiled=compiled)
    trainer.fit(X, Y, epochs=2, batch_size=3, progress=False)
    assert {key for key, value in model.state_dict().items() if not np.array_equal(value, before[key])} == {
        "0/kernel:0",
        "0/bias:0",
        "4/kernel:0",
        "4/bias:0",
    }
    assert [key for key, p in model.named_parameters() if p.trainable] == [
        "0/kernel:0",
        "0/bias:0",
        "4/kernel:0",
        "4/bias:0",
    ]


def test_it_takes_the_weights_of_a_batch_normalization_and_learns_as_a_frozen_one(backend):
    source = net(nn.BatchNorm()).build((None, 3, 5, 5), backend=backend.name, seed=0)
    source[1].load_state_dict(STATE)
    model = net(nn.FrozenBatchNorm()).build((None, 3, 5, 5), backend=backend.name, seed=1)
    model.load_state_dict(source.state_dict())
    source[1].trainable = False
    losses = [
        Trainer(m, optimizer=labdl.train.SGD(0.1)).fit(X, Y, epochs=3, shuffle=False, progress=False)["loss"]
        for m in (source, model)
    ]
    np.testing.assert_allclose(*losses, rtol=1e-5)
    for key, value in source.state_dict().items():
        np.testing.assert_allclose(model.state_dict()[key], value, rtol=1e-4, atol=1e-6, err_msg=key)


def test_a_checkpoint_of_pytorch_with_or_without_the_number_of_batches_opens(backend, tmp_path):
    names = {"gamma:0": "weight", "beta:0": "bias", "moving_mean:0": "running_mean", "moving_variance:0": "running_var"}
    arrays = {f"0.{names[key]}": value for key, value in STATE.items()}
    counted = {**arrays, "0.num_batches_tracked": np.array(7)}
    for tensors in (arrays, counted):
        save_file(tensors, tmp_path / "net.safetensors")
        model = nn.Sequential(nn.FrozenBatchNorm()).build((None, 4, 2), backend=backend.name)
        labdl.load_checkpoint(model, tmp_path / "net.safetensors")
        np.testing.assert_equal(model[0].state_dict(), STATE)


def test_an_input_without_channels_is_refused(backend):
    with pytest.raises(ModelError, match=r"FrozenBatchNorm wants \(N, C, \.\.\.\), received \(None,\)"):
        nn.FrozenBatchNorm().build((None,), backend=backend.name)
