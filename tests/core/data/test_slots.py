"""Slots: memory of batches is used again when nothing holds it, by any number of threads, and never before."""

import gc
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.data.slots import SlotPool


@settings(max_examples=50, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([10, 40_000, 100_000, 130_000])), max_size=30),
    most=st.integers(0, 3),
)
def test_no_two_arrays_that_are_held_share_memory(steps, most):
    pool, held = SlotPool(most), {}
    for place, size in steps:
        held.pop(place, None)
        array = pool.allocate((size, 2), np.dtype("uint8"))
        array[...] = place
        held[place] = array[::2].T  # a view alone holds the slot
        del array
        assert all((view == at).all() for at, view in held.items())
        assert all(view.ctypes.data % 64 == 0 for view in held.values())
    held.clear()
    assert len(pool._free) <= most


def test_a_slot_serves_the_next_array_of_about_its_size():
    pool = SlotPool(2)
    first = pool.allocate((100_000,), np.dtype("float32"))
    place = first.ctypes.data
    view = first[5:]
    del first
    second = pool.allocate((100_000,), np.dtype("float32"))
    assert second.ctypes.data != place
    del view
    larger = pool.allocate((60_000,), np.dtype("float64"))
    assert larger.ctypes.data != place
    again = pool.allocate((350_000,), np.dtype("uint8"))
    assert again.ctypes.data == place
    assert again.flags.writeable
    assert again.flags.c_contiguous
    pool.clear()
    assert pool._free == []


def test_threads_share_a_pool():
    pool, failures = SlotPool(4), []

    def work(number):
        for _ in range(300):
            array = pool.allocate((70_000,), np.dtype("uint8"))
            array[...] = number
            if not (array == number).all():
                failures.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_fills_its_slots_again_and_leaves_kept_batches_alone(workers):
    samples = data.SampleDataset(lambda i: np.full(30_000, i, "float32"), length=80)
    loader = samples.loader(4, workers=workers)
    places = []
    for batch in loader:
        places.append(batch.ctypes.data)
        assert (batch[:, 0] == np.arange(4) + 4 * (len(places) - 1)).all()
    assert len(set(places)) <= 6
    del batch
    gc.collect()
    assert loader._slots._free == []
    kept = list(loader)
    assert [int(b[0, -1]) for b in kept] == list(range(0, 80, 4))
