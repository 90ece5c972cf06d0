"""Worker process of the parity tests for one backend: `worker.py BACKEND FOLDER` reads a task from each line.

``train`` finds the initial weights, the loss of every step and an output, and saves the model as FOLDER/BACKEND.labdl;
``predict`` loads every backend's model from FOLDER and computes its output. Results are in FOLDER/BACKEND-TASK.results.npz
when the task's name is printed.
"""

import sys
from pathlib import Path

import numpy as np

import labdl
from labdl import nn, ops

STEPS, BATCH = 24, 32


class Residual(nn.Module):
    """A small network with batch normalization and a skip connection."""

    def __init__(self):
        self.stem = nn.Conv2d(8, padding="same")
        self.norm = nn.BatchNorm()
        self.second = nn.Conv2d(8, padding="same")
        self.skip = nn.Add()
        self.pool = nn.MaxPool2d()
        self.flatten = nn.Flatten()
        self.head = nn.Linear(10)

    def forward(self, x):
        h = ops.relu(self.norm(self.stem(x)))
        return self.head(self.flatten(self.pool(self.skip(self.second(h), h))))


def samples():
    return labdl.data.digits()[1].arrays[0][:50]


def train(backend, folder):
    model = Residual().build((None, 1, 8, 8), backend=backend, seed=0)
    results = {f"initial/{k}": v for k, v in model.state_dict().items()}
    # stochastic gradient descent: Adam turns rounding errors of gradients that are zero in theory into steps
    trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(0.05, momentum=0.9))
    loader = labdl.data.Loader(labdl.data.digits()[0], BATCH, shuffle=True, seed=0)
    model.train()
    steps = [trainer.train_one_batch(x, y)["loss"] for (x, y), _ in zip(loader.epoch(0), range(STEPS), strict=False)]
    results["loss"] = np.array(steps)
    results["output"] = labdl.predict(model, samples())
    labdl.save(model, folder / backend)
    return results


def predict(backend, folder):
    names = [p.stem for p in sorted(folder.glob("*.labdl"))]
    return {name: labdl.predict(labdl.load(folder / name, backend=backend), samples()) for name in names}


if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    for line in sys.stdin:
        task = line.strip()
        np.savez(folder / f"{name}-{task}.results.npz", **{"train": train, "predict": predict}[task](name, folder))
        print(task, flush=True)
