"""Saving and loading: LabDL against torch.save and Keras's .keras, alternated in one process, on a model of 25 M parameters.

    python tests/bench/saving.py [--rounds 9] [--folder DIR]

The model is ResNet-50. PyTorch's twin holds convolutions, norms and linear layers of the same sizes; Keras's is its own.
LabDL flushes to the disk and then renames (a crash leaves the old file or the new one), which the others do not: torch.save
is timed with the same care as well. Everything that is read lies in the page cache.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import torch

import labdl
from labdl.bounded.atomic_write import replace_files
from labdl.graph import Edge, Graph, Node
from labdl.models.vision.resnet import resnet50
from labdl.saving import load_structure, save_structure


def ours():
    return resnet50().build((None, 3, 224, 224), backend="torch", seed=0)


def twin(names) -> torch.nn.Module:
    """PyTorch's own layers of these sizes, initialized as it does."""
    layers = []
    for name, shape in names:
        if name.endswith("kernel:0"):
            layers.append(
                torch.nn.Conv2d(*shape[2:], shape[:2], bias=False) if len(shape) == 4 else torch.nn.Linear(*shape)
            )
        elif name.endswith("gamma:0"):
            layers.append(torch.nn.BatchNorm2d(shape[0]))
    return torch.nn.Sequential(*layers)


def alternate(functions: dict, rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds and processor seconds of each call's best round; the functions take turns, so that all have quiet ones."""
    spent = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            began = time.perf_counter(), time.process_time()
            function()
            if turn:  # the first round imports and warms the caches
                spent[name].append((time.perf_counter() - began[0], time.process_time() - began[1]))
    return {name: tuple(map(min, zip(*times, strict=True))) for name, times in spent.items()}


def show(title: str, found: dict[str, tuple[float, float]], reference: str) -> None:
    print(f"{title:34}        best        CPU   best and CPU × {reference}")
    wall, processor = found[reference]
    for name, (best, busy) in found.items():
        print(f"  {name:34} {best * 1e3:7.1f} ms {busy * 1e3:7.1f} ms   {best / wall:6.2f} {busy / processor:6.2f}")


MEMORY = """
import os, re, sys
os.environ["KERAS_BACKEND"] = "torch"
sys.path.insert(0, sys.argv[3])
from pathlib import Path
import saving
folder = Path(sys.argv[1])
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
saving.labdl.load(folder / "chain", backend="torch", parameters=False)
names = [(n, tuple(map(int, s.split(",")))) for n, s in (l.split() for l in (folder / "names").read_text().splitlines())]
before = peak()
if sys.argv[2] == "labdl":
    model = saving.labdl.load(folder / "net", backend="torch")
elif sys.argv[2] == "torch":
    model = saving.twin(names)
    model.load_state_dict(saving.torch.load(folder / "net.pt"))
else:
    model = saving.keras.saving.load_model(folder / "net.keras", compile=False)
print(peak() - before)
"""


def chain(nodes: int) -> Graph:
    """A structure of many nodes."""
    rows = {"i": Node("Input", "input", {"shape": (None, 16)})}
    rows |= {
        f"n{k}": Node("Linear", f"layer{k}", {"out_features": 16}) if k % 2 else Node("ReLU", f"layer{k}")
        for k in range(nodes - 1)
    }
    ids = list(rows)
    edges = {f"e{k}": Edge(a, b) for k, (a, b) in enumerate(pairwise(ids))}
    return Graph(rows, edges, positions={i: (0.0, 100.0 * k) for k, i in enumerate(ids)})


def measure(folder: Path, rounds: int) -> None:
    model = ours()
    values = {name: p.standard_shape for name, p in model.named_parameters()}
    native, theirs = twin(values.items()), keras.applications.ResNet50(weights=None)
    (folder / "names").write_text("".join(f"{n} {','.join(map(str, s))}\n" for n, s in values.items()))
    counts = [
        sum(p.size for p in model.parameters()),
        sum(v.numel() for v in native.state_dict().values()),
        theirs.count_params(),
    ]
    print("values: labdl {:,}, torch {:,}, keras {:,}".format(*counts))

    def saved():
        labdl.save(model, folder / "net")

    def careful():
        with replace_files(folder / "careful.pt") as (file,):
            torch.save(native.state_dict(), file)

    show(
        "saving",
        alternate(
            {
                "labdl.save": saved,
                "labdl.save_parameters": lambda: labdl.save_parameters(model, folder / "alone.npz"),
                "torch.save, flushed and renamed": careful,
                "torch.save": lambda: torch.save(native.state_dict(), folder / "net.pt"),
                "keras .keras": lambda: theirs.save(folder / "net.keras"),
            },
            rounds,
        ),
        "torch.save, flushed and renamed",
    )
    show(
        "values of a file as a dictionary",
        alternate(
            {
                "labdl.load_parameters": lambda: labdl.load_parameters(folder / "net.npz"),
                "torch.load": lambda: torch.load(folder / "net.pt"),
            },
            rounds,
        ),
        "torch.load",
    )
    show(
        "values into a model that is there",
        alternate(
            {
                "labdl.swap_parameters": lambda: labdl.swap_parameters(model, folder / "net.npz"),
                "load_state_dict(load_parameters)": lambda: model.load_state_dict(
                    labdl.load_parameters(folder / "net.npz")
                ),
                "torch load_state_dict(load)": lambda: native.load_state_dict(torch.load(folder / "net.pt")),
            },
            rounds,
        ),
        "torch load_state_dict(load)",
    )
    show(
        "a new model from its file",
        alternate(
            {
                "labdl.load": lambda: labdl.load(folder / "net", backend="torch"),
                "torch layers, load_state_dict": lambda: twin(values.items()).load_state_dict(
                    torch.load(folder / "net.pt")
                ),
                "keras load_model": lambda: keras.saving.load_model(folder / "net.keras", compile=False),
            },
            rounds,
        ),
        "torch layers, load_state_dict",
    )
    sizes = {
        n: sum((folder / f).stat().st_size for f in files)
        for n, files in {"labdl": ("net.labdl", "net.npz"), "torch": ("net.pt",), "keras": ("net.keras",)}.items()
    }
    print("size of the files")
    for (name, size), count in zip(sizes.items(), counts, strict=True):
        print(
            f"  {name:34} {size:13,} bytes, {size - 4 * count:9,} besides the values, {size / sizes['torch']:6.3f} × torch"
        )

    save_structure(chain(1000), folder / "chain.labdl")
    graph = load_structure(folder / "chain.labdl")
    show(
        "a structure of 1,000 nodes",
        alternate(
            {
                "load_structure": lambda: load_structure(folder / "chain.labdl"),
                "check": graph.check,
                "save_structure": lambda: save_structure(graph, folder / "chain.labdl"),
            },
            rounds,
        ),
        "load_structure",
    )
    print("memory at the peak of loading, above what stood before")
    for name in ("labdl", "torch", "keras"):
        command = [sys.executable, "-c", MEMORY, folder, name, Path(__file__).parent]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        size = sizes[name] / 2**20
        grown = float(re.findall(r"[\d.]+", done.stdout)[-1])
        print(f"  {name:34} {grown:7.0f} MiB for {size:.0f} MiB of file: {grown / size:.2f} ×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="where to write; a new temporary folder if left out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure(Path(folder), options.rounds)


if __name__ == "__main__":
    main()
