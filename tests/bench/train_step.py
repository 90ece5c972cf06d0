"""Cost of a training step: LabDL against the best hand-written native code and Keras 3, alternated in one process.

    python tests/bench/train_step.py torch [--rounds 60] [--only mlp block+adamw+clip] [--kinds eager] [--keras] [--save]

All take a NumPy batch and give the loss as a float. A case is a model of `models.py`, with plain SGD or with the optimizer
and the clipping of gradients that its name says. Prints the median processor time of each, and LabDL's ratio to the others
of its kind with its standard error: eager to eager, compiled to compiled. ``--keras`` puts Keras 3 on this framework beside
the models that it has. ``--save`` keeps the ratios in tests/bench/results, of which scripts/speed_table.py makes the table
of docs/speed.md.
"""

import argparse
import importlib
import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import labdl
from labdl import train

sys.path.insert(0, str(Path(__file__).parent))
from models import MODELS, target_shape

WARM = 5  # the first calls trace, allocate and warm the caches
CLIP = 1.0  # norm of all gradients
RESULTS = Path(__file__).parent / "results"
OPTIMIZERS = {
    "sgd": train.SGD(0.01),
    "momentum": train.SGD(0.01, momentum=0.9),
    "nesterov": train.SGD(0.01, momentum=0.9, nesterov=True),
    "adam": train.Adam(),
    "adamw": train.AdamW(),
    "rmsprop": train.RMSprop(),
    "lamb": train.LAMB(),
}
CASES = [*MODELS, *(f"mlp+{name}" for name in OPTIMIZERS if name != "sgd"), "block+adamw", "block+adamw+clip"]
KERAS = ("mlp", "cnn", "block", "lstm")


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


def parts_of(case: str) -> tuple[str, str, float | None]:
    """The model, the optimizer, and the norm to which gradients are clipped."""
    model, *others = case.split("+")
    return model, next((name for name in others if name in OPTIMIZERS), "sgd"), CLIP if "clip" in others else None


def ours(case: str, compiled, backend: str, x, y):
    model, optimizer, clip = parts_of(case)
    trainer = labdl.Trainer(
        MODELS[model]()[0],
        optimizer=OPTIMIZERS[optimizer],
        clip_norm=clip,
        backend=backend,
        seed=0,
        compiled=compiled,
    )
    return lambda: trainer.train_one_batch(x, y)


def batch_of(case: str, samples: int | None = None):
    name = parts_of(case)[0]
    shape = MODELS[name]()[1]
    shape = (samples or shape[0], *shape[1:])
    draw = np.random.default_rng(0)
    return draw.normal(size=shape).astype("float32"), draw.integers(0, 10, target_shape(name, shape))


def compare(case: str, backend: str, rounds: int, kinds, keras: bool) -> dict:
    """Print the times of a case; the ratio to native code, and its error, by kind."""
    x, y = batch_of(case)
    native = importlib.import_module(f"native.{backend}_native").steps(*parts_of(case))
    functions = {}
    for kind, step in native.items():  # such as "eager", "compiled", "xla"
        if kinds and kind not in kinds:
            continue
        functions[f"labdl {kind}"] = ours(case, {"eager": False, "compiled": True}.get(kind, kind), backend, x, y)
        functions[f"native {kind}"] = lambda step=step: step(x, y)
    if keras and case in KERAS:
        from native.keras_steps import step as keras_step

        functions["keras"] = keras_step(case, x, y)
    if not functions:
        print(f"  {case:17} {backend} has no such native code", flush=True)
    spent = dict(zip(functions, alternate(functions.values(), rounds), strict=True))
    found = {}
    for label, times in spent.items():
        kind = label.removeprefix("labdl ")
        others = [] if kind == label else [other for other in (f"native {kind}", "keras") if other in spent]
        ratios = {other: ratio(times, spent[other]) for other in others}
        text = "".join(f"  labdl / {other} = {value:.3f} ± {error:.3f}" for other, (value, error) in ratios.items())
        print(f"  {case:17} {label:16} {statistics.median(times) * 1e3:9.3f} ms{text}", flush=True)
        found |= {kind if other != "keras" else f"{kind} to keras": ratios[other] for other in ratios}
    return found


def ratio(times: list[float], others: list[float]) -> tuple[float, float]:
    """The median of the rounds' own ratios, with its standard error: what slows a round down slows both sides."""
    each = [mine / other for mine, other in zip(times, others, strict=True)]
    spread = statistics.quantiles(each, n=4)
    return statistics.median(each), 1.25 * (spread[2] - spread[0]) / 1.35 / len(each) ** 0.5


def save(backend: str, version: str, rounds: int, found: dict) -> None:
    """Add to the results of this backend, which another version or number of rounds replaces."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"train_step-{backend}.json"
    former = json.loads(file.read_text()) if file.exists() else {}
    cases = former.get("cases", {}) if former.get("version") == version else {}
    cases |= {
        case: {kind: [round(n, 4) for n in pair] for kind, pair in kinds.items()}
        for case, kinds in found.items()
        if kinds
    }
    file.write_text(json.dumps({"version": version, "rounds": rounds, "cases": cases}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--only", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--kinds", nargs="+", choices=["eager", "compiled", "xla"], help="all that the backend has")
    parser.add_argument("--keras", action="store_true", help="Keras 3 as well, on torch or tensorflow")
    parser.add_argument("--save", action="store_true", help="keep the ratios in tests/bench/results")
    options = parser.parse_args()
    if options.keras:
        os.environ["KERAS_BACKEND"] = options.backend
    labdl.use(options.backend)
    version = labdl.backends.available()[options.backend]
    print(f"{options.backend} {version}: step = NumPy batch in, loss as float out; processor time")
    found = {
        case: compare(case, options.backend, options.rounds, options.kinds, options.keras) for case in options.only
    }
    if options.save:
        save(options.backend, version, options.rounds, found)


if __name__ == "__main__":
    main()
