"""What training needs of a backend: variables, optimizers and steps, against the formulas written out in NumPy."""

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.train import OPTIMIZERS, SGD

pytestmark = pytest.mark.sample(backends=2)

SETTINGS = {
    "sgd": ("sgd", {"learning_rate": 0.1, "momentum": 0.0, "nesterov": False, "weight_decay": 0.0}),
    "momentum": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": False, "weight_decay": 0.01}),
    "nesterov": ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.0}),
    "adam": ("adam", {"learning_rate": 0.05, "beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-3, "weight_decay": 0.02}),
    "adamw": ("adamw", {"learning_rate": 0.05, "beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-3, "weight_decay": 0.1}),
}


class Reference:
    """torch.optim's documented update rules in float64."""

    def __init__(self, name, s, values):
        self.name, self.s, self.t = name, s, 0
        self.m, self.v = [np.zeros_like(x) for x in values], [np.zeros_like(x) for x in values]

    def step(self, values, grads):
        s, self.t = self.s, self.t + 1
        for i, (p, g) in enumerate(zip(values, grads, strict=True)):
            if self.name != "adamw":
                g = g + s["weight_decay"] * p
            if self.name == "sgd":
                self.m[i] = s["momentum"] * self.m[i] + g
                update = g + s["momentum"] * self.m[i] if s["nesterov"] else self.m[i]
                p -= s["learning_rate"] * update
                continue
            if self.name == "adamw":
                p *= 1 - s["learning_rate"] * s["weight_decay"]
            self.m[i] = s["beta_1"] * self.m[i] + (1 - s["beta_1"]) * g
            self.v[i] = s["beta_2"] * self.v[i] + (1 - s["beta_2"]) * g * g
            mean, spread = self.m[i] / (1 - s["beta_1"] ** self.t), self.v[i] / (1 - s["beta_2"] ** self.t)
            p -= s["learning_rate"] * mean / (np.sqrt(spread) + s["epsilon"])


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("case", SETTINGS)
@pytest.mark.parametrize("compiled", [None, False])
def test_optimizer_follows_its_formula(case, compiled, backend):
    """20 steps of linear regression, the learning rate halved on the way."""
    name, settings = SETTINGS[case]
    rng = np.random.default_rng(0)
    w, b = rng.normal(size=(3, 2)).astype("float32"), np.zeros(2, "float32")
    x, y = rng.normal(size=(8, 3)).astype("float32"), rng.normal(size=(8, 2)).astype("float32")
    variables = [backend.variable(w), backend.variable(b)]
    optimizer = backend.optimizer(OPTIMIZERS[name].make(**settings), variables)

    def forward(inputs, targets):
        prediction = ops.linear(inputs, *variables)
        return ops.mean_squared_error(prediction, targets), prediction

    step = backend.train_function(forward, optimizer, compiled=compiled)
    reference = Reference(name, dict(settings), values := [w.astype("float64"), b.astype("float64")])
    for i in range(20):
        if i == 10:
            optimizer.learning_rate = reference.s["learning_rate"] = settings["learning_rate"] / 2
        assert optimizer.learning_rate == pytest.approx(reference.s["learning_rate"])
        loss, output = step(backend.tensor(x), backend.tensor(y))
        error = x @ values[0] + values[1] - y
        assert float(labdl.to_numpy(loss)) == pytest.approx(np.mean(error**2), rel=1e-4)
        assert labdl.to_numpy(output).shape == (8, 2)
        reference.step(values, [2 * x.T @ error / error.size, 2 * error.sum(0) / error.size])
    for variable, value in zip(variables, values, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(variable), value, rtol=1e-5, atol=1e-5)


def test_the_last_smaller_batch_trains_too(backend):
    variables = [backend.variable(np.ones((3, 1), "float32"))]
    optimizer = backend.optimizer(SGD(0.1), variables)
    step = backend.train_function(lambda x, y: (ops.mean_squared_error(ops.matmul(x, variables[0]), y), x), optimizer)
    for n in (4, 4, 3):
        loss, _ = step(backend.tensor(np.ones((n, 3), "float32")), backend.tensor(np.zeros((n, 1), "float32")))
        assert np.isfinite(labdl.to_numpy(loss))


def test_training_updates_running_statistics(backend):
    """Batch-norm statistics move in a compiled step, and evaluation leaves them alone."""
    scale, offset = backend.variable(np.ones(3, "float32")), backend.variable(np.zeros(3, "float32"))
    mean = backend.variable(np.zeros(3, "float32"), trainable=False)
    variance = backend.variable(np.ones(3, "float32"), trainable=False)
    x = np.random.default_rng(0).normal(2, 3, (16, 3)).astype("float32")

    def forward(inputs, targets, training=True):
        y = ops.batch_norm(inputs, scale, offset, mean, variance, training=training)
        return ops.mean(ops.square(y - targets)), y

    optimizer = backend.optimizer(SGD(0.1), [scale, offset])
    step = backend.train_function(forward, optimizer)
    step(backend.tensor(x), backend.tensor(np.zeros((16, 3), "float32")))
    np.testing.assert_allclose(labdl.to_numpy(mean), 0.1 * x.mean(0), rtol=1e-4)
    np.testing.assert_allclose(labdl.to_numpy(variance), 0.9 + 0.1 * x.var(0, ddof=1), rtol=1e-4)
    before = labdl.to_numpy(mean).copy()
    evaluate = backend.evaluate_function(lambda inputs: ops.batch_norm(inputs, scale, offset, mean, variance))
    evaluate(backend.tensor(x))
    np.testing.assert_array_equal(labdl.to_numpy(mean), before)


def test_dropout_is_seeded_and_scales(backend):
    x = backend.tensor(np.ones((200, 50), "float32"))
    labdl.seed(3)
    first = labdl.to_numpy(ops.dropout(x, 0.25, training=True))
    labdl.seed(3)
    second = labdl.to_numpy(ops.dropout(x, 0.25, training=True))
    np.testing.assert_array_equal(first, second)
    third = labdl.to_numpy(ops.dropout(x, 0.25, training=True))
    assert not np.array_equal(first, third)
    assert set(np.unique(first.round(4))) == {0.0, np.float32(1.3333)}
    assert abs((first == 0).mean() - 0.25) < 0.02


def test_finite_names_the_first_bad_variable(backend):
    variables = [backend.variable(np.ones(2, "float32")) for _ in range(3)]
    assert backend.finite(variables) is None
    backend.assign(variables[1], np.array([1, np.nan], "float32"))
    assert backend.finite(variables) == 1


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_tensors_keep_dtype_and_values(dtype, backend):
    array = np.array([[0, 1], [1, 0]]).astype(dtype)
    native = backend.tensor(array)
    assert backend.spec_of(native) == labdl.Spec((2, 2), dtype)
    back = backend.to_numpy(native)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_a_tensor_does_not_share_the_array(backend):
    array = np.zeros(3, "float32")
    native, variable = backend.tensor(array), backend.variable(array)
    array[:] = 1
    assert backend.to_numpy(native).sum() == 0
    assert backend.to_numpy(variable).sum() == 0
