"""Changed at random, a valid file of every format loads or is refused with the documented error, in bounded time and memory."""

import argparse
import json
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from run_files import trained

import labdl
from labdl import nn
from labdl.graph import Edge, Graph, Node
from labdl.runs.reading.event_file import EVENTS, encode
from labdl.train import checkpoint
from labdl.train.trainer import Trainer

pytestmark = pytest.mark.slow

CHILD = Path(__file__).with_name("mutation_process.py")
NATIVE = Path(__file__).parents[2] / "backend" / "files"
VERSIONS = Path(__file__).parents[1] / "files"
TURNS = {True: 120, False: 20}  # changed files for each reader, with full breadth and in the sample
READERS = ("array", "checkpoint", "configuration", "csv", "model", "npz", "onnx", "parameters", "run", "settings",
           "source", "structure", "training", "training file")  # fmt: skip


def network():
    return nn.Sequential(nn.Linear(4), nn.BatchNorm(), nn.Linear(2)).build((None, 3), backend="numpy", seed=0)


def valid_files(folder):
    """Files of every format, in a folder named as the reader of `reading_process`."""
    for name in READERS:
        (folder / name).mkdir()
    for suffix in (".pt", ".pdparams", ".ckpt", ".safetensors", ".weights.h5"):
        labdl.save_checkpoint(network(), folder / "checkpoint" / f"net{suffix}")
    for path in ("torch/pairs.pt", "torch/sequence.safetensors", "paddle/parts.pdparams", "mindspore/cells.ckpt"):
        shutil.copy(NATIVE / path, folder / "checkpoint" / f"native{Path(path).suffix}")
    training_files(folder / "training file")
    for version in (3, 4):
        shutil.copy(VERSIONS / f"version{version}.labdl", folder / "structure")
        shutil.copy(VERSIONS / f"version{version}.npz", folder / "parameters")
    np.savez_compressed(folder / "parameters" / "packed.npz", a=np.arange(40.0), b=np.ones((2, 3)))
    labdl.save(network(), folder / "model" / "net")
    x, y = np.arange(80, dtype="float32").reshape(20, 4), np.arange(20) % 3
    np.savez(folder / "npz" / "data.npz", x=x, y=y)
    np.save(folder / "array" / "data.npy", x)
    (folder / "csv" / "data.csv").write_text("a,b,c\n" + "".join(f"{n},{n * 0.5},red\n" for n in range(20)))
    labdl.export(network(), folder / "onnx" / "net.onnx")
    run = folder / "run" / "run"
    run.mkdir()
    (run / EVENTS).write_bytes(encode(trained()))
    (folder / "settings" / "s.json").write_text(json.dumps({"loss": "mse", "batch_size": 4, "metrics": ["accuracy"]}))
    (folder / "settings" / "s.yaml").write_text("loss: mse\nbatch_size: 4\nmetrics: [accuracy]\n")
    (folder / "configuration" / "labdl.toml").write_text('backend = "numpy"\nbackends = ["paddle"]\n')
    graph = Graph({"i": Node("Input", "x", {"shape": (None, 4)}), "a": Node("Linear", "a", {"out_features": 3})},
                  {"e": Edge("i", "a")})  # fmt: skip
    (folder / "source" / "net.py").write_text(graph.to_python())
    trainer = Trainer(nn.Sequential(nn.Linear(1)).build((None, 2), backend="numpy", seed=0), "mean_squared_error")
    checkpoint.save(trainer.context, trainer.state, folder / "training")


def training_files(folder):
    """Checkpoints that hold more than weights, or are several files."""
    weights = labdl.save_checkpoint(network(), folder / "model.weights.h5")
    with zipfile.ZipFile(folder / "net.keras", "w") as archive:
        archive.write(weights, weights.name)
    weights.unlink()
    state = dict(
        labdl.saving.native.formats.safetensors.read(labdl.save_checkpoint(network(), folder / "a.safetensors"))
    )
    (folder / "a.safetensors").unlink()
    training = {"model": state, "args": argparse.Namespace(path=Path("a"), names={"a"}), "epoch": 3, "kinds": {(1, 2): 3},
                "generator": np.random.default_rng(0), "curve": [np.float64(0.5)]}  # fmt: skip
    for protocol in (2, 5):
        (folder / f"net{protocol}.pdparams").write_bytes(pickle.dumps(training, protocol))
    (folder / "parts").mkdir()
    table = {}
    for number, names in enumerate((list(state)[:4], list(state)[4:])):
        file = folder / "parts" / f"model-{number}.safetensors"
        labdl.saving.native.formats.safetensors.write(file, {name: state[name] for name in names}, "pt")
        table |= dict.fromkeys(names, file.name)
    (folder / "parts" / "model.safetensors.index.json").write_text(json.dumps({"weight_map": table}))


@pytest.fixture(scope="module")
def turns(full_breadth):
    return TURNS[full_breadth]


@pytest.fixture(scope="module")
def results(tmp_path_factory, turns):
    folder = tmp_path_factory.mktemp("mutated")
    valid_files(folder)
    done = subprocess.run([sys.executable, str(CHILD), str(folder), str(turns)], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.stdout.startswith("ready"), done.stderr
    found = {line["end"]: line for line in lines if "end" in line}
    if done.returncode:
        found[lines[-1]["begin"]] = {"faults": [f"{done.returncode} by {folder / 'last'} {done.stderr[-500:]}"]}
    return found


@pytest.mark.parametrize("reader", READERS)
def test_changed_files_load_or_are_refused(results, turns, reader):
    found = results[reader]
    assert found["faults"] == []
    assert sum(found["counts"].values()) == turns
    assert reader == "run" or found["counts"]["refused"] > turns / 6, "events that are broken are passed over"
