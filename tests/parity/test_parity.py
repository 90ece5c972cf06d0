"""The same model on every framework: equal weights, equal training, and files that open on all of them (D4, D10).

A worker process a backend computes (see worker.py); a framework that is missing fails, it is never left out.
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
    """Results of a task by backend; two workers at a time, more would not fit a small machine."""
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
def test_one_seed_gives_equal_bits_everywhere(trained, name):
    initial = {k: v for k, v in trained[REFERENCE].items() if k.startswith("initial/")}
    assert len(initial) == 10
    for key, value in initial.items():
        assert trained[name][key].dtype == value.dtype
        np.testing.assert_array_equal(trained[name][key], value)


@pytest.mark.parametrize("name", FRAMEWORKS[1:])
def test_training_agrees_at_every_step(trained, name):
    reference = trained[REFERENCE]["loss"]
    assert len(reference) == 24
    assert reference[-1] < 0.6 * reference[0]
    np.testing.assert_allclose(trained[name]["loss"], reference, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_model_saved_on_one_predicts_on_another(trained, predicted, source, target):
    expected = trained[source]["output"]
    assert expected.shape == (50, 10)
    np.testing.assert_allclose(predicted[target][source], expected, rtol=0, atol=1e-5)
