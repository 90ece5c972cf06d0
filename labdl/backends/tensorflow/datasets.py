"""tf.data.Dataset and Keras's PyDataset as sources, and data sets of LabDL as tf.data.Dataset."""

import itertools
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from labdl.backends.protocol.datasets import NativeSource

_EXAMPLES = 8  # samples that are compared to find the axes of unknown size
_IN_MEMORY = 1 << 30  # bytes: larger arrays are not copied into the memory of TensorFlow


def native_source(value):
    if isinstance(value, tf.data.Dataset):
        count = int(value.cardinality())
        return NativeSource(
            open=lambda epoch: value.as_numpy_iterator(),
            convert=_convert,
            length=count if count >= 0 else None,
            endless=count == tf.data.INFINITE_CARDINALITY,
            batched=True,
            name="tf.data.Dataset",
        )
    keras = sys.modules.get("keras")
    if keras is not None and isinstance(value, keras.utils.PyDataset):
        count = value.num_batches
        return NativeSource(
            open=lambda epoch: _passes(value, count),
            convert=_convert,
            length=count,
            endless=count is None,
            batched=True,
        )
    return None


def _passes(value, count):
    if hasattr(value, "on_epoch_begin"):
        value.on_epoch_begin()
    for index in itertools.count() if count is None else range(count):
        yield value[index]
    value.on_epoch_end()


def _convert(value):
    """Tensors as arrays; bytes that are UTF-8 as strings, which TensorFlow does not tell apart."""
    if isinstance(value, tf.Tensor):
        value = value.numpy()
    try:
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, np.ndarray) and value.dtype == object and value.size:
            return np.array([v.decode() for v in value.flat]).reshape(value.shape)
    except (UnicodeDecodeError, AttributeError):  # bytes of files; ragged rows
        pass
    return value


def native_dataset(samples, settings):
    arrays = samples.arrays
    if arrays is not None and not settings and sum(a.nbytes for a in arrays) <= _IN_MEMORY:
        return tf.data.Dataset.from_tensor_slices(arrays)
    options: dict[str, Any] = dict(settings)
    if not options:
        options["output_signature"] = _signature([_tuples(s) for s in samples.examples(_EXAMPLES)], samples.name)
    passes = itertools.count()  # each iteration is the next epoch

    def generate():
        return map(_tuples, samples.open(next(passes)))

    native = tf.data.Dataset.from_generator(generate, **options)
    if samples.length is not None:
        native = native.apply(tf.data.experimental.assert_cardinality(samples.length))
    return native


def _tuples(value):
    """Lists, which TensorFlow takes as one tensor, as tuples."""
    if isinstance(value, dict):
        return {name: _tuples(v) for name, v in value.items()}
    if isinstance(value, tuple) or (isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value)):
        return tuple(map(_tuples, value))
    return value


def _signature(examples, name):
    first = examples[0]
    if isinstance(first, dict):
        return {key: _signature([e[key] for e in examples], f"{name}[{key!r}]") for key in first}
    if isinstance(first, tuple):
        return tuple(_signature(list(values), name) for values in zip(*examples, strict=True))
    if any(e is None for e in examples):
        raise TypeError(f"samples of {name} hold None, which is no tensor: leave the entry out with Dataset.project")
    arrays = [np.asarray(e) for e in examples]
    shape: Any = None
    if all(a.ndim == arrays[0].ndim for a in arrays):
        axes = zip(*[a.shape for a in arrays], strict=True)
        shape = [sizes[0] if len(set(sizes)) == 1 else None for sizes in axes]
    return tf.TensorSpec(shape, tf.string if arrays[0].dtype.kind in "USO" else tf.as_dtype(arrays[0].dtype))
