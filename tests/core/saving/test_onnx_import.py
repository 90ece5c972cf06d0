"""Import from ONNX: exported models have equal outputs, and files of other programs become layers."""

import sys
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import BackendError, FileFormatError
from labdl.graph import GraphModule
from labdl.saving.onnx import export_onnx, import_onnx
from labdl.saving.onnx.exporter.file import encode
from labdl.saving.onnx.importer.module import decode
from labdl.saving.onnx.importer.registry import reader_of
from labdl.spec import Spec

pytestmark = pytest.mark.slow

onnx = pytest.importorskip("onnx")

sys.path.append(str(Path(__file__).parents[2] / "backend"))  # the cases of layers
from layers import call, draw, flat, twins  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from test_onnx import DRAWN, LAYER_CASES, MODELS, Numpy, assert_same, batch_for, called, larger, run  # noqa: E402

from labdl.ops.operator import OPERATORS  # noqa: E402

# -- there and back


@pytest.mark.sample(every=8)
@pytest.mark.parametrize("case", [case for case in LAYER_CASES if case not in DRAWN])
def test_every_layer_comes_back(case):
    layer, _ = twins(case, Numpy)
    again, arrays = decode(encode(layer), "layer.onnx", "numpy"), draw(case)
    for given in (arrays, larger(arrays)):
        assert_same(call(again, given), call(layer.eval(), given))


@pytest.mark.sample(every=16)
@pytest.mark.parametrize("name", [name for name, entry in OPERATORS.items() if not entry.random])
def test_every_operator_comes_back(name):
    for args, kwargs in OPERATORS[name].samples:
        try:
            model, data, arrays = called(name, args, kwargs)
        except labdl.errors.ModelError:
            continue  # what cannot be written
        again = decode(data, "operator.onnx", "numpy")
        assert_same(flat(again(*[a.copy() for a in arrays])), flat(model(*[a.copy() for a in arrays])))


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("name", MODELS)
def test_models_come_back(name, tmp_path):
    make, specs, size = MODELS[name]
    model = make().build(*specs, backend="numpy", seed=1).eval()
    again = import_onnx(export_onnx(model, tmp_path / "model.onnx"), backend="numpy")
    arrays = batch_for(specs, size, 3)
    assert_same(flat(again(*arrays)), flat(model(*arrays)))


def test_load_opens_onnx_files(tmp_path):
    model = nn.Sequential(nn.Linear(3), nn.ReLU()).build((None, 4), backend="numpy", seed=0)
    path = labdl.export(model, tmp_path / "net.onnx")
    x = np.ones((2, 4), "float32")
    np.testing.assert_allclose(labdl.load(str(path), backend="numpy")(x), model(x), rtol=1e-6)
    drawn = labdl.load(path, backend="numpy", parameters=False, seed=1)
    assert not np.allclose(drawn(x), model(x))
    with pytest.raises(FileNotFoundError, match=r"there is no .*other\.onnx"):
        labdl.load(tmp_path / "other.onnx", backend="numpy")


def test_loaded_model_can_be_used_and_trained(residual, tmp_path):
    model = residual.to_module().build(backend="numpy", seed=3)
    again = import_onnx(export_onnx(model, tmp_path / "net.onnx"), backend="numpy")
    assert isinstance(again, GraphModule)
    kinds = {n.name: n.type for n in again.graph.nodes.values()}
    assert (
        kinds.items()
        >= {"input": "Input", "stem": "Conv2d", "norm": "BatchNorm", "second": "Conv2d", "head": "Linear"}.items()
    )
    assert again.state_dict().keys() == model.state_dict().keys()
    assert all((again.state_dict()[k] == v).all() for k, v in model.state_dict().items())
    assert again.input_specs == (Spec((None, 3, 8, 8)),)
    labdl.save(again, tmp_path / "net")  # it survives LabDL's own files too
    x = np.random.default_rng(0).random((2, 3, 8, 8), "float32")
    assert_same([labdl.load(tmp_path / "net", backend="numpy").eval()(x)], [model.eval()(x)])
    assert_same(run(encode(again), [x]), [model(x)])


# -- files as other programs write them


def made(nodes, inputs, outputs, weights=(), opset=17):
    """The bytes of a file; inputs and outputs are names with shapes."""

    def described(values):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in values]

    graph = helper.make_graph(
        nodes,
        "torch_jit",
        described(inputs),
        described(outputs),
        [numpy_helper.from_array(array, name) for name, array in dict(weights).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="pytorch")
    model.ir_version = 8
    if all(shape for _, shape in outputs):
        onnx.checker.check_model(model)
    return model.SerializeToString()


def drawn(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype("float32")


def constant(name, value, dtype="int64"):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, dtype)))


NORM = {
    "norm.weight": drawn(4),
    "norm.bias": drawn(4, seed=1),
    "norm.running_mean": drawn(4, seed=2),
    "norm.running_var": np.abs(drawn(4, seed=3)) + 0.5,
}


def picture_classifier():
    """Conv, BatchNormalization, Relu, MaxPool, a residual, a flattening by Shape, Gemm and Softmax."""
    node = helper.make_node
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1], "dilations": [1, 1], "group": 1}
    nodes = [
        node("Conv", ["x", "stem.weight"], ["a"], name="/stem/Conv", **window),
        node("BatchNormalization", ["a", *NORM], ["b"], name="/norm/BatchNormalization", epsilon=1e-5, momentum=0.9),
        node("Relu", ["b"], ["c"], name="/relu/Relu"),
        node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0], ceil_mode=0),
        node("Conv", ["d", "block.weight", "block.bias"], ["e"], name="/block/Conv", **window),
        node("Add", ["e", "d"], ["f"]),
        node("Shape", ["f"], ["shape"]),
        constant("zero", 0),
        node("Gather", ["shape", "zero"], ["size"], axis=0),
        constant("first", [0]),
        node("Unsqueeze", ["size", "first"], ["batch"]),
        constant("rest", [-1]),
        node("Concat", ["batch", "rest"], ["target"], axis=0),
        node("Reshape", ["f", "target"], ["g"]),
        node("Gemm", ["g", "head.weight", "head.bias"], ["h"], alpha=1.0, beta=1.0, transB=1),
        node("Softmax", ["h"], ["y"], axis=1),
    ]
    weights = {
        "stem.weight": drawn(4, 3, 3, 3),
        **NORM,
        "block.weight": drawn(4, 4, 3, 3) / 4,
        "block.bias": drawn(4, seed=4),
        "head.weight": drawn(5, 64) / 8,
        "head.bias": drawn(5),
    }
    return made(nodes, [("x", ["n", 3, 8, 8])], [("y", ["n", 5])], weights), [drawn(2, 3, 8, 8, seed=9)]


def sequence_classifier():
    """An embedding, an LSTM of both directions with initial states made of the batch's size, MatMul and Add."""
    node = helper.make_node
    nodes = [
        node("Gather", ["embed.weight", "tokens"], ["a"]),
        node("Transpose", ["a"], ["b"], perm=[1, 0, 2]),
        node("Shape", ["b"], ["shape"]),
        constant("one", 1),
        node("Gather", ["shape", "one"], ["size"]),
        constant("first", [0]),
        node("Unsqueeze", ["size", "first"], ["batch"]),
        constant("two", [2]),
        constant("six", [6]),
        node("Concat", ["two", "batch", "six"], ["states"], axis=0),
        constant("nothing", 0.0, "float32"),
        node("Expand", ["nothing", "states"], ["start"]),
        node(
            "LSTM",
            ["b", "lstm.W", "lstm.R", "lstm.B", "", "start", "start"],
            ["c", "", ""],
            hidden_size=6,
            direction="bidirectional",
        ),
        node("Transpose", ["c"], ["d"], perm=[0, 2, 1, 3]),
        constant("flat", [0, 0, -1]),
        node("Reshape", ["d", "flat"], ["e"]),
        constant("last", -1),
        node("Gather", ["e", "last"], ["f"], axis=0),
        node("Identity", ["f"], ["g"]),
        node("MatMul", ["g", "onnx::MatMul_55"], ["h"], name="/head/MatMul"),
        node("Add", ["head.bias", "h"], ["y"]),
    ]
    weights = {
        "embed.weight": drawn(11, 4),
        "lstm.W": drawn(2, 24, 4) / 2,
        "lstm.R": drawn(2, 24, 6) / 2,
        "lstm.B": drawn(2, 48),
        "onnx::MatMul_55": drawn(12, 3),
        "head.bias": drawn(3),
    }
    data = made(nodes, [("tokens", ["n", 7])], [("y", ["n", 3])], weights)
    model = onnx.load_model_from_string(data)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    return model.SerializeToString(), [np.random.default_rng(0).integers(0, 11, (2, 7))]


FILES = {
    "pictures": (
        picture_classifier,
        ["Conv2d", "BatchNorm", "ReLU", "MaxPool2d", "Conv2d", "ops.add", "Linear", "Softmax"],
        {"stem/kernel:0", "norm/gamma:0", "norm/moving_variance:0", "block/bias:0", "head/kernel:0"},
    ),
    "sequences": (
        sequence_classifier,
        ["Embedding", "LSTM", "Linear"],
        {"lstm/kernel:0", "lstm/recurrent_kernel_reverse:0", "head/MatMul/bias:0"},
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_in_the_style_of_pytorch_become_layers(name):
    make, layers, weights = FILES[name]
    data, arrays = make()
    model = decode(data, "torch.onnx", "numpy")
    for given in (arrays, larger(arrays)):
        assert_same(flat(model(*given)), run(data, given))
    kinds = [n.type for n in model.graph.nodes.values()]
    assert [k for k in kinds if k in layers] == layers
    assert weights <= model.state_dict().keys()


CALLS = {  # nodes between x and y, and the shape of x where it is another
    "Elu": [("Elu", {"alpha": 0.5})],
    "LeakyRelu": [("LeakyRelu", {"alpha": 0.2})],
    "HardSigmoid": [("HardSigmoid", {"alpha": 0.3})],
    "ThresholdedRelu": [("ThresholdedRelu", {"alpha": 0.4})],
    "ReduceL2": [("ReduceL2", {"axes": [1], "keepdims": 0})],
    "ReduceLogSumExp": [("ReduceLogSumExp", {"axes": [-1]})],
    "ReduceMean": [("ReduceMean", {"axes": [2, 3], "keepdims": 0})],
    "GlobalAveragePool": [("GlobalAveragePool", {})],
    "GlobalMaxPool": [("GlobalMaxPool", {})],
    "Flatten": [("Flatten", {"axis": 2})],
    "AveragePool": [("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]})],
    "AveragePool, counted": [("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1})],
    "MaxPool, the same size": [("MaxPool", {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]})],
    "MaxPool, rounded up": [("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1})],
    "Split": [("Split", {"axis": 1}, 2), ("Sub", {})],
    "DepthToSpace": [("DepthToSpace", {"blocksize": 2, "mode": "CRD"})],
    "Dropout": [("Dropout", {})],
    "Size": [("Shape", {}), ("Cast", {"to": 1}), ("ReduceProd", {"keepdims": 0})],
    "LRN": [("LRN", {"size": 3, "alpha": 0.5})],
    "ArgMax": [("ArgMax", {"axis": -1, "keepdims": 0}), ("Cast", {"to": 1})],
    "Transpose": [("Transpose", {})],
    "CumSum": [("Transpose", {"perm": [0, 2, 3, 1]})],
}


@pytest.mark.parametrize("name", CALLS)
def test_nodes_with_attributes_of_their_own(name):
    nodes, names = [], ["x"]
    for at, (kind, attributes, *count) in enumerate(CALLS[name]):
        outputs = [f"t{at}_{i}" for i in range(*(count or (1,)))]
        nodes.append(helper.make_node(kind, names, outputs, **attributes))
        names = outputs
    nodes.append(helper.make_node("Identity", names, ["y"]))
    data = made(nodes, [("x", ["n", 4, 6, 7])], [("y", None)], opset=13)
    x = drawn(2, 4, 6, 7)
    assert_same(flat(decode(data, backend="numpy")(x)), run(data, [x]))


# what is reshaped from x (n, t, 8), and how its first size follows from t; the second size is 2n, the last the rest
COMPUTED_SIZES = {
    "a step more": (("Concat", ["x", "first"], 1), ("Add", "one")),
    "a step less": (("Slice", ["x", "one", "far", "one"], None), ("Sub", "one")),
    "twice": (("Concat", ["x", "x"], 1), ("Mul", "two")),
    "half": (("Identity", ["x"], None), ("Div", "two")),
    "t + t": (("Concat", ["x", "x"], 1), ("Add", "t")),
}


@pytest.mark.parametrize("name", COMPUTED_SIZES)
def test_reshape_to_several_sizes_that_are_computed_from_others(name):
    """As in files of PyTorch's exporter: a class token before the steps of nn.TransformerEncoder."""
    (kind, inputs, axis), (operation, number) = COMPUTED_SIZES[name]
    node = helper.make_node
    numbers = {"zero": [0], "one": [1], "two": [2], "far": [2**62], "rest": [-1]}
    nodes = [
        node("Shape", ["x"], ["shape"]),
        *(
            node("Slice", ["shape", a, b, "zero", "one"], [c])
            for a, b, c in (("zero", "one", "n"), ("one", "two", "t"))
        ),
        node("Slice", ["x", "zero", "one", "one"], ["first"]),
        node(kind, inputs, ["steps"], **({} if axis is None else {"axis": axis})),
        node(operation, ["t", number], ["count"]),
        node("Mul", ["n", "two"], ["heads"]),
        node("Concat", ["count", "heads", "rest"], ["sizes"], axis=0),
        node("Transpose", ["steps"], ["turned"], perm=[1, 0, 2]),
        node("Reshape", ["turned", "sizes"], ["y"]),
    ]
    data = made(nodes, [("x", ["n", "t", 8])], [("y", None)], {k: np.array(v) for k, v in numbers.items()})
    model = decode(data, backend="numpy")
    for shape in ((2, 4, 8), (3, 6, 8)):
        assert_same([model(drawn(*shape))], run(data, [drawn(*shape)]))


def test_a_layer_that_two_nodes_share_is_one():
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["a", "w"], ["y"])]
    data = made(nodes, [("x", ["n", 3])], [("y", ["n", 3])], {"w": drawn(3, 3)})
    model = decode(data, backend="numpy")
    assert [k for k in model.state_dict()] == ["MatMul/kernel:0"]
    assert_same([model(drawn(2, 3))], run(data, [drawn(2, 3)]))


def test_weights_without_a_layer_can_be_trained_and_constants_not():
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["a"]),
        constant("shift", [1.0, 2.0, 3.0], "float32"),
        helper.make_node("Add", ["a", "shift"], ["y"]),
    ]
    model = decode(made(nodes, [("x", ["n", 3])], [("y", ["n", 3])], {"scale": drawn(3)}), backend="numpy")
    assert {n.type for n in model.graph.nodes.values()} == {"Input", "Weight", "Constant", "ops.multiply", "ops.add"}
    assert {name: p.trainable for name, p in model.get_parameters().items()} == {"scale:0": True}


def test_unused_nodes_are_omitted():
    nodes = [helper.make_node("Conv", ["x", "w"], ["unused"]), helper.make_node("Relu", ["x"], ["y"])]
    data = made(nodes, [("x", ["n", 3, 4])], [("y", ["n", 3, 4])], {"w": drawn(2, 3, 3)})
    assert [n.type for n in decode(data, backend="numpy").graph.nodes.values()] == ["Input", "ReLU"]


# -- what is refused


def one(kind, *, weights=(), inputs=("x",), opset=17, domain="", **attributes):
    """A file of one node, unchecked."""
    node = helper.make_node(kind, list(inputs), ["y"], name="it", domain=domain, **attributes)
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4, 6])
    graph = helper.make_graph(
        [node],
        "g",
        [value],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in dict(weights).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def edited(function):
    model = one("Add", inputs=("x", "w"), weights={"w": drawn(4, 6)})
    function(model)
    return model.SerializeToString()


def _outside(model):
    weight = model.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="../../etc/passwd")


def _claims(*sizes):
    def edit(model):
        model.graph.initializer[0].dims[:] = sizes

    return edit


def _again(model):
    model.graph.node.append(model.graph.node[0])


def _huge(kind, *inputs, **weights):
    return one(kind, inputs=inputs, weights={k: np.array(v) for k, v in weights.items()}).SerializeToString()


def _without_inputs(model):
    model.graph.ClearField("input")
    model.graph.node[0].input[0] = "w"
    model.graph.node[0].op_type = "Identity"
    del model.graph.node[0].input[1:]
    del model.graph.node[1:]
    model.graph.output[0].name = model.graph.node[0].output[0]


def _loop(count, inner=None, **weights):
    """A loop that adds x to itself, or that runs a loop which does."""
    add = helper.make_node("Add", ["state", "state"], ["next"])
    states = [helper.make_tensor_value_info(n, t, []) for n, t in (("i", 7), ("go", 9), ("state", 1))]
    if inner:
        body = helper.make_graph(
            [add], "inner", states, [helper.make_tensor_value_info(n, 1, []) for n in ("go", "next")]
        )
        add = helper.make_node("Loop", [inner, "", "state"], ["next"], body=body)
    ends = [helper.make_tensor_value_info(n, t, []) for n, t in (("go", 9), ("next", 1))]
    body = helper.make_graph([add], "body", states, ends)
    model = one("Loop", inputs=(count, "", "x"), weights=weights, body=body)
    return model.SerializeToString()


REFUSED = {
    "an unknown operator": (lambda: one("ImageDecoder").SerializeToString(), r"uses the operator ImageDecoder, .*'it'"),
    "a loop of a computed length": (lambda: _loop("x"), r"computes its number of steps .*constants=\{'x'"),
    "an endless loop": (lambda: _loop(""), "more than 1,000 steps"),
    "loops in loops": (lambda: _loop("n", inner="n", n=np.array(999)), "more than 20,000 nodes"),
    "another domain": (lambda: one("Inverse", domain="com.microsoft").SerializeToString(), "com.microsoft.Inverse"),
    "weights in another file": (lambda: edited(_outside), "are in another file"),
    "sizes that are not there": (lambda: edited(_claims(400, 6)), "'w' claim"),
    "sizes beyond all memory": (lambda: edited(_claims(2**40, 2**20)), "more than the file holds"),
    "sizes beyond all memory beside a 0": (lambda: edited(_claims(0, 2**40)), "more than the file holds"),
    "sizes below 0": (lambda: edited(_claims(-4, 6)), "claim"),
    "a name computed twice": (lambda: edited(_again), "'y' twice"),
    "a name that nothing computes": (lambda: one("Add", inputs=("x", "z")).SerializeToString(), "uses 'z'"),
    "an output that nothing computes": (
        lambda: edited(lambda m: setattr(m.graph.output[0], "name", "z")),
        "which no node computes",
    ),
    "shapes that do not fit": (
        lambda: one("Add", inputs=("x", "w"), weights={"w": drawn(5)}).SerializeToString(),
        "does not fit together: node 'it'",
    ),
    "too few inputs": (lambda: one("Conv").SerializeToString(), "does not fit together: node 'it'"),
    "attributes of another kind": (lambda: one("Softmax", axis="last").SerializeToString(), "node 'it'"),
    "an old operator set": (lambda: one("Relu", opset=9).SerializeToString(), "version 9 .* convert"),
    "a future operator set": (lambda: one("Relu", opset=99).SerializeToString(), "version 99 .* upgrade onnx"),
    "an input without a shape": (
        lambda: edited(lambda m: m.graph.input[0].type.tensor_type.ClearField("shape")),
        "not a tensor of known shape",
    ),
    "constants beyond all memory": (
        lambda: _huge("ConstantOfShape", "s", s=[2**20, 2**20]),
        "far larger than the file",
    ),
    "a range beyond all memory": (
        lambda: _huge("Range", "a", "b", "c", a=0, b=2**50, c=1),
        "far larger than the file",
    ),
    "tiles beyond all memory": (lambda: _huge("Tile", "a", "b", a=[1], b=[2**50]), "far larger than the file"),
    "texts as weights": (
        lambda: _huge("Add", "x", "s", s=np.array(["a"], object)),
        "have a type that LabDL does not support",
    ),
    "no inputs": (lambda: edited(_without_inputs), "does not depend on its inputs"),
    "nothing": (lambda: b"", "not an ONNX file"),
    "text": (lambda: b"import torch\n" * 100, "not an ONNX file"),
    "another format": (lambda: b"\x89HDF\r\n\x1a\n" + bytes(500), "not an ONNX file"),
}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("what", REFUSED)
def test_errors_of_unsupported_files(what, tmp_path):
    make, message = REFUSED[what]
    (tmp_path / "net.onnx").write_bytes(make())
    with pytest.raises(FileFormatError, match=f"(?s)net.onnx.*{message}"):
        import_onnx(tmp_path / "net.onnx")


def test_truncated_or_changed_files_are_read_or_rejected():
    data, messages = bytearray(picture_classifier()[0]), []
    rng = np.random.default_rng(0)
    for _ in range(150):
        broken = bytearray(data[: rng.integers(len(data))] if rng.random() < 0.4 else data)
        for at in rng.integers(0, max(len(broken), 1), 3 if rng.random() < 0.8 else 0):
            if len(broken):
                broken[at % len(broken)] = rng.integers(256)
        try:
            decode(bytes(broken), "net.onnx", "numpy")
        except FileFormatError as error:
            messages.append(str(error))
    assert len(messages) > 50
    assert all(message.startswith("net.onnx") for message in messages)


def test_errors_of_missing_files_and_packages(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        import_onnx(tmp_path / "net.onnx")
    (tmp_path / "net.onnx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(BackendError, match=r'pip install "labdl\[onnx\]"'):
        import_onnx(tmp_path / "net.onnx")


@pytest.mark.sample(False)
def test_what_is_written_can_be_read():
    """Every ONNX operator that a layer is written with has a reader."""
    kinds = {
        n.op_type for case in LAYER_CASES for n in onnx.load_model_from_string(encode(twins(case, Numpy)[0])).graph.node
    }
    assert all(map(reader_of, kinds))


def test_layers_keep_their_settings():
    model = nn.Sequential(nn.BatchNorm(epsilon=1e-3), nn.LeakyReLU(0.1)).build((None, 3), backend="numpy")
    params = [dict(n.params) for n in decode(encode(model), backend="numpy").graph.nodes.values()][1:]
    assert params == [{"epsilon": 0.001}, {"negative_slope": 0.1}]
