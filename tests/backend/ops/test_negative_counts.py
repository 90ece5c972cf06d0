"""Tensors of counts and places with negative numbers, which some kernels leave out in silence."""

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

CALLS = {
    "bincount": lambda make: ops.bincount(make(np.array([1, -1, 2]))),
    "bincount_weights": lambda make: ops.bincount(make(np.array([0, -2])), make(np.ones(2, "float32"))),
    "repeat": lambda make: ops.repeat(make(np.ones(2, "float32")), make(np.array([1, -2]))),
    "repeat_axis": lambda make: ops.repeat(make(np.ones((2, 3), "float32")), make(np.array([-1, 1])), axis=0),
    "repeat_number": lambda make: ops.repeat(make(np.ones(2, "float32")), -1),
}


@pytest.mark.parametrize("name", CALLS)
def test_negative_counts_are_refused(name, backend):
    with pytest.raises(ValueError, match=r"negative|0 or more|from 0 to|below 0|repeats"):
        labdl.to_numpy(CALLS[name](lambda a: native(a, backend.name)))


@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_positions_of_an_embedding_are_integers(dtype, backend):
    indices = native(np.zeros(2, dtype), backend.name)
    with pytest.raises(TypeError, match="embedding wants indices of dtype int8"):
        ops.embedding(indices, native(np.ones((3, 4), "float32"), backend.name))
