"""The same model on every framework: equal initial weights, equal training, and portable files.

A worker process per backend computes (see worker.py); a missing framework is a failure, not a skip.
"""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FRAMEWORKS = ("torch", "tensorflow", "paddle", "mindspore")
REFERENCE = FRAMEWORKS[0]
PAIRS = [p for p in itertools.product(FRAMEWORKS, repeat=2) if p[0] != p[1]]


def work(task, folder):
    """Results of a task by backend; at most two workers at a time, for small machines."""
    found, script = {}, Path(__file__).with_name("worker.py")
    for couple in (FRAMEWORKS[:2], FRAMEWORKS[2:]):
        running = {
            name: subprocess.Popen(
                [sys.executable, str(script), name, task, str(folder)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for name in couple
        }
        for name, process in running.items():
            out, _ = process.communicate(timeout=300)
            assert process.returncode == 0, f"{name} cannot {task} (exit status {process.returncode}):\n{out[-3000:]}"
            with np.load(folder / f"{name}-{task}.results.npz") as file:
                found[name] = dict(file)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parity")


@pytest.fixture(scope="module")
def trained(folder):
    return work("train", folder)


@pytest.fixture(scope="module")
def predicted(trained, folder):
    return work("predict", folder)


@pytest.mark.parametrize("name", FRAMEWORKS[1:])
def test_initial_weights_are_bitwise_equal(trained, name):
    initial = {k: v for k, v in trained[REFERENCE].items() if k.startswith("initial/")}
    assert len(initial) == 10
    for key, value in initial.items():
        assert trained[name][key].dtype == value.dtype
        np.testing.assert_array_equal(trained[name][key], value)


@pytest.mark.parametrize("name", FRAMEWORKS[1:])
def test_losses_agree_at_every_step(trained, name):
    reference = trained[REFERENCE]["loss"]
    assert len(reference) == 24
    assert reference[-1] < 0.6 * reference[0]
    np.testing.assert_allclose(trained[name]["loss"], reference, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_saved_model_predicts_on_another_backend(trained, predicted, source, target):
    expected = trained[source]["output"]
    assert expected.shape == (50, 10)
    np.testing.assert_allclose(predicted[target][source], expected, rtol=0, atol=1e-5)
