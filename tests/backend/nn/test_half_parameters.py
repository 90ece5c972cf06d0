"""Parameters of 16 bits: build, save, load and move without loss of precision."""

import ml_dtypes
import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, StateDictError
from labdl.spec import Spec
from labdl.train import Trainer

pytestmark = pytest.mark.sample(backends=2)

HALVES = {"float16": np.dtype("float16"), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


class Half(nn.Module):
    """A kernel that is saved in another order of axes, and statistics."""

    dtype: str

    def __init__(self, dtype):
        super().__init__()
        self.kernel = nn.Parameter((4, 3, 2), "normal", dtype, standard=(2, 1, 0))
        self.scale = nn.Buffer((3,), "unit_normal", dtype)
        self.head = nn.Linear(2)

    def forward(self, x):
        mixed = ops.sum(ops.astype(self.kernel, "float32"), axis=2) * ops.astype(self.scale, "float32")
        return self.head(ops.matmul(x, mixed))


@pytest.fixture(params=HALVES)
def dtype(request):
    return request.param


def built(dtype, backend, seed=0):
    return Half(dtype).build((None, 4), backend=backend, seed=seed)


def exact(state, dtype):
    """The values of a state, in arrays that NumPy alone can read, are numbers of that dtype."""
    for name, array in state.items():
        half = name in ("kernel:0", "scale:0")
        assert array.dtype == ("float16" if half and dtype == "float16" else "float32"), name
        assert not half or np.array_equal(array, array.astype(HALVES[dtype]).astype(array.dtype)), name
    return state


def same(first, second):
    assert list(first) == list(second)
    return all(np.array_equal(first[name], second[name]) for name in first)


def test_one_seed_gives_the_same_bits_everywhere(dtype, backend):
    model, reference = built(dtype, backend.name), built(dtype, "numpy")
    assert [backend.spec_of(p.value).dtype for p in model.parameters()] == [dtype, dtype, "float32", "float32"]
    drawn = exact(model.state_dict(), dtype)
    assert drawn["kernel:0"].shape == (2, 3, 4)
    assert same(drawn, exact(reference.state_dict(), dtype))
    x = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    np.testing.assert_allclose(labdl.to_numpy(model(backend.tensor(x))), reference(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("given", ["float32", "float64", "its own"])
def test_values_are_put_in_place(given, dtype, backend):
    model, other = built(dtype, backend.name), built(dtype, "numpy", seed=1)
    value, values = model.kernel, other.state_dict()
    cast = HALVES[dtype] if given == "its own" else np.dtype(given)
    model.load_state_dict(
        {name: array.astype(cast if name == "kernel:0" else array.dtype) for name, array in values.items()}
    )
    assert model.kernel is value
    assert same(exact(model.state_dict(), dtype), values)
    model.load_state_dict({"scale:0": np.array([1.0, 1 / 3, -1e-3])}, names="scale:0")  # rounded to the nearest
    assert np.array_equal(
        model.state_dict()["scale:0"], np.array([1.0, 1 / 3, -1e-3]).astype(HALVES[dtype]).astype("float32")
    )
    with pytest.raises(StateDictError, match=f"scale:0 holds complex64, the model wants {dtype}"):
        model.load_state_dict({"scale:0": np.ones(3, "complex64")}, names="scale:0")


def test_files_hold_every_bit(dtype, backend, tmp_path):
    model = built(dtype, backend.name)
    labdl.save(model, tmp_path / "net")
    with np.load(tmp_path / "net.npz", allow_pickle=False) as file:
        assert same({name: file[name] for name in file.files}, exact(model.state_dict(), dtype))
    for target in (backend.name, "numpy"):
        loaded = labdl.load(tmp_path / "net", backend=target)
        assert [p.dtype for p in loaded.parameters()] == [p.dtype for p in model.parameters()]
        assert same(exact(loaded.state_dict(), dtype), model.state_dict())
    loaded = labdl.load(tmp_path / "net", backend=backend.name, parameters=False, seed=3)
    assert not same(loaded.state_dict(), model.state_dict())
    labdl.swap_parameters(loaded, tmp_path / "net.npz")
    assert same(loaded.state_dict(), model.state_dict())


def test_a_model_moves_and_comes_back(dtype, backend):
    model = built(dtype, backend.name)
    before = model.state_dict()
    for place in ("numpy", backend.name):
        model.to(place)
        owner = labdl.backends.get(place)
        assert [owner.spec_of(p.value).dtype for p in model.parameters()] == [dtype, dtype, "float32", "float32"]
        assert same(exact(model.state_dict(), dtype), before)


def test_weights_and_arrays_keep_their_dtype(dtype, backend):
    weight = nn.Weight((2, 3), "normal", dtype=dtype).build(backend=backend.name, seed=0)
    assert backend.spec_of(weight()) == Spec((2, 3), dtype)
    array = np.array([1.0, -2.5, 1e-3]).astype(HALVES[dtype])
    made = labdl.tensor(array, backend=backend.name)
    assert backend.spec_of(made) == Spec((3,), dtype)
    assert np.array_equal(labdl.to_numpy(made), array.astype("float32"))


def test_buffers_are_not_trained(dtype, backend):
    x, y = np.ones((6, 4), "float32"), np.ones((6, 2), "float32")
    model = built(dtype, backend.name)
    with pytest.raises(ConfigError, match=f"kernel:0 is {dtype}: freeze it"):
        Trainer(model, "mean_squared_error", "adam").train_one_batch(x, y)
    before = model.state_dict()
    Trainer(model, "mean_squared_error", "adam", freeze="kernel*").train_one_batch(x, y)
    after = model.state_dict()
    assert np.array_equal(before["kernel:0"], after["kernel:0"])
    assert not np.array_equal(before["head/bias:0"], after["head/bias:0"])
