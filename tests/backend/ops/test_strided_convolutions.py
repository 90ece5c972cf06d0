"""Gradients of convolutions of 1 x 1 with a stride, of numbers of channels that are no multiple of a vector."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.train import SGD, Trainer

pytestmark = pytest.mark.sample(backends=2)


@pytest.mark.parametrize("channels", [4, 6, 12])
def test_a_strided_convolution_of_one_cell_has_the_gradient_of_a_product(channels, backend):
    """oneDNN's kernel in TensorFlow 2.21 wrote behind its memory, which ended the process at another place."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, channels, 16, 16)).astype("float32")
    model = nn.Conv2d(8, kernel_size=1, stride=2, use_bias=False).build((None, channels, 16, 16), backend=backend.name)
    kernel = model.state_dict()["kernel:0"][0, 0]
    trainer = Trainer(model, loss=lambda y, _: ops.sum(ops.square(y)) / 2, optimizer=SGD(1.0), compiled=False)
    loss = trainer.train_one_batch(x, np.zeros(3, "float32"))["loss"]
    cells = x[:, :, ::2, ::2].transpose(0, 2, 3, 1).reshape(-1, channels)
    assert loss == pytest.approx(float(np.square(cells @ kernel).sum() / 2), rel=1e-4)
    step = kernel - model.state_dict()["kernel:0"][0, 0]
    np.testing.assert_allclose(step, cells.T @ (cells @ kernel), rtol=1e-3, atol=1e-2)
    assert labdl.to_numpy(model(labdl.tensor(x, backend=backend.name))).shape == (3, 8, 8, 8)
