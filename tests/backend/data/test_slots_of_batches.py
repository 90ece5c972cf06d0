"""A backend that takes a batch without a copy holds its slot: the next batches do not change its tensor."""

import gc

import numpy as np
import pytest

from labdl.data.slots import SlotPool

pytestmark = pytest.mark.sample(backends=1)


@pytest.mark.sample(False)
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_tensors_keep_the_values_of_their_batch(backend, dtype):
    pool, shape, dtype = SlotPool(4), (300, 301), np.dtype(dtype)
    tensors = []
    for number in range(6):
        batch = pool.allocate(shape, dtype)
        batch[...] = number
        tensors.append(backend.tensor(batch))
        del batch
        gc.collect()
    for number, tensor in enumerate(tensors):
        assert (backend.to_numpy(tensor) == number).all()
        assert (backend.to_numpy(tensor + tensor) == 2 * number).all()
