"""Positions beyond a tensor, of which some kernels read 32 bits only: an error and no other row."""

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(every=4)

ROWS = np.arange(6, dtype="float32").reshape(3, 2)
IMAGE = np.ones((1, 1, 1, 3), "float32")
CALLS = {
    "embedding": lambda x, image, at: ops.embedding(at, x),
    "embedding_bag": lambda x, image, at: ops.embedding_bag(ops.expand_dims(at, 0), x),
    "scatter_nd": lambda x, image, at: ops.scatter_nd(ops.expand_dims(at, 1), x, (3, 2)),
    "max_unpool2d": lambda x, image, at: ops.max_unpool2d(image, ops.reshape(at, (1, 1, 1, 3)), 2, size=(2, 2)),
    "segment_sum": lambda x, image, at: ops.segment_sum(x, at, 3),
    "segment_mean": lambda x, image, at: ops.segment_mean(x, at, 3),
    "take": lambda x, image, at: ops.take(x, at),
    "gather_nd": lambda x, image, at: ops.gather_nd(x, ops.expand_dims(at, 1)),
    "take_along_axis": lambda x, image, at: ops.take_along_axis(x, ops.expand_dims(at, 1), 0),
    "index_add": lambda x, image, at: ops.index_add(x, at, x),
}
BEYOND = [2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**40), -(2**63), -9]


@pytest.mark.backends("mindspore", "paddle", "torch")  # TensorFlow's scatter drops them, see test_extreme_values
@pytest.mark.parametrize("position", BEYOND)
@pytest.mark.parametrize("name", CALLS)
def test_positions_of_64_bits_beyond_a_tensor_are_refused(name, position, backend):
    values = (native(v, backend.name) for v in (ROWS, IMAGE, np.array([0, position, 1])))
    with pytest.raises((IndexError, ValueError, RuntimeError)):
        labdl.to_numpy(CALLS[name](*values))


@pytest.mark.parametrize("position", [-1, -3])
@pytest.mark.parametrize("name", ["embedding", "embedding_bag"])
def test_a_table_has_no_negative_positions(name, position, backend):
    values = (native(v, backend.name) for v in (ROWS, IMAGE, np.array([0, position, 1])))
    with pytest.raises((IndexError, ValueError, RuntimeError)):
        labdl.to_numpy(CALLS[name](*values))
