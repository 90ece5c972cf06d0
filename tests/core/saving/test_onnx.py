"""Export to ONNX: every layer, operator and model gives equal outputs in ONNX Runtime, for every batch size."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from operator_calls import Calls, samples

import labdl
from labdl import nn, ops
from labdl.errors import BackendError, ModelError
from labdl.models.text import bert, transformer
from labdl.models.vision import resnet, vit
from labdl.nn.schema import LAYERS
from labdl.ops.operator import OPERATORS, floats
from labdl.saving.onnx import export_onnx
from labdl.saving.onnx.exporter.file import encode
from labdl.saving.onnx.exporter.registry import WRITERS
from labdl.spec import Spec

sys.path.append(str(Path(__file__).parents[2] / "backend"))  # the cases of layers
from layers import CASES, call, draw, flat, twins

pytestmark = pytest.mark.slow

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

LAYER_CASES = [case for case, (name, *_) in CASES.items() if LAYERS[name].layer_category != "loss"]

# what differs in ONNX Runtime, and why
DRAWN = {"GumbelSoftmax": "it draws in evaluation too, and ONNX Runtime draws other numbers"}

SMALL = bert.BertConfig(vocabulary=101, features=48, layers=2, heads=4, feed_forward=96, positions=32)
TOKENS, STEPS = Spec((None, 9), "int64"), Spec((None, None), "int64")

# each a model, its inputs, and for each of the inputs' unknown sizes beside the batch a number
MODELS = {
    "ResNet": (
        lambda: resnet.ResNet(resnet.BasicBlock, (2, 1, 1), classes=10, channels=16),
        [Spec((None, 3, 32, 32))],
        0,
    ),
    "ResNeXt of any size": (
        lambda: resnet.ResNet(resnet.Bottleneck, (1, 2), classes=None, channels=16, groups=4),
        [Spec((None, 3, None, None))],
        40,
    ),
    "ViT": (lambda: vit.VisionTransformer(32, 8, 2, 4, 64, 128, classes=10), [Spec((None, 3, 32, 32))], 0),
    "BERT": (lambda: bert.Bert(SMALL), [TOKENS], 0),
    "BERT of any length, with a mask": (lambda: bert.Bert(SMALL), [STEPS, STEPS], 6),
    "BERT for pre-training": (lambda: bert.BertForPreTraining(SMALL), [STEPS, STEPS, STEPS], 5),
    "BERT for classification": (lambda: bert.BertForSequenceClassification(SMALL, 5), [STEPS], 7),
    "Transformer": (lambda: transformer.Transformer(4, 2, 2, 64), [Spec((None, None, 32)), Spec((None, None, 32))], 6),
    "Transformer for translation": (
        lambda: transformer.TranslationTransformer(99, 32, 4, 2, 64, padding=0),
        [TOKENS, Spec((None, 7), "int64")],
        0,
    ),
}


class Numpy:
    name = "numpy"


def session(data):
    options = runtime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run(data, arrays):
    file = session(data)
    return file.run(None, {given.name: array for given, array in zip(file.get_inputs(), arrays, strict=True)})


def assert_same(actual, expected):
    for ours, reference in zip(actual, expected, strict=True):
        assert (ours.shape, ours.dtype) == (reference.shape, reference.dtype)
        np.testing.assert_allclose(ours, reference, rtol=1e-4, atol=1e-4)


def larger(arrays):
    """A batch three times as large."""
    return [np.concatenate([a, a, a]) for a in arrays]


def batch_for(specs, size, batch):
    """Random inputs of these Specs; integers are tokens, the first of them, or a mask."""
    rng, arrays = np.random.default_rng(batch), []
    for at, spec in enumerate(specs):
        shape = [batch, *(n or size for n in spec.shape[1:])]
        drawn = rng.integers(1, 2 if at and len(specs) > 2 else 90, shape) if spec.dtype == "int64" else None
        arrays.append(rng.standard_normal(shape).astype("float32") if drawn is None else drawn)
    return arrays


# -- the registry


@pytest.mark.sample(every=8)
@pytest.mark.parametrize("case", LAYER_CASES)
def test_every_layer_gives_the_same_in_onnx_runtime(case):
    layer, _ = twins(case, Numpy)
    data, arrays = encode(layer), draw(case)
    if case in DRAWN:
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            assert_same(run(data, arrays), call(layer.eval(), arrays))
        return
    assert_same(run(data, arrays), call(layer.eval(), arrays))
    assert_same(run(data, larger(arrays)), call(layer.eval(), larger(arrays)))


def called(name, args, kwargs):
    """A model of one operator and its inputs, the first size, the batch, unknown where that can be built and written."""
    rng = np.random.default_rng(0)
    arrays = [np.asarray(s.draw(rng)) for s in samples([*args, *kwargs.values()])]
    batch = max((a.shape[0] for a in arrays if a.ndim), default=0)
    for known in (False, True):
        model = Calls(name, args, kwargs)
        specs = [
            Spec(a.shape if known or not a.ndim or a.shape[0] != batch else (None, *a.shape[1:]), str(a.dtype))
            for a in arrays
        ]
        try:
            return model.build(*specs, backend="numpy"), encode(model), arrays
        except ModelError:
            if known:
                raise
    raise AssertionError


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("name", [name for name, entry in OPERATORS.items() if not entry.random])
def test_every_operator_gives_the_same_in_onnx_runtime_or_is_refused_by_name(name):
    refused = []
    for args, kwargs in OPERATORS[name].samples:
        try:
            model, data, arrays = called(name, args, kwargs)
        except ModelError as error:
            refused.append(str(error))
            continue
        assert_same(run(data, arrays), flat(model(*[a.copy() for a in arrays])))
    assert all(re.search("as ONNX|has no ONNX form|outside of the graph", message) for message in refused)
    assert bool(refused) == bool(OPERATORS[name].without_onnx), refused


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        *((name, (), {"descending": way}) for name in ("sort", "argsort") for way in (False, True)),
        *(("topk", (k,), {"largest": way}) for k in (3, 6) for way in (False, True)),
        ("nanmedian", (), {"axis": 1}),
        ("nanquantile", (0.3,), {"axis": 1}),
    ],
)
def test_nan_is_last_in_the_order_of_onnx_runtime_too(name, args, kwargs):
    nan, inf = np.nan, np.inf
    x = np.array([[3, nan, inf, 1, -inf, nan, 2, inf], [nan] * 7 + [1], [2, 1, nan, 1, 2, 0, nan, nan]], "float32")
    model, data, _ = called(name, (floats(3, 8), *args), kwargs)
    assert_same(run(data, [x]), flat(model(x)))


def test_every_primitive_has_one_onnx_form_or_a_reason_for_having_none():
    for name, entry in OPERATORS.items():
        forms = [entry.onnx is not None, name in WRITERS]
        assert sum(forms) < 2, f"{name} names an ONNX operator and has a writer"
        assert any(forms) or entry.composite or entry.without_onnx, f"{name} has no ONNX form and no reason"
    assert WRITERS.keys() <= OPERATORS.keys()


@pytest.mark.parametrize("name", MODELS)
def test_models_give_the_same_in_onnx_runtime(name, tmp_path):
    make, specs, size = MODELS[name]
    model = make().build(*specs, backend="numpy", seed=1).eval()
    data = export_onnx(model, tmp_path / "model.onnx").read_bytes()
    for batch in (1, 3):
        arrays = batch_for(specs, size, batch)
        assert_same(run(data, arrays), flat(model(*arrays)))
    assert all(given.shape[0] == "batch" for given in [*session(data).get_inputs(), *session(data).get_outputs()])


# -- the file


def test_the_file_names_its_sizes_inputs_outputs_and_weights():
    model = nn.Sequential(nn.LSTM(3, layers=2)).build((None, 5, 4), backend="numpy")
    data = encode(model)
    shapes = [(given.name, given.shape) for given in [*session(data).get_inputs(), *session(data).get_outputs()]]
    assert shapes == [
        ("x", ["batch", 5, 4]),
        ("output", ["batch", 5, 3]),
        ("output_1", [2, "batch", 3]),
        ("output_2", [2, "batch", 3]),
    ]
    graph = onnx.load_model_from_string(encode(MODELS["ResNet"][0]().build((None, 3, 32, 32), backend="numpy"))).graph
    weights = {w.name for w in graph.initializer}
    assert {"stem/conv/kernel:0", "stem/norm/gamma:0", "stem/norm/moving_variance:0"} <= weights
    assert {n.name for n in graph.node} >= {"stem/conv/Conv", "stem/norm/BatchNormalization"}


def test_a_layer_is_one_node_where_onnx_has_it():
    beside = {"Transpose", "Identity", "Squeeze", "Concat", "Unsqueeze", "Constant", "Cast"}
    nodes = {
        "strided same": "Conv",
        "conv last": "Conv",
        "pool last": "MaxPool",
        "norm last": "BatchNormalization",
        "both directions": "LSTM",
        "resized": "Resize",
        "Upsample": "Resize",
        "GELU": "Gelu",
    }
    for case, kind in nodes.items():
        graph = onnx.load_model_from_string(encode(twins(case, Numpy)[0])).graph
        assert {n.op_type for n in graph.node} - beside == {kind}, case


def test_a_shared_table_is_written_once():
    model = transformer.TranslationTransformer(99, 32, 4, 1, 64).build(TOKENS, TOKENS, backend="numpy")
    graph = onnx.load_model_from_string(encode(model)).graph
    assert [list(w.dims) for w in graph.initializer].count([99, 32]) == 1


def test_other_shapes_than_the_built_ones():
    model = nn.Sequential(nn.Conv2d(2), nn.ReLU()).build((4, 3, 8, 8), backend="numpy")
    assert session(encode(model)).get_inputs()[0].shape == [4, 3, 8, 8]
    data = encode(model, [(None, 3, None, 9)])
    assert session(data).get_inputs()[0].shape == ["batch", 3, "x_2", 9]
    (found,) = run(data, [np.zeros((2, 3, 5, 9), "float32")])
    assert found.shape == (2, 2, 3, 7)


def test_model_is_unchanged_after_export():
    model = nn.Sequential(nn.Linear(4), nn.BatchNorm(), nn.Dropout(0.5)).build((None, 3), backend="numpy").train()
    model[1].eval()
    before = {id(m): (m.training, dict(m.__dict__)) for m in model.modules()}
    encode(model)
    assert before == {id(m): (m.training, dict(m.__dict__)) for m in model.modules()}


def test_sources_of_a_graph_are_written_too(residual, tmp_path):
    class Sources(nn.Module):
        def __init__(self):
            self.table = nn.Parameter((3,), "ones")
            self.mask = nn.Buffer((3,), "ones")

        def forward(self, x):
            return ops.where(x > np.float32(0.5), x, self.table * self.mask) + np.arange(3.0, dtype="float32")

    x = np.random.default_rng(0).random((2, 3), "float32")
    model = Sources().build((None, 3), backend="numpy")
    for one in (model, labdl.trace(model).to_module().build(backend="numpy")):
        one.load_state_dict({k: np.full(3, 0.3, "float32") for k in one.state_dict()})
        assert_same(run(encode(one), [x]), [one(x)])
    assert export_onnx(residual, tmp_path / "graph.onnx").stat().st_size > 1000


# -- what cannot be written


class Inverts(nn.Module):
    def forward(self, x):
        return ops.inv(x)


def test_an_operator_without_onnx_form_is_named_with_its_layer():
    class Net(nn.Module):
        def __init__(self):
            self.first, self.last = nn.ReLU(), Inverts()

        def forward(self, x):
            return self.last(self.first(x))

    model = Net().build((None, 3, 3), backend="numpy")
    with pytest.raises(
        ModelError, match=r"ops\.inv in layer 'last' of Net has no ONNX form \(no factorizations of matrices\)"
    ):
        encode(model)


def test_dtypes_that_onnx_does_not_take_are_refused():
    small = Spec((None, 3), "int8")
    with pytest.raises(ModelError, match=r"MatMul cannot be written as ONNX: .*int8"):
        encode(nn.MatMul().build(small, Spec((3, 2), "int8"), backend="numpy"))


def test_branching_on_values_is_refused():
    class Branches(nn.Module):
        def forward(self, x):
            return x if isinstance(x, np.ndarray) or type(x) is Spec or x > 0 else -x

    with pytest.raises(ModelError, match="branches on the values"):
        encode(Branches().build((None, 3), backend="numpy"))


def test_models_above_two_gigabytes_are_refused(monkeypatch):
    model = nn.Sequential(nn.Linear(4)).build((None, 3), backend="numpy")
    monkeypatch.setattr("labdl.saving.onnx.exporter.file.LARGEST", 2**24)
    with pytest.raises(ModelError, match="holds at most 2 GB"):
        encode(model)


def test_an_unbuilt_model_is_refused():
    with pytest.raises(ModelError, match="not built yet"):
        encode(nn.Sequential(nn.Linear(4)))


def test_error_of_a_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    model = nn.Sequential(nn.Linear(4)).build((None, 3), backend="numpy")
    with pytest.raises(BackendError, match=r'pip install "labdl\[onnx\]"'):
        encode(model)


def test_failed_export_keeps_the_old_file(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(b"old")
    with pytest.raises(ModelError):
        export_onnx(Inverts().build((None, 3, 3), backend="numpy"), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
