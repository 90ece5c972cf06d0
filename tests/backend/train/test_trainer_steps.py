"""The parts of a training step and the settings that affect them, compared with NumPy and torch."""

import copy

import numpy as np
import pytest
import torch

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError
from labdl.train import EMA, SGD, Adam, Epoch, Step, Trainer
from labdl.train.binding import prepare

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3)).astype("float32")
Y = RNG.normal(size=(24, 2)).astype("float32")
COMPILED = pytest.mark.parametrize("compiled", [None, False])


def line(backend):
    return nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)


def trainer(backend, model=None, cls=Trainer, **options):
    return cls(
        model or line(backend),
        backend=backend.name,
        **{"loss": "mean_squared_error", "optimizer": SGD(0.1), "seed": 0, **options},
    )


def gradients(values, x=X, y=Y):
    """Gradients of the mean squared error of a linear model, in float64."""
    w, b = values["0/kernel:0"].astype("float64"), values["0/bias:0"].astype("float64")
    error = x @ w + b - y
    return {"0/kernel:0": 2 * x.T @ error / error.size, "0/bias:0": 2 * error.sum(0) / error.size}


def close(found, expected, tolerance=1e-5):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance / 10, err_msg=name)


def norm(values):
    return np.sqrt(sum((v.astype("float64") ** 2).sum() for v in values.values()))


def net():
    return nn.Sequential(nn.Linear(6), nn.Tanh(), nn.Linear(2))


# -- what a subclass may change


@COMPILED
def test_every_part_of_a_step_may_be_overridden(backend, compiled):
    class Mine(Trainer):
        def preprocess(self, batch):
            x, y = batch
            return x * 2, y

        def forward(self, x):
            return self.model(x) + 1.0

        def loss(self, output, target):
            return ops.mean(ops.abs(output - target))

        def backward(self, gradients):
            return {name: g * 3.0 for name, g in gradients.items()}

        def update(self, gradients, optimizer):
            super().update({name: g * 0.5 for name, g in gradients.items()}, optimizer)

        def postprocess(self, output):
            seen.append(output)
            return output * 0.0

    seen = []
    model = line(backend)
    before = model.state_dict()
    t = trainer(backend, model, Mine, compiled=compiled, metrics=[lambda output, target: float(np.abs(output).max())])
    values = t.train_one_batch(X, Y)
    w, b = before["0/kernel:0"], before["0/bias:0"]
    output = 2 * X @ w + b + 1
    assert values["loss"] == pytest.approx(np.abs(output - Y).mean(), rel=1e-5)
    assert list(values.values())[1] == 0.0
    np.testing.assert_allclose(seen[0], output, rtol=1e-4, atol=1e-5)
    sign = np.sign(output - Y) / Y.size
    expected = {"0/kernel:0": w - 0.1 * 1.5 * 2 * X.T @ sign, "0/bias:0": b - 0.1 * 1.5 * sign.sum(0)}
    close(model.state_dict(), expected)
    assert t.last == values
    assert t.evaluate((X, Y), batch_size=7)["loss"] < values["loss"]


def test_backward_may_omit_gradients(backend):
    class Halved(Trainer):
        def backward(self, gradients):
            return {name: g for name, g in gradients.items() if "bias" not in name}

    model = line(backend)
    before = model.state_dict()
    trainer(backend, model, Halved).train_one_batch(X, Y)
    after = model.state_dict()
    np.testing.assert_array_equal(after["0/bias:0"], before["0/bias:0"])
    assert np.abs(after["0/kernel:0"] - before["0/kernel:0"]).max() > 1e-4


class Two(nn.Module):
    """Two inputs and two outputs."""

    def __init__(self):
        self.left, self.right = nn.Linear(2), nn.Linear(2)

    def forward(self, a, b):
        left, right = self.left(a), self.right(b)
        return {"sum": left + right, "product": left * right}


@COMPILED
def test_several_inputs_outputs_and_losses(backend, compiled):
    class Mine(Trainer):
        def loss(self, output, target):
            return {
                "sum": ops.mean_squared_error(output["sum"], target["sum"]),
                "product": ops.mean_squared_error(output["product"], target["product"]),
            }

    a, b = X, X[:, ::-1].copy()
    truth = {"sum": Y, "product": Y * 2}
    t = Mine(
        Two(),
        optimizer=SGD(0.1),
        backend=backend.name,
        seed=0,
        compiled=compiled,
        metrics=[lambda output, target: float(np.abs(output["sum"] - target["sum"]).max())],
    )
    events = list(t.events(((a, b), truth), epochs=8, batch_size=8, validation=((a, b), truth)))
    steps = [e.values for e in events if isinstance(e, Step)]
    assert steps[0]["loss"] == pytest.approx(steps[0]["loss_sum"] + steps[0]["loss_product"], rel=1e-5)
    last = [e.values for e in events if isinstance(e, Epoch)][-1]
    assert last["val_loss"] < steps[0]["loss"]
    assert {"loss_sum", "val_loss_sum", "val_loss_product"} <= last.keys()
    output = labdl.predict(t.model, (a, b))
    assert last["val_loss_sum"] == pytest.approx(np.mean((output["sum"] - Y) ** 2), rel=1e-4)


def test_data_set_of_three_arrays_with_a_model_of_two_inputs(backend):
    class Sum(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(2)

        def forward(self, a, b):
            return self.linear(a + b)

    model = Sum().build((None, 3), (None, 3), backend=backend.name, seed=0)
    w = model.state_dict()["linear/kernel:0"]
    data = labdl.data.ArrayDataset(X, X, Y)
    assert trainer(backend, model).evaluate(data)["loss"] == pytest.approx(np.mean((2 * X @ w - Y) ** 2), rel=1e-4)
    assert trainer(backend, model).fit(data, epochs=6, progress=False)["loss"][-1] < np.mean((2 * X @ w - Y) ** 2)


def test_dictionaries_of_a_data_set_are_preprocessed(backend):
    class Rows:
        def __len__(self):
            return len(X)

        def __getitem__(self, i):
            return {"features": X[i], "labels": Y[i]}

    class Mine(Trainer):
        def preprocess(self, batch):
            return batch["features"], batch["labels"]

    history = trainer(backend, cls=Mine).fit(Rows(), epochs=3, shuffle=False, batch_size=8, progress=False)
    assert history["loss"] == pytest.approx(
        trainer(backend).fit(X, Y, epochs=3, shuffle=False, batch_size=8, progress=False)["loss"], rel=1e-6
    )
    with pytest.raises(
        ConfigError, match=r"of features, labels, the forward of the model has the arguments x: .*override preprocess"
    ):
        trainer(backend).fit(Rows(), progress=False)


# -- gradients


def test_gradients_of_the_last_update(backend):
    model = nn.Sequential(nn.Conv2d(2, 2), nn.Flatten(), nn.Linear(2)).build(
        (None, 1, 3, 3), backend=backend.name, seed=0
    )
    x = RNG.normal(size=(24, 1, 3, 3)).astype("float32")
    t = trainer(backend, model, keep_gradients=True)
    before = t.gradients(x, Y)
    values = model.state_dict()
    t.train_one_batch(x, Y)
    found = t.gradients()
    close(found, before, 1e-4)
    assert {name: g.shape for name, g in found.items()} == {name: v.shape for name, v in values.items()}
    after = {name: v - 0.1 * found[name] for name, v in values.items()}
    close(model.state_dict(), after, 1e-4)
    for event in t.events((x, Y), batch_size=12, shuffle=False):
        if isinstance(event, Step) and event.step == 1:
            assert norm(t.gradients()) > 0
    close(t.gradients(x, Y), t.gradients(x, Y))


def test_gradients_of_a_batch_match_the_formula(backend):
    t = trainer(backend)
    prepare(t.context, t.state, X, Y)
    close(t.gradients(X, Y), gradients(t.model.state_dict()))
    with pytest.raises(ConfigError, match="create the trainer with keep_gradients=True"):
        t.gradients()


@COMPILED
def test_gradient_norm_is_recorded(backend, compiled):
    t = trainer(backend, gradient_norm=True, compiled=compiled)
    expected = norm(gradients(t.model.state_dict()))
    assert t.train_one_batch(X, Y)["gradient_norm"] == pytest.approx(expected, rel=1e-5)
    epoch = next(e for e in t.events((X, Y), batch_size=8) if isinstance(e, Epoch))
    assert epoch.values["gradient_norm"] > 0


@COMPILED
@pytest.mark.parametrize(("setting", "limit"), [("clip_norm", 0.1), ("clip_norm", 100.0), ("clip_value", 0.05)])
def test_clipping_matches_torch(backend, compiled, setting, limit):
    model = line(backend)
    before = model.state_dict()
    t = trainer(backend, model, optimizer=SGD(1.0), compiled=compiled, gradient_norm=True, **{setting: limit})
    wanted = {name: torch.nn.Parameter(torch.tensor(v)) for name, v in before.items()}
    for name, g in gradients(before).items():
        wanted[name].grad = torch.tensor(g.astype("float32"))
    clip = {"clip_norm": torch.nn.utils.clip_grad_norm_, "clip_value": torch.nn.utils.clip_grad_value_}[setting]
    clip(wanted.values(), limit)
    assert t.train_one_batch(X, Y)["gradient_norm"] == pytest.approx(norm(gradients(before)), rel=1e-5)
    close(model.state_dict(), {name: (p - p.grad).detach().numpy() for name, p in wanted.items()})


# -- accumulation


@pytest.mark.sample(every=4)
@COMPILED
@pytest.mark.parametrize("count", [24, 21])  # the last step has one batch, or a smaller one
def test_accumulated_batches_match_one_large_batch(backend, compiled, count):
    x, y = X[:count], Y[:count]
    options = {"optimizer": Adam(0.01), "compiled": compiled, "schedule": "cosine_decay", "gradient_norm": True}
    large = trainer(backend, net(), **options)
    small = trainer(backend, net(), accumulate=2, **options)
    histories = [t.fit(x, y, epochs=3, batch_size=size, progress=False) for t, size in ((large, 16), (small, 8))]
    assert histories[1]["loss"] == pytest.approx(histories[0]["loss"], rel=1e-5)
    assert histories[1]["gradient_norm"] == pytest.approx(histories[0]["gradient_norm"], rel=1e-4)
    assert small.bound_optimizer.step == large.bound_optimizer.step == 6
    close(small.model.state_dict(), large.model.state_dict(), 1e-3)


def test_accumulation_with_a_sum_loss(backend):
    loss = nn.MeanSquaredErrorLoss(reduction="sum")
    models = []
    for size, k in ((24, 1), (8, 3)):
        t = trainer(backend, line(backend), loss=copy.deepcopy(loss), optimizer=SGD(0.001), accumulate=k)
        total = t.fit(X, Y, batch_size=size, progress=False)["loss"][0]
        models.append((t.model.state_dict(), total))
    close(models[1][0], models[0][0])
    assert models[1][1] == pytest.approx(models[0][1], rel=1e-5)


def test_metrics_receive_the_whole_accumulated_batch(backend):
    seen = []

    def metric(output, target):
        seen.append((output.shape, target.shape))
        return 0.0

    events = list(trainer(backend, accumulate=2, metrics=[metric]).events((X, Y), batch_size=8))
    assert [shapes for shapes in seen] == [((16, 2), (16, 2)), ((8, 2), (8, 2))]
    assert [e.step for e in events if isinstance(e, Step)] == [1, 2]
    assert events[0].steps_per_epoch == 2


def test_training_with_accumulation_resumes_exactly(backend, tmp_path):
    def subject():
        model = nn.Sequential(nn.Linear(6), nn.Dropout(0.3), nn.Linear(2))
        return trainer(backend, model, optimizer=Adam(0.01), accumulate=2, average=EMA(0.9))

    def train(t, **options):
        return t.fit(X, Y, epochs=2, batch_size=4, progress=False, **options)

    labdl.seed(3)
    whole = subject()
    train(whole)
    labdl.seed(3)
    broken = subject()
    for event in broken.events((X, Y), epochs=2, batch_size=4, checkpoint=labdl.train.Checkpoint(tmp_path, every=2)):
        if isinstance(event, Step) and event.step == 5:
            break
    resumed = subject()
    train(resumed, resume=tmp_path)
    for name, value in whole.model.state_dict().items():
        np.testing.assert_array_equal(resumed.model.state_dict()[name], value)
    with resumed.average_parameters(), whole.average_parameters():
        for name, value in whole.model.state_dict().items():
            np.testing.assert_array_equal(resumed.model.state_dict()[name], value)


# -- averages, frozen parameters, groups


@pytest.mark.parametrize("every", [1, 2])
def test_averages_match_the_formula(backend, every):
    model = line(backend)
    expected = {k: v.astype("float64") for k, v in model.state_dict().items()}
    t = trainer(backend, model, average=EMA(0.8, every=every))
    for step in range(1, 6):
        t.train_one_batch(X, Y)
        if step % every == 0:
            expected = {k: 0.8 * v + 0.2 * model.state_dict()[k] for k, v in expected.items()}
    now = model.state_dict()
    with t.average_parameters():
        close(model.state_dict(), expected)
    close(model.state_dict(), now, 0)
    error = X @ expected["0/kernel:0"] + expected["0/bias:0"] - Y
    assert t.evaluate((X, Y), averaged=True)["loss"] == pytest.approx(np.mean(error**2), rel=1e-5)
    assert t.test((X, Y))["loss"] == pytest.approx(np.mean(error**2), rel=1e-5)
    assert t.evaluate((X, Y))["loss"] != pytest.approx(np.mean(error**2), rel=1e-4)


def test_validation_uses_averages_by_default(backend):
    def last(rule):
        t = trainer(backend, average=rule)
        return t.fit(X, Y, validation=(X, Y), epochs=2, progress=False)["val_loss"][-1], t

    value, t = last(EMA(0.5))
    assert value == pytest.approx(t.evaluate((X, Y), averaged=True)["loss"], rel=1e-6)
    value, t = last(EMA(0.5, evaluate=False))
    assert value == pytest.approx(t.evaluate((X, Y))["loss"], rel=1e-6)


def test_frozen_parameters_and_group_learning_rates(backend):
    model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    before = model.state_dict()
    rule = SGD(0.1, groups=[("1/bias:0", {"learning_rate": 0.05})])
    t = trainer(backend, model, freeze="0/*", optimizer=rule)
    found = t.gradients(X, Y)
    assert list(found) == ["1/kernel:0", "1/bias:0"]
    t.train_one_batch(X, Y)
    after = model.state_dict()
    close(
        {k: after[k] for k in before if k.startswith("0/")}, {k: v for k, v in before.items() if k.startswith("0/")}, 0
    )
    np.testing.assert_allclose(
        after["1/kernel:0"], before["1/kernel:0"] - 0.1 * found["1/kernel:0"], rtol=1e-5, atol=1e-7
    )
    np.testing.assert_allclose(after["1/bias:0"], before["1/bias:0"] - 0.05 * found["1/bias:0"], rtol=1e-5, atol=1e-7)
    with pytest.raises(ModelError, match="has no parameter that matches 'nothing"):
        trainer(backend, freeze=("nothing*",)).train_one_batch(X, Y)


# -- epochs one by one


def test_single_epoch_matches_the_training(backend):
    options = {"schedule": "cosine_decay", "metrics": ["mean_absolute_error"], "epochs": 3, "batch_size": 8}
    whole = trainer(backend, train_dataset=(X, Y), **options)
    history = whole.fit(progress=False)
    one_by_one = trainer(backend, train_dataset=(X, Y), **options)
    epochs = [one_by_one.train_one_epoch(i) for i in range(3)]
    for name in ("loss", "mean_absolute_error"):
        assert [f[name] for f in epochs] == pytest.approx(history[name], rel=1e-6)
    close(one_by_one.model.state_dict(), whole.model.state_dict(), 1e-6)
    with pytest.raises(ConfigError, match="wants the index of an epoch, at least 0, received -1"):
        whole.train_one_epoch(-1)
    with pytest.raises(ConfigError, match="data wants"):
        trainer(backend).train_one_epoch(0)
