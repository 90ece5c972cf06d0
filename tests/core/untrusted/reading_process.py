"""A process that reads untrusted files under limits: one line of JSON for each, with its outcome, seconds and megabytes.

    python reading_process.py JOBS     JOBS: JSON, a list of [reader, path]

A file that takes all memory or never ends ends this process: the line that is missing names it.
"""

import json
import os
import re
import resource
import signal
import sys
import time
import warnings
from pathlib import Path

import labdl
from labdl import nn
from labdl.data import file_datasets
from labdl.errors import ConfigError, FileFormatError, MissingFileError, ModelError, StateDictError
from labdl.graph import Graph
from labdl.runs.folder import LiveStatus
from labdl.runs.listing.listing import list_runs
from labdl.saving.native.checkpoints import load_checkpoint
from labdl.saving.onnx import import_onnx
from labdl.saving.structure import decode
from labdl.train import checkpoint
from labdl.train.config import read as read_settings
from labdl.train.trainer import Trainer

MEMORY = 1536 << 20  # bytes of addresses beside those in use at the start
SECONDS, WAITING = 20, 120  # of processor time and of waiting, for one file; the signals end the process


def network():
    return nn.Sequential(nn.Linear(4), nn.BatchNorm(), nn.Linear(2)).build((None, 3), backend="numpy", seed=0)


def check_configuration(path):
    os.chdir(Path(path).parent)
    labdl.config._read.cache_clear(), labdl.config._files.cache_clear()
    labdl.config.setting("backend")


def read_run(path):
    record = labdl.runs.open(path)
    record.summary(), record.history, record.steps, record.status


def restore(path):
    trainer = Trainer(nn.Sequential(nn.Linear(1)).build((None, 2), backend="numpy", seed=0), "mean_squared_error")
    checkpoint.best(Path(path).parent)
    checkpoint.restore(trainer.context, trainer.state, path)


def use_structure(path):
    graph = decode(Path(path).read_bytes(), Path(path).name)
    graph.to_dict(tagged=True), graph.check()


READERS = {
    "checkpoint": (lambda path: load_checkpoint(network(), path), (FileFormatError, StateDictError)),
    "training file": (
        lambda path: load_checkpoint(network(), path),
        (FileFormatError, StateDictError, MissingFileError),
    ),
    "parameters": (labdl.saving.load_parameters, (FileFormatError,)),
    "structure": (use_structure, (FileFormatError,)),
    "structure file": (labdl.saving.load_structure, (FileFormatError,)),
    "model": (lambda path: labdl.load(path, backend="numpy"), (FileFormatError, StateDictError, ModelError)),
    "new model": (lambda path: labdl.load(path, backend="numpy", parameters=False), (FileFormatError, ModelError)),
    "onnx": (lambda path: import_onnx(path, "numpy"), (FileFormatError,)),
    "npz": (file_datasets.npz, (FileFormatError,)),
    "array": (file_datasets.array_dataset, (FileFormatError, ConfigError)),
    "csv": (file_datasets.csv, (FileFormatError, ConfigError)),
    "run": (read_run, (FileFormatError, MissingFileError, OSError)),
    "runs": (lambda path: list_runs(Path(path).parent), ()),
    "alive": (lambda path: LiveStatus(Path(path)).alive(), (OSError,)),
    "training": (restore, (FileFormatError, StateDictError, ConfigError)),
    "settings": (read_settings, (FileFormatError,)),
    "configuration": (check_configuration, (ConfigError,)),
    "source": (lambda path: Graph.from_python(Path(path).read_text(errors="replace"), (None, 4)), (ModelError,)),
    "about": (lambda path: labdl.runs.about(path), ()),
}


def status(key: str) -> int:
    return int(re.search(rf"{key}:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def outcome(reader, path) -> str:
    read, documented = READERS[reader]
    try:
        read(path)
        return "loaded"
    except documented as error:
        # Python reports parentheses that are nested too deeply as an error of memory
        if isinstance(error.__cause__, MemoryError) and reader != "source":
            return "out of memory"
        return f"{type(error).__name__}: {error}"[:500]
    except BaseException as error:
        return f"undocumented {type(error).__name__}: {error}"[:500]


def bounded_outcome(reader, path) -> str:
    """The outcome, unless it takes too long, which ends the process."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(WAITING)
    found = outcome(reader, path)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    return found


def warm(folder: Path) -> None:
    """Import what reading needs, so that it does not count."""
    load_checkpoint(network(), labdl.save_checkpoint(network(), folder / "warm.weights.h5"))
    labdl.save(network(), folder / "warm")
    labdl.load(folder / "warm", backend="numpy")
    trainer = Trainer(nn.Sequential(nn.Linear(1)).build((None, 2), backend="numpy", seed=0), "mean_squared_error")
    restore(checkpoint.save(trainer.context, trainer.state, folder / "warm-up"))
    import_onnx(labdl.export(network(), folder / "warm.onnx"), "numpy")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    jobs = json.loads(Path(sys.argv[1]).read_text())
    warm(Path(sys.argv[1]).parent)
    limit = status("VmSize") * 1024 + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
    print("ready", flush=True)
    for reader, path in jobs:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts at what is in use now
        before, begin = status("VmRSS"), time.process_time()
        found = bounded_outcome(reader, path)
        line = {
            "reader": reader,
            "path": path,
            "outcome": found,
            "seconds": time.process_time() - begin,
            "megabytes": max(0, status("VmHWM") - before) / 1024,
        }
        print(json.dumps(line), flush=True)
