"""Seconds of the processor for the export of a deep network as source code of each framework; the median of three.

python tests/bench/export.py tensorflow [--layers 1000]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import labdl
from labdl import nn
from labdl.saving.source_export import export_source


def seconds(layers: int, backend: str) -> float:
    pairs = [layer for _ in range(layers // 2) for layer in (nn.Linear(16), nn.ReLU())]
    model = nn.Sequential(*pairs).build((None, 16), backend=backend, seed=0)
    spent = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            began = time.process_time()
            export_source(model, Path(folder) / "net")
            spent.append(time.process_time() - began)
    return statistics.median(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend")
    parser.add_argument("--layers", type=int, default=1000)
    given = parser.parse_args()
    labdl.use(given.backend)
    print(f"{given.backend}: {given.layers} layers exported in {seconds(given.layers, given.backend):.1f} s")


if __name__ == "__main__":
    main()
