"""Spectral normalization against PyTorch's own: values, gradients and the vectors of the power iteration."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError

pytestmark = pytest.mark.sample(backends=2)

torch = pytest.importorskip("torch")
SPECTRAL = torch.nn.utils.parametrizations.spectral_norm
LAYERS = {
    "linear": (lambda **k: nn.Linear(4, **k), lambda: torch.nn.Linear(3, 4), (2, 3), (1, 0)),
    "convolution": (
        lambda **k: nn.Conv2d(4, groups=2, **k),
        lambda: torch.nn.Conv2d(6, 4, 3, groups=2),
        (2, 6, 4, 5),
        (3, 2, 0, 1),
    ),
    "transposed convolution": (
        lambda **k: nn.ConvTranspose1d(4, 4, stride=2, **k),
        lambda: torch.nn.ConvTranspose1d(3, 4, 4, stride=2),
        (2, 3, 6),
        (1, 2, 0),
    ),
}


def pair(case, backend, iterations):
    """Our layer and PyTorch's with its weights."""
    make, native, shape, axes = LAYERS[case]
    layer = make(spectral_norm=iterations).build(shape, backend=backend.name, seed=0)
    values = layer.state_dict()
    theirs = SPECTRAL(native(), n_power_iterations=iterations)
    theirs.load_state_dict(
        {
            "bias": torch.tensor(values["bias:0"]),
            "parametrizations.weight.original": torch.tensor(values["kernel_original:0"].transpose(axes)),
            "parametrizations.weight.0._u": torch.tensor(values["kernel_u:0"]),
            "parametrizations.weight.0._v": torch.tensor(values["kernel_v:0"]),
        }
    )
    return layer, theirs, shape, axes


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("case", LAYERS)
def test_steps_equal_torchs(case, iterations, backend):
    layer, theirs, shape, axes = pair(case, backend, iterations)
    rng = np.random.default_rng(1)
    change = rng.normal(size=layer.state_dict()["kernel_original:0"].shape).astype("float32")
    layer.load_state_dict({"kernel_original:0": change}, strict=False)
    original = theirs.parametrizations.weight.original
    original.data = torch.tensor(np.ascontiguousarray(change.transpose(axes)))
    for training in (False, True, True, False):
        layer.train(training), theirs.train(training)
        x = rng.normal(size=shape).astype("float32")
        expected = theirs(torch.tensor(x))
        factors = rng.normal(size=tuple(expected.shape)).astype("float32")
        theirs.zero_grad()
        (expected * torch.tensor(factors)).sum().backward()

        def scalar(kernel, bias, x=x, factors=factors):
            return ops.sum(ops.multiply(layer(backend.tensor(x)), backend.tensor(factors)))

        (name, kernel), (_, bias) = [(k, p) for k, p in layer.named_parameters() if p.trainable]
        assert name == "kernel_original:0"
        value, gradients = backend.gradients(scalar, [kernel.value, bias.value])
        total = float((expected.detach().numpy() * factors).sum())
        assert float(labdl.to_numpy(value)) == pytest.approx(total, rel=1e-4, abs=1e-4)
        own = kernel.to_standard(labdl.to_numpy(gradients[0])).transpose(axes)
        wanted = original.grad.numpy()
        np.testing.assert_allclose(own, wanted, rtol=1e-3, atol=2e-5 * np.abs(wanted).max())
        values, state = layer.state_dict(), theirs.state_dict()
        for vector in ("u", "v"):
            reached = state[f"parametrizations.weight.0._{vector}"].numpy()
            np.testing.assert_allclose(values[f"kernel_{vector}:0"], reached, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", LAYERS)
def test_first_kernel_has_norm_1(case, backend):
    """At build the vectors are those of the kernel that was drawn, after fifteen iterations as in PyTorch."""
    _, theirs, _, _ = pair(case, backend, 1)
    weight = theirs.parametrizations.weight.original.detach()
    rows = weight.transpose(0, 1) if case == "transposed convolution" else weight
    largest = np.linalg.norm(rows.flatten(1).numpy(), 2)
    theirs.eval()
    np.testing.assert_allclose((weight / theirs.weight.detach()).numpy(), largest, rtol=0.02)


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("compiled", [False, None], ids=["eager", "default"])
def test_training_moves_the_vectors(compiled, backend):
    model = nn.Sequential(nn.Linear(8, spectral_norm=1), nn.Tanh(), nn.Linear(1)).build(
        (None, 5), backend=backend.name, seed=0
    )
    before = model.state_dict()
    rng = np.random.default_rng(0)
    data = rng.normal(size=(32, 5)).astype("float32"), rng.normal(size=(32, 1)).astype("float32")
    trainer = labdl.Trainer(model, loss="mse", optimizer="sgd", learning_rate=0.05, compiled=compiled)
    trainer.fit(*data, epochs=8, batch_size=8)
    after = model.state_dict()
    assert np.abs(after["0/kernel_u:0"] - before["0/kernel_u:0"]).max() > 1e-4
    norm = np.linalg.norm(after["0/kernel_original:0"], 2)
    reached = after["0/kernel_v:0"] @ after["0/kernel_original:0"] @ after["0/kernel_u:0"]
    assert reached == pytest.approx(norm, rel=0.05)
    labdl.predict(model, data[0])
    np.testing.assert_array_equal(model.state_dict()["0/kernel_u:0"], after["0/kernel_u:0"])


def test_functions_give_the_settings():
    assert nn.spectral_norm(nn.Conv2d(8), 2).spectral_norm == 2
    assert nn.weight_norm(nn.Linear(8), dim=1).weight_norm == 1
    assert nn.weight_norm(nn.Conv1d(8), dim=None).weight_norm == "all"
    for layer in (nn.ReLU(), nn.DepthwiseConv2d()):
        owners = r"Linear, Conv1d, Conv2d, Conv3d, .*ConvTranspose3d"
        with pytest.raises(ConfigError, match=rf"_norm is a setting of {owners}, received {type(layer).__name__}"):
            nn.spectral_norm(layer)
        with pytest.raises(ConfigError, match=rf"_norm is a setting of {owners}, received {type(layer).__name__}"):
            nn.weight_norm(layer)
    with pytest.raises(ConfigError, match="wants a number of power iterations of 1 or more, received None"):
        nn.spectral_norm(nn.Linear(3), None)
    with pytest.raises(ConfigError, match="Linear has its parameters already: give weight_norm=0 when it is created"):
        nn.weight_norm(nn.Linear(3).build((None, 2), backend="numpy"))
    with pytest.raises(ConfigError, match="spectral_norm wants"):
        nn.spectral_norm(nn.Linear(3), 0)
    with pytest.raises(ValueError, match="Linear: weight_norm and spectral_norm exclude each other"):
        nn.Linear(3, weight_norm=0, spectral_norm=1).build((None, 2), backend="numpy")
