"""Inputs of a model keep name, place, optionality and default on every way out of it and back."""

import importlib.util
from dataclasses import dataclass, field

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ModelError
from labdl.graph import Graph
from labdl.infer import Inference, predict
from labdl.saving.onnx import export_onnx, import_onnx
from labdl.spec import Spec

pytestmark = [pytest.mark.filterwarnings("ignore:the saved model needs 'types'"), pytest.mark.sample(backends=1)]


class Classifier(nn.Module):
    """As a text model: two optional inputs, one of them used by layers only."""

    def __init__(self):
        self.words, self.kinds = nn.Embedding(9, 4), nn.Embedding(2, 4)
        self.attention = nn.MultiHeadAttention(2)
        self.head = nn.Linear(3)

    def forward(self, tokens, types=None, mask=None):
        types = ops.zeros_like(tokens) if types is None else types
        x = self.words(tokens) + self.kinds(types)
        return ops.mean(self.head(self.attention(x, key_mask=mask)), axis=1)


class Scaled(nn.Module):
    """A number as a default, before an optional input that an operator reads."""

    def __init__(self):
        self.linear = nn.Linear(4)
        self.attention = nn.MultiHeadAttention(2)

    def forward(self, x, scale=2.0, mask=None):
        x = self.linear(x) * scale
        allowed = None if mask is None else mask > 0
        return ops.mean(self.attention(x, key_mask=allowed), axis=1)


class ByName(nn.Module):
    def __init__(self):
        self.attention = nn.MultiHeadAttention(2)

    def forward(self, x, *, mask=None, twice=False):
        x = self.attention(x, key_mask=mask)
        return ops.mean(x + x if twice else x, axis=1)


TOKENS, KINDS = Spec((None, 5), "int64"), Spec((None, 5), "int64")
MASK, FEATURES, NUMBER = Spec((None, 5), "int64"), Spec((None, 5, 4)), Spec(())
DATA = {
    "tokens": np.array([[1, 2, 3, 4, 5], [6, 7, 8, 0, 0], [2, 2, 0, 0, 0]]),
    "types": np.array([[0, 0, 0, 1, 1], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0]]),
    "mask": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]]),
    "x": np.random.default_rng(0).standard_normal((3, 5, 4)).astype("float32"),
    "scale": np.array(0.5, "float32"),
}


@dataclass
class Case:
    make: type
    given: tuple  # of build, by place
    named: dict = field(default_factory=dict)
    takes: tuple = ()  # the arguments of a call, by name
    omissible: tuple = ()  # those of them that a call may leave out
    places: tuple = ()  # the same call by place, None for omitted arguments


CASES = {
    "by place": Case(
        Classifier, (TOKENS, KINDS, MASK), {}, ("tokens", "types", "mask"), ("mask",), ("tokens", "types", "mask")
    ),
    "by name": Case(
        Classifier,
        (TOKENS,),
        {"mask": MASK, "types": KINDS},
        ("tokens", "types", "mask"),
        ("mask",),
        ("tokens", "types", "mask"),
    ),
    "a gap by place": Case(
        Classifier, (TOKENS, None, MASK), {}, ("tokens", "mask"), ("mask",), ("tokens", None, "mask")
    ),
    "a gap by name": Case(
        Classifier, (TOKENS,), {"mask": MASK}, ("tokens", "mask"), ("mask",), ("tokens", None, "mask")
    ),
    "the last omitted": Case(Classifier, (TOKENS, KINDS), {}, ("tokens", "types"), (), ("tokens", "types")),
    "a default": Case(
        Scaled,
        (FEATURES,),
        {"scale": NUMBER, "mask": MASK},
        ("x", "scale", "mask"),
        ("scale", "mask"),
        ("x", "scale", "mask"),
    ),
    "a default between": Case(Scaled, (FEATURES,), {"mask": MASK}, ("x", "mask"), ("mask",), ("x", None, "mask")),
    "by name only": Case(ByName, (FEATURES,), {"mask": MASK}, ("x", "mask"), ("mask",)),
    "a setting": Case(ByName, (FEATURES,), {"mask": MASK, "twice": True}, ("x", "mask"), ("mask",)),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def model(case, backend):
    return case.make().build(*case.given, backend=backend.name, seed=1, **case.named).eval()


def computed(call, backend, names, places=()):
    """The output for data under these names, as an array."""
    inputs = [None if n is None else backend.tensor(DATA[n]) for n in places]
    return backend.to_numpy(call(*inputs, **{name: backend.tensor(DATA[name]) for name in names}))


def settings(case):
    return {k: v for k, v in case.named.items() if not isinstance(v, Spec)}


def expected_of(model, case, backend):
    """The outputs of the model itself: of whole calls, and of those without each optional input."""
    own = settings(case)
    calls = [case.takes] + [tuple(n for n in case.takes if n != word) for word in case.omissible]
    return {names: computed(lambda *a, **k: model(*a, **k, **own), backend, names) for names in calls}


def assert_same_calls(call, model, case, backend, *, omissible=None, by_place=True):
    """``call`` computes what the model does: by name, by place, and with each optional input omitted."""
    expected = expected_of(model, case, backend)
    for names, result in expected.items():
        missing = set(case.takes) - set(names)
        if omissible is None or missing <= set(omissible):
            np.testing.assert_allclose(computed(call, backend, names), result, rtol=1e-4, atol=1e-5)
    if case.places and by_place:
        np.testing.assert_allclose(computed(call, backend, (), case.places), expected[case.takes], rtol=1e-4, atol=1e-5)
    if case.omissible:
        changed = [np.abs(expected[case.takes] - r).max() for n, r in expected.items() if n != case.takes]
        assert min(changed) > 1e-3  # an input that is lost would show


def test_trace(model, case, backend):
    graph = labdl.trace(model)
    again = graph.to_module().build(backend=backend.name)
    again.load_state_dict(model.state_dict())
    assert_same_calls(again.eval(), model, case, backend)
    assert Graph.from_dict(graph.to_dict()) == graph
    with pytest.raises(ModelError, match=f"not given '{case.takes[0]}'"):
        again()
    with pytest.raises(ModelError, match="no input 'other'"):
        computed(lambda **k: again(**k, other=1), backend, case.takes)


def test_file(model, case, backend, tmp_path):
    labdl.save(model, tmp_path / "net")
    again = labdl.load(tmp_path / "net", backend=backend.name).eval()
    assert again.graph == labdl.trace(model)
    assert_same_calls(again, model, case, backend)
    labdl.save(again, tmp_path / "twice")
    assert (tmp_path / "twice.labdl").read_bytes() == (tmp_path / "net.labdl").read_bytes()


def test_source(model, case, backend):
    graph = labdl.trace(model)
    specs = {
        n.name: Spec(n.params["shape"], n.params.get("dtype", "float32"))
        for n in graph.nodes.values()
        if n.type == "Input"
    }
    names = ["input" if name == "x" else name for name in (case.places or case.takes)]
    skips = sum(len(n.params.get("skips", ())) for n in graph.nodes.values())
    assert skips == names.count(None)
    read = Graph.from_python(graph.to_python(), *(specs.get(name) for name in names))
    assert {n.name: n.params for n in read.nodes.values()} == {n.name: n.params for n in graph.nodes.values()}
    again = read.to_module().build(backend=backend.name)
    again.load_state_dict(model.state_dict())
    assert_same_calls(again.eval(), model, case, backend)
    # the same text as a program of Python
    space = {}
    exec(graph.to_python(), space)
    program = next(v for v in reversed(space.values()) if isinstance(v, type))()
    program.build(*(specs.get(name) for name in names), backend=backend.name)
    program.load_state_dict(model.state_dict())
    assert_same_calls(program.eval(), model, case, backend)


def test_source_for_the_framework(model, case, backend, tmp_path):
    labdl.export(model, tmp_path / "net.py", target=backend.name)
    spec = importlib.util.spec_from_file_location("exported", tmp_path / "net.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    exported = getattr(module, type(model).__name__)()
    if hasattr(exported, "eval"):
        exported.eval()
    found = exported(*(backend.tensor(DATA[name]) for name in case.takes))
    np.testing.assert_allclose(
        backend.to_numpy(found), expected_of(model, case, backend)[case.takes], rtol=1e-4, atol=1e-5
    )


def test_onnx(model, case, backend, tmp_path):
    """ONNX has no inputs without a value: an optional one without a default is then asked for."""
    session = pytest.importorskip("onnxruntime").InferenceSession(export_onnx(model, tmp_path / "net.onnx"))
    found = session.run(None, {name: DATA[name] for name in case.takes})[0]
    np.testing.assert_allclose(found, expected_of(model, case, backend)[case.takes], rtol=1e-4, atol=1e-5)
    again = import_onnx(tmp_path / "net.onnx", backend=backend.name)
    assert_same_calls(again, model, case, backend, omissible=[n for n in case.omissible if n == "scale"])
    if "mask" in case.takes:
        with pytest.raises(ModelError, match="not given 'mask'"):
            computed(again, backend, [n for n in case.takes if n != "mask"])


def test_native(model, case, backend):
    native = model.to_native()
    own = settings(case)
    gap = case.make is Scaled and None in case.places  # the forward itself cannot take None for its number
    assert_same_calls(lambda *a, **k: native(*a, **k, **own), model, case, backend, by_place=not gap)


@pytest.mark.parametrize("kind", ["model", "file"])
def test_inference(model, case, backend, kind, tmp_path):
    """Columns of data are the inputs that the model was built with."""
    if "scale" in case.takes:
        pytest.skip("one number is no column of samples")
    labdl.save(model, tmp_path / "net")
    expected = expected_of(model, case, backend)[case.takes]
    inference = Inference(model if kind == "model" else tmp_path / "net", backend=backend.name)
    columns = [DATA[name] for name in case.takes]
    assert inference.input_count == len(columns)
    found = inference.infer(list(zip(*columns, strict=True)))
    np.testing.assert_allclose(np.stack(found), expected, rtol=1e-4, atol=1e-5)
    found = inference.infer(labdl.data.ArrayDataset(*columns, np.zeros(3, "int64")))
    np.testing.assert_allclose(np.stack(found), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(predict(inference.model, tuple(columns)), expected, rtol=1e-4, atol=1e-5)


def test_training(model, case, backend):
    """A batch has the inputs that the model was built with."""
    if "scale" in case.takes:
        pytest.skip("one number is no column of samples")
    data = labdl.data.ArrayDataset(*(DATA[name] for name in case.takes), np.array([0, 1, 2]))
    before = expected_of(model, case, backend)[case.takes]
    value = labdl.Trainer(model, loss="cross_entropy", optimizer="sgd", batch_size=3).evaluate(data)["loss"]
    shifted = before - before.max(-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    assert value == pytest.approx(-logs[[0, 1, 2], [0, 1, 2]].mean(), rel=1e-4)


def test_building_by_a_call(case, backend):
    """A model that a call builds is the one that its shapes build, and is saved with every input."""
    own = settings(case)
    model = case.make()
    computed(lambda **k: model(**k, **own), backend, case.takes)
    inputs = {n.name: n.params.get("optional", False) for n in labdl.trace(model).nodes.values() if n.type == "Input"}
    assert inputs == {("input" if n == "x" else n): n in case.omissible for n in case.takes}
    model.to("numpy")
    assert labdl.trace(model).inputs()
    assert model.output_specs.shape[0] == 3


def test_gradient_of_a_call_by_name(backend):
    """The backward of a module goes through the inputs that its call was given by name."""
    model = Scaled().build(FEATURES, mask=MASK, backend=backend.name, seed=1)
    x, mask = backend.tensor(DATA["x"]), backend.tensor(DATA["mask"])
    model(x, mask=mask)
    by_name = backend.to_numpy(model.backward(None))
    model(x)
    without = backend.to_numpy(model.backward(None))
    assert np.abs(by_name - without).max() > 1e-3


class Branching(nn.Module):
    """An input that the forward itself does without, and one that its layer does without."""

    def __init__(self):
        self.attention = nn.MultiHeadAttention(2)

    def forward(self, x, mask=None, scale=None):
        x = self.attention(x, key_mask=mask)
        return ops.mean(x if scale is None else x * scale, axis=1)


def test_saving_warns_of_an_input_that_becomes_required(backend, tmp_path):
    """A graph has one way through a forward: which is said at save, and where the input is missing."""
    given = {"mask": MASK, "scale": FEATURES}
    model = Branching().build(FEATURES, **given, backend=backend.name)
    with pytest.warns(UserWarning, match="the saved model needs 'scale' in each call.*build the model without scale="):
        labdl.save(model, tmp_path / "net")
    again, x = labdl.load(tmp_path / "net", backend=backend.name), backend.tensor(DATA["x"])
    with pytest.raises(ModelError, match=r"not given 'scale'.*trace or save the model built without scale="):
        again(x)
    np.testing.assert_allclose(*(backend.to_numpy(m(x, scale=x)) for m in (again, model)), rtol=1e-5)
    labdl.save(again, tmp_path / "twice")  # nothing to warn of: its own call needs the input too
    labdl.save(Branching().build(FEATURES, mask=MASK, backend=backend.name), tmp_path / "net")
    labdl.load(tmp_path / "net", backend=backend.name)(x)
