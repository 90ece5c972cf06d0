"""Peak memory of a training: LabDL against the native code of `train_step`, each in processes of its own, three times each.

    python tests/bench/memory.py torch [--kind compiled]

Batches are larger than in `train_step`, so that tensors and not code take the memory. What counts is how far the resident
memory of the process rises above what it is with the framework imported and the batch made. malloc is told to give every
larger block back at once, for what it keeps by itself depends on the order of sizes; printed are the smallest rises.
"""

import argparse
import importlib
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

SAMPLES = {"mlp": 4096, "cnn": 256, "block": 128, "lstm": 256}
STEPS = 12


def resident() -> int:
    """Bytes of this process that are in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def rise(side: str, backend: str, name: str, kind: str) -> int:
    """Train in this process; bytes between the beginning and the peak."""
    import train_step

    import labdl

    labdl.use(backend)
    native = importlib.import_module(f"native.{backend}_native")
    x, y = train_step.batch_of(name, SAMPLES[name])
    warm = train_step.ours("mlp", False, backend, *[a[:8] for a in (np.zeros((8, 784), "float32"), y)])
    warm()  # what a framework takes for itself at its first step, whoever asks
    native.steps("mlp", "sgd")  # and for its compiler
    before = resident()
    compiled = {"eager": False, "compiled": True, "default": None}.get(kind, kind)
    step = (
        train_step.ours(name, compiled, backend, x, y)
        if side == "labdl"
        else native.steps(*train_step.parts_of(name))[kind]
    )
    for _ in range(STEPS):
        step() if side == "labdl" else step(x, y)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before


def measured(*arguments: str) -> int:
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(2**17)}
    rises = [
        subprocess.run(
            [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True, env=environment
        ).stdout
        for _ in range(3)
    ]
    return min(int(text.split()[-1]) for text in rises)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument(
        "--kind", default=None, help="eager, compiled or xla; by default what the backend does by default"
    )
    parser.add_argument("--only", nargs="+", choices=list(SAMPLES), default=list(SAMPLES))
    parser.add_argument("--one", nargs=2, metavar=("SIDE", "MODEL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    kind = options.kind or {"torch": "eager", "paddle": "eager"}.get(options.backend, "compiled")
    if options.one:
        print(rise(options.one[0], options.backend, options.one[1], kind))
        return
    print(f"{options.backend}, {kind}: rise of resident memory while {STEPS} steps are trained")
    for name in options.only:
        given = [options.backend, "--kind", kind, "--one"]
        ours, native = measured(*given, "labdl", name), measured(*given, "native", name)
        print(
            f"  {name:6} batch {SAMPLES[name]:5}: labdl {ours / 2**20:7.1f} MiB, native {native / 2**20:7.1f} MiB, "
            f"ratio {ours / native:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
