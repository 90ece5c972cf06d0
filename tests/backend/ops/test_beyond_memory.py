"""Results larger than the memory are refused at once, and not after minutes of work, by a sentence with their size."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from cases import native

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2)

HUGE = 2**44
SIDE = 2**22
IMAGE = np.ones((1, 1, 2, 2), "float32")
CALLS = {
    "adaptive_avg_pool2d": ((IMAGE, (SIDE, SIDE)), {}),
    "affine_grid": ((np.ones((1, 2, 3), "float32"), (SIDE, SIDE)), {}),
    "fft": ((np.ones(2, "complex64"),), {"n": HUGE}),
    "fold": ((np.ones((1, 4, 1), "float32"), (SIDE, SIDE), 2), {"stride": SIDE}),
    "interpolate": ((IMAGE,), {"size": (SIDE, SIDE)}),
    "max_unpool2d": ((IMAGE, np.zeros((1, 1, 2, 2), "int64"), 2), {"size": (SIDE, SIDE)}),
    "one_hot": ((np.array([1, 2]), HUGE), {}),
    "outer": ((np.ones(SIDE, "float32"), np.ones(SIDE, "float32")), {}),
    "pad": ((np.ones((2, 2), "float32"), ((0, HUGE), (0, 0))), {}),
    "repeat": ((np.ones(2, "float32"), HUGE), {}),
    "roi_align": ((IMAGE, np.array([[0, 0, 1, 1]], "float32"), np.array([0])), {"output_size": (SIDE, SIDE)}),
    "scatter_nd": ((np.array([[0]]), np.ones(1, "float32"), (HUGE,)), {}),
    "segment_sum": ((np.ones(2, "float32"), np.array([0, 1]), HUGE), {}),
    "sinusoidal_embedding": ((np.ones(2, "float32"), HUGE), {}),
    "tile": ((np.ones(2, "float32"), (HUGE,)), {}),
    "diag": ((np.ones(SIDE, "float32"),), {}),
    "cdist": ((np.ones((SIDE, 1), "float32"), np.ones((SIDE, 1), "float32")), {}),
    "kron": ((np.ones((1, SIDE), "float32"), np.ones((SIDE, 1), "float32")), {}),
}

CREATION = {
    "empty": ((HUGE,), {}),
    "zeros": (((SIDE, SIDE),), {}),
    "ones": ((HUGE,), {"dtype": "int8"}),
    "full": (((SIDE, SIDE), 2.0), {}),
    "eye": ((SIDE,), {"dtype": "bool"}),
    "arange": ((HUGE,), {}),
    "linspace": ((0, 1, HUGE), {}),
    "logspace": ((0, 1, HUGE), {}),
    "fftfreq": ((HUGE,), {}),
    "rfftfreq": ((HUGE,), {}),
    "hann_window": ((HUGE,), {}),
    "hamming_window": ((HUGE,), {}),
    "random_uniform": (((SIDE, SIDE),), {}),
    "random_normal": (((SIDE, SIDE),), {}),
    "random_integers": ((HUGE, 0, 5), {}),
    "permutation": ((HUGE,), {}),
    "random_truncated_normal": ((HUGE,), {}),
    "random_binomial": ((HUGE, 2, 0.5), {}),
    "random_exponential": ((HUGE,), {}),
    "random_gamma": ((HUGE, 1.0), {}),
    "random_beta": ((HUGE, 1.0, 1.0), {}),
    "random_poisson": ((HUGE, 1.0), {}),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", CALLS)
def test_results_beyond_the_memory_are_refused(name, backend):
    args, kwargs = CALLS[name]
    tensors = [native(a, backend.name) if isinstance(a, np.ndarray) else a for a in args]
    with pytest.raises(MemoryError, match=f"{name} would give .* elements: this machine has .* GB of memory"):
        getattr(ops, name)(*tensors, **kwargs)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", CREATION)
def test_new_tensors_beyond_the_memory_are_refused(name, backend):
    args, kwargs = CREATION[name]
    with pytest.raises(MemoryError, match=f"{name} would give .* elements: this machine has .* GB of memory"):
        getattr(ops, name)(*args, backend=backend.name, **kwargs)


@pytest.mark.parametrize("function", ["zeros", "ones", "full", "eye"])
def test_new_tensors_are_made_in_their_own_width(function, backend):
    """No array of 8 bytes for each element comes before one of a byte each."""
    side = 2048
    args = {"full": ((side, side), 300), "eye": (side,)}.get(function, ((side, side),))
    tracemalloc.start()
    try:
        found = getattr(ops, function)(*args, dtype="int8", backend=backend.name)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * side * side
    corner = labdl.to_numpy(found)[0, 0]
    assert corner == {"zeros": 0, "full": 300 - 256}.get(function, 1)


@pytest.fixture
def small_memory(monkeypatch):
    """A machine of 1 GB, on which a check that fails costs little."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=2**30))


@pytest.mark.parametrize(("shape", "axis"), [((2,), None), ((2,), 0), ((2, 512), 0)])
@pytest.mark.parametrize("counts", [[1, 2**28], [2**28], [0, 2**30]])
def test_counts_beyond_the_memory_are_refused(counts, shape, axis, small_memory, backend):
    x = backend.tensor(np.ones(shape, "float32"))
    if axis is None:
        counts = counts * (2 // len(counts))
    with pytest.raises(MemoryError, match=r"repeat would give .* slices: this machine has 1 GB of memory"):
        ops.repeat(x, backend.tensor(np.array(counts)), axis=axis)
    assert ops.repeat(x, backend.tensor(np.array([1, 3])), axis=0).shape[0] == 4


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_beyond_the_memory_are_refused(weighted, small_memory, backend):
    weights = backend.tensor(np.ones(2, "float32")) if weighted else None
    with pytest.raises(MemoryError, match=r"bincount would give 268435456 counts: this machine has 1 GB of memory"):
        ops.bincount(backend.tensor(np.array([1, 2**28 - 1])), weights)
    assert ops.bincount(backend.tensor(np.array([1, 3])), weights).shape == (4,)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(("size", "options"), [(1e9, {}), (1e7, {}), (1.0, {"sampling_ratio": 2**20})])
def test_points_of_a_box_beyond_the_memory_are_refused(size, options, backend):
    box, image = (native(v, backend.name) for v in (np.array([[0, 0, size, size]], "float32"), np.array([0])))
    with pytest.raises(MemoryError, match=r"roi_align would give .* elements: this machine has .* GB of memory"):
        ops.roi_align(native(IMAGE, backend.name), box, image, 2, **options)
