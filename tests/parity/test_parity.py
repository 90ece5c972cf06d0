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


class Workers:
    """A process for each backend, which takes longer to start than its tasks."""

    def __init__(self, folder):
        self.folder, self.processes, script = folder, {}, Path(__file__).with_name("worker.py")
        for name in FRAMEWORKS:
            with open(self.log_file(name), "wb") as log:
                self.processes[name] = subprocess.Popen(
                    [sys.executable, str(script), name, str(folder)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )

    def log_file(self, name):
        return self.folder / f"{name}.log"

    def work(self, task):
        """Results of a task by backend."""
        for process in self.processes.values():
            process.stdin.write(f"{task}\n")
            process.stdin.flush()
        results = {}
        for name, process in self.processes.items():
            printed = iter(process.stdout.readline, "")  # frameworks print lines of their own
            done = any(line.strip() == task for line in printed)
            assert done, f"{name} cannot {task}:\n{self.log_file(name).read_text(errors='replace')[-3000:]}"
            with np.load(self.folder / f"{name}-{task}.results.npz") as file:
                results[name] = dict(file)
        return results

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    started = Workers(tmp_path_factory.mktemp("parity"))
    yield started
    started.end()


@pytest.fixture(scope="module")
def trained(workers):
    return workers.work("train")


@pytest.fixture(scope="module")
def predicted(trained, workers):
    return workers.work("predict")


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
