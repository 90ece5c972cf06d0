"""Train small detectors on pasted objects to a mean average precision of 0.8, and record what they learnt.

    PYTHONPATH=. python tests/zoo/detectors.py [--backend torch] [name ...]

A detector that does not reach it is an error. The figures go into learnt.json, which `scripts/model_table.py` reads.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.zoo.pasted_objects import CLASSES, PastedObjects

from labdl import nn, tasks
from labdl.models.vision.yolov8 import YOLOv8

LEARNT = Path(__file__).with_name("learnt.json")
LEAST_PRECISION = 0.8


@dataclass(frozen=True)
class Proof:
    """A small model of a family, what it is, and how it is trained."""

    create: Callable[[], nn.Module]
    model: str
    task: str = "object detection"
    pictures: int = 256
    side: int = 64
    epochs: int = 45
    settings: dict[str, Any] = field(default_factory=dict)


PROOFS = {
    "yolov8n": Proof(
        lambda: YOLOv8(len(CLASSES), (8, 16, 32, 32, 64), (1, 1, 1, 1)),
        "8 to 64 channels, one block a stage",
        settings={"lr": 3e-3, "batch_size": 16, "schedule": "cosine_decay"},
    ),
}


def prove(name: str, backend: str) -> dict[str, Any]:
    """Train a detector; returns the row of it."""
    proof = PROOFS[name]
    size = (proof.side, proof.side)
    trainer = tasks.create_trainer(
        proof.create(),
        PastedObjects(proof.pictures, size),
        validation=PastedObjects(64, size, seed=1),
        task=proof.task,
        size=proof.side,
        epochs=proof.epochs,
        backend=backend,
        compiled=False,
        **proof.settings,
    )
    history = trainer.fit()
    return {
        "model": proof.model,
        "training": f"{proof.epochs} epochs of {proof.pictures} pictures of {proof.side} × {proof.side}",
        "backend": backend,
        "metric": "mAP of masks" if "instance" in proof.task else "mAP of boxes",
        "value": round(history["val_mean_average_precision"][-1], 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(PROOFS)}; all by default")
    parser.add_argument("--backend", default="torch")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - PROOFS.keys())
    if unknown:
        parser.error(f"there is no proof of {', '.join(unknown)}")
    rows, failures = json.loads(LEARNT.read_text()) if LEARNT.exists() else {}, []
    for name in options.names or PROOFS:
        row = prove(name, options.backend)
        print(f"{name}: {row['metric']} {row['value']}", flush=True)
        if row["value"] < LEAST_PRECISION:
            failures.append(name)
        else:
            rows[name] = row
    LEARNT.write_text(json.dumps(rows, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    for name in failures:
        print(f"{name} has not reached {LEAST_PRECISION}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
