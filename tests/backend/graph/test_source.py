"""Models as source of their framework alone: the same outputs in both modes, where LabDL cannot be imported."""

import subprocess
import sys

import numpy as np
import pytest
from layers import EACH_CASE, draw, flat, twins

import labdl
from labdl import nn, ops
from labdl.cli import main
from labdl.errors import ModelError
from labdl.graph.lowering.record import record_programs
from labdl.models.text import bert
from labdl.models.vision import resnet
from labdl.saving.parameters import save_parameters
from labdl.saving.source_export import export_source, to_source
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)


def written(model, folder):
    """The exported model, from its text."""
    text, values = to_source(model)
    save_parameters(values, folder / "net.weights.npz")
    space = {"__file__": str(folder / "net.py"), "__name__": "net"}
    (folder / "net.py").write_text(text)
    exec(compile(text, "net.py", "exec"), space)
    made = [v for v in space.values() if isinstance(v, type) and v.__module__ == "net"][-1]
    assert "labdl" not in text.replace("LabDL", "")
    return made()


def switch(native, training, backend):
    """The framework's own way to change modes; the arguments that a call then takes."""
    if backend.name == "tensorflow":
        return {"training": training}
    if backend.name == "mindspore":
        native.set_train(training)
    else:
        native.train() if training else native.eval()
    return {}


@pytest.fixture(autouse=True)
def seeded():
    """As in a notebook that has called it; a seed must not become a part of what is written down."""
    labdl.seed(3)


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize("case", EACH_CASE)
def test_source_of_every_layer_computes_the_same(case, backend, tmp_path):
    ours, _ = twins(case, backend)
    native = written(ours, tmp_path)
    arrays = draw(case)
    doubled = [np.concatenate([a, a]) if a.ndim else a for a in arrays]
    for training in (False, True):
        ours.train(training)
        options = switch(native, training, backend)
        for given in (arrays, doubled):
            tensors = [backend.tensor(a) for a in given]
            actual, expected = flat(native(*tensors, **options)), flat(ours(*tensors))
            try:
                assert_same(actual, expected)
            except AssertionError:
                if not is_chance(ours, tensors, expected):
                    raise
                assert [tuple(a.shape) for a in actual] == [tuple(e.shape) for e in expected]


UNKNOWN_STEPS = {
    "relative positions": (lambda: nn.RelativePositionBias(2), [(None, None, 4)]),
    "a window": (lambda: nn.MultiHeadAttention(2, window=2, causal=True), [(None, None, 8)]),
    "rotary": (lambda: nn.MultiHeadAttention(2, rotary=True, rotary_size=2), [(None, None, 8)]),
    "rotary keys": (lambda: nn.MultiHeadAttention(2, rotary=True), [(None, None, 8), (None, None, 8)]),
    "waves": (lambda: nn.SinusoidalPositions(), [(None, None, 8)]),
    "equal sizes": (
        lambda: nn.LocationAttention(6, filters=2, kernel_size=3),
        [(None, 4), (None, None, 3), (None, None)],
    ),
}


@pytest.mark.sample(False)
@pytest.mark.parametrize("case", UNKNOWN_STEPS)
def test_models_of_any_number_of_steps(case, backend, tmp_path):
    """Built with an unknown number, they compute what is computed with a known one, also in files of each kind."""
    make, shapes = UNKNOWN_STEPS[case]
    ours = make().build(*shapes, backend=backend.name, seed=1).eval()
    labdl.save(ours, tmp_path / "saved")
    labdl.export(ours, tmp_path / "net.onnx")
    native, loaded = written(ours, tmp_path), labdl.load(tmp_path / "saved", backend=backend.name).eval()
    options = switch(native, False, backend)
    session = pytest.importorskip("onnxruntime").InferenceSession(tmp_path / "net.onnx")
    for steps in (3, 9):
        sizes = [[2, *(steps if n is None else n for n in shape[1:])] for shape in shapes]
        arrays = [np.random.default_rng(at).random(size, "float32") for at, size in enumerate(sizes)]
        fixed = make().build(*sizes, backend=backend.name)
        fixed.load_state_dict(ours.state_dict())
        tensors = [backend.tensor(a) for a in arrays]
        expected = flat(fixed.eval()(*tensors))
        assert_same(flat(ours(*tensors)), expected)
        assert_same(flat(loaded(*tensors)), expected)
        assert_same(flat(native(*tensors, **options)), expected)
        fed = dict(zip([i.name for i in session.get_inputs()], arrays, strict=True))
        assert_same(session.run(None, fed), expected)


def is_chance(model, tensors, expected) -> bool:
    """Whether the outputs are others when they are asked for again."""
    return any(
        not np.array_equal(labdl.to_numpy(a), labdl.to_numpy(b))
        for _ in range(40)
        for a, b in zip(expected, flat(model(*tensors)), strict=True)
    )


def assert_same(actual, expected):
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(ours), labdl.to_numpy(theirs), rtol=1e-5, atol=1e-6)


SMALL = {
    "resnet": lambda: (resnet.ResNet(resnet.Bottleneck, (2, 1, 1, 1), classes=7, channels=8), Spec((None, 3, 32, 32))),
    "bert": lambda: (
        bert.BertForPreTraining(
            bert.BertConfig(vocabulary=31, features=12, layers=2, heads=2, feed_forward=24, positions=8)
        ),
        Spec((None, 8), "int64"),
    ),
}


@pytest.mark.sample(every=20)
@pytest.mark.parametrize("name", SMALL)
def test_source_of_a_model_computes_the_same(name, backend, tmp_path):
    model, spec = SMALL[name]()
    model.build(spec, backend=backend.name, seed=0)
    native, rng = written(model, tmp_path), np.random.default_rng(0)
    shape = (3, *spec.shape[1:])
    x = backend.tensor(
        rng.integers(0, 31, shape) if spec.dtype == "int64" else rng.normal(size=shape).astype("float32")
    )
    assert_same(flat(native(x, **switch(native, False, backend))), flat(model.eval()(x)))


class Net(nn.Module):
    """Something of everything: images, statistics, chance, a sequence, attention."""

    def __init__(self):
        self.stem = nn.Sequential(
            nn.Conv2d(4, kernel_size=3, padding="same"), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.sequence = nn.GRU(6, bidirectional=True)
        self.attention = nn.MultiHeadAttention(2)
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(3)

    def forward(self, x):
        y = self.stem(x)
        y = ops.permute_dims(ops.flatten(y, 2), (0, 2, 1))
        y = self.sequence(y)[0]
        return self.head(self.drop(ops.mean(self.attention(y), axis=1))) * 2 - 1


ALONE = """
import sys
sys.path.insert(0, {folder!r})
sys.modules["labdl"] = None  # importing it is an error
import numpy as np
import net
{run}
"""
RUN = {
    "torch": "import torch\nm = net.Net().eval()\ny = m(torch.from_numpy(x)).detach().numpy()\n"
    "m.train()\nz = m(torch.from_numpy(x)).detach().numpy()",
    "tensorflow": "m = net.Net()\ny = m(x).numpy()\nz = m(x, training=True).numpy()",
    "paddle": "import paddle\nm = net.Net()\nm.eval()\ny = m(paddle.to_tensor(x)).numpy()\n"
    "m.train()\nz = m(paddle.to_tensor(x)).numpy()",
    "mindspore": "import mindspore\nm = net.Net()\nm.set_train(False)\ny = m(mindspore.Tensor(x)).asnumpy()\n"
    "m.set_train(True)\nz = m(mindspore.Tensor(x)).asnumpy()",
}


@pytest.mark.sample(backends=1)
def test_the_file_runs_where_labdl_cannot_be_imported(backend, tmp_path):
    net = Net().build((None, 3, 8, 8), backend=backend.name, seed=0)
    x = np.random.default_rng(0).normal(size=(4, 3, 8, 8)).astype("float32")
    expected = labdl.to_numpy(net.eval()(backend.tensor(x)))
    source, parameters = labdl.saving.source_export.export_source(net, tmp_path / "net.py")
    assert (source, parameters) == (tmp_path / "net.py", tmp_path / "net.weights.npz")
    np.save(tmp_path / "x.npy", x)
    run = f"x = np.load({str(tmp_path / 'x.npy')!r})\n{RUN[backend.name]}\nnp.savez({str(tmp_path / 'y.npz')!r}, y=y, z=z)"
    subprocess.run([sys.executable, "-c", ALONE.format(folder=str(tmp_path), run=run)], check=True, cwd=tmp_path)
    found = np.load(tmp_path / "y.npz")
    np.testing.assert_allclose(found["y"], expected, rtol=1e-5, atol=1e-6)
    assert found["z"].shape == expected.shape
    assert not np.allclose(found["z"], expected), "training draws dropout and takes the batch's statistics"


def test_running_statistics_move_as_in_labdl(backend, tmp_path):
    model = nn.Sequential(nn.BatchNorm(momentum=0.3)).build((None, 3, 4), backend=backend.name, seed=0)
    native, x = (
        written(model, tmp_path),
        backend.tensor(np.random.default_rng(0).normal(2, 3, (5, 3, 4)).astype("float32")),
    )
    for _ in range(2):
        native(x, **switch(native, True, backend))
        model(x)
    assert_same(flat(native(x, **switch(native, False, backend))), [model.eval()(x)])


class Depends(nn.Module):
    def forward(self, x):
        positive = isinstance(x, labdl.spec.Spec) or float(labdl.to_numpy(ops.sum(x))) > 0
        return ops.multiply(x, 2) if positive else ops.subtract(x, 1)


def test_data_dependent_model_raises(backend):
    with pytest.raises(ModelError, match="reads the values of a tensor"):
        record_programs(Depends().build((None, 2), backend=backend.name))


def test_table_of_unknown_size_raises(backend):
    class Rotated(nn.Module):
        def forward(self, x):
            return ops.rotary_embedding(x)

    with pytest.raises(ModelError, match=r"the sizes of its inputs .* give the model fixed sizes at build"):
        to_source(Rotated().build((None, None, 4), backend=backend.name))


def test_numpy_has_no_source():
    with pytest.raises(ModelError, match="there is no source code for numpy"):
        export_source(nn.Sequential(nn.Linear(2)).build((None, 3), backend="numpy"), "net.py")


def test_the_command_line_writes_source_of_a_saved_model(backend, tmp_path):
    model = nn.Sequential(nn.Linear(3), nn.Tanh()).build((None, 4), backend="numpy", seed=0)
    labdl.save(model, tmp_path / "net")
    assert main(["export", str(tmp_path / "net.labdl"), "--to", backend.name, "-o", str(tmp_path / "other.py")]) == 0
    space = {"__file__": str(tmp_path / "other.py"), "__name__": "other"}
    exec((tmp_path / "other.py").read_text(), space)
    x = np.ones((2, 4), "float32")
    actual = space["Sequential"]()(backend.tensor(x))
    np.testing.assert_allclose(labdl.to_numpy(actual), model(x), rtol=1e-5, atol=1e-6)
