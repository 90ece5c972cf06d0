"""Write the table of parameters in docs/file-format.md: names and shapes in the file of every layer that has any.

Each layer is built with the settings and inputs that its registration gives for tests and docs, so nothing is typed by
hand. `python scripts/parameter_table.py [file]`.
"""

import sys
from pathlib import Path

import numpy as np

from labdl.nn.schema import LAYERS, is_layer
from labdl.spec import Spec

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- parameters: begin -->\n", "<!-- parameters: end -->\n"


def parameters(module, path: str = ""):
    """Names and shapes in the file; of a part that is a layer itself, which one it is."""
    for name, parameter in module._parameters.items():
        shape = str(parameter.standard_shape).replace(",)", ")")
        yield f"`{'/'.join(filter(None, (path, name)))}:0` {shape}{'' if parameter.learnable else ' not learned'}"
    for name, part in module._modules.items():
        inside = f"{path}/{name}" if path else name
        if not is_layer(part):
            yield from parameters(part, inside)
        elif any(part.parameters()):
            yield f"`{inside}/…` as {part.layer_type}"


def row(cls) -> str:
    example, rng = cls.layer_example, np.random.default_rng(0)
    inputs = [sample.draw(rng) for sample in example.inputs]
    layer = cls(**example.params).build(*(Spec((None, *a.shape[1:]), str(a.dtype)) for a in inputs), backend="numpy")
    settings = ", ".join(f"{k}={v!r}" for k, v in example.params.items())
    given = ", ".join("(" + ", ".join(map(str, ("N", *a.shape[1:]))) + ")" for a in inputs)
    found = ", ".join(parameters(layer))
    return f"| `{cls.layer_type}({settings})` | {given} | {found} |" if found else ""


def table() -> str:
    lines = ["| layer | inputs | parameters |", "|---|---|---|"]
    for cls in sorted(LAYERS.values(), key=lambda cls: (cls.layer_category, cls.layer_type)):
        if cls.layer_example.inputs or cls.layer_category == "input":
            lines.append(row(cls))
    return "\n".join(filter(None, lines)) + "\n"


def fill(text: str) -> str:
    """The document with the table of today."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "file-format.md"
    path.write_text(fill(path.read_text()))
