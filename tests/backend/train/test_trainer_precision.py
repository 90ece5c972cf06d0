"""Mixed precision: dtypes of operators, training, and loss scaling by the rules of torch.amp."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import GradientError
from labdl.ops.precision import mixed
from labdl.train import SGD, Adam, Checkpoint, Step, Trainer
from labdl.train.precision import GROWTH_INTERVAL, LossScaler
from labdl.train.schedules import Linear

pytestmark = pytest.mark.sample(backends=1)

HALVES = pytest.mark.parametrize("precision", ["bfloat16", "float16"])
RNG = np.random.default_rng(0)


class Net(nn.Module):
    """Operators of half precision, of full precision, and of neither list."""

    def __init__(self):
        self.conv, self.norm = nn.Conv2d(4, padding="same"), nn.BatchNorm()
        self.flatten, self.head = nn.Flatten(), nn.Linear(10)

    def forward(self, x):
        return self.head(self.flatten(ops.relu(self.norm(self.conv(x)))))


def dtype(tensor):
    return labdl.dispatch.spec_of(tensor).dtype


@HALVES
def test_operators_compute_in_the_dtype_of_their_list(backend, precision):
    x = backend.tensor(RNG.normal(size=(4, 4)).astype("float32"))
    image = backend.tensor(RNG.normal(size=(1, 2, 5, 5)).astype("float32"))
    kernel = backend.tensor(RNG.normal(size=(3, 2, 3, 3)).astype("float32"))
    with mixed.autocast(precision):
        low = ops.matmul(x, x)
        assert dtype(low) == dtype(ops.linear(x, x)) == dtype(ops.conv2d(image, kernel)) == precision
        assert dtype(ops.relu(low)) == dtype(ops.add(low, low)) == precision
        for function in (ops.softmax, ops.exp, ops.sum, ops.log_softmax, ops.mean):
            assert dtype(function(low)) == "float32", function
        assert dtype(ops.layer_norm(low, ops.getitem(x, 0), ops.getitem(x, 1))) == "float32"
        assert dtype(ops.mean_squared_error(low, x)) == dtype(ops.add(low, x)) == "float32"
        assert dtype(ops.matmul(ops.astype(x, "float64"), ops.astype(x, "float64"))) == "float64"
        query = ops.reshape(x, (1, 1, 4, 4))
        assert dtype(ops.scaled_dot_product_attention(query, query, query)) == precision
    assert dtype(ops.matmul(x, x)) == "float32"
    exact = np.array(backend.to_numpy(x)) @ np.array(backend.to_numpy(x))
    np.testing.assert_allclose(labdl.to_numpy(ops.astype(low, "float32")), exact, rtol=0.03, atol=0.05)


@pytest.mark.sample(every=4)
@HALVES
@pytest.mark.parametrize("compiled", [None, False])
def test_mixed_precision_trains_like_float32(backend, precision, compiled):
    train, _ = labdl.data.digits()
    data = labdl.data.ArrayDataset(*train[np.arange(192)])

    def trained(precision):
        labdl.seed(0)
        t = Trainer(
            Net(),
            optimizer=Adam(0.01),
            metrics=["accuracy"],
            backend=backend.name,
            seed=0,
            precision=precision,
            compiled=compiled,
        )
        return t, t.fit(data, validation=data, epochs=3, batch_size=32, progress=False)

    (t, half), (_, single) = trained(precision), trained("float32")
    assert half["loss"] == pytest.approx(single["loss"], rel=0.1, abs=0.03)
    assert half["loss"] != pytest.approx(single["loss"], rel=1e-7), "nothing was computed in half precision"
    assert half["val_accuracy"][-1] > 0.85
    assert {str(v.dtype) for v in t.model.state_dict().values()} == {"float32"}


def test_scale_follows_the_rules_of_gradscaler():
    scaler = LossScaler()
    assert scaler.scale == 65536
    scaler.update(False)
    assert (scaler.scale, scaler.skipped) == (32768, 1)
    for _ in range(GROWTH_INTERVAL - 1):
        scaler.update(True)
    assert scaler.scale == 32768
    scaler.update(True)
    assert scaler.scale == 65536
    other = LossScaler()
    other.load_state_dict(scaler.state_dict())
    assert other == scaler


def test_update_with_an_infinite_gradient_is_skipped(backend, tmp_path):
    """The scaled gradients of a large loss overflow in float16, until the scale has been halved."""
    model = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    x, y = (RNG.normal(size=(8, n)).astype("float32") for n in (3, 2))

    def subject(model):
        return Trainer(
            model,
            lambda output, target: ops.mean(ops.square(output - target)) * 8.0,
            SGD(1e-3),
            seed=0,
            precision="float16",
            gradient_norm=True,
        )

    t = subject(model)
    scales, steps, moved = [], [], []
    before = model.state_dict()
    for event in t.events((x, y), epochs=12, batch_size=8, checkpoint=Checkpoint(tmp_path)):
        if isinstance(event, Step):
            scales.append(t.state.phases[0].scaler.scale)
            steps.append(t.bound_optimizer.step)
            moved.append(event.values["gradient_norm"] > 0)
            if not any(moved):
                assert all(np.array_equal(v, before[k]) for k, v in model.state_dict().items())
    assert scales[0] == 32768
    skipped = moved.index(True)
    assert 0 < skipped < 12
    assert scales[-1] == 65536 / 2**skipped
    assert steps == [max(0, n + 1 - skipped) for n in range(12)]
    again = subject(nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=1))
    again.load_checkpoint(Checkpoint(tmp_path).latest)
    assert again.state.phases[0].scaler == t.state.phases[0].scaler


def test_loss_scaling_does_not_change_gradients(backend):
    x, y = (RNG.normal(size=(8, n)).astype("float32") for n in (3, 2))
    model = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    before = model.state_dict()
    t = Trainer(model, "mean_squared_error", SGD(0.1), precision="float16", keep_gradients=True, accumulate=2)
    error = x @ before["0/kernel:0"] + before["0/bias:0"] - y
    for _ in range(4):  # until the scale fits
        t.train_one_batch(x, y)
        if t.state.phases[0].gradients is not None:
            break
    np.testing.assert_allclose(t.gradients()["0/kernel:0"], 2 * x.T @ error / error.size, rtol=0.02, atol=2e-3)


def test_other_threads_are_not_affected(backend):
    import threading

    x, found = backend.tensor(np.ones((2, 2), "float32")), []
    with mixed.autocast("bfloat16"):
        thread = threading.Thread(target=lambda: found.append(dtype(ops.matmul(x, x))))
        thread.start()
        thread.join()
        assert dtype(ops.matmul(x, x)) == "bfloat16"
    assert found == ["float32"]


def test_operators_are_classified_as_by_torch_autocast():
    half = {name for name, entry in ops.OPERATORS.items() if entry.precision == "half"}
    full = {name for name, entry in ops.OPERATORS.items() if entry.precision == "float32"}
    assert {"matmul", "linear", "einsum", "conv2d", "depthwise_conv2d", "lstm", "prelu"} <= half
    assert {"cross_entropy", "layer_norm", "cdist", "softmax", "sum", "exp", "fft", "qr", "nms"} <= full
    losses = [e for e in ops.OPERATORS.values() if e.body.__module__.startswith("labdl.ops.losses.")]
    assert losses
    assert {e.precision for e in losses} == {"float32"}


class SteepNet(nn.Module):
    """Its gradient is never finite: the root of 0."""

    def __init__(self):
        self.head = nn.Linear(2)

    def forward(self, x):
        return ops.sqrt(ops.square(self.head(x)) * 0.0)


@pytest.mark.sample(backends=4)
@pytest.mark.parametrize("epochs", [1, 30])
def test_gradients_that_are_never_finite_end_a_training_in_float16(backend, epochs):
    x, y = (RNG.normal(size=(8, n)).astype("float32") for n in (3, 2))
    model = nn.Sequential(SteepNet()).build((None, 3), backend=backend.name, seed=0)
    before = model.state_dict()
    t = Trainer(model, "mean_squared_error", SGD(0.1), seed=0, precision="float16")
    with pytest.raises(GradientError, match=r"the gradient of 0/head/.* has NaN or infinity"):
        t.fit((x, y), epochs=epochs, batch_size=4, progress=False)
    assert t.state.phases[0].scaler.scale >= 0.25
    LossScaler().load_state_dict(t.state.phases[0].scaler.state_dict())
    assert all(np.array_equal(value, before[name]) for name, value in model.state_dict().items())


@pytest.mark.sample(backends=4)
def test_schedule_counts_skipped_updates_and_the_optimizer_does_not(backend):
    model = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    x, y = (RNG.normal(size=(8, n)).astype("float32") for n in (3, 2))
    t = Trainer(
        model,
        lambda output, target: ops.mean(ops.square(output - target)) * 8.0,
        SGD(1e-3),
        schedule=Linear(steps=10),
        seed=0,
        precision="float16",
        gradient_norm=True,
    )
    rates, updates = [], 0
    for event in t.events((x, y), epochs=8, batch_size=8):
        if isinstance(event, Step):
            rates.append(t.bound_optimizer.learning_rate)
            updates += event.values["gradient_norm"] > 0
    assert 0 < updates < 8
    assert t.bound_optimizer.step == updates
    np.testing.assert_allclose(rates, [Linear(steps=10)(step, 1e-3) for step in range(8)], rtol=1e-6)
