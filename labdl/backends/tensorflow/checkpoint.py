"""Files of tf.train.Checkpoint: variables by their paths in the object graph."""

import math
import os
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from labdl.errors import FileFormatError

_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "VARIABLE_VALUE"
_LAYERS = "_operations"  # attribute of the layers of Keras's Sequential and functional models
_ASIDE = ("optimizer", "save_counter", "seed_generator", "_dropout_layer", "keras_api")


def read(path: Path, model) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays of the model's variables (`interop.weights.tensorflow.KerasLayer`), and the keys of other contents.

    The model is the root of the checkpoint, or one of its children. Raises FileFormatError for a broken file and for one of
    TensorFlow 1.
    """
    try:
        reader = tf.train.load_checkpoint(str(path))
        if not reader.has_tensor(_GRAPH):
            raise FileFormatError("it was not written by tf.train.Checkpoint")
        graph = TrackableObjectGraph.FromString(reader.get_tensor(_GRAPH))
        nodes = [
            (
                {c.local_name: c.node_id for c in n.children},
                {a.name: a.checkpoint_key for a in n.attributes}.get(_VALUE),
            )
            for n in graph.nodes
        ]
        sizes = _sizes(reader)
        if sum(sizes.values()) > sum(p.stat().st_size for p in path.parent.glob(f"{path.name}.data-*")):
            raise FileFormatError("its sizes exceed the file")
        best: tuple[dict[str, str], int] = ({}, 0)
        for root in dict.fromkeys((0, *nodes[0][0].values())):
            found: dict[str, str] = {}
            _locate(model, nodes, root, found)
            best = max(best, (found, root), key=lambda pair: len(pair[0]))
        found, root = best
        arrays = {name: _array(reader.get_tensor(key)) for name, key in found.items()}
        known = set(found.values())
        return arrays, [key for key in _keys(nodes, root) if key in sizes and key not in known]
    except (tf.errors.OpError, ValueError, RuntimeError, IndexError, KeyError, TypeError, OSError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"it is not a complete checkpoint of TensorFlow: {str(error)[:200]}") from error
    except Exception as error:
        if type(error).__name__ != "DecodeError":  # of protobuf, whose module differs between versions
            raise
        raise FileFormatError(f"its table of objects is broken: {error}") from error


def _sizes(reader) -> dict[str, int]:
    """Bytes of each array of numbers."""
    types = reader.get_variable_to_dtype_map()
    return {
        key: math.prod(shape) * types[key].size
        for key, shape in reader.get_variable_to_shape_map().items()
        if types[key].is_floating or types[key].is_integer or types[key].is_bool or types[key].is_complex
    }


def _array(value) -> np.ndarray:
    array = np.asarray(value)
    return array.view(ml_dtypes.bfloat16) if array.dtype.kind == "V" else array


def _locate(layer, nodes, at: int, found: dict[str, str]) -> None:
    """Collect the key of each variable in ``found``, from the node ``at`` on."""
    children = nodes[at][0]
    for name in layer.values:
        word = name.rpartition("/")[2]
        for own in (word, f"_{word}"):  # Keras keeps some of its variables under the second
            if own in children and (key := nodes[children[own]][1]):
                found[name] = key
                break
    listed = _list_children(nodes, at)
    full = [name for name, part in layer.parts.items() if _holds(part)]
    for name, part in layer.parts.items():
        target = next((children[n] for n in (name, f"_{name}") if n in children), None)
        if target is None and layer.ordered and name in full and len(listed) == len(full):
            target = listed[full.index(name)]
        if target is not None:
            _locate(part, nodes, target, found)


def _holds(layer) -> bool:
    return bool(layer.values) or any(_holds(part) for part in layer.parts.values())


def _list_children(nodes, at: int) -> list[int]:
    """The layers with variables of a Sequential or functional model, in order."""
    holder = nodes[at][0].get("_functional", at)
    layers = nodes[nodes[holder][0][_LAYERS]][0] if _LAYERS in nodes[holder][0] else {}
    order = sorted((name for name in layers if name.isdigit()), key=int)
    return [layers[name] for name in order if any(True for _ in _keys(nodes, layers[name]))]


def _keys(nodes, root: int):
    """Keys of all variables of an object; without those of optimizers and random generators."""
    waiting, seen = [root], {root}
    while waiting:
        children, key = nodes[waiting.pop()]
        if key:
            yield key
        new = [n for name, n in children.items() if n not in seen and name not in _ASIDE]
        seen.update(new)
        waiting.extend(new)


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
        edges["_functional"] = {_LAYERS: {str(at): part for at, part in enumerate(parts.values(), 1)}}
    return edges
