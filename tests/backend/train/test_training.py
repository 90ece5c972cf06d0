"""Training on one backend: the trainer, background runs and their recording."""

import json
import math
import threading

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError, UpdateError
from labdl.train import SGD, Adam, Epoch, Start, Step, Trainer

pytestmark = pytest.mark.default_mode

WAIT = 180


class Small(nn.Module):
    """A small network for digits."""

    def __init__(self):
        self.conv = nn.Conv2d(4, padding="same")
        self.norm = nn.BatchNorm()
        self.pool = nn.MaxPool2d()
        self.flatten = nn.Flatten()
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(10)

    def forward(self, x):
        return self.head(self.drop(self.flatten(self.pool(ops.relu(self.norm(self.conv(x)))))))


def line():
    return nn.Sequential(nn.Linear(2))


@pytest.fixture(scope="module")
def digits():
    train, test = labdl.data.digits()
    return labdl.data.ArrayDataset(*train[np.arange(200)]), labdl.data.ArrayDataset(*test[np.arange(50)])


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)).astype("float32"), rng.normal(size=(40, 2)).astype("float32")


def trainer(backend, model=None, loss="mean_squared_error", **options):
    return Trainer(model or line(), loss=loss, backend=backend.name, seed=0, **{"optimizer": SGD(0.05), **options})


def lines_of(run):
    return [
        json.loads(line, parse_constant=pytest.fail) for line in (run.folder / "events.jsonl").read_text().splitlines()
    ]


# -- fit


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("compiled", [None, False])
def test_fit_lowers_the_loss_and_returns_the_history(backend, digits, compiled):
    t = trainer(backend, Small(), "cross_entropy", optimizer=Adam(0.01), metrics=["accuracy"], compiled=compiled)
    history = t.fit(digits[0], validation=digits[1], epochs=6, batch_size=32, progress=False)
    assert {k: len(v) for k, v in history.items()} == dict.fromkeys(["loss", "accuracy", "val_loss", "val_accuracy"], 6)
    assert history["loss"][-1] < 0.5 * history["loss"][0]
    assert history["accuracy"][-1] > 0.8
    assert history["val_accuracy"][-1] > 0.5
    assert not t.model.training
    evaluated = t.evaluate(digits[1])
    output = labdl.predict(t.model, digits[1].arrays[0])
    assert evaluated["accuracy"] == pytest.approx(np.mean(output.argmax(-1) == digits[1].arrays[1]), abs=1e-6)
    assert evaluated["loss"] == pytest.approx(history["val_loss"][-1], rel=1e-4)


@pytest.mark.sample(backends=1)
def test_same_seed_gives_the_same_losses(backend, digits):
    def losses(seed):
        labdl.seed(7)
        return Trainer(Small(), optimizer=SGD(0.1), backend=backend.name, seed=seed).fit(digits[0], progress=False)[
            "loss"
        ]

    assert losses(1) == pytest.approx(losses(1), rel=1e-6)
    assert losses(1) != pytest.approx(losses(2), rel=1e-6)


def test_events_number_steps_over_epochs(backend, pairs):
    sizes = []

    def count(output, target):
        sizes.append(len(output))
        return 0.0

    events = list(trainer(backend, metrics=[count]).events(pairs, epochs=2, batch_size=16))
    assert isinstance(events[0], Start)
    assert (events[0].steps_per_epoch, events[0].samples, events[0].batch_size) == (3, 40, 16)
    assert [e.step for e in events if isinstance(e, Step)] == [1, 2, 3, 4, 5, 6]
    assert [(e.epoch, e.step) for e in events if isinstance(e, Epoch)] == [(1, 3), (2, 6)]
    assert sizes == [16, 16, 8] * 2
    steps = [e.values["loss"] for e in events if isinstance(e, Step)]
    means = [e.values["loss"] for e in events if isinstance(e, Epoch)]
    assert means == pytest.approx(
        [np.average(steps[:3], weights=[16, 16, 8]), np.average(steps[3:], weights=[16, 16, 8])]
    )


def test_one_step_matches_the_formula(backend, pairs):
    x, y = pairs
    t = trainer(backend)
    model = t.model.build((None, 3), backend=backend.name, seed=0)
    w, b = (model.state_dict()[k].astype("float64") for k in ("0/kernel:0", "0/bias:0"))
    error = x @ w + b - y
    assert t.train_one_batch(x, y)["loss"] == pytest.approx(np.mean(error**2), rel=1e-5)
    np.testing.assert_allclose(
        model.state_dict()["0/kernel:0"], w - 0.05 * 2 * x.T @ error / error.size, rtol=1e-4, atol=1e-6
    )


def test_subclass_may_override_forward_and_loss(backend, pairs):
    class Doubled(Trainer):
        def forward(self, x):
            return 2.0 * self.model(x)

        def loss(self, output, target):
            return 3.0 * super().loss(output, target)

    plain = trainer(backend).train_one_batch(*pairs)["loss"]
    changed = Doubled(
        nn.Sequential(nn.Linear(2)), loss="mean_squared_error", optimizer=SGD(0.05), backend=backend.name, seed=0
    )
    weights = nn.Sequential(nn.Linear(2)).build((None, 3), backend="numpy", seed=0).state_dict()
    expected = 3 * np.mean((2 * (pairs[0] @ weights["0/kernel:0"] + weights["0/bias:0"]) - pairs[1]) ** 2)
    assert changed.train_one_batch(*pairs)["loss"] == pytest.approx(expected, rel=1e-4)
    assert plain != pytest.approx(expected, rel=1e-3)


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize(
    ("name", "metrics"), [("mean_absolute_error", []), ("huber", []), ("binary_cross_entropy", ["accuracy"])]
)
def test_other_losses_train(backend, pairs, name, metrics):
    x, y = pairs[0], (pairs[1][:, :1] > 0).astype("float32")
    model = nn.Sequential(nn.Linear(8), nn.Tanh(), nn.Linear(1))
    losses = trainer(backend, model, name, optimizer=Adam(0.02), metrics=metrics).fit(x, y, epochs=8, progress=False)[
        "loss"
    ]
    assert losses[-1] < losses[0]


def samples():
    yield np.zeros(2, "float32"), 0


def test_invalid_arguments_raise(backend, pairs):
    with pytest.raises(ConfigError, match=r"loss wants one of cross_entropy, .*received 'best'"):
        trainer(backend, loss="best")
    with pytest.raises(ConfigError, match="optimizer wants one of adam"):
        trainer(backend, optimizer="tiger")
    with pytest.raises(ConfigError, match="metrics wants any of accuracy"):
        trainer(backend, metrics=["best"])
    with pytest.raises(ConfigError, match="SGD: learning_rate wants a number at least 0"):
        SGD(-1)
    with pytest.raises(ConfigError, match="epochs wants an integer at least 1, received 0"):
        trainer(backend).fit(*pairs, epochs=0, progress=False)
    with pytest.raises(ConfigError, match="data wants an ArrayDataset or a pair"):
        trainer(backend).fit([1, 2], progress=False)
    with pytest.raises(ConfigError, match=r"received the function 'samples': .* data\.IterableDataset\(samples\)"):
        trainer(backend).fit(samples, progress=False)
    with pytest.raises(ModelError, match="the model has no trainable parameters"):
        trainer(backend, nn.Sequential(nn.ReLU())).fit(*pairs, progress=False)
    with pytest.raises(ModelError, match="Conv2d wants 4 axes"):
        trainer(backend, nn.Sequential(nn.Conv2d(3))).start(*pairs)


# -- numbers that are not finite


@pytest.mark.parametrize("which", ["inputs", "targets"])
def test_nan_in_the_data_is_named_with_its_step(backend, pairs, which):
    arrays = [a.copy() for a in pairs]
    arrays[which == "targets"][35, 0] = math.nan
    with pytest.raises(ModelError, match=f"the loss is not finite at step 5: the {which} of this batch have NaN"):
        trainer(backend).fit(*arrays, batch_size=8, shuffle=False, progress=False)


def test_nonfinite_first_loss_raises_model_error(backend, pairs):
    def broken(output, target):
        return ops.mean(ops.log(ops.abs(output) * 0.0))

    with pytest.raises(ModelError, match="the loss is not finite at step 1: the model's output"):
        trainer(backend, loss=broken).fit(*pairs, progress=False)


def test_huge_learning_rate_raises_update_error(backend, pairs):
    with pytest.raises(
        UpdateError, match=r"the update of step \d+ made 0/(kernel|bias):0 NaN or infinite: try a smaller"
    ):
        trainer(backend, optimizer=SGD(1e30)).fit(*pairs, batch_size=8, epochs=3, progress=False)


# -- interruption


def test_ctrl_c_leaves_a_usable_model(backend, pairs, capsys):
    calls = []

    def interrupting(output, target):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return 0.0

    t = trainer(backend, metrics=[interrupting])
    fits = 0

    def fit_in_a_loop():
        nonlocal fits
        for _ in range(3):
            fits += 1
            t.fit(*pairs, batch_size=20, epochs=5, progress=False)

    with pytest.raises(KeyboardInterrupt):  # one press ends the loop, not one training of it
        fit_in_a_loop()
    assert fits == 1
    assert "keeps its current parameters" in capsys.readouterr().out
    assert len(t.progress.history["loss"]) == 1
    assert not t.model.training
    assert np.isfinite(labdl.predict(t.model, pairs[0])).all()
    t.metrics.clear()
    assert np.isfinite(t.fit(*pairs, progress=False)["loss"][0])


def test_predict_restores_the_mode_of_every_module(backend):
    model = Small().build((None, 1, 8, 8), backend=backend.name, seed=0)
    model.train()
    model.norm.eval()
    modes = [m.training for m in model.modules()]
    before = model.state_dict()
    x = np.random.default_rng(0).normal(size=(7, 1, 8, 8)).astype("float32")
    first = labdl.predict(model, x, batch_size=3)
    assert first.shape == (7, 10)
    np.testing.assert_allclose(labdl.predict(model, x), first, rtol=1e-4, atol=1e-6)
    assert [m.training for m in model.modules()] == modes
    assert all(np.array_equal(v, before[k]) for k, v in model.state_dict().items())


# -- background runs


class StepGate:
    """A metric that blocks each step until it is released."""

    __name__ = "gate"

    def __init__(self):
        self.passes, self.steps, self.reached = threading.Semaphore(0), 0, threading.Event()

    def __call__(self, output, target):
        self.reached.set()
        assert self.passes.acquire(timeout=WAIT)
        self.steps += 1
        return float(self.steps)

    def open(self, n=10_000):
        self.passes.release(n)


class EventWaiter:
    """Waits for events of a run."""

    def __init__(self, run):
        self.events, self.changed = [], threading.Condition()
        run.subscribe(self)

    def __call__(self, events):
        with self.changed:
            self.events += events
            self.changed.notify_all()

    def until(self, test):
        with self.changed:
            assert self.changed.wait_for(lambda: any(map(test, self.events)), WAIT), self.events


def status(name):
    return lambda e: e["kind"] == "status" and e["status"] == name


@pytest.fixture
def gated(backend, pairs, tmp_path):
    """A run of 3 epochs with 5 steps each, which blocks at its first step."""
    gate = StepGate()
    run = trainer(backend, metrics=[gate]).start(
        *pairs, epochs=3, batch_size=8, folder=tmp_path / "run", save_to=tmp_path / "net.npz"
    )
    assert gate.reached.wait(WAIT)
    yield run, gate, EventWaiter(run)
    run.stop()
    gate.open()
    run._done.wait(WAIT)


def test_start_returns_immediately_and_wait_blocks(gated, tmp_path):
    run, gate, _ = gated
    assert (run.alive, run.status, run.history) == (True, "running", {})
    with pytest.raises(TimeoutError, match=r"is still running after 0\.01 s"):
        run.wait(0.01)
    gate.open()
    assert run.wait(WAIT) is run
    assert (run.alive, run.status) == (False, "finished")
    assert {k: len(v) for k, v in run.history.items()} == {"loss": 3, "gate": 3}
    saved = labdl.load_parameters(tmp_path / "net.npz")
    assert all(np.array_equal(v, saved[k]) for k, v in run.model.state_dict().items())
    assert "finished" in repr(run)


def test_pause_resume_and_stop(gated):
    run, gate, watch = gated
    run.pause()
    gate.open(1)
    watch.until(status("paused"))
    assert (run.status, gate.steps) == ("paused", 1)
    run.resume()
    run.pause()
    gate.open(1)
    watch.until(lambda e: e["kind"] == "steps" and e["step"][-1] >= 2)
    run.resume()
    run.stop()
    run.pause()  # too late to have an effect
    gate.open()
    run.wait(WAIT)
    assert run.status == "stopped"
    assert gate.steps < 15
    assert np.isfinite(run.model.state_dict()["0/kernel:0"]).all()
    assert watch.events[-1]["status"] == "stopped"


@pytest.mark.parametrize("command", ["pause", "stop"])
def test_command_in_the_folder_of_a_run_is_executed(gated, command):
    run, gate, watch = gated
    gate.open(1)
    control = run.folder / "control"
    control.mkdir(exist_ok=True)
    lines = ("not json", "[1]", '{"command": "format the disk"}', json.dumps({"command": command}))
    for name, data in enumerate(lines):
        (control / f".{name}").write_text(data)
        (control / f".{name}").rename(control / f"{name}.json")
    for _ in range(int(WAIT / 0.05)):
        if not list(control.iterdir()):
            break
        threading.Event().wait(0.05)
    gate.open()
    if command == "pause":
        watch.until(status("paused"))
        (control / "5.json").write_text('{"command": "resume"}')
    run.wait(WAIT)
    assert run.status == {"pause": "finished", "stop": "stopped"}[command]


def test_error_of_a_run_is_recorded_and_raised(backend, pairs, tmp_path):
    x, y = pairs[0].copy(), pairs[1]
    x[30] = np.inf
    run = trainer(backend).start(x, y, batch_size=8, shuffle=False, folder=tmp_path / "run", epochs=2)
    with pytest.raises(ModelError, match="not finite at step 4"):
        run.wait(WAIT)
    assert run.status == "failed"
    events = lines_of(run)
    assert events[-1]["kind"] == "end"
    assert "not finite at step 4" in events[-1]["message"]
    assert "Traceback" in (run.folder / "error.txt").read_text()
    assert [s for e in events if e["kind"] == "steps" for s in e["step"]] == [1, 2, 3]


def test_recording_matches_the_documentation(backend, pairs, tmp_path):
    def odd(output, target):
        return math.nan

    t = trainer(backend, metrics=[odd])
    run = t.start(*pairs, validation=pairs, epochs=2, batch_size=16, folder=tmp_path / "run").wait(WAIT)
    events = lines_of(run)
    start, end, epochs = events[0], events[-1], [e for e in events if e["kind"] == "epoch"]
    assert all(isinstance(e["time"], float) for e in events)
    assert [e["time"] for e in events] == sorted(e["time"] for e in events)
    assert {
        k: start[k]
        for k in (
            "kind",
            "version",
            "backend",
            "epochs",
            "steps_per_epoch",
            "batch_size",
            "samples",
            "loss",
            "optimizer",
            "metrics",
        )
    } == {
        "kind": "start",
        "version": 2,
        "backend": backend.name,
        "epochs": 2,
        "steps_per_epoch": 3,
        "batch_size": 16,
        "samples": 40,
        "loss": "mean_squared_error",
        "optimizer": "sgd",
        "metrics": ["odd"],
    }
    assert {"id", "pid", "model", "settings"} <= start.keys()
    steps = [e for e in events if e["kind"] == "steps"]
    assert [s for e in steps for s in e["step"]] == [1, 2, 3, 4, 5, 6]
    assert all(len(e["loss"]) == len(e["odd"]) == len(e["step"]) for e in steps)
    assert {v for e in steps for v in e["odd"]} == {None}
    assert [(e["epoch"], e["step"]) for e in epochs] == [(1, 3), (2, 6)]
    assert all({"loss", "odd", "val_loss", "val_odd", "samples_per_second"} <= e.keys() for e in epochs)
    summary = end.pop("summary")
    assert {k: v for k, v in end.items() if k != "time"} == {"kind": "end", "status": "finished", "message": None}
    assert (summary["step"], summary["epoch"], summary["figures"]["odd"]) == (6, 2, None)
    assert summary["figures"]["loss"] == run.history["loss"][-1]
    late = []
    run.subscribe(late.extend)
    assert late == lines_of(run), "a late listener receives all events"


def test_failing_listener_does_not_end_the_run(gated, caplog):
    run, gate, watch = gated
    calls = []

    def broken(events):
        calls.append(events)
        if len(calls) > 1:  # the first call is the replay, whose errors are raised to the caller
            raise RuntimeError("a widget was closed")

    watch.until(lambda e: e["kind"] == "start")
    run.subscribe(broken)
    gate.open()
    assert run.wait(WAIT).status == "finished"
    assert lines_of(run)[-1]["kind"] == "end"
    assert len(calls) == 2
    assert "a widget was closed" in caplog.text


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (np.zeros((8, 5), "float32"), np.zeros(8, int), r"samples of shape \(5,\), the model was built for \(4,\)"),
        (np.zeros((8, 4), "float32"), np.arange(8), r"classes from 0 to 7, the model's output has room for 3"),
        (np.zeros((8, 4), "float32"), np.full(8, -1), r"classes from -1 to -1"),
    ],
)
def test_data_that_do_not_fit_the_model_raise(x, y, sentence, backend):
    model = nn.Sequential(nn.Linear(3)).build((None, 4), backend=backend.name)
    with pytest.raises(labdl.errors.ConfigError, match=sentence):
        labdl.Trainer(model).start(x, y)


def test_predict_with_several_inputs_and_outputs(backend):
    class Two(nn.Module):
        def forward(self, a, b):
            return ops.add(a, b), ops.multiply(a, b)

    a, b = np.ones((5, 2), "float32"), np.full((5, 2), 3, "float32")
    model = Two().build((None, 2), (None, 2), backend=backend.name)
    total, product = labdl.predict(model, (a, b), batch_size=2)
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(product, a * b)
