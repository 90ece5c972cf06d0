"""What a training tells beside steps and epochs: it is right, it changes nothing, and alerts come when they should."""

import time

import numpy as np
import pytest
from interrupted import DATA, equal, fit, own_seeds, plain, told, trainer

import labdl
from labdl import nn
from labdl.data import ArrayDataset
from labdl.errors import LabDLError
from labdl.train import EMA, SGD, Adam, Trainer, budget, events
from labdl.train.events import (
    Alert,
    Confusion,
    Epoch,
    Histograms,
    Pace,
    Predictions,
    Rate,
    Samples,
    Started,
    Step,
    Worst,
)

OPTIONS = {
    "compiled by default": {},
    "eager": {"compiled": False},
    "parts of batches": {"accumulate": 2},
    "averages": {"average": EMA(0.9), "clip_norm": 1.0},
}


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


@pytest.fixture
def often(monkeypatch):
    """Look at each step and each epoch."""
    monkeypatch.setattr(budget.Budget, "allows", lambda self: self.share > 0 and self.steps >= 1)
    monkeypatch.setattr("labdl.train.observing.FREE", 60.0)
    monkeypatch.setattr("labdl.train.pace.SELDOM", 0.0)


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


def kinds(found):
    return {type(e) for e in found}


@pytest.mark.parametrize("name", OPTIONS)
def test_it_changes_no_bit_of_a_training(name, backend, often):
    """Nor of what comes next: random streams, running statistics and metrics are as if nobody had looked."""
    runs, heard = [], []
    for health in (None, 0, 1.0):
        labdl.seed(3)
        np.random.seed(3)
        subject, found = trainer(backend, **OPTIONS[name]), []
        history = fit(subject, 2, health=health, callbacks=[found.append])
        runs.append((told(subject), history, np.random.get_state()[1].tolist()))
        heard.append(kinds(found))
    assert equal(runs[0], runs[1])
    assert equal(runs[0], runs[2])
    assert heard[0] == {Started, Step, Epoch}, "nobody has asked"
    assert heard[1] == heard[0] | {Pace, Rate}
    assert heard[2] == heard[1] | {events.Health, Histograms, Samples, Predictions, Confusion, Worst}


def test_the_time_of_steps_is_told_in_its_parts(backend):
    began = time.perf_counter()
    found = list(plain(backend).events(DATA, epochs=3, batch_size=16, health=0))
    passed = time.perf_counter() - began
    paces = of(found, Pace)
    assert (sum(e.steps for e in paces), sum(e.samples for e in paces)) == (15, 210)
    assert paces[-1].step == 15
    parts = [(e.data, e.compute, e.update or 0.0) for e in paces]
    assert all(seconds >= 0 for part in parts for seconds in part)
    assert passed / 10 < sum(map(sum, parts)) < passed
    apart = backend.name in ("torch", "paddle")
    assert all((e.update is not None) == apart for e in paces), "compiled as one, or a call of its own"


@pytest.mark.parametrize("options", [{"compiled": False}, {"accumulate": 2}])
def test_an_update_that_is_a_call_of_its_own_is_timed_everywhere(options, backend):
    paces = of(trainer(backend, **options).events(DATA, epochs=1, batch_size=16, health=0), Pace)
    assert all(e.update > 0 for e in paces)


def test_learning_rates_are_told_where_they_change_by_schedule_and_by_hand(backend):
    schedule = labdl.train.StepDecay(10, 0.1)
    subject, found = trainer(backend, optimizer=SGD(0.1), schedule=schedule), []
    for event in subject.events(DATA, epochs=4, batch_size=16, health=0):
        found.append(event)
        if isinstance(event, Step) and event.step == 3:
            subject.learning_rate = 0.05
    points = [p for e in of(found, Rate) for p in zip(e.step, e.value, strict=True)]
    assert points == [(0, 0.1), (3, 0.05), (10, pytest.approx(0.005))]


def test_predictions_are_those_of_the_model_and_confusion_those_of_the_metrics(backend, often):
    data = ArrayDataset(*DATA, classes=["a", "b", "c", "d"])
    subject, seen = trainer(backend, metrics=["accuracy"]), []
    for event in subject.events(DATA, validation=data, epochs=3, batch_size=16, health=0.01):
        seen.append(event)
        if isinstance(event, Predictions):
            subject.model.eval()
            outputs = labdl.predict(subject.model, DATA[0])
            subject.model.train()
            (samples,) = of(seen, Samples)
            for sample, output in zip(samples.samples, event.outputs, strict=True):
                scores = np.exp(outputs[sample["index"]] - outputs[sample["index"]].max())
                assert output["scores"] == pytest.approx(np.sort(scores / scores.sum())[::-1], rel=1e-3)
    assert samples.classes == ("a", "b", "c", "d")
    assert [s["target"]["class"] for s in samples.samples] == [DATA[1][s["index"]] for s in samples.samples]
    epochs, tables, worst = of(seen, Epoch), of(seen, Confusion), of(seen, Worst)
    assert [e.epoch for e in tables] == [1, 2, 3] == [e.epoch for e in worst]
    for epoch, table in zip(epochs, tables, strict=True):
        assert np.trace(table.counts) / 70 == pytest.approx(epoch.values["val_accuracy"])
        assert np.sum(table.counts) == 70
        assert table.step == epoch.step
    order = [type(e) for e in seen if isinstance(e, Epoch | Samples | Predictions | Confusion | Worst)]
    assert order == [Epoch, Samples, *[Predictions, Confusion, Worst, Epoch] * 2, Predictions, Confusion, Worst]


def test_histograms_count_all_values_of_a_layer(backend, often):
    model = nn.Sequential(nn.Linear(5), nn.ReLU(), nn.Linear(2)).build((None, 4), backend=backend.name, seed=0)
    x = np.random.default_rng(0).normal(size=(48, 4)).astype("float32")
    subject = Trainer(model, "mean_squared_error", SGD(0.1), backend=backend.name, seed=0)
    for event in subject.events((x, x[:, :2]), batch_size=48, shuffle=False, epochs=3, health=1.0):
        if isinstance(event, Histograms):
            break
    assert event.layers == ("0", "1", "2")
    assert event.weights["of"] == event.gradients["of"] == [0, 2]
    assert event.outputs["of"] == [0, 1, 2]
    assert [sum(c) for c in event.weights["counts"]] == [25, 12] == [sum(c) for c in event.gradients["counts"]]
    assert [sum(c) for c in event.outputs["counts"]] == [160, 160, 64]
    kernel = model.state_dict()["0/kernel:0"]
    assert event.weights["high"][0] == pytest.approx(max(kernel.max(), 0.0), rel=1e-3, abs=0.1)
    gradients = subject.gradients(x[:32], x[:32, :2])
    whole = np.concatenate([gradients[n].ravel() for n in ("2/kernel:0", "2/bias:0")])
    assert (event.gradients["low"][1], event.gradients["high"][1]) == (pytest.approx(whole.min(), rel=2e-3),
                                                                       pytest.approx(whole.max(), rel=2e-3))  # fmt: skip
    assert event.outputs["low"][1] == 0


def test_a_run_records_all_of_it(backend, often, tmp_path):
    subject = trainer(backend, metrics=["accuracy"])
    run = subject.start(DATA, validation=DATA, epochs=2, batch_size=16, folder=tmp_path / "run").wait()
    lines = [e for e in labdl.runs.eventfile.events(run.folder)]
    found = {e["kind"] for e in lines}
    assert {"pace", "rate", "health", "histograms", "samples", "predictions", "confusion", "worst"} <= found
    (samples,) = [e for e in lines if e["kind"] == "samples"]
    assert samples["task"] == "classification"
    assert samples["samples"][0]["input"]["picture"]["width"] == 6
    assert np.sum(next(e for e in lines if e["kind"] == "confusion")["counts"]) == 70


def test_a_progress_bar_passes_over_what_it_does_not_know(backend, often, capsys):
    history = trainer(backend, metrics=[]).fit(DATA, validation=DATA, epochs=2, batch_size=16, health=1.0)
    assert len(history["val_loss"]) == 2
    said = capsys.readouterr().err
    assert "ended at step 10" in said
    assert "Traceback" not in said


def test_a_validation_of_somebodys_own_tells_nothing(backend, often):
    class Own(Trainer):
        def evaluate(self, dataset, batch_size=256, averaged=False):
            return {"loss": 1.0}

    subject = Own(nn.Sequential(nn.Flatten(), nn.Linear(4)), backend=backend.name, seed=0)
    found = list(subject.events(DATA, validation=DATA, epochs=1, health=0.01))
    assert not kinds(found) & {Samples, Predictions, Confusion, Worst}
    assert of(found, Epoch)[0].values["val_loss"] == 1.0


# -- alerts of real trainings

_draw = np.random.default_rng(0)
X = _draw.normal(size=(64, 8)).astype("float32")


def alerts(subject, *data, **options):
    found = []
    try:
        for event in subject.events(data, health=0, **options):
            found.append(event)
    except LabDLError:
        found.append(None)
    return [e.alert for e in of(found, Alert)], found


def test_a_training_that_learns_by_heart(backend):
    noise = _draw.integers(0, 2, 64)
    model = nn.Sequential(nn.Linear(64), nn.ReLU(), nn.Linear(2))
    subject = Trainer(model, optimizer=Adam(0.01), backend=backend.name, seed=0)
    said, found = alerts(subject, X[:32], noise[:32], validation=(X[32:], noise[32:]), epochs=40, batch_size=16)
    assert said == ["overfitting"]
    assert "Early stopping" in of(found, Alert)[0].message


def test_a_training_that_learns_well_alarms_nobody(backend):
    target = (X @ _draw.normal(size=(8, 1))).astype("float32")
    model = nn.Sequential(nn.Linear(1))
    subject = Trainer(model, "mean_squared_error", SGD(0.05), backend=backend.name, seed=0)
    assert alerts(subject, X[:48], target[:48], validation=(X[48:], target[48:]), epochs=40, batch_size=8)[0] == []


def test_a_rate_that_is_too_high_diverges_before_it_ends_in_nan(backend):
    target = (X @ _draw.normal(size=(8, 1))).astype("float32")
    subject = Trainer(nn.Sequential(nn.Linear(1)), "mean_squared_error", SGD(0.6), backend=backend.name, seed=0)
    found = []
    with pytest.raises(LabDLError):  # noqa: PT012 - what was heard before it counts
        for event in subject.events((X, target), epochs=200, batch_size=64, health=0):
            found.append(event)
    assert [e.alert for e in of(found, Alert)] == ["divergence", "not_finite"]
    assert "smaller learning rate" in of(found, Alert)[-1].message
    assert isinstance(found[-1], Alert), "the last that is heard before the error"


def test_a_learning_rate_by_hand_that_is_too_high_is_a_divergence(backend, monkeypatch):
    monkeypatch.setattr("labdl.train.pace.SELDOM", 0.0)
    monkeypatch.setattr("labdl.train.pace.THINNING", 1e9)
    target = (X @ _draw.normal(size=(8, 1))).astype("float32")
    subject, found = (
        Trainer(nn.Sequential(nn.Linear(1)), "mean_squared_error", SGD(0.05), backend=backend.name, seed=0),
        [],
    )
    for event in subject.events((X, target), epochs=60, batch_size=16, health=0):
        found.append(event)
        if isinstance(event, Step) and event.step == 120:
            subject.learning_rate = 0.8
        if isinstance(event, Alert):
            break
    assert found[-1].alert == "divergence"
    assert 120 < found[-1].step < 220


class Slow(ArrayDataset):
    def __getitem__(self, index):
        time.sleep(0.05)
        return super().__getitem__(index)


def test_a_slow_data_set_starves_the_training(backend):
    subject = Trainer(nn.Sequential(nn.Linear(2)), backend=backend.name, seed=0)
    found = []
    for event in subject.events(Slow(X, np.arange(64) % 2), epochs=100, batch_size=8, health=0):
        found.append(event)
        if isinstance(event, Alert):
            break
    assert found[-1].alert == "starvation"
    assert found[-1].step < 200
    assert sum(e.data for e in of(found, Pace)) > 1.5
