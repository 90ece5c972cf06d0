"""Native checkpoints of the frameworks: loading and saving on any backend.

`tests/backend/files` holds the networks in plain code of each framework, and files that those wrote.
"""

import contextlib
import importlib
import sys
import zipfile
from pathlib import Path

import layers
import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import FileFormatError, ModelError, StateDictError
from labdl.graph import as_graph
from labdl.saving.native.checkpoints import FRAMEWORKS, convert_checkpoint, load_checkpoint, save_checkpoint
from labdl.spec import Spec

sys.path.insert(0, str(Path(__file__).parents[1] / "files"))  # the files beside import each other as scripts do
from inputs import HERE, SHAPES, SUFFIXES, inputs_of
from labdl_nets import NETS

pytestmark = pytest.mark.sample(backends=2)


def there(framework, name, suffix):
    return (HERE / framework / (name + (suffix or ".index"))).exists()


FILES = [(f, n, s) for f in FRAMEWORKS for s in SUFFIXES[f] for n in SHAPES if there(f, n, s)]
IDS = [f"{f}-{n}{s}" for f, n, s in FILES]
OUTPUTS = {f: np.load(HERE / f / "outputs.npz") for f in FRAMEWORKS}


def built(name, backend, seed=0):
    specs = [Spec(a.shape, a.dtype.name) for a in inputs_of(name)]
    return NETS[name]().build(*specs, backend=backend, seed=seed).eval()


def output(model, name):
    return labdl.to_numpy(model(*(labdl.tensor(a, backend=model.backend) for a in inputs_of(name))))


def stirred(model):
    """Values that no initializer gives, so that no bias is zero and no statistic one."""
    rng = np.random.default_rng(5)
    state = {k: rng.uniform(0.4, 0.9, v.shape) * rng.choice([-1, 1], v.shape) for k, v in model.state_dict().items()}
    model.load_state_dict({k: (abs(v) if "variance" in k else v).astype("float32") for k, v in state.items()})
    return model


@pytest.fixture
def twins(backend):
    """The networks in plain code of the backend's framework."""
    return importlib.import_module(f"{backend.name}_nets")


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(("framework", "name", "suffix"), FILES, ids=IDS)
def test_a_native_file_opens_on_every_backend(backend, framework, name, suffix):
    for place in (backend.name, "numpy"):
        model = load_checkpoint(built(name, place), HERE / framework / (name + suffix))
        np.testing.assert_allclose(output(model, name), OUTPUTS[framework][name], rtol=1e-5, atol=1e-5)


@pytest.mark.sample(every=10)
@pytest.mark.parametrize("name", SHAPES)
def test_a_file_that_the_framework_writes_now_opens(backend, twins, name, tmp_path):
    expected = twins.write(name, tmp_path)
    for suffix in SUFFIXES[backend.name]:
        if there(backend.name, name, suffix):
            model = load_checkpoint(built(name, backend.name), tmp_path / (name + suffix))
            np.testing.assert_allclose(output(model, name), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.sample(every=10)
@pytest.mark.parametrize("name", SHAPES)
def test_native_model_loads_exported_files(backend, twins, name, tmp_path):
    model = stirred(built(name, backend.name))
    for suffix in SUFFIXES[backend.name]:
        if suffix or there(backend.name, name, suffix):
            path = save_checkpoint(model, tmp_path / f"{name}{suffix}", framework=backend.name)
            np.testing.assert_allclose(
                twins.run(twins.load(name, path), name), output(model, name), rtol=1e-5, atol=1e-5
            )


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_file_is_the_same_from_whatever_backend(backend, framework, tmp_path):
    """What the twins of a framework load when written there (the test above), they load when written elsewhere, too."""
    for name in SHAPES:
        models = [stirred(built(name, place)) for place in (backend.name, "numpy")]
        expected, fresh = models[1].state_dict(), built(name, backend.name, seed=1)
        for suffix in SUFFIXES[framework]:
            one, other = (save_checkpoint(model, tmp_path / f"{model.backend}{suffix}", framework) for model in models)
            if suffix not in ("", ".weights.h5"):
                assert one.read_bytes() == other.read_bytes()
            load_checkpoint(fresh, one)
            for key, value in fresh.state_dict().items():
                np.testing.assert_array_equal(value, expected[key])
            fresh.load_state_dict({key: np.zeros_like(value) for key, value in expected.items()})


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize("case", layers.CASES)
def test_every_layer_goes_into_each_file_and_comes_back(backend, case, tmp_path):
    model = stirred(layers.make(case, backend.name))
    expected, fresh = model.state_dict(), layers.make(case, "numpy", seed=9)
    for framework in FRAMEWORKS:
        if not expected and framework != "tensorflow":  # Keras's files may be empty
            with pytest.raises(FileFormatError, match=r"it holds no arrays|it is empty"):
                load_checkpoint(fresh, save_checkpoint(model, tmp_path / f"net{SUFFIXES[framework][0]}"))
            continue
        load_checkpoint(fresh, save_checkpoint(model, tmp_path / f"net{SUFFIXES[framework][0]}"))
        for key, value in fresh.state_dict().items():
            np.testing.assert_array_equal(value, expected[key])
        fresh.load_state_dict({key: np.zeros_like(value) for key, value in expected.items()})


@pytest.mark.sample(every=5, backends=1)
@pytest.mark.parametrize("name", SHAPES)
def test_a_graph_loads_what_its_model_loads(backend, name, tmp_path):
    model = stirred(built(name, backend.name))
    graph, expected = as_graph(model).to_module().build(backend=backend.name, seed=1), model.state_dict()
    for framework in FRAMEWORKS:
        load_checkpoint(graph, save_checkpoint(model, tmp_path / f"net{SUFFIXES[framework][0]}"))
        for key, value in graph.state_dict().items():
            np.testing.assert_array_equal(value, expected[key])
        graph.load_state_dict({key: np.zeros_like(value) for key, value in expected.items()})


def test_layers_of_a_graph_that_keras_only_numbers_are_not_guessed(backend, tmp_path):
    graph = as_graph(built("parts", backend.name)).to_module().build(backend=backend.name)
    with pytest.raises(StateDictError, match=r"missing heads/high/kernel.*a graph does not record the order"):
        load_checkpoint(graph, HERE / "tensorflow" / "parts.weights.h5")
    with pytest.raises(ModelError, match="of heads/high, heads/low a graph does not record"):
        save_checkpoint(graph, tmp_path / "net.weights.h5")


def test_converted_from_one_framework_to_all_others(backend, tmp_path):
    model = built("sequence", backend.name)
    before = model.state_dict()
    for framework in FRAMEWORKS:
        suffix = SUFFIXES[framework][0]
        convert_checkpoint(model, HERE / "torch" / "sequence.pt", tmp_path / f"net{suffix}")
        loaded = load_checkpoint(built("sequence", "numpy", seed=1), tmp_path / f"net{suffix}")
        np.testing.assert_allclose(output(loaded, "sequence"), OUTPUTS["torch"]["sequence"], rtol=1e-5, atol=1e-5)
    for key, value in model.state_dict().items():
        np.testing.assert_array_equal(value, before[key])


def test_shape_mismatch_is_reported_with_both_shapes(backend, tmp_path):
    source = nn.Sequential(nn.Linear(4), nn.BatchNorm()).build((None, 3), backend=backend.name)
    for framework in FRAMEWORKS:
        path = save_checkpoint(source, tmp_path / f"net{SUFFIXES[framework][0]}")
        before = (
            wide := nn.Sequential(nn.Linear(5), nn.BatchNorm()).build((None, 3), backend=backend.name)
        ).state_dict()
        name, one, other = {
            "torch": ("0.weight", (4, 3), (5, 3)),
            "paddle": ("0.weight", (3, 4), (3, 5)),
            "mindspore": ("0.weight", (4, 3), (5, 3)),
            "tensorflow": ("0/kernel", (3, 4), (3, 5)),
        }[framework]
        with pytest.raises(StateDictError) as found:
            load_checkpoint(wide, path)
        assert f"{name} has shape {one}, the model wants {other} (here 0/kernel)" in str(found.value)
        for key, value in wide.state_dict().items():
            np.testing.assert_array_equal(value, before[key])
        longer = nn.Sequential(nn.Linear(4), nn.BatchNorm(), nn.Linear(2)).build((None, 3), backend=backend.name)
        with pytest.raises(StateDictError, match=r"missing 2.*\(here 2/kernel\)"):
            load_checkpoint(longer, path)
        shorter = nn.Sequential(nn.Linear(4)).build((None, 3), backend=backend.name)
        with pytest.raises(StateDictError, match="unexpected"):
            load_checkpoint(shorter, path)


def test_a_native_model_has_the_state_of_the_plain_one(backend, twins):
    """The same tables name the parameters of `Module.to_native`; PyTorch's state_dict has its axes and packings as well."""
    if backend.name == "torch":
        for name in SHAPES:
            model = stirred(built(name, "torch"))
            twin = twins.NETS[name]()
            twin.load_state_dict(model.to_native().state_dict())
            np.testing.assert_allclose(twins.run(twin, name), output(model, name), rtol=1e-5, atol=1e-5)
            other = built(name, "torch", seed=1)
            other.to_native().load_state_dict(twin.state_dict())
            np.testing.assert_allclose(output(other, name), output(model, name), rtol=1e-6, atol=1e-6)
        return
    names = {
        "paddle": lambda native: set(native.state_dict()),
        "mindspore": lambda native: {n for n, _ in native.parameters_and_names()},
        "tensorflow": lambda native: {v.path for v in native.variables},
    }[backend.name](built("parts", backend.name).to_native())
    expected = {
        "paddle": {"blocks.0.weight", "heads.low.bias", "scale", "shift"},
        "mindspore": {"blocks.0.weight", "heads.low.bias", "scale", "shift"},
        "tensorflow": {"blocks/0/kernel", "heads/low/bias", "scale", "shift"},
    }[backend.name]
    assert expected <= names


class Twice(nn.Module):
    def __init__(self, tied):
        self.one, self.other = nn.Linear(3, use_bias=False), nn.Linear(3, use_bias=False)
        if tied:
            self.tie("other/kernel:0", to="one/kernel:0")

    def forward(self, x):
        return self.other(self.one(x))


def test_tied_parameters_have_both_names(backend, tmp_path):
    model = stirred(Twice(tied=True).build((None, 3), backend=backend.name))
    for framework in FRAMEWORKS:
        path = save_checkpoint(model, tmp_path / f"net{SUFFIXES[framework][0]}")
        fresh = load_checkpoint(Twice(tied=True).build((None, 3), backend=backend.name, seed=1), path)
        np.testing.assert_array_equal(fresh.state_dict()["one/kernel:0"], model.state_dict()["one/kernel:0"])
    untied = Twice(tied=False).build((None, 3), backend=backend.name, seed=0)
    save_checkpoint(untied, tmp_path / "untied.pt")
    with pytest.raises(StateDictError, match="is one parameter of several names"):
        load_checkpoint(model, tmp_path / "untied.pt")


def test_half_precision_goes_into_a_model_of_float32(backend, tmp_path):
    import torch

    weights = {"weight": torch.randn(4, 3, dtype=torch.bfloat16), "bias": torch.randn(4, dtype=torch.float16)}
    torch.save({"state_dict": weights, "epoch": 3}, tmp_path / "net.pth")
    model = nn.Linear(4).build((None, 3), backend=backend.name)
    state = load_checkpoint(model, tmp_path / "net.pth").state_dict()
    np.testing.assert_array_equal(state["kernel:0"], weights["weight"].float().numpy().T)
    np.testing.assert_array_equal(state["bias:0"], weights["bias"].float().numpy())
    torch.save(weights, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert not zipfile.is_zipfile(tmp_path / "old.pt")
    again = load_checkpoint(nn.Linear(4).build((None, 3), backend=backend.name), tmp_path / "old.pt").state_dict()
    np.testing.assert_array_equal(again["kernel:0"], state["kernel:0"])


def test_broken_checkpoints_of_tensorflow_are_refused(backend, tmp_path):
    if backend.name != "tensorflow":
        return
    model, rng = built("image", "tensorflow"), np.random.default_rng(0)
    index, data = ((HERE / "tensorflow" / f"image.{end}").read_bytes() for end in ("index", "data-00000-of-00001"))
    for at in range(60):
        broken = bytearray(index if at % 3 else data)
        if at % 2:
            broken[rng.integers(len(broken))] ^= 1 << rng.integers(8)
        else:
            broken = broken[: rng.integers(len(broken))]
        (tmp_path / "net.index").write_bytes(broken if at % 3 else index)
        (tmp_path / "net.data-00000-of-00001").write_bytes(data if at % 3 else broken)
        with contextlib.suppress(FileFormatError, StateDictError):
            load_checkpoint(model, tmp_path / "net")
