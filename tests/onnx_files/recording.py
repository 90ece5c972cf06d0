"""Writing of an example: the file of another program, and inputs with the outputs that the program computes for them."""

from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).parent


def path(program: str, name: str) -> Path:
    """Where the file of a program lies; creates the folder."""
    (HERE / program).mkdir(exist_ok=True)
    return HERE / program / f"{name}.onnx"


def strip_traces(file: Path) -> None:
    """Remove from a file the stack traces that an exporter has written, with the paths of the machine."""
    model = onnx.load(file)
    graphs = [model.graph, *model.functions]
    for node in (node for graph in graphs for node in graph.node):
        kept = [(p.key, p.value) for p in node.metadata_props if not p.key.endswith("stack_trace")]
        del node.metadata_props[:]
        for key, value in kept:
            node.metadata_props.add(key=key, value=value)
    onnx.save(model, file)


def record(program: str, name: str, cases) -> None:
    """Write (inputs, outputs) of several batches beside the file of a program."""
    arrays = {}
    for at, (inputs, outputs) in enumerate(cases):
        arrays |= {f"{at}/input/{n}": np.asarray(array) for n, array in enumerate(inputs)}
        arrays |= {f"{at}/output/{n}": np.asarray(array) for n, array in enumerate(outputs)}
    np.savez_compressed(path(program, name).with_suffix(".npz"), **arrays)
