"""Threads that PyTorch keeps for a thread at rest do not slow down the one that trains."""

import os
import subprocess
import sys

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


def test_a_team_of_threads_goes_and_comes_again():
    done = subprocess.run([sys.executable, "-c", RESTING], env=os.environ | {"OMP_NUM_THREADS": "2"}, capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stdout.split() == ["True", "-1", "0"]
