"""A training whose process is killed resumes with the results of an uninterrupted one."""

from pathlib import Path

import numpy as np
import pytest
from interrupted import equal, fit, own_seeds, trainer, uninterrupted
from killable import Children

import labdl
from labdl.train import Checkpoint
from labdl.train.checkpoint import checkpoints

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.sample(backends=2),
]  # a child that hangs ends the test, not the whole run

PAUSING = """
import sys, time, labdl
sys.path.insert(0, PATH)
labdl.use(BACKEND)
import interrupted
from labdl.train import Checkpoint, checkpoint
flush = checkpoint._write
def pausing(path, content):
    flush(path, content)
    if "step-00000008" in str(path.parent):
        print("writing", flush=True)
        time.sleep(600)
checkpoint._write = pausing
labdl.seed(3)
subject = interrupted.trainer(labdl.backends.get(BACKEND), compiled=False)
interrupted.fit(subject, checkpoint=Checkpoint(FOLDER, every=2))
"""


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


@pytest.fixture(scope="module")
def whole(backend):
    return uninterrupted(backend)


def test_killed_training_resumes(backend, whole, tmp_path, kernel):
    """kill -9 while a checkpoint is being written: the last complete one is resumed."""
    values = {"PATH": str(Path(__file__).parents[1]), "BACKEND": backend.name, "FOLDER": str(tmp_path)}
    source = PAUSING
    for name, value in values.items():
        source = source.replace(name, repr(value))
    kernel.kill_when_printed(source, "writing\n")
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000002", "step-00000004", "step-00000006"]
    assert list(tmp_path.glob(".step-00000008.*.part"))
    labdl.seed(77)
    again = trainer(backend, seed=50)
    history = fit(again, checkpoint=Checkpoint(tmp_path, every=2), resume=True)
    assert history == whole["training"]["progress"]["history"]
    assert equal(again.model.state_dict(), whole["parameters"])
    assert not list(tmp_path.glob(".*")), "partial files are removed"


@pytest.fixture
def children(backend, tmp_path):
    with Children(backend.name, tmp_path) as made:
        yield made


@pytest.mark.sample(False)
def test_training_killed_at_random_moments_resumes(children, tmp_path):
    """Two trainings, each killed four times at random: the results are bitwise those of an uninterrupted one."""
    rng, breaks = np.random.default_rng(6), 0
    whole = children.finish(tmp_path / "whole")
    for training in range(2):
        folder = tmp_path / f"training{training}"
        for step in sorted(rng.choice(np.arange(1, 9), 4, replace=False)):
            children.start(folder)
            breaks += children.kill_at(step, rng.uniform(0, 0.02))
        assert equal(children.finish(folder), whole)
    assert breaks == 8
