"""Low-rank adapters: values and a step of training against NumPy by hand, and that nothing but the adapters is trained."""

import importlib.util

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, FileFormatError, MissingFileError, ModelError, StateDictError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 5)).astype("float32")
Y = RNG.normal(size=(8, 3)).astype("float32")


class Net(nn.Module):
    """Two linear layers and a normalization."""

    def __init__(self):
        self.first, self.norm, self.head = nn.Linear(6), nn.LayerNorm(), nn.Linear(3)

    def forward(self, x):
        return self.head(ops.relu(self.norm(self.first(x))))


class Attends(nn.Module):
    """Attention over steps, the last of which gives the classes."""

    def __init__(self):
        self.block = nn.TransformerEncoder(2, 8, layers=2, rate=0.0)
        self.head = nn.Linear(3)

    def forward(self, x):
        return self.head(ops.getitem(self.block(x), (slice(None), -1)))


def draw(model, pattern="lora_", seed=2):
    """Values for the adapters that change the outputs."""
    rng = np.random.default_rng(seed)
    values = {k: rng.normal(size=v.shape).astype("float32") for k, v in model.state_dict().items() if pattern in k}
    model.load_state_dict(values, strict=False)
    return values


def outputs(model, x, backend):
    return labdl.to_numpy(model.eval()(backend.tensor(x)))


def test_values_and_a_step_are_those_of_the_definition(backend):
    model = nn.add_lora(
        nn.Sequential(nn.Linear(3)).build((None, 5), backend=backend.name, seed=1), 2, 6.0, target_modules="0"
    )
    before = {**model.state_dict(), **draw(model)}
    kernel, bias, a, b = (before[f"0/{name}:0"].astype("float64") for name in ("kernel", "bias", "lora_a", "lora_b"))
    expected = X @ kernel + bias + 3.0 * (X @ a) @ b
    np.testing.assert_allclose(outputs(model, X, backend), expected, rtol=1e-4, atol=1e-5)
    trainer = labdl.Trainer(model, "mse", "sgd", lr=0.1, epochs=1, batch_size=8, compiled=False, backend=backend.name)
    trainer.fit(X, Y)
    slope = 2 * (expected - Y) / Y.size
    after = model.state_dict()
    np.testing.assert_allclose(after["0/lora_a:0"], a - 0.1 * 3.0 * X.T @ slope @ b.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(after["0/lora_b:0"], b - 0.1 * 3.0 * (X @ a).T @ slope, rtol=1e-4, atol=1e-5)
    for name in ("0/kernel:0", "0/bias:0"):
        np.testing.assert_array_equal(after[name], before[name])


def test_an_adapter_changes_nothing_at_first_and_is_all_that_trains(backend, tmp_path):
    model = Net().build((None, 5), backend=backend.name, seed=1)
    base, start = model.state_dict(), outputs(model, X, backend)
    nn.add_lora(model, 2, 4.0, 0.25, target_modules=["first"], modules_to_save=["head"], seed=3)
    np.testing.assert_array_equal(outputs(model, X, backend), start)
    trained = {name for name, p in model.named_parameters() if p.trainable}
    assert trained == {"first/lora_a:0", "first/lora_b:0", "head/kernel:0", "head/bias:0"}
    assert model.count_parameters() == 2 * (5 + 6) + 6 * 3 + 3
    settings = {"optimizer": "adam", "lr": 0.05, "epochs": 2, "batch_size": 4, "compiled": False}
    labdl.Trainer(model, "mse", backend=backend.name, **settings).fit(X, Y)
    moved = {name for name, value in model.state_dict().items() if name not in base or (value != base[name]).any()}
    assert moved == trained
    labdl.save_lora(model, tmp_path / "adapter.npz")
    assert set(labdl.load_parameters(tmp_path / "adapter.npz")) == trained
    other = Net().build((None, 5), backend=backend.name, seed=9)
    other.load_state_dict(base)
    labdl.load_lora(other, tmp_path / "adapter.npz")
    assert (other.first.lora_alpha, other.first.lora_dropout, other.first.r) == (4.0, 0.25, 2)
    assert {name for name, p in other.named_parameters() if p.trainable} == trained
    np.testing.assert_array_equal(outputs(other, X, backend), outputs(model, X, backend))


@pytest.mark.sample(backends=1)
def test_merged_weights_give_the_same_outputs(backend, tmp_path):
    """The projections of attention, inside of a layer that files describe by its settings alone."""
    x = RNG.normal(size=(2, 4, 6)).astype("float32")
    model = nn.add_lora(Attends().build((None, 4, 6), backend=backend.name, seed=1), 3)
    assert len(draw(model)) == 8
    expected = outputs(model, x, backend)
    labdl.save(model, tmp_path / "adapted")
    again = labdl.load(tmp_path / "adapted", backend=backend.name)
    np.testing.assert_allclose(outputs(again, x, backend), expected, rtol=1e-5, atol=1e-6)
    assert again.count_parameters() == model.count_parameters()
    nn.merge_lora(model)
    assert not [name for name in model.state_dict() if "lora" in name]
    np.testing.assert_allclose(outputs(model, x, backend), expected, rtol=1e-4, atol=1e-5)
    labdl.save(model, tmp_path / "merged")
    merged = labdl.load(tmp_path / "merged", backend=backend.name)
    assert any(type(part) is nn.TransformerEncoder for part in merged.modules())
    np.testing.assert_allclose(outputs(merged, x, backend), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.sample(backends=["torch"])
def test_a_loaded_model_is_adapted(backend, tmp_path):
    x = RNG.normal(size=(2, 4, 6)).astype("float32")
    labdl.save(Attends().build((None, 4, 6), backend=backend.name, seed=1), tmp_path / "base")
    model = nn.add_lora(labdl.load(tmp_path / "base", backend=backend.name), target_modules="all-linear")
    assert type(model.get_module("head")) is nn.Linear
    draw(model)
    labdl.save(model, tmp_path / "adapted")
    again = labdl.load(tmp_path / "adapted", backend=backend.name)
    np.testing.assert_allclose(outputs(again, x, backend), outputs(model, x, backend), rtol=1e-5, atol=1e-6)


@pytest.mark.sample(False)
@pytest.mark.parametrize("merged", [True, False], ids=["merged", "adapted"])
def test_exports_keep_the_outputs(merged, backend, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    x = RNG.normal(size=(2, 4, 6)).astype("float32")
    model = nn.add_lora(Attends().build((None, 4, 6), backend=backend.name, seed=1), 3)
    draw(model)
    expected = outputs(model, x, backend)
    if merged:
        nn.merge_lora(model)
    labdl.export(model, tmp_path / "net.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    result = session.run(None, {session.get_inputs()[0].name: x})[0]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    labdl.export(model, tmp_path / "net.py", target=backend.name)
    spec = importlib.util.spec_from_file_location("net_of_lora", tmp_path / "net.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    native = module.Attends()
    result = labdl.to_numpy(backend.native_call(native, False, [backend.tensor(x)]))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.sample(backends=["torch"])
def test_adapters_that_have_no_place_are_refused(backend, tmp_path):
    def create(**settings):
        return Attends(**settings).build((None, 4, 6), backend=backend.name, seed=1)

    model = create()
    for settings, error, part in [
        ({"target_modules": "q_proj"}, ConfigError, "no module 'q_proj' to adapt; its Linear layers are block/blocks/"),
        ({"target_modules": "attention"}, ConfigError, "is a MultiHeadAttention, which has Linear layers: .*query"),
        ({"target_modules": "mlp_norm"}, ConfigError, "is a LayerNorm, which has no Linear layer"),
        ({"target_modules": []}, ConfigError, "wants names of modules"),
        ({"target_modules": ["query", 3]}, ConfigError, "wants names of modules"),
        (
            {"target_modules": "head", "modules_to_save": "head"},
            ConfigError,
            "in target_modules and in modules_to_save",
        ),
        ({"modules_to_save": "classifier"}, ConfigError, "no module 'classifier' of modules_to_save"),
        ({"r": 0}, ConfigError, "r"),
        ({"lora_dropout": 1.0}, ConfigError, "lora_dropout"),
    ]:
        with pytest.raises(error, match=part):
            nn.add_lora(model, **settings)
    assert all(p.trainable for p in model.parameters())
    with pytest.raises(ModelError, match="no adapters to merge"):
        nn.merge_lora(model)
    with pytest.raises(ModelError, match="no adapters to save"):
        labdl.save_lora(model, tmp_path / "none.npz")
    with pytest.raises(ModelError, match="not built yet"):
        nn.add_lora(Attends())
    nn.add_lora(model, 2)
    with pytest.raises(ModelError, match="has an adapter already"):
        nn.add_lora(model)
    labdl.save_lora(model, tmp_path / "adapter.npz")
    other = nn.Sequential(nn.Linear(3)).build((None, 5), backend=backend.name)
    with pytest.raises(StateDictError, match="no Linear layer 'block/blocks/0/attention/query'"):
        labdl.load_lora(other, tmp_path / "adapter.npz")
    larger = nn.add_lora(create(), 4)
    with pytest.raises(StateDictError, match="another rank"):
        labdl.load_lora(larger, tmp_path / "adapter.npz")
    labdl.save_parameters(model, tmp_path / "all.npz")
    with pytest.raises(FileFormatError, match="no file of adapters"):
        labdl.load_lora(create(), tmp_path / "all.npz")
    with pytest.raises(MissingFileError):
        labdl.load_lora(create(), tmp_path / "missing.npz")


@pytest.mark.sample(backends=["torch"])
def test_weights_that_an_adapter_cannot_change_are_refused(backend):
    normed = nn.Sequential(nn.Linear(3, weight_norm=0)).build((None, 5), backend=backend.name)
    with pytest.raises(ModelError, match="0 has weight_norm"):
        nn.add_lora(normed, target_modules="0")
    both = nn.Sequential(nn.Linear(5), nn.Linear(5))
    both.tie("1/kernel:0", to="0/kernel:0")
    with pytest.raises(ModelError, match="are one parameter"):
        nn.add_lora(both.build((None, 5), backend=backend.name), target_modules="1")
    hooked = nn.Sequential(nn.Linear(3)).build((None, 5), backend=backend.name)
    hooked[0].register_forward_hook(lambda *_: None)
    with pytest.raises(ModelError, match="has forward hooks"):
        nn.add_lora(hooked, target_modules="0")


class Conditioned(nn.Module):
    """A linear layer, and one for an input that may be left out."""

    def __init__(self):
        self.main, self.condition = nn.Linear(3), nn.Linear(3)

    def forward(self, x, y=None):
        return self.main(x) if y is None else self.main(x) + self.condition(y)


@pytest.mark.sample(backends=["torch"])
def test_layers_that_the_inputs_do_not_reach_get_no_adapter(backend):
    model = Conditioned().build((None, 5), backend=backend.name)
    with pytest.raises(ConfigError, match="condition has no weights"):
        nn.add_lora(model, target_modules="condition")
    nn.add_lora(model, 2, target_modules=["main", "*i*"])
    assert type(model.condition) is nn.Linear
    assert type(nn.merge_lora(model).main) is nn.Linear
