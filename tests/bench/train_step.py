"""Cost of a training step: LabDL against the best hand-written native code, alternated in one process.

    python tests/bench/train_step.py torch [--rounds 60]

Both take a NumPy batch and give the loss as a float, with plain SGD. Prints the median of each and their ratio.
"""

import argparse
import importlib
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import labdl
from labdl import nn

sys.path.insert(0, str(Path(__file__).parent))


def mlp():
    """784-256-10, batch 64."""
    model = nn.Sequential(nn.Linear(256), nn.ReLU(), nn.Linear(10))
    return model, (64, 784)


def cnn():
    """3 × 32 × 32, batch 32: two convolutions with pooling, one linear layer."""
    model = nn.Sequential(
        nn.Conv2d(32, padding="same"), nn.ReLU(), nn.MaxPool2d(),
        nn.Conv2d(64, padding="same"), nn.ReLU(), nn.MaxPool2d(),
        nn.Flatten(), nn.Linear(10),
    )  # fmt: skip
    return model, (32, 3, 32, 32)


def alternate(functions, rounds: int) -> list[list[float]]:
    """Seconds of each call, the functions taking turns so that a busy machine slows all of them alike."""
    spent: list[list[float]] = [[] for _ in functions]
    for turn in range(rounds + 5):
        for times, function in zip(spent, functions, strict=True):
            began = time.perf_counter()
            function()
            if turn >= 5:  # the first calls trace, allocate and warm the caches
                times.append(time.perf_counter() - began)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backend", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    labdl.use(options.backend)
    native = importlib.import_module(f"native.{options.backend}_native")
    rng = np.random.default_rng(0)
    print(
        f"{options.backend} {labdl.backends.available()[options.backend]}: step = NumPy batch in, loss as float out, SGD"
    )
    for build in (mlp, cnn):
        model, shape = build()
        x, y = rng.normal(size=shape).astype("float32"), rng.integers(0, 10, shape[0])
        trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(0.01), backend=options.backend, seed=0)
        names, functions = ["labdl"], [lambda t=trainer, x=x, y=y: t.train_one_batch(x, y)]
        for name, step in getattr(native, build.__name__)().items():
            names.append(name)
            functions.append(lambda s=step, x=x, y=y: s(x, y))
        medians = [statistics.median(t) for t in alternate(functions, options.rounds)]
        for name, median in zip(names, medians, strict=True):
            ratio = "" if name == "labdl" else f"  labdl / {name} = {medians[0] / median:.3f}"
            print(f"  {build.__name__}  {name:<24} {median * 1e3:9.3f} ms{ratio}")


if __name__ == "__main__":
    main()
