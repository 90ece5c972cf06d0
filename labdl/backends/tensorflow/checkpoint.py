"""Writing of the files of tf.train.Checkpoint; `labdl.saving.native.formats.tensorflow` reads them."""

import os
import tempfile
from pathlib import Path

import tensorflow as tf

from labdl.interop.weights.tensorflow import LIST


def write(path: Path, arrays, model) -> None:
    """Write what ``tf.train.Checkpoint(model=twin).read`` restores, for a tf.Module or a Keras model as twin."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        holder = tf.train.Checkpoint(model=_edges(model, arrays))
        holder.write(str(Path(folder) / path.name))
        # the index last: without it the checkpoint does not exist
        for file in sorted(Path(folder).glob(f"{path.name}.*"), key=lambda f: f.suffix == ".index"):
            os.replace(file, path.parent / file.name)


def _edges(layer, arrays) -> dict:
    edges: dict = {}
    for name in layer.values:
        value, word = tf.Variable(arrays[name]), name.rpartition("/")[2]
        edges.update({word: value, f"_{word}": value})
    parts = {name: _edges(part, arrays) for name, part in layer.parts.items()}
    edges.update(parts)
    edges.update({f"_{name}": parts[name] for name, part in layer.parts.items() if part.kind == ""})
    if layer.kind == "Sequential":  # its list starts with the input
        edges["_functional"] = {LIST: {str(at): part for at, part in enumerate(parts.values(), 1)}}
    return edges
