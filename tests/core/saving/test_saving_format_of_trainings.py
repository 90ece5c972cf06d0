"""docs/file-format.md is sufficient to read a checkpoint folder without LabDL, and agrees with the code."""

import dataclasses
import inspect
import math
import re

import numpy as np
import pytest
from test_saving_format import DOCUMENT, reader

import labdl
from labdl import nn, train
from labdl.train import Checkpoint, Trainer, checkpoint, pytree
from labdl.train.optimizers import OPTIMIZERS
from labdl.train.progress import MonitoredValue, OptionalState, Progress, TrainingDocument

PART = DOCUMENT.partition("## Checkpoint folders")[2]


@pytest.fixture(scope="module")
def read():
    return reader()


def subject():
    model = nn.Sequential(nn.Conv2d(2, 2), nn.Flatten(), nn.Linear(1)).build((None, 1, 4, 4), backend="torch", seed=0)
    return Trainer(model, "mean_squared_error", metrics=["spearman_correlation"], schedule="plateau", seed=3)


X = np.random.default_rng(0).normal(size=(10, 1, 4, 4)).astype("float32")
DATA = X, X.mean((1, 2, 3), keepdims=True)[:, 0, 0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Checkpoints within epochs and at their ends, one written a second time, and what else may lie there."""
    folder, trainer = tmp_path_factory.mktemp("training"), subject()
    trainer.fit(*DATA, epochs=3, batch_size=4, progress=False, checkpoint=Checkpoint(folder, every=2, keep=None))
    trainer.save_checkpoint(folder)
    (folder / ".step-00000010.0123abcd.part").mkdir()
    (folder / "step-00000099").mkdir()
    (folder / "notes").write_text("mine")
    return folder


def alike(first, second):
    if isinstance(first, np.ndarray):
        return isinstance(second, np.ndarray) and first.dtype == second.dtype and np.array_equal(first, second)
    if isinstance(first, dict):
        return (
            isinstance(second, dict)
            and first.keys() == second.keys()
            and all(alike(first[k], second[k]) for k in first)
        )
    if isinstance(first, list | tuple):
        return type(first) is type(second) and len(first) == len(second) and all(map(alike, first, second))
    return type(first) is type(second) and (first == second or first != first)


def test_the_reader_of_the_document_reads(read, folder):
    found = read["checkpoints"](folder)
    assert found == checkpoint.checkpoints(folder)
    assert [path.name for path in found] == [f"step-0000000{step}" for step in (2, 4, 6, 8, "9", "9-2")]
    for path in found:
        parameters, slots, state = read["read_checkpoint"](path)
        trainer = subject()
        trainer.load_checkpoint(path)
        told = trainer.state_dict()
        assert alike(parameters, told["parameters"])
        assert alike(slots, told["optimizer"])
        assert alike({**state, "random": None, "monitored": None}, {**told["training"], "random": None})
    within = read["read_checkpoint"](found[0])[2]
    assert isinstance(within["metrics"]["spearman_correlation"], tuple)
    assert labdl.load(found[0] / "model", backend="numpy").backend == "numpy"


class Noted(labdl.data.ArrayDataset):
    """Keeps which samples were asked for."""

    def __getitem__(self, places):
        self.asked = places
        return super().__getitem__(places)


def test_batches_follow_from_the_saved_progress(read, folder):
    """The samples of the next batch are those that the document's rule gives."""
    for path in read["checkpoints"](folder)[:4]:
        now = read["read_checkpoint"](path)[2]["progress"]
        order = np.random.default_rng([now["seed"], now["epoch"]]).permutation(now["samples"])
        at, data = now["batch"] * now["batch_size"], Noted(*DATA)
        events = subject().events(data, epochs=3, batch_size=4, resume=path)
        assert next(event.step for event in events if isinstance(event, train.Step)) == now["step"] + 1
        assert np.array_equal(data.asked, order[at : at + now["batch_size"]])
        events.close()


FIGURES = {
    "min": [3.0, 1.0, math.nan, 1.0, -math.inf, 2.0, -math.inf],
    "max": [3.0, 1.0, math.nan, 3.0, math.inf, 2.0, math.inf],
}


@pytest.mark.parametrize("mode", FIGURES)
def test_best_checkpoint_follows_the_document(mode, read, tmp_path):
    assert read["best"](tmp_path) is None
    trainer = subject()
    for i, value in enumerate([*FIGURES[mode], 0.5, 0.7]):
        monitored = MonitoredValue("figure" if i < 7 else "another", mode, value)
        checkpoint.save(trainer.context, trainer.state, tmp_path, monitored=None if i == 5 else monitored)
        assert read["best"](tmp_path) == checkpoint.best(tmp_path)
        assert read["best"](tmp_path) is not None


def keys(text):
    return [name for row in re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]


def test_the_document_lists_every_key():
    document, _, rest = PART.partition("These keys are all required")[2].partition("**progress.**")
    assert keys(document) == [field.name for field in dataclasses.fields(TrainingDocument)]
    progress, _, rest = rest.partition("**random.**")
    assert keys(progress) == [field.name for field in dataclasses.fields(Progress)]
    features = rest.partition("**features.**")[2].partition("### A reader")[0]
    assert keys(features) == [field.name for field in dataclasses.fields(OptionalState)]
    marks = PART.partition("| encoding |")[2].partition("\n\n")[0]
    assert set(re.findall(r"\$\w+", marks)) == set(re.findall(r"\$\w+", inspect.getsource(pytree.encode)))


def test_the_document_lists_the_slots_of_every_optimizer():
    """The words of a row are slots, or settings on which they depend."""
    table = PART.partition("| optimizer | slots |")[2].partition("\n\n")[0]
    listed = {}
    for kinds, slots in re.findall(r"^\| (`.+?) \| (.+?) \|$", table, re.MULTILINE):
        for kind in re.findall(r"`(\w+)`", kinds):
            assert kind not in listed
            listed[kind] = set(re.findall(r"`(\w+)`", slots))
    found = {}
    for named in OPTIMIZERS.values():
        rule = named.make()
        settings = {f.name for f in dataclasses.fields(rule)}
        more = {
            name: value
            for name, value in {"amsgrad": True, "centered": True, "momentum": 0.5}.items()
            if name in settings
        }
        slots = {name for one in (rule, rule.replace(more)) for shape in ((3,), (5, 3)) for name in one.slots(shape)}
        found.setdefault(rule.kind, set()).update(slots | (settings & listed[rule.kind] - slots))
    assert found == listed
