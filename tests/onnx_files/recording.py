"""Writing of an example: the file of another program, and inputs with the outputs that the program computes for them."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def path(program: str, name: str) -> Path:
    """Where the file of a program lies; creates the folder."""
    (HERE / program).mkdir(exist_ok=True)
    return HERE / program / f"{name}.onnx"


def record(program: str, name: str, cases) -> None:
    """Write (inputs, outputs) of several batches beside the file of a program."""
    arrays = {}
    for at, (inputs, outputs) in enumerate(cases):
        arrays |= {f"{at}/input/{n}": np.asarray(array) for n, array in enumerate(inputs)}
        arrays |= {f"{at}/output/{n}": np.asarray(array) for n, array in enumerate(outputs)}
    np.savez_compressed(path(program, name).with_suffix(".npz"), **arrays)
