"""Events of a training besides steps and epochs: their contents, and no side effects on the training."""

import numpy as np
import pytest
from interrupted import DATA, comparable, equal, fit, own_seeds, trainer

import labdl
from labdl import nn
from labdl.data import ArrayDataset
from labdl.train import EMA, Trainer, events
from labdl.train.events import (
    Confusion,
    Epoch,
    Histograms,
    Predictions,
    Rate,
    Samples,
    Start,
    Step,
    Throughput,
    Worst,
)
from labdl.train.monitor import budget

pytestmark = pytest.mark.sample(backends=1)

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
    """Measure each step and each epoch."""
    monkeypatch.setattr(budget.Budget, "allows", lambda self: self.share > 0 and self.steps >= 1)
    monkeypatch.setattr("labdl.train.monitor.validation.FREE", 60.0)
    monkeypatch.setattr("labdl.train.monitor.profiler.MIN_INTERVAL", 0.0)


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


def kinds(found):
    return {type(e) for e in found}


@pytest.mark.parametrize("name", OPTIONS)
def test_monitoring_does_not_change_the_training(name, backend, often):
    """Parameters, buffers, history, metrics and random states are bitwise the same with and without monitoring."""
    runs, classes = [], []
    for health in (None, 0, 1.0):
        labdl.seed(3)
        np.random.seed(3)
        subject, found = trainer(backend, **OPTIONS[name]), []
        history = fit(subject, 2, health=health, callbacks=[found.append])
        runs.append((comparable(subject), history, np.random.get_state()[1].tolist()))
        classes.append(kinds(found))
    assert equal(runs[0], runs[1])
    assert equal(runs[0], runs[2])
    assert classes[0] == {Start, Step, Epoch}, "the default of events()"
    assert classes[1] == classes[0] | {Throughput, Rate}
    assert classes[2] == classes[1] | {events.Health, Histograms, Samples, Predictions, Confusion, Worst}


def test_predictions_match_the_model_and_confusion_matches_the_metrics(backend, often):
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


def test_run_records_all_events(backend, often, tmp_path):
    subject = trainer(backend, metrics=["accuracy"])
    run = subject.start(DATA, validation=DATA, epochs=2, batch_size=16, folder=tmp_path / "run").wait()
    lines = [e for e in labdl.runs.reading.event_file.read_events(run.folder)]
    found = {e["kind"] for e in lines}
    assert {"pace", "rate", "health", "histograms", "samples", "predictions", "confusion", "worst"} <= found
    (samples,) = [e for e in lines if e["kind"] == "samples"]
    assert samples["task"] == "classification"
    assert samples["samples"][0]["input"]["picture"]["width"] == 6
    assert np.sum(next(e for e in lines if e["kind"] == "confusion")["counts"]) == 70


def test_progress_bar_ignores_other_events(backend, often, capsys):
    history = trainer(backend, metrics=[]).fit(DATA, validation=DATA, epochs=2, batch_size=16, health=1.0)
    assert len(history["val_loss"]) == 2
    output = capsys.readouterr().err
    assert "ended at step 10" in output
    assert "Traceback" not in output


def test_overridden_evaluate_gives_no_validation_events(backend, often):
    class Own(Trainer):
        def evaluate(self, dataset, batch_size=256, averaged=False):
            return {"loss": 1.0}

    subject = Own(nn.Sequential(nn.Flatten(), nn.Linear(4)), backend=backend.name, seed=0)
    found = list(subject.events(DATA, validation=DATA, epochs=1, health=0.01))
    assert not kinds(found) & {Samples, Predictions, Confusion, Worst}
    assert of(found, Epoch)[0].values["val_loss"] == 1.0
