"""The server side of the Train panel: choices, the generated program, and mismatches."""

import ast
import json
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tornado.httpclient import HTTPClientError

import labdl
from labdl import nn
from labdl.errors import ConfigError, LabDLError
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import service
from labdl.lab.training import compatibility, data_files, options, script
from labdl.nn.schema import LAYERS, Task
from labdl.train import METRICS, Metric
from labdl.train import losses as losses_by_name
from labdl.train.metrics import metric

pytest_plugins = ["pytest_jupyter.jupyter_server"]

OFFERED = options.choices()
SETTINGS = {
    "backend": "torch",
    "dataset": "digits",
    "optimizer": "adam",
    "learning_rate": 0.01,
    "epochs": 2,
    "batch_size": 32,
}
RANDOM = np.random.default_rng(0)
OF_KIND = {
    "classes": (RANDOM.normal(size=(30, 4)).astype("float32"), RANDOM.integers(0, 4, 30)),
    "numbers": (RANDOM.uniform(0.1, 1, (30, 1)).astype("float32"), RANDOM.uniform(0.1, 1, (30, 1)).astype("float32")),
}


# --- what is offered ---


@pytest.mark.parametrize("kind", OF_KIND)
def test_losses_and_metrics_that_are_said_to_fit_do(kind):
    output, target = OF_KIND[kind]
    losses = [offer["name"] for offer in OFFERED["losses"] if offer["kind"] == kind]
    metrics = [offer["name"] for offer in OFFERED["metrics"] if offer["kind"] == kind]
    first = OFFERED["first"][kind]
    assert len(losses) > 2
    assert len(metrics) > 5
    assert first["loss"] in losses
    assert set(first["metrics"]) <= set(metrics)
    for name in losses:
        assert np.isfinite(float(np.asarray(losses_by_name.loss(name)(output, target)))), name
    for name in metrics:
        assert np.isfinite(METRICS[name]()(output, target)), name


def test_every_loss_and_metric_declares_a_task():
    tasks = get_args(Task)
    losses = {cls for cls in LAYERS.values() if cls.layer_category == "loss" and cls.__module__.startswith("labdl.")}
    assert [cls for cls in losses if cls.layer_task not in tasks] == []
    assert [cls for cls in METRICS.values() if cls.task not in tasks] == []
    assert {cls for cls in LAYERS.values() if cls.layer_task} == losses


def test_one_class_is_enough_to_be_offered_for_its_task(monkeypatch):
    monkeypatch.setitem(LAYERS, "ScaledLoss", None)  # removed again after the test
    monkeypatch.setitem(METRICS, "scaled", None)

    @nn.layer({}, category="loss", namespace="", task="regression")
    class ScaledLoss(nn.Module):
        """A loss."""

        __module__ = "labdl.nn.loss.scaled"

        def forward(self, output, target):
            return output - target

    @metric
    class Scaled(Metric):
        """A metric."""

        __module__ = "labdl.train.metrics.scaled"
        task = "classification"

    offered = options._static_choices.__wrapped__()
    assert [o["kind"] for o in offered["losses"] if o["name"] == "scaled"] == ["numbers"]
    assert [o["kind"] for o in offered["metrics"] if o["name"] == "scaled"] == ["classes"]


def test_all_that_is_offered_has_a_line_and_a_form():
    for key in ("losses", "optimizers", "schedules"):
        for offer in OFFERED[key]:
            assert offer["summary"], offer["name"]
            assert not {"reduction", "learning_rate"} & offer["schema"]["properties"].keys()
    assert all(offer["summary"] for offer in OFFERED["metrics"])
    momentum = next(offer for offer in OFFERED["optimizers"] if offer["name"] == "nesterov")["schema"]["properties"]
    assert (momentum["momentum"]["default"], momentum["nesterov"]["default"]) == (0.9, True)
    json.dumps(OFFERED, allow_nan=False)


# --- the program ---


@pytest.fixture
def begun(monkeypatch):
    """Run a program up to the start of its training; what the training was started with."""
    seen = {}
    monkeypatch.setattr(labdl, "load", lambda *args, **options: seen.update(load=(args, options)) or nn.Linear(3))
    monkeypatch.setattr(
        labdl.Trainer, "start", lambda self, *args, **options: seen.update(trainer=self, start=(args, options))
    )

    def run(given):
        exec(script.train_code("nets/net.labdl", given)["code"], {})
        return seen

    return run


def test_every_choice_makes_a_program_that_runs(begun):
    for key, name in [("loss", offer["name"]) for offer in OFFERED["losses"]] + [
        ("optimizer", offer["name"]) for offer in OFFERED["optimizers"]
    ]:
        trainer = begun(SETTINGS | {key: name})["trainer"]
        assert name in (trainer.loss_name, trainer.optimizer.kind, "momentum", "nesterov")
    for offer in OFFERED["schedules"]:
        given = {"milestones": [1, 2]} if "milestones" in offer["schema"]["required"] else {}
        trainer = begun(SETTINGS | {"schedule": offer["name"], "schedule_settings": given})["trainer"]
        assert trainer.schedule.kind == offer["name"]


def test_the_program_does_what_was_chosen(begun):
    found = begun(
        SETTINGS
        | {
            "dataset": "diabetes",
            "loss": "huber",
            "loss_settings": {"delta": 2},
            "metrics": ["r2", "mean_absolute_error", "r2"],
            "optimizer": "sgd",
            "optimizer_settings": {"momentum": 0.8, "weight_decay": 0.01},
            "schedule": "multi_step",
            "schedule_settings": {"milestones": [10, 20]},
            "stopping": {"monitor": "val_r2", "mode": "max", "restore_best": True},
            "options": {"clip_norm": 2.5, "precision": "bfloat16"},
            "seed": 7,
            "parameters": "saved",
        }
    )
    trainer, (args, options) = found["trainer"], found["start"]
    assert (type(trainer.loss_function), trainer.loss_function.delta) == (nn.HuberLoss, 2)
    assert list(trainer.metrics) == ["r2", "mean_absolute_error"]
    assert trainer.optimizer == labdl.train.SGD(0.01, momentum=0.8, weight_decay=0.01)
    assert trainer.schedule == labdl.train.MultiStep((10, 20))
    assert (trainer.settings.stopping.monitor, trainer.settings.stopping.restore_best) == ("val_r2", True)
    assert (trainer.settings.clip_norm, trainer.settings.precision) == (2.5, "bfloat16")
    assert (args[0].name, options["validation"].name, options["save_to"]) == ("diabetes", "diabetes (test)", "net.npz")
    assert found["load"] == (("net.labdl",), {"backend": "torch"})  # with its parameters
    assert begun(SETTINGS)["load"][1] == {"backend": "torch", "parameters": False}


def test_a_file_in_the_program(begun, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it's.csv").write_text("a,b's,c\n" + "".join(f"{n},{n % 5 + 0.5},{n % 2}\n" for n in range(50)))
    found = begun(SETTINGS | {"dataset": "it's.csv", "target": "b's", "scale": False, "loss": "mean_squared_error"})
    assert found["start"][0][0].arrays[1].max() == 4.5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"loss": "cross"}, "loss wants one of .*, received 'cross'"),
        ({"loss": ["a"]}, "loss wants one of"),
        (
            {"loss_settings": {"label_smoothing": 2}},
            "label_smoothing wants a number at least 0 and below 1, received 2",
        ),
        ({"loss_settings": {"smoothing": 0}}, "cross_entropy has the settings .*, received 'smoothing'"),
        ({"loss_settings": {"reduction": "none"}}, "training wants one number"),
        ({"metrics": "accuracy"}, "metrics wants a list of names"),
        ({"metrics": ["acuracy"]}, "did you mean 'accuracy'"),
        ({"metrics": ["confusion_matrix"]}, "gives several numbers"),
        ({"optimizer_settings": {"momentum": 1}}, "Adam has the settings .*, received 'momentum'"),
        ({"optimizer_settings": {"weight_decay": -1}}, "weight_decay wants a number at least 0, received -1"),
        ({"optimizer_settings": {"learning_rate": 1}}, "learning_rate"),
        ({"schedule": "lambda"}, "schedule wants one of"),
        ({"schedule": "multi_step"}, "MultiStep needs milestones"),
        ({"schedule": "reduce_on_plateau", "schedule_settings": {"metric": "val_f1"}}, "received 'val_f1'"),
        (
            {"stopping": {"monitor": "val_f1"}},
            "stopping wants one of val_loss, val_accuracy, loss, accuracy, received 'val_f1'",
        ),
        ({"stopping": True}, "stopping wants settings by name"),
        (
            {"options": {"train_dataset": "x"}},
            "options wants one of clip_norm, accumulate, precision, .*fast_dev_run, received 'train_dataset'",
        ),
        ({"options": {"clip_norm": 0}}, "clip_norm wants"),
        ({"options": {"val_check_interval": 1.5}}, "val_check_interval wants"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": True}, "seed must be"),
        ({"parameters": "old"}, "parameters wants one of new, saved"),
        ({"dataset": "/etc/passwd"}, "dataset wants one of digits, .*, or a .csv, .npz or .pipeline.json file"),
        ({"dataset": "/etc/x.csv"}, "dataset wants one of"),
        ({"dataset": "x.csv", "target": 3}, "target wants a text"),
        ({"dataset": "x.csv", "missing": "zero"}, "missing wants one of error, drop, mean, median, most_frequent"),
        ({"dataset": "x.csv", "encode": ["a"]}, "encode wants one of none, one_hot, ordinal"),
        ({"dataset": "x.csv", "scale": "yes"}, "scale wants true or false"),
        ({"epochs": 10**10}, "epochs must be a whole number from 1 to 1,000,000,000"),
    ],
)
def test_invalid_choices_have_error_messages(given, sentence):
    with pytest.raises(ConfigError, match=sentence):
        script.train_code("net.labdl", SETTINGS | given)


KEYS = [
    *SETTINGS,
    "target",
    "scale",
    "missing",
    "encode",
    "loss",
    "loss_settings",
    "metrics",
    "optimizer_settings",
    "schedule",
    "schedule_settings",
    "stopping",
    "options",
    "seed",
    "parameters",
]
NAMES = [
    "milestones",
    "metric",
    "monitor",
    "clip_norm",
    "precision",
    "weight_decay",
    "class_weights",
    "label_smoothing",
    "multi_step",
    "reduce_on_plateau",
    "accuracy",
    "adam",
    "saved",
    "x.csv",
    "val_loss",
    "mode",
    "a'); import os #.csv",
]
TEXTS = (
    st.sampled_from([*NAMES, "__import__('os').abort()", "'); __import__('os').abort() #", "\n__import__"]) | st.text()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
CALLED = {
    "labdl",
    "seed",
    "data",
    "load",
    "train",
    "Trainer",
    "start",
    "nn",
    "csv",
    "npz",
    "digits",
    "train_set",
    "test_set",
    "model",
    "optimizer",
    "trainer",
    "run",
}


@settings(max_examples=400, deadline=None)
@given(given=st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=4), path=TEXTS)
def test_nothing_of_a_form_reaches_the_program_as_code(given, path):
    try:
        source = script.train_code(f"{path}.labdl", SETTINGS | given)["code"]
    except (LabDLError, OverflowError):
        return
    tree = ast.parse(source)
    assert len(tree.body) == 7
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not {word for word in words - CALLED if not (hasattr(labdl.train, word) or hasattr(nn, word))}


# --- what fits ---


def graph(shape=(None, 1, 8, 8), features=10, layers=("Flatten", "Linear")):
    names = ["input", *(kind.lower() for kind in layers)]
    nodes = [Node("Input", "input", {"shape": shape})] + [
        Node(kind, kind.lower(), {"out_features": features} if kind == "Linear" else {}) for kind in layers
    ]
    edges = {f"e{n}": Edge(names[n], names[n + 1]) for n in range(len(layers))}
    return Graph(dict(zip(names, nodes, strict=True)), edges)


@pytest.mark.parametrize(
    ("model", "given", "sentence"),
    [
        (graph(), {}, None),
        (graph(features=12), {}, None),  # more outputs than classes do no harm
        (
            graph(features=4),
            {},
            "digits has 10 classes, the model's output 4 numbers: give the last layer 10 features.",
        ),
        (
            graph((None, 4), 10),
            {},
            "digits has samples of 1 × 8 × 8, the model's input wants 4 numbers: give the Input the shape",
        ),
        (graph((None, 4), 3), {"dataset": "iris"}, None),
        (
            graph(),
            {"loss": "mean_squared_error"},
            "mean_squared_error does not fit the output (None, 10) of the model and the",
        ),
        (graph((None, 10), 1), {"dataset": "diabetes", "loss": "mean_squared_error"}, None),
        (
            graph((None, 10), 3),
            {"dataset": "diabetes", "loss": "mean_squared_error"},
            "diabetes has targets of one number, the model's output is 3 numbers: give the last layer 1 feature.",
        ),
        (graph(layers=("Flatten",)), {}, None),
        (graph(layers=("ReLU",)), {}, "cross_entropy does not fit"),
        (graph(layers=("Flatten", "Conv2d")), {}, "The model has problems: conv2d"),
        (Graph({}, {}), {}, "The model has no layers yet."),
    ],
)
def test_mismatches_are_reported_before_training(model, given, sentence):
    chosen = SETTINGS | given
    found = compatibility.mismatches(model, compatibility.describe_source(chosen["dataset"]), chosen)["problems"]
    assert (found == []) if sentence is None else (len(found) == 1 and sentence in found[0]), found


def test_a_file_is_looked_into(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("a,b,c\n" + "".join(f"{n},{n / 3},{n % 4}\n" for n in range(40)))
    told = data_files.describe_file(file)
    assert (told["columns"], told["target"], told["kind"], told["classes"]) == (["a", "b", "c"], "c", "classes", 4)
    assert (told["input_shape"], told["target_shape"]) == ([None, 2], [None])
    assert told["summary"] == "40 samples of 2 numbers, 4 classes"
    assert data_files.describe_file(file, "b")["summary"] == "40 samples of 2 numbers, a regression target"
    file.write_text("a,b\n" + "1,2\n" * 40)
    assert data_files.describe_file(file)["columns"] == ["a", "b"]  # another file by now
    np.savez(tmp_path / "images.npz", x=np.zeros((10, 3, 4, 4), "uint8"), y=np.arange(10))
    told = data_files.describe_file(tmp_path / "images.npz")
    assert (told["input_shape"], told["classes"], told["columns"]) == ([None, 3, 4, 4], 10, None)


def test_a_table_with_gaps_and_texts_in_the_form(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("a,b,c\n" + "".join(f"{n or ''},{'xyz'[n % 3]},{n % 2}\n" for n in range(40)))
    info = data_files.describe_file(file)
    assert info["columns"] == ["a", "b", "c"]
    assert "the column 'a' has nothing in line 2" in info["problem"]
    assert info["summary"] == info["problem"]
    assert "encode='one_hot'" in data_files.describe_file(file, missing="mean")["problem"]
    info = data_files.describe_file(file, missing="drop", encode="one_hot")
    assert (info["summary"], info["problem"]) == ("39 samples of 4 numbers, 2 classes", None)
    chosen = {"dataset": "points.csv", "missing": "median", "encode": "ordinal"}
    code = script.train_code("net.labdl", SETTINGS | chosen)["code"]
    assert "labdl.data.csv('points.csv', missing='median', encode='ordinal')" in code
    chosen = {"dataset": "points.csv", "missing": "error", "encode": "none"}
    assert "labdl.data.csv('points.csv')" in script.train_code("net.labdl", SETTINGS | chosen)["code"]


def test_a_large_file_is_not_read_by_the_server(tmp_path, monkeypatch):
    monkeypatch.setattr(data_files, "LIMIT", 10)
    file = tmp_path / "large.csv"
    file.write_text("a,b,c\n" + "1,2,x\n" * 40)
    told = data_files.describe_file(file)
    assert (told["columns"], told["kind"], told["input_shape"]) == (["a", "b", "c"], None, None)
    assert "too large to read" in told["summary"]
    assert compatibility.mismatches(graph(), told, SETTINGS)["problems"] == []


# --- the routes ---


@pytest.fixture
def ask(jp_fetch, jp_root_dir):
    (jp_root_dir / "net.labdl").write_bytes(service.encode(graph().to_dict()))

    async def fetch(route, body=None, **params):
        given = {} if body is None else {"method": "POST", "body": json.dumps(body)}
        try:
            response = await jp_fetch("labdl", route, params=params, **given)
        except HTTPClientError as error:
            response = error.response
        return response.code, json.loads(response.body)

    return fetch


async def test_answer_reports_mismatches(ask, jp_root_dir):
    status, answer = await ask("train", {"path": "net.labdl", **SETTINGS})
    assert (status, answer["problems"], answer["has_parameters"]) == (200, [], False)
    assert (answer["inputs"], answer["outputs"]) == ([[None, 1, 8, 8]], [[None, 10]])
    changed = graph(features=3).to_dict()  # what is being edited counts, not what was saved
    _, answer = await ask("train", {"path": "net.labdl", "graph": changed, **SETTINGS})
    assert "10 classes" in answer["problems"][0]
    _, answer = await ask("train", {"path": "net.labdl", **SETTINGS, "parameters": "saved"})
    assert answer["problems"] == ["This model has no saved parameters yet: start with new ones."]
    np.savez(jp_root_dir / "net.npz", a=np.zeros(1))
    _, answer = await ask("train", {"path": "net.labdl", **SETTINGS, "parameters": "saved"})
    assert (answer["problems"], answer["has_parameters"]) == ([], True)


async def test_targets_that_are_no_names(ask, jp_root_dir):
    np.savez(jp_root_dir / "points.npz", x=np.zeros((4, 2)), y=np.zeros(4))
    for target in ([], {"a": 1}, 3, True):
        status, _ = await ask("train", {"path": "net.labdl", **SETTINGS, "dataset": "points.npz", "target": target})
        assert status in (200, 400)


async def test_data_files_of_the_folder(ask, jp_root_dir):
    (jp_root_dir / "data").mkdir()
    (jp_root_dir / "data" / "points.csv").write_text("a,b\n" + "1,2\n3,1\n" * 10)
    status, told = await ask("data", path="net.labdl", name="data/points.csv")
    assert (status, told["columns"]) == (200, ["a", "b"])
    status, answer = await ask("train", {"path": "net.labdl", **SETTINGS, "dataset": "data/points.csv"})
    assert status == 200
    assert "points.csv has samples of one number" in answer["problems"][0]
    status, answer = await ask("data", path="net.labdl", name="data/points.csv", target="c")
    assert (status, answer["message"]) == (400, "points.csv has the columns a, b, received the target 'c'")


@pytest.mark.parametrize(
    "name", ["../out.csv", "data/../../out.csv", ".secret/in.csv", "none.csv", "link.csv", "net.labdl", ""]
)
async def test_other_files_are_not_listed(ask, jp_root_dir, name):
    (jp_root_dir / ".secret").mkdir()
    for file in (jp_root_dir.parent / "out.csv", jp_root_dir / ".secret" / "in.csv"):
        file.write_text("secret,b\n1,2\n3,4\n")
    (jp_root_dir / "link.csv").symlink_to(jp_root_dir.parent / "out.csv")
    status, answer = await ask("data", path="net.labdl", name=name)
    assert status in (400, 404)
    assert "secret,b" not in json.dumps(answer)
    assert "'secret'" not in json.dumps(answer)
