"""Comparison of layers with functions of torch tensors: values and gradients."""

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.spec import Spec

torch = pytest.importorskip("torch")


class Composite:
    """A layer, its inputs, and a function of torch tensors: the parameters by their names in files, then the inputs."""

    def __init__(self, layer, inputs, reference, training=False):
        self.layer, self.inputs, self.reference, self.training = layer, inputs, reference, training


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def leaves(value):
    return list(value) if isinstance(value, list | tuple) else [value]


def check(it, backend):
    """Compare outputs and the gradients of all parameters and inputs with those of the reference."""
    given = [a for a in it.inputs if a is not None]
    specs = [None if a is None else Spec(a.shape, str(a.dtype)) for a in it.inputs]
    layer = it.layer.build(*specs, backend=backend.name, seed=0).train(it.training)
    rng = np.random.default_rng(3)
    values = {k: rng.normal(0.2, 0.35, v.shape).astype("float32") for k, v in layer.state_dict().items()}
    layer.load_state_dict(values)

    theirs = {k.removesuffix(":0"): torch.tensor(v, requires_grad=True) for k, v in values.items()}
    inputs = [torch.tensor(a, requires_grad=a.dtype == np.float32) for a in given]
    expected = leaves(it.reference(theirs, *inputs))
    factors = [rng.uniform(0.5, 1.5, tuple(e.shape)).astype("float32") for e in expected]
    sum((e * torch.tensor(f)).sum() for e, f in zip(expected, factors, strict=True)).backward()

    parameters = [(k.removesuffix(":0"), p) for k, p in layer.named_parameters() if p.trainable]
    movable = [at for at, a in enumerate(it.inputs) if a is not None and a.dtype == np.float32]
    outputs = []

    def scalar(*moved):
        tensors = [None if a is None else backend.tensor(a) for a in it.inputs]
        for at, value in zip(movable, moved[len(parameters) :], strict=True):
            tensors[at] = value
        outputs[:] = leaves(layer(*tensors))
        return sum(ops.sum(ops.multiply(o, backend.tensor(f))) for o, f in zip(outputs, factors, strict=True))

    for actual, wanted in zip(
        leaves(layer(*(a if a is None else backend.tensor(a) for a in it.inputs))), expected, strict=True
    ):
        close(labdl.to_numpy(actual), wanted.detach().numpy())
    tensors = [*(p.value for _, p in parameters), *(backend.tensor(it.inputs[at]) for at in movable)]
    _, gradients = backend.gradients(scalar, tensors)
    for (name, parameter), gradient in zip(parameters, gradients, strict=False):
        close(parameter.to_standard(labdl.to_numpy(gradient)), theirs[name].grad.numpy())
    moving = [t for t in inputs if t.requires_grad]
    for tensor, gradient in zip(moving, gradients[len(parameters) :], strict=True):
        close(labdl.to_numpy(gradient), tensor.grad.numpy())


def close(actual, expected):
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=2e-5 * max(1.0, np.abs(expected).max()))
