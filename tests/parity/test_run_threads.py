"""Thread pools of PyTorch in idle threads are released, because they slow down the training thread."""

import os
import subprocess
import sys
import threading

import numpy as np

from labdl import backends, nn, train

RESTING = """
import psutil, sys, torch
from labdl import backends
backend, process = backends.get("torch"), psutil.Process()
a = torch.ones(512, 512)
def computed():
    total = float((a @ a).sum() + torch.exp(torch.zeros(10**6)).sum())
    return total, process.num_threads()
first, team = computed()
backend.rest_threads()
resting = process.num_threads()
again, there = computed()
print(first == again, resting - team, there - team)
"""


def test_thread_pool_is_released_and_created_again():
    done = subprocess.run(
        [sys.executable, "-c", RESTING],
        env=os.environ | {"OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "-1", "0"]


def test_starting_a_run_or_a_sweep_releases_the_pool_of_the_calling_thread(monkeypatch, tmp_path):
    rested = []
    monkeypatch.setattr(backends.get("torch"), "rest_threads", lambda: rested.append(threading.current_thread()))
    x = np.ones((8, 2), "float32")
    options = {"loss": "mean_squared_error", "backend": "torch"}
    train.Trainer(nn.Linear(1), **options).start(x, x[:, :1], epochs=1, folder=tmp_path / "run").wait()
    assert rested == [threading.main_thread()]
    train.sweep(
        lambda: nn.Linear(1),
        {"learning_rate": [0.1]},
        (x, x[:, :1]),
        method="grid",
        folder=tmp_path / "sweep",
        **options,
    ).wait()
    assert rested[:2] == [threading.main_thread()] * 2
