"""Write docs/onnx.md: what LabDL reads of the node cases of the onnx package, and why it refuses the others.

The results are in tests/onnx/results, where `python tests/onnx/node_suite.py --backend torch --write` puts them.
`python scripts/onnx_table.py [file]`.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = {"torch": "PyTorch", "tensorflow": "TensorFlow", "paddle": "PaddlePaddle", "mindspore": "MindSpore"}
HEAD = """# ONNX files

`labdl.load("net.onnx")` reads a file of any program as a model on any backend: layers where the file has their weights,
operators elsewhere. Operators that the standard defines by others are read by their definition, as are functions of the
file itself. Files with an operator set before 13 are converted by `onnx.version_converter` first; of sets newer than LabDL
knows, operators are read whose definition did not change.

Axes, sizes and positions that the model computes, or that are inputs of it, may be others at each call: the result has open
sizes. Give such an input as a constant where the model should have sizes that are known,
`labdl.load("net.onnx", constants={"axes": [1]})`, and where an error asks for it. Loops are unrolled, up to 1,000 steps; a
branch whose condition is known at run time only is computed in both ways.

Resize multiplies sizes and scales in float32, as ONNX Runtime and PyTorch do: 5 times 1.4 is 7.

## The cases of the standard

The `onnx` package has cases for each operator with the values that it must give. *Right* are those that LabDL reads with
these values and dtypes, *with constants* those among them whose error first asked for constants; *refused* those with an
error that names the operator and the reason. None is read with other values.

| backend | right | with constants | refused |
|---|---:|---:|---:|
"""


def table() -> str:
    results = {name: json.loads((ROOT / f"tests/onnx/results/{name}.json").read_text()) for name in NAMES if _has(name)}
    lines = [
        f"| {NAMES[name]} | {r['right']:,} | {r['constants']:,} | {r['refused']:,} |" for name, r in results.items()
    ]
    reasons: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for result in results.values():
        for case, (operator, reason) in result["cases"].items():
            reasons[reason][operator].add(case)
    rows = []
    for reason, operators in reasons.items():
        count = len(set().union(*operators.values()))
        words = sorted(operators, key=lambda o: (-len(operators[o]), o))
        rows.append((-count, reason, f"{', '.join(words[:6])}{', …' if len(words) > 6 else ''}"))
    lines += ["", "Refused are, on any backend:", "", "| reason | cases | of operators |", "|---|---:|---|"]
    lines += [f"| {reason} | {-count} | {words} |" for count, reason, words in sorted(rows)]
    return HEAD + "\n".join(lines) + "\n"


def _has(name: str) -> bool:
    return (ROOT / f"tests/onnx/results/{name}.json").exists()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "onnx.md"
    target.write_text(table())
