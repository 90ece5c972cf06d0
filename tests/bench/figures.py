"""The project's figures that are not step times: import time, sizes, lines a folder, accuracy on each backend.

python tests/bench/figures.py
"""

import gzip
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

TRAIN = """
import sys, time, labdl
from labdl import nn
labdl.use(sys.argv[1]); labdl.seed(0)
train_set, test_set = labdl.data.digits()
model = nn.Sequential(nn.Conv2d(16, padding="same"), nn.ReLU(), nn.MaxPool2d(), nn.Flatten(), nn.Linear(10))
trainer = labdl.Trainer(model, optimizer=labdl.train.Adam(3e-3), metrics=["accuracy"])
began = time.perf_counter()
history = trainer.fit(train_set, validation=test_set, epochs=20, progress=False)
print(f"{history['val_accuracy'][-1]:.4f} test accuracy after 20 epochs in {time.perf_counter() - began:.1f} s")
"""


def python(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, text=True, cwd=ROOT
    ).stdout.strip()


def import_time(statement: str) -> float:
    """Seconds that a new process takes for the statement, less what an empty one takes."""
    spent = []
    for _ in range(7):
        began = time.perf_counter()
        python("-c", statement)
        full = time.perf_counter() - began
        began = time.perf_counter()
        python("-c", "")
        spent.append(full - (time.perf_counter() - began))
    return statistics.median(spent)


def lines() -> None:
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()
    code = [n for n in listed if n.endswith((".py", ".ts", ".tsx", ".css"))]
    counts: Counter[str] = Counter()
    for name in code:
        parts = Path(name).parts
        depth = 3 if parts[0] == "labextension" or parts[:2] == ("labdl", "backends") else 2
        counts["/".join(parts[: min(depth, len(parts) - 1)])] += len((ROOT / name).read_text().splitlines())
    for folder, count in sorted(counts.items()):
        print(f"  {folder:32} {count:6,}")
    print(f"  {'total':32} {counts.total():6,}")


def main() -> None:
    print(f"import labdl: {import_time('import labdl'):.3f} s (of which numpy {import_time('import numpy'):.3f} s)")
    print("bundles:")
    for file in sorted((ROOT / "labdl" / "lab" / "static").iterdir()):
        data = file.read_bytes()
        print(f"  {file.name:14} {len(data) / 1024:6.0f} KiB, {len(gzip.compress(data)) / 1024:4.0f} KiB gzipped")
    built = [f for f in (ROOT / "labdl" / "lab" / "labextension" / "static").glob("*.js")]
    print(f"  JupyterLab extension {sum(f.stat().st_size for f in built) / 1024:.0f} KiB in {len(built)} files")
    print("lines of code:")
    lines()
    print("digits:")
    for backend in ("torch", "tensorflow", "paddle", "mindspore"):
        print(f"  {backend:11} {python('-c', TRAIN, backend).splitlines()[-1]}")


if __name__ == "__main__":
    main()
