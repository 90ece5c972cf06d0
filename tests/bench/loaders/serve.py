"""A process that reads the samples of one library when it is told to, and answers with the processor time of it.

    python tests/bench/loaders/serve.py labdl FOLDER

Reads the name of a loader from each line of the standard input, runs an epoch of it and writes "samples seconds", with the time
of worker processes; the first line that it writes lists the names.
"""

import importlib
import os
import sys
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))


def processor_time() -> float:
    """Seconds of this process, its threads and its worker processes."""
    children = 0.0
    for child in psutil.Process().children(recursive=True):
        times = child.cpu_times()
        children += times.user + times.system
    return time.process_time() + children


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # libraries greet on the standard output
    loaders = importlib.import_module(f"loaders.{sys.argv[1]}_loaders").loaders(Path(sys.argv[2]))
    print("\t".join(loaders), file=answers)
    for line in sys.stdin:
        epoch = loaders[line.strip()]
        began = processor_time()
        samples = epoch()
        print(samples, processor_time() - began, file=answers)


if __name__ == "__main__":
    main()
