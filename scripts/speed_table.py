"""Write the tables of docs/speed.md from what `train_step.py --save` and `fit.py --save` have left in tests/bench/results.

`python scripts/speed_table.py [file]`; a test compares the document.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "tests" / "bench" / "results"
BEGIN, END = "<!-- ratios: begin -->\n", "<!-- ratios: end -->\n"
NAMES = {"torch": "PyTorch", "tensorflow": "TensorFlow", "paddle": "PaddlePaddle", "mindspore": "MindSpore"}
DEFAULTS = {"torch": "eager", "tensorflow": "compiled", "paddle": "eager", "mindspore": "compiled", "any": "default"}


def cell(pair: list[float], default: bool) -> str:
    """The ratio with two digits, and its error in units of the last; bold for the mode that a backend trains in."""
    value, error = pair
    text = f"**{value:.2f}**" if default else f"{value:.2f}"
    return f"{text} ({max(1, round(error * 100))})"


def columns() -> dict[str, dict[str, dict]]:
    """Ratios by column, such as "PyTorch 2.13 eager", and case."""
    found: dict[str, dict[str, dict]] = {}
    for backend, name in NAMES.items():
        file = RESULTS / f"train_step-{backend}.json"
        if not file.exists():
            continue
        results = json.loads(file.read_text())
        version = ".".join(results["version"].split("+")[0].split(".")[:2])
        for case, kinds in results["cases"].items():
            for kind, pair in kinds.items():
                default = kind in (DEFAULTS[backend], DEFAULTS["any"])
                column = f"{name} {version} {DEFAULTS[backend] if kind == DEFAULTS['any'] else kind}"
                found.setdefault(column, {})[case] = cell(pair, default)
    return found


def table() -> str:
    ratios = columns()
    cases = dict.fromkeys(case for column in ratios.values() for case in column)
    lines = [f"| | {' | '.join(ratios)} |", "|---" * (len(ratios) + 1) + "|"]
    for case in cases:
        lines.append(f"| {case} | " + " | ".join(column.get(case, "") for column in ratios.values()) + " |")
    return "\n".join(lines) + "\n"


def fill(text: str) -> str:
    """The document with the table of the results."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "speed.md"
    path.write_text(fill((ROOT / "docs" / "speed.md").read_text()))
