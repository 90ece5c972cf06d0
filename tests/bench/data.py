"""Processor time of a sample of LabDL's loader, of the other frameworks' loaders, and of the library that does the work.

    python tests/bench/data.py pictures arrays sounds texts clips resume [--rounds 5] [--pictures 512]
    python tests/bench/data.py training --backend torch

"pictures": JPEG files of 500 × 375 to normalized batches of 32 × 3 × 224 × 224 float32 by RandomResizedCrop,
HorizontalFlip and Normalize. "arrays": shuffled batches of 128 rows of 3 × 32 × 32 bytes in memory. Each library runs in a
process of its own, with its best idiom, on the same work; they take turns by whole epochs. The least time of the rounds
counts, with that of threads and worker processes, so that other programs on the machine matter little. "sounds", "texts"
and "clips" compare with scipy and NumPy, tokenizers and PyAV, "resume" is the time to the first batch in the middle of an
epoch, "training" the loader's share of training ResNet-18.

Differences: TensorFlow makes (N, 224, 224, 3), MindSpore resizes without antialias, "fast" of LabDL decodes the
rectangle with the faster inverse transform, at half its size where it is large, without antialias; with "min_size" it
halves each whole picture. PyTorch has the kernels that
torchvision.transforms.v2 calls, and libjpeg-turbo as its decoder; Paddle's are those of Pillow.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FRAMEWORKS = ("labdl", "torch", "tensorflow", "paddle", "mindspore", "grain")


def write_pictures(folder: Path, count: int) -> None:
    """Parts of the two photographs of scikit-learn as JPEG files of quality 90, in folders for 4 classes."""
    import numpy as np
    from sklearn.datasets import load_sample_images

    from labdl.data.codecs.image import encode_image

    photographs, rng = load_sample_images().images, np.random.default_rng(0)
    size = 0
    for i in range(count):
        photograph = photographs[i % 2]
        top, left = rng.integers(photograph.shape[0] - 375), rng.integers(photograph.shape[1] - 500)
        file = folder / "pictures" / str(i % 4) / f"{i:05}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode_image(photograph[top : top + 375, left : left + 500], "jpeg", quality=90))
        size += file.stat().st_size
    print(f"{count} JPEG files of 500 × 375, {size / count / 1024:.0f} KiB on average")


class Server:
    """A process of one library, see loaders/serve.py."""

    def __init__(self, framework: str, folder: Path, log):
        command = [sys.executable, str(HERE / "loaders" / "serve.py"), framework, str(folder)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_v": "4"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
        self.framework, self.names = framework, self._answer().split("\t")

    def seconds(self, name: str) -> float:
        """Processor seconds of a sample in an epoch of a loader."""
        assert self.process.stdin
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        samples, spent = self._answer().split()
        return float(spent) / int(samples)

    def _answer(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.framework} has ended, see the log")
        return line.rstrip("\n")

    def close(self) -> None:
        self.process.communicate()


def alternate(servers: list[Server], rounds: int, arrays: bool) -> dict[str, float]:
    """The least processor seconds of a sample of each loader; one round more warms up."""
    best: dict[str, float] = {}
    for turn in range(rounds + 1):
        for server in servers:
            for name in server.names:
                if name.startswith("arrays: ") == arrays:
                    spent = server.seconds(name)
                    if turn:
                        best[name] = min(spent, best.get(name, spent))
    return best


def print_table(best: dict[str, float], base: str, ours: str) -> None:
    for name, spent in sorted(best.items(), key=lambda item: item[1]):
        versus = f"   {spent / best[ours]:6.2f} × {ours}" if name not in (base, ours) else ""
        print(f"  {name:24} {spent * 1e6:9.1f} µs   {spent / best[base]:6.2f} × {base}{versus}")


def compare_loaders(parts: set[str], options) -> None:
    frameworks = [f for f in FRAMEWORKS if importlib.util.find_spec(f)] if not options.only else options.only
    with tempfile.TemporaryDirectory() as name, open(options.log or os.devnull, "w") as log:
        write_pictures(Path(name), options.pictures)
        servers = [Server(framework, Path(name), log) for framework in frameworks]
        try:
            if "pictures" in parts:
                print_table(alternate(servers, options.rounds, False), "bare decode", "labdl")
            if "arrays" in parts:
                print_table(alternate(servers, options.rounds, True), "arrays: NumPy gather", "arrays: labdl")
        finally:
            for server in servers:
                server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts", nargs="+", choices=["pictures", "arrays", "sounds", "texts", "clips", "resume", "training"]
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pictures", type=int, default=512, help="number of files")
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, help="libraries, by default all that are installed")
    parser.add_argument("--backend", default="torch", choices=["torch", "tensorflow", "paddle", "mindspore"])
    parser.add_argument("--log", help="file for what the libraries write")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if {"pictures", "arrays"} & set(options.parts):
        compare_loaders(set(options.parts), options)
    sys.path.insert(0, str(HERE))
    from loaders import libraries, training

    for part in options.parts:
        if part in ("sounds", "texts", "clips"):
            libraries.compare(part, options.rounds)
        elif part == "resume":
            training.resume()
        elif part == "training":
            training.training(options.backend, options.rounds, write_pictures)


if __name__ == "__main__":
    main()
