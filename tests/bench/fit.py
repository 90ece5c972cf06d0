"""Cost of `fit` as people call it, of a recorded run, of `evaluate` and of `Inference`, against loops of an experienced user.

    python tests/bench/fit.py torch [--rounds 20] [--only mlp] [--tasks fit infer] [--save]

An epoch of 32 batches with Adam, accuracy and the progress bar; the native loop reads its mean loss and accuracy once, at
the end of the epoch. Processor time of the whole process, alternated, all in the default mode of the backend.
"""

import argparse
import contextlib
import importlib
import io
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

import labdl
import labdl.infer

sys.path.insert(0, str(Path(__file__).parent))
from models import MODELS
from train_step import alternate, ratio, save

NAMES = ("mlp", "cnn", "block")
BATCHES = 32


def tasks(name: str, backend: str, x, y, batch: int) -> dict:
    """For each task a function of LabDL, and one of native code."""
    native = importlib.import_module(f"native.{backend}_native")
    (train,), (predict,) = native.epochs(name, batch).values(), native.predictions(name, batch).values()

    def trainer():
        return labdl.Trainer(MODELS[name]()[0], metrics=["accuracy"], backend=backend, batch_size=batch, seed=0)

    fitted, recorded = trainer(), trainer()
    evaluated = trainer()
    evaluated.fit(x[: 2 * batch], y[: 2 * batch], progress=False)
    inference = labdl.infer.Inference(evaluated.model, batch_size=batch)

    def fit():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            fitted.fit(x, y)

    def record():
        with tempfile.TemporaryDirectory() as folder:
            recorded.start((x, y), folder=Path(folder) / "run").wait()

    def evaluate_natively():
        scores = predict(x)
        right = np.mean(scores.argmax(-1) == y)
        scores = scores - scores.max(-1, keepdims=True)
        return right, np.mean(np.log(np.exp(scores).sum(-1)) - scores[np.arange(len(y)), y])

    return {
        "fit": (fit, lambda: train(x, y)),
        "recorded": (record, lambda: train(x, y)),
        "evaluate": (lambda: evaluated.evaluate((x, y)), evaluate_natively),
        "infer": (lambda: inference.infer(x), lambda: predict(x)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--tasks", nargs="+", choices=["fit", "recorded", "evaluate", "infer"])
    parser.add_argument("--save", action="store_true", help="keep the ratios in tests/bench/results")
    options = parser.parse_args()
    labdl.use(options.backend)
    version = labdl.backends.available()[options.backend]
    print(f"{options.backend} {version}: {BATCHES} batches; processor time")
    found = {}
    for name in options.only:
        batch, *shape = MODELS[name]()[1]
        draw = np.random.default_rng(0)
        x = draw.normal(size=(batch * BATCHES, *shape)).astype("float32")
        y = draw.integers(0, 10, len(x))
        for task, functions in tasks(name, options.backend, x, y, batch).items():
            if options.tasks and task not in options.tasks:
                continue
            ours, native = alternate(functions, options.rounds)
            value, error = ratio(ours, native)
            print(
                f"  {name:6} {task:9} labdl {statistics.median(ours) * 1e3:9.1f} ms, native "
                f"{statistics.median(native) * 1e3:9.1f} ms, ratio {value:.3f} ± {error:.3f}",
                flush=True,
            )
            found[f"{task} {name}"] = {"default": (value, error)}
    if options.save:
        save(options.backend, version, options.rounds, found)


if __name__ == "__main__":
    main()
