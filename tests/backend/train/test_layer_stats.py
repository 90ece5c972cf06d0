"""Layer statistics of a training: values, no side effects, and the layer of values that are not finite."""

import dataclasses
import itertools
import json
import logging

import numpy as np
import pytest
from interrupted import DATA, Net, comparable, equal, fit, own_seeds, trainer
from runs import of_kind

import labdl
from labdl import nn, ops
from labdl.errors import GradientError, ModelError, UpdateError
from labdl.graph import Edge, Graph, Node
from labdl.train import EMA, SGD, Health, Phase, Trainer
from labdl.train.checkpoint import Checkpoint
from labdl.train.monitor import budget

pytestmark = pytest.mark.sample(backends=["torch"])

X = np.random.default_rng(0).normal(size=(48, 4)).astype("float32")
Y = np.random.default_rng(1).normal(size=(48, 2)).astype("float32")


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


@pytest.fixture
def often(monkeypatch):
    """Measure after each step."""
    monkeypatch.setattr(budget, "MIN_INTERVAL", 0.0)
    monkeypatch.setattr(budget, "GROWTH", 1e9)
    monkeypatch.setattr(budget.Budget, "allows", lambda self: self.share > 0 and self.steps >= 1)


def fit_with_health(subject, epochs=2, **options):
    found = []
    history = fit(
        subject, epochs, health=1.0, callbacks=[lambda e: found.append(e) if isinstance(e, Health) else None], **options
    )
    return history, found


OPTIONS = {
    "compiled by default": {},
    "eager": {"compiled": False},
    "gradients kept and clipped": {"keep_gradients": True, "clip_norm": 1.0},
    "parts of batches": {"accumulate": 2},
    "mixed precision": {"precision": "float16", "average": EMA(0.9)},
    "portable numbers": {"portable": True},
}


@pytest.mark.filterwarnings("ignore:the model is not compiled but runs as it is")  # portable random numbers
@pytest.mark.parametrize("name", OPTIONS)
def test_measurements_do_not_change_the_training(name, backend, often):
    """Parameters, buffers, history and random states are bitwise the same with and without measurements."""
    options = dict(OPTIONS[name])
    portable, runs = options.pop("portable", False), []
    for health in (0, 1.0):
        labdl.seed(3, portable=portable)
        np.random.seed(3)
        subject, found = trainer(backend, **options), []
        history = fit(subject, 2, health=health, callbacks=[found.append])
        assert any(isinstance(e, Health) for e in found) == bool(health)
        runs.append((comparable(subject), history, np.random.get_state()[1].tolist()))
        if options.get("keep_gradients"):
            runs[-1] += (subject.gradients(),)
    assert equal(*runs)


class Two(Trainer):
    """Trains the body with one loss and the head with another."""

    def phases(self):
        return [
            Phase("body", lambda x, y: self.loss_and_output(x, y), ("conv/*", "norm/*")),
            Phase("head", lambda x, y: self.loss(self.forward(x), y), ("head/*",)),
        ]


def test_measurements_do_not_change_a_training_with_several_phases(backend, often):
    states = []
    for health in (0, 1.0):
        labdl.seed(3)
        subject, found = Two(Net(), optimizer=SGD(0.05), backend=backend.name, seed=1), []
        fit(subject, 2, health=health, callbacks=[found.append])
        states.append(comparable(subject))
    assert equal(*states)
    assert [e for e in found if isinstance(e, Health)][-1].parameters["of"] == [0, 1, 4], "layers of both phases"


def test_training_with_measurements_resumes_from_its_checkpoint(backend, often, tmp_path):
    labdl.seed(3)
    whole = trainer(backend)
    history = fit(whole, 2)
    labdl.seed(3)
    fit_with_health(trainer(backend), checkpoint=Checkpoint(tmp_path, every=1, keep=None))
    labdl.seed(77)
    again = trainer(backend, seed=50)
    assert fit(again, 2, resume=tmp_path / "step-00000007", health=1.0) == history
    assert equal(comparable(again), comparable(whole))


def test_statistics_match_the_model(backend, often):
    """Gradients, outputs and the update, each compared with an independent computation."""
    model = nn.Sequential(nn.Linear(5), nn.ReLU(), nn.Linear(2)).build((None, 4), backend=backend.name, seed=0)
    subject = Trainer(model, "mean_squared_error", SGD(0.1), backend=backend.name, seed=0)
    states = []
    for event in subject.events((X, Y), batch_size=48, shuffle=False, epochs=3, health=1.0):
        states.append(model.state_dict())
        if isinstance(event, Health):
            found = event
            break
    before, after = states[1], states[-1]
    assert (found.step, found.samples, found.layers) == (2, 32, ("0", "1", "2"))
    assert found.parameters["of"] == [0, 2]
    gradients = subject.gradients(X[:32], Y[:32])
    for n, layer in enumerate(("0", "2")):
        names = [name for name in after if name.startswith(f"{layer}/")]
        norm = np.sqrt(sum(np.sum(np.square(gradients[name])) for name in names))
        weights = np.sqrt(sum(np.sum(np.square(after[name])) for name in names))
        update = np.sqrt(sum(np.sum(np.square(after[name] - before[name])) for name in names))
        assert found.parameters["gradient"][n] == pytest.approx(norm, rel=2e-3)
        assert found.parameters["weights"][n] == pytest.approx(weights, rel=2e-3)
        assert found.parameters["update"][n] == pytest.approx(update / weights, rel=2e-3)
    hidden = X[:32] @ after["0/kernel:0"] + after["0/bias:0"]
    rectified = np.maximum(hidden, 0)
    assert found.outputs["of"] == [0, 1, 2]
    for n, values in enumerate((hidden, rectified)):
        assert found.outputs["mean"][n] == pytest.approx(values.mean(), rel=2e-3, abs=1e-4)
        assert found.outputs["std"][n] == pytest.approx(values.std(), rel=2e-3)
        assert found.outputs["largest"][n] == pytest.approx(np.abs(values).max(), rel=2e-3)
        assert found.outputs["zeros"][n] == pytest.approx((values == 0).mean(), rel=2e-3)
    assert found.outputs["not_finite"] == [0, 0, 0]


def test_run_records_statistics_and_names_the_layers_once(backend, often, tmp_path):
    labdl.seed(3)
    subject, events = trainer(backend, metrics=[]), []
    run = subject.start(DATA, epochs=2, batch_size=16, folder=tmp_path / "run")
    run.subscribe(events.extend)
    run.wait()
    lines = of_kind(run, "health")
    assert len(lines) > 3
    assert lines == [e for e in events if e["kind"] == "health"]
    assert lines[0]["layers"] == ["conv", "norm", "flatten", "drop", "head"]
    assert not any("layers" in line for line in lines[1:])
    for line in lines:
        for columns in (line["parameters"], line["outputs"]):
            assert len({len(column) for column in columns.values()}) == 1
    assert [line["step"] for line in lines] == list(range(2, 2 + len(lines)))


def test_run_measures_unless_health_is_zero(backend, tmp_path):
    for name, options, setting in (("on", {}, None), ("off", {"health": 0}, None), ("set", {}, 0.0)):
        subject = trainer(backend, metrics=[], **({} if setting is None else {"health": setting}))
        run = subject.start(DATA, epochs=1, batch_size=16, folder=tmp_path / name, **options).wait()
        assert len(of_kind(run, "health")) == (name == "on"), name
    found = []
    fit(trainer(backend, metrics=[]), 1, callbacks=[found.append])
    assert not any(isinstance(e, Health) for e in found), "fit does not measure by default"


def test_model_with_a_fixed_batch_size_disables_statistics(backend, often, caplog):
    class Whole(nn.Module):
        def forward(self, x):
            return ops.reshape(x, (48, 4))

    model = nn.Sequential(Whole(), nn.Linear(2))
    subject = Trainer(model, "mean_squared_error", SGD(0.1), backend=backend.name, seed=0, compiled=False)
    with caplog.at_level(logging.WARNING):
        history = subject.fit(X, Y, batch_size=48, epochs=4, progress=False, health=1.0)
    assert len(history["loss"]) == 4
    messages = [r.message for r in caplog.records if "layer statistics" in r.message]
    assert len(messages) == 1
    assert messages[0].startswith("layer statistics are disabled: ")


# -- the place of values that are not finite


def chain(*kinds, **params):
    nodes = {"i": Node("Input", "input", {"shape": (None, 4)})}
    nodes |= {str(n): Node(kind, name, params.get(name, {})) for n, (name, kind) in enumerate(kinds)}
    ids = list(nodes)
    return Graph(nodes, {f"e{n}": Edge(a, b) for n, (a, b) in enumerate(itertools.pairwise(ids))})


class Overflow(nn.Module):
    def forward(self, x):
        return ops.exp(ops.square(x) * 1e6)


PLACES = {
    "an operator": (
        lambda: chain(("fc", "Linear"), ("log", "ops.log"), fc={"out_features": 2}),
        {},
        X,
        ModelError,
        {"node": "log", "what": "output"},
        r"the output of log \(ops.log\) has NaN",
    ),
    "a layer": (
        lambda: nn.Sequential(nn.Linear(4), nn.Sequential(nn.Tanh(), Overflow()), nn.Linear(2)),
        {},
        X,
        ModelError,
        {"node": "1/1", "what": "output"},
        r"the output of 1/1 \(Overflow\) has NaN",
    ),
    "a gradient": (
        lambda: chain(("fc", "Linear"), ("square", "ops.square"), ("root", "ops.sqrt"), fc={"out_features": 2}),
        {"zero": "fc/kernel:0"},
        X,
        GradientError,
        {"node": "fc", "what": "gradient"},
        "the gradient of fc/bias:0 has NaN",
    ),
    "an update": (
        lambda: chain(("fc", "Linear"), fc={"out_features": 2}),
        {"optimizer": SGD(1e38)},
        X * 100,
        UpdateError,
        {"node": "fc", "what": "update"},
        "made fc/kernel:0 NaN or inf",
    ),
    "the inputs": (
        lambda: chain(("fc", "Linear"), fc={"out_features": 2}),
        {},
        np.where(np.arange(4) == 1, np.nan, X),
        ModelError,
        {"node": "input", "what": "inputs"},
        "the inputs of this batch",
    ),
    "the targets": (
        lambda: chain(("fc", "Linear"), fc={"out_features": 2}),
        {"y": np.full_like(Y, np.nan)},
        X,
        ModelError,
        {"node": None, "what": "targets"},
        "the targets of this batch",
    ),
    "the loss": (
        lambda: chain(("fc", "Linear"), fc={"out_features": 2}),
        {"loss": lambda output, target: ops.mean(ops.log(ops.abs(output) * 0.0))},
        X,
        ModelError,
        {"node": None, "what": "loss"},
        r"but its loss is -inf; the cause is ops\.log in line",
    ),
}


@pytest.mark.parametrize("case", PLACES)
def test_error_names_the_place_of_values_that_are_not_finite(case, backend, tmp_path):
    """In the error and in the recording."""
    make, options, x, kind, place, message = PLACES[case]
    model = make()
    model = model.to_module() if isinstance(model, Graph) else model
    model.build(*([] if hasattr(model, "graph") else [(None, 4)]), backend=backend.name, seed=0)
    if zero := options.get("zero"):
        model.load_state_dict({zero: np.zeros((4, 2), "float32")}, zero)
    subject = Trainer(model, options.get("loss", "mean_squared_error"), options.get("optimizer", SGD(0.01)), seed=0)
    data = x.astype("float32"), options.get("y", Y)
    run = subject.start(data, epochs=3, batch_size=24, folder=tmp_path / "run")
    with pytest.raises(kind, match=message):
        run.wait()
    assert run.error.place == place
    (end,) = of_kind(run, "end")
    assert (end["status"], end["place"]) == ("failed", place)


def test_end_event_without_an_error_has_no_place(backend, tmp_path):
    run = trainer(backend, metrics=[]).start(DATA, epochs=1, batch_size=16, folder=tmp_path / "run").wait()
    assert "place" not in json.loads((tmp_path / "run" / "events.jsonl").read_text().splitlines()[-1])
    assert run.error is None


def test_shared_layer_has_outputs_for_each_node(backend, often):
    graph = chain(("fc", "Linear"), ("relu", "ops.relu"), ("twice", "Linear"), fc={"out_features": 4})
    graph.nodes["2"] = dataclasses.replace(graph.nodes["2"], shares="0")
    subject = Trainer(graph, "mean_squared_error", SGD(0.01), backend=backend.name, seed=0)
    found = [e for e in subject.events((X, X), epochs=1, batch_size=16, health=1.0) if isinstance(e, Health)]
    assert found[-1].layers == ("fc", "relu", "twice")
    assert found[-1].parameters["of"] == [0]
    assert found[-1].outputs["of"] == [0, 1, 2]


def test_measurements_name_the_classes_of_the_layers(backend, often):
    model = nn.Sequential(nn.Linear(4), nn.ReLU(), nn.Sequential(nn.Linear(3), nn.Tanh()), nn.Linear(2))
    for subject in (model, labdl.trace(model, (None, 5)).to_module()):
        found = []
        trainer = Trainer(subject, optimizer=SGD(0.1), backend=backend.name, seed=0)
        data = np.ones((8, 5), "float32"), np.zeros(8, int)
        trainer.fit(data, epochs=2, batch_size=4, health=1.0, progress=False, callbacks=[found.append])
        event = next(event for event in found if isinstance(event, Health))
        assert len(event.classes) == len(event.layers)
        assert event.classes[:2] == ("Linear", "ReLU")
        assert event.classes[-1] == "Linear"
