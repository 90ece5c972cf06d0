"""Train small recognizers of speech on spoken digits to a word error rate of 0.1 on other voices, and record what they learnt.

    PYTHONPATH=. python tests/zoo/recognizers.py [--backend torch] [name ...]

A recognizer that does not reach it is an error. The figures go into learnt.json, which `scripts/model_table.py` reads.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.zoo.spoken_digits import TEST_VOICES, VOICES, WORDS, SpokenDigits

from labdl import nn, tasks
from labdl.models.sound.conformer import Conformer, ConformerCTC
from labdl.models.sound.rnnt import RNNT

LEARNT = Path(__file__).with_name("learnt.json")
MOST_ERRORS = 0.1
SYMBOLS = len({*" ".join(WORDS)}) + 1  # with the blank
BINS = 40


@dataclass(frozen=True)
class Proof:
    """A small model of a family, what it is, and how it is trained."""

    create: Callable[[], nn.Module]
    model: str
    sounds: int = 640
    epochs: int = 30
    settings: dict[str, Any] = field(default_factory=lambda: {"lr": 4e-3, "batch_size": 16, "schedule": "cosine_decay"})


PROOFS = {
    "conformer_small": Proof(
        lambda: ConformerCTC(Conformer(48, layers=2, heads=4, feed_forward=96, kernel_size=9), SYMBOLS),
        "CTC, 2 blocks of 48 features",
    ),
    "emformer_rnnt_base": Proof(
        lambda: RNNT(
            SYMBOLS,
            features=64,
            layers=2,
            heads=4,
            feed_forward=128,
            segment=32,
            left_context=16,
            right_context=8,
            reduction=4,
            reduced=16,
            embedding=64,
            predictor_layers=1,
        ),
        "2 layers of 64 features, 1 LSTM layer",
    ),
}


def prove(name: str, backend: str) -> dict[str, Any]:
    """Train a recognizer; returns the row of it."""
    proof = PROOFS[name]
    trainer = tasks.create_trainer(
        proof.create(),
        SpokenDigits(proof.sounds, VOICES, most=2),
        validation=SpokenDigits(60, TEST_VOICES, seed=1, most=2),
        task="speech recognition",
        size=BINS,
        epochs=proof.epochs,
        backend=backend,
        compiled=False,
        **proof.settings,
    )
    history = trainer.fit()
    return {
        "model": proof.model,
        "training": f"{proof.epochs} epochs of {proof.sounds} sounds of one or two digits by {len(VOICES)} voices",
        "backend": backend,
        "metric": f"word error rate of {len(TEST_VOICES)} other voices",
        "value": round(history["val_word_error_rate"][-1], 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(PROOFS)}; all by default")
    parser.add_argument("--backend", default="torch")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - PROOFS.keys())
    if unknown:
        parser.error(f"there is no proof of {', '.join(unknown)}")
    failures = []
    for name in options.names or PROOFS:
        row = prove(name, options.backend)
        print(f"{name}: {row['metric']} {row['value']}", flush=True)
        if row["value"] > MOST_ERRORS:
            failures.append(name)
            continue
        rows = json.loads(LEARNT.read_text()) if LEARNT.exists() else {}
        rows[name] = row
        LEARNT.write_text(json.dumps(rows, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    for name in failures:
        print(f"{name} has not reached {MOST_ERRORS}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
