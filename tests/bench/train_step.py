"""Cost of a training step: LabDL against the best hand-written native code and Keras 3, alternated in one process.

    python tests/bench/train_step.py torch [--rounds 60] [--only mlp lstm] [--keras]

All take a NumPy batch and give the loss as a float, with plain SGD. Prints the median processor time of each, and LabDL's
ratio to the others of its kind with its standard error: eager to eager, compiled to compiled. ``--keras`` puts Keras 3 on
this framework beside them.
"""

import argparse
import importlib
import os
import random
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import labdl
from labdl import nn

sys.path.insert(0, str(Path(__file__).parent))

WARM = 5  # the first calls trace, allocate and warm the caches


def mlp():
    """784-256-10, batch 64."""
    return nn.Sequential(nn.Linear(256), nn.ReLU(), nn.Linear(10)), (64, 784)


def cnn():
    """3 × 32 × 32, batch 32: two convolutions with pooling, one linear layer."""
    model = nn.Sequential(
        nn.Conv2d(32, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(),
        nn.Conv2d(64, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(),
        nn.Flatten(),
        nn.Linear(10),
    )
    return model, (32, 3, 32, 32)


def block():
    """One encoder layer of a transformer: 16 sequences of 64 steps, 128 features, 4 heads, 512 hidden ones, dropout 0.1."""
    model = nn.Sequential(nn.TransformerEncoderLayer(4, feed_forward=512, rate=0.1), nn.Flatten(), nn.Linear(10))
    return model, (16, 64, 128)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.flatten, self.head = nn.LSTM(128), nn.Flatten(), nn.Linear(10)

    def forward(self, x):
        return self.head(self.flatten(self.lstm(x)[0]))


def lstm():
    """One LSTM layer of 128 over 50 steps of 64 features, batch 32, and a linear layer."""
    return Recurrent(), (32, 50, 64)


MODELS = {build.__name__: build for build in (mlp, cnn, block, lstm)}


def alternate(functions, rounds: int) -> list[list[float]]:
    """Processor seconds of each call, the functions taking turns so that a busy machine slows all of them alike.

    In another order each round: a compiled step behind an eager one finds caches and threads as that has left them, which
    costs up to 40 %.
    """
    functions, order = list(functions), random.Random(0)
    spent: list[list[float]] = [[] for _ in functions]
    for turn in range(rounds + WARM):
        for at in order.sample(range(len(functions)), len(functions)):
            began = time.process_time()
            functions[at]()
            if turn >= WARM:
                spent[at].append(time.process_time() - began)
    return spent


def ours(name: str, compiled, backend: str, x, y):
    trainer = labdl.Trainer(
        MODELS[name]()[0], optimizer=labdl.train.SGD(0.01), backend=backend, seed=0, compiled=compiled
    )
    return lambda: trainer.train_one_batch(x, y)


def compare(name: str, backend: str, rounds: int, keras: bool) -> None:
    _, shape = MODELS[name]()
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=shape).astype("float32"), draw.integers(0, 10, shape[0])
    native = getattr(importlib.import_module(f"native.{backend}_native"), name)()
    functions = {}
    for kind, step in native.items():  # such as "eager", "compiled", "xla"
        functions[f"labdl {kind}"] = ours(name, {"eager": False, "compiled": True}.get(kind, kind), backend, x, y)
        functions[f"native {kind}"] = lambda step=step: step(x, y)
    if keras:
        from native.keras_steps import step as keras_step

        functions["keras"] = keras_step(name, x, y)
    spent = dict(zip(functions, alternate(functions.values(), rounds), strict=True))
    for label, times in spent.items():
        kind = label.removeprefix("labdl ")
        others = [] if kind == label else [other for other in (f"native {kind}", "keras") if other in spent]
        ratios = "".join(f"  labdl / {other} = {ratio(times, spent[other])}" for other in others)
        print(f"  {name:6} {label:18} {statistics.median(times) * 1e3:9.3f} ms{ratios}", flush=True)


def ratio(times: list[float], others: list[float]) -> str:
    """The median of the rounds' own ratios, with its standard error: what slows a round down slows both sides."""
    each = [mine / other for mine, other in zip(times, others, strict=True)]
    spread = statistics.quantiles(each, n=4)
    return f"{statistics.median(each):.3f} ± {1.25 * (spread[2] - spread[0]) / 1.35 / len(each) ** 0.5:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--only", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--keras", action="store_true", help="Keras 3 as well, on torch or tensorflow")
    options = parser.parse_args()
    if options.keras:
        os.environ["KERAS_BACKEND"] = options.backend
    labdl.use(options.backend)
    version = labdl.backends.available()[options.backend]
    print(f"{options.backend} {version}: step = NumPy batch in, loss as float out, SGD; processor time")
    for name in options.only:
        compare(name, options.backend, options.rounds, options.keras)


if __name__ == "__main__":
    main()
