"""User-defined backward functions: of the first layer of a model, of inputs by name, and gradients of other types."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import GradientError
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)

LAYERS = {
    "linear": (lambda: nn.Linear(2), lambda: np.ones((4, 3), "float32")),
    "embedding": (lambda: nn.Embedding(5, 2), lambda: np.arange(4) % 3),
    "convolution": (lambda: nn.Conv1d(2, 1), lambda: np.ones((4, 3, 2), "float32")),
}


@pytest.mark.filterwarnings("ignore:the model is not compiled")
@pytest.mark.parametrize("compiled", [False, None], ids=["eager", "default"])
@pytest.mark.parametrize("case", LAYERS)
def test_a_layer_on_the_data_is_trained(case, compiled, backend):
    """The data has no gradient, the parameters do."""
    make, draw = LAYERS[case]
    layer, x = make(), draw()
    model = nn.Sequential(layer, nn.Flatten(), nn.Linear(1))
    model.build(Spec((None, *x.shape[1:]), str(x.dtype)), backend=backend.name, seed=0)
    name = next(iter(layer.get_parameters()))

    def ones(gradient, inputs):
        of_x = None if case == "embedding" else ops.zeros_like(inputs)
        return of_x, {name: ops.ones_like(layer.get_parameter(name).value)}

    layer.register_backward_function(ones)
    before = layer.state_dict()[name]
    trainer = labdl.Trainer(model, loss="mse", optimizer="sgd", learning_rate=0.5, compiled=compiled)
    trainer.fit(x, np.ones((4, 1), "float32"), epochs=1, batch_size=4)
    np.testing.assert_allclose(layer.state_dict()[name], before - 0.5, rtol=1e-5, atol=1e-6)


class Scaled(nn.Module):
    """An input, a factor, an optional offset, and a setting."""

    def __init__(self):
        self.gain = nn.Parameter((3,), "ones")

    def forward(self, x, scale, offset=None, power=1):
        y = ops.multiply(ops.multiply(x, self.gain), ops.power(scale, power))
        return y if offset is None else ops.add(y, offset)


ARRAYS = [np.full((2, 3), n, "float32") for n in (2, 3, 5)]
CALLS = {
    "positions": lambda m, x, s, o: m(x, s, o),
    "one name": lambda m, x, s, o: m(x, s, offset=o),
    "two names": lambda m, x, s, o: m(x, offset=o, scale=s),
    "a setting": lambda m, x, s, o: m(x, s, o, power=1),
}


@pytest.mark.parametrize("call", CALLS)
def test_inputs_by_name(call, backend):
    model = Scaled().build((2, 3), (2, 3), (2, 3), backend=backend.name)
    seen = []

    @model.register_backward_function
    def one_two_three(gradient, x, scale, offset):
        seen[:] = [labdl.to_numpy(v)[0, 0] for v in (x, scale, offset)]
        return tuple(ops.full_like(x, n) for n in (1.0, 2.0, 3.0))

    tensors = [backend.tensor(a) for a in ARRAYS]
    value, found = backend.gradients(lambda *v: ops.sum(CALLS[call](model, *v)), tensors)
    assert float(labdl.to_numpy(value)) == 66
    assert [labdl.to_numpy(g)[0, 0] for g in found] == [1, 2, 3]
    assert seen == [2, 3, 5]


def test_an_input_that_is_omitted(backend):
    model = Scaled().build((2, 3), (2, 3), backend=backend.name)

    @model.register_backward_function
    def doubled(gradient, x, scale, offset):
        assert offset is None
        return 2 * gradient, None, None

    x, scale = (backend.tensor(a) for a in ARRAYS[:2])
    _, found = backend.gradients(lambda v, s: ops.sum(model(v, s, None)), [x, scale])
    assert [labdl.to_numpy(g)[0, 0] for g in found] == [2, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_a_gradient_has_the_dtype_of_its_tensor(kind, dtype, backend):
    layer = nn.Linear(3).build((None, 3), backend=backend.name)

    def give(shape):
        array = np.full(shape, 2, dtype)
        return array if kind == "array" else backend.tensor(array)

    layer.register_backward_function(lambda gradient, x: (give((2, 3)), {"bias:0": give((3,))}))
    x, bias = backend.tensor(ARRAYS[0]), layer.get_parameter("bias:0").value
    _, found = backend.gradients(lambda v, b: ops.sum(layer(v)), [x, bias])
    for gradient in found:
        assert backend.spec_of(gradient).dtype == "float32"
        np.testing.assert_array_equal(labdl.to_numpy(gradient), np.full(tuple(gradient.shape), 2))


def test_a_number_is_no_gradient(backend):
    layer = nn.Linear(3).build((None, 3), backend=backend.name)
    layer.register_backward_function(lambda gradient, x: 1.0)
    with pytest.raises(GradientError, match=r"gives a gradient of shape \(\) for an input of shape \(2, 3\)"):
        backend.gradients(lambda v: ops.sum(layer(v)), [backend.tensor(ARRAYS[0])])


def test_a_text_is_no_gradient(backend):
    layer = nn.Linear(3).build((None, 3), backend=backend.name)
    layer.register_backward_function(lambda gradient, x: "x")
    with pytest.raises(GradientError, match="Linear gives tensors or arrays of numbers, received 'x' for an input"):
        backend.gradients(lambda v: ops.sum(layer(v)), [backend.tensor(ARRAYS[0])])
