"""ONNX files whose values a reader may get wrong in silence, against onnx's own evaluator and ONNX Runtime."""

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from test_onnx import flat, run
from test_onnx_import import drawn

import labdl
from labdl.errors import ConfigError, FileFormatError
from labdl.saving.onnx.exporter.file import encode
from labdl.saving.onnx.importer import versions
from labdl.saving.onnx.importer.module import decode

node = helper.make_node


def write(nodes, inputs, outputs, weights=(), opset=17):
    """The bytes of a file; inputs are names with arrays of the dtypes and ranks of what they are given."""
    described = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        described,
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in dict(weights).items()],
    )
    for value in graph.output:
        value.ClearField("type")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="pytorch")
    model.ir_version = 8
    inferred = onnx.shape_inference.infer_shapes(model)
    types = {v.name: v.type for v in [*inferred.graph.value_info, *inferred.graph.output]}
    for value in model.graph.output:
        value.type.CopyFrom(types[value.name])
    return model.SerializeToString()


def assert_reads(nodes, inputs, outputs, weights=(), opset=17, by="runtime", **kwargs):
    """The values and dtypes of what is read equal those of ONNX Runtime or onnx's evaluator; the model is returned."""
    data = write(nodes, inputs, outputs, weights, opset)
    arrays = list(inputs.values())
    reference = None if by == "runtime" else ReferenceEvaluator(onnx.load_model_from_string(data))
    expected = run(data, arrays) if reference is None else reference.run(None, inputs)
    model = decode(data, "file.onnx", "numpy")
    found = flat(model(*arrays))
    assert [v.dtype for v in found] == [v.dtype for v in expected]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, **({"rtol": 1e-5, "atol": 1e-6} | kwargs))
    return model


# -- parts of one weight are several weights

PARTS = {
    "Split": ([node("Split", ["w"], ["a", "b"], axis=1)], {}),
    "Slice": (
        [node("Slice", ["w", "0", "2", "1"], ["a"]), node("Slice", ["w", "2", "4", "1"], ["b"])],
        {"0": np.array([0]), "1": np.array([1]), "2": np.array([2]), "4": np.array([4])},
    ),
    "Gather": (
        [node("Gather", ["w", "first"], ["a"], axis=1), node("Gather", ["w", "last"], ["b"], axis=1)],
        {"first": np.array([0, 1]), "last": np.array([2, 3])},
    ),
    "Concat": (
        [node("Concat", ["w", "v"], ["a"], axis=1), node("Concat", ["v", "w"], ["b"], axis=1)],
        {"v": drawn(3, 4, seed=5)},
    ),
    "Mul": (
        [node("Mul", ["w", "two"], ["a"]), node("Mul", ["w", "three"], ["b"])],
        {"two": np.array(2, "float32"), "three": np.array(3, "float32")},
    ),
}


@pytest.mark.parametrize("equal", [False, True], ids=["different", "equal"])
@pytest.mark.parametrize("name", PARTS)
def test_parts_of_one_weight_are_several_layers(name, equal):
    nodes, weights = PARTS[name]
    nodes = [
        *nodes,
        node("MatMul", ["x", "a"], ["p"]),
        node("MatMul", ["x", "b"], ["q"]),
        node("Sub", ["p", "q"], ["y"]),
    ]
    w = np.zeros((3, 4), "float32") if equal else drawn(3, 4)
    model = assert_reads(nodes, {"x": drawn(2, 3, seed=1)}, ["p", "q", "y"], {"w": w, **weights})
    assert [n.type for n in model.graph.nodes.values() if not n.shares].count("Linear") == 2


def test_nodes_that_transpose_one_weight_are_one_layer():
    nodes = [
        node("Transpose", ["w"], ["a"], perm=[1, 0]),
        node("Transpose", ["w"], ["b"], perm=[1, 0]),
        node("MatMul", ["x", "a"], ["p"]),
        node("MatMul", ["p", "b"], ["y"]),
    ]
    model = assert_reads(nodes, {"x": drawn(2, 3, seed=1)}, ["y"], {"w": drawn(3, 3)})
    assert [v.shape for v in model.parameters()] == [(3, 3)]


# -- omitted outputs


def test_omitted_output_is_no_value_of_omitted_inputs():
    nodes = [node("Dropout", ["x"], ["p", ""]), node("Clip", ["p", "", "high"], ["y"])]
    assert_reads(nodes, {"x": np.array([-1, 0, 1], "float32")}, ["y"], {"high": np.array(1, "float32")})


OMITTED = {
    "LSTM": (["x", "w", "r"], ["", "y", ""], {"w": drawn(1, 8, 3), "r": drawn(1, 8, 2)}, {"hidden_size": 2}),
    "GRU": (
        ["x", "w", "r"],
        ["y", ""],
        {"w": drawn(1, 6, 3), "r": drawn(1, 6, 2)},
        {"hidden_size": 2, "linear_before_reset": 1},
    ),
    "MaxPool": (["x"], ["y", ""], {}, {"kernel_shape": [2]}),
}


@pytest.mark.parametrize("name", OMITTED)
def test_files_with_omitted_outputs_are_read(name):
    inputs, outputs, weights, attributes = OMITTED[name]
    nodes = [
        node(name, inputs, outputs, **attributes),
        node("Clip", ["y", "", "high"], ["z"]),  # an omitted input of another node
    ]
    assert_reads(nodes, {"x": drawn(4, 2, 3)}, ["z"], weights | {"high": np.array(1, "float32")})


# -- a weight that is used twice stays one


def test_table_of_embeddings_that_is_the_last_kernel_too_stays_one():
    nodes = [
        node("Gather", ["table", "tokens"], ["a"]),
        node("Transpose", ["table"], ["kernel"], perm=[1, 0]),
        node("MatMul", ["a", "kernel"], ["y"]),
    ]
    tokens = {"tokens": np.array([[0, 2, 4]])}
    model = assert_reads(nodes, tokens, ["y"], {"table": drawn(5, 3)})
    assert sum(v.size for v in model.parameters()) == 15
    data = encode(model)
    assert [v.dims for v in onnx.load_model_from_string(data).graph.initializer if np.prod(v.dims) >= 15] == [[5, 3]]
    assert sum(v.size for v in decode(data, "again.onnx", "numpy").parameters()) == 15


# -- dtypes


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_statistics_of_batch_normalization_are_never_learned(dtype):
    weights = {k: (np.abs(drawn(3, seed=i)) + 0.5).astype(dtype) for i, k in enumerate("sbmv")}
    nodes = [node("BatchNormalization", ["x", *weights], ["y"])]
    x = drawn(2, 3, 4).astype(dtype)
    model = assert_reads(nodes, {"x": x}, ["y"], weights, by="reference", rtol=2e-3, atol=2e-3)
    assert sum(p.size for p in model.parameters() if p.learnable) == 6


INTEGERS = np.array([[1, -2, 7], [4, 9, -5]])


@pytest.mark.parametrize("kind", ["ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd", "ReduceMax"])
@pytest.mark.parametrize("axes", [None, [1]], ids=["all", "last"])
def test_reductions_of_integers_are_integers(kind, axes):
    attributes = {} if axes is None else {"axes": axes}
    assert_reads([node(kind, ["x"], ["y"], **attributes)], {"x": INTEGERS}, ["y"], opset=13, by="reference")


def test_powers_of_integers():
    assert_reads([node("Pow", ["x", "half"], ["y"])], {"x": np.array([4, 9, 2])}, ["y"], {"half": np.float32(0.5)})
    assert_reads([node("Pow", ["x", "n"], ["y"])], {"x": np.array([4, 9], "int32")}, ["y"], {"n": np.array([3, 2])})


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_largest_of_windows_of_integers(dtype):
    assert_reads(
        [node("MaxPool", ["x"], ["y"], kernel_shape=[2])], {"x": np.array([[[1, 2, 3, -1]]]).astype(dtype)}, ["y"]
    )


@pytest.mark.parametrize("kind", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_extremes_of_nothing(kind, dtype):
    assert_reads(
        [node(kind, ["x"], ["y"], axes=[1])], {"x": np.zeros((2, 0, 2), dtype)}, ["y"], by="reference", opset=13
    )


# -- numbers that products and sums change


@pytest.mark.parametrize("values", [(0, -np.inf), (1, 0), (-0.0, 3)], ids=repr)
@pytest.mark.parametrize("axis", [-1, -2, 0])
def test_one_hot_of_any_two_values(values, axis):
    nodes = [node("OneHot", ["x", "depth", "values"], ["y"], axis=axis)]
    given = {"x": np.array([[0, 2], [-1, 1]])}
    model = decode(
        write(nodes, given, ["y"], {"depth": np.array(3), "values": np.array(values, "float32")}), "f", "numpy"
    )
    hot = np.moveaxis((given["x"] % 3)[..., None] == np.arange(3), -1, axis)
    expected = np.where(hot, np.float32(values[1]), np.float32(values[0]))
    result = model(given["x"])
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


def test_expanding_to_an_open_size_keeps_the_sign_of_zero():
    nodes = [node("Shape", ["z"], ["sizes"]), node("Expand", ["x", "sizes"], ["y"])]
    data = write(nodes, {"x": np.zeros((1, 2), "float32"), "z": np.zeros((3, 2), "float32")}, ["y"])
    model = onnx.load_model_from_string(data)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "n"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
    x = np.array([[-0.0, 0.0]], "float32")
    result = decode(model.SerializeToString(), "file.onnx", "numpy")(x, np.zeros((3, 2), "float32"))
    np.testing.assert_array_equal(np.signbit(result), [[True, False]] * 3)


# -- recurrent nodes with settings that LabDL's layers do not have

RECURRENT = {
    "a reset before the product": ("GRU", {}, ()),
    "a reset before the product, backward": ("GRU", {"direction": "reverse"}, ()),
    "a clip": ("LSTM", {"clip": 0.3}, ()),
    "peepholes": ("LSTM", {}, ("peepholes",)),
    "peepholes in both directions": ("LSTM", {"direction": "bidirectional"}, ("peepholes", "lengths")),
    "coupled gates": ("LSTM", {"input_forget": 1}, ()),
    "other activations": ("LSTM", {"activations": ["Sigmoid", "Relu", "Softsign"]}, ("lengths",)),
    "lengths of a clipped network": ("RNN", {"clip": 0.5, "direction": "reverse"}, ("lengths",)),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_nodes_are_written_step_by_step(name):
    kind, attributes, more = RECURRENT[name]
    gates, directions = (
        {"LSTM": 4, "GRU": 3, "RNN": 1}[kind],
        2 if attributes.get("direction") == "bidirectional" else 1,
    )
    weights = {
        "w": drawn(directions, gates * 2, 3),
        "r": drawn(directions, gates * 2, 2),
        "b": drawn(directions, gates * 4),
    }
    weights |= {"lengths": np.array([4, 2], "int32")} if "lengths" in more else {}
    weights |= {"h": drawn(directions, 2, 2), "c": drawn(directions, 2, 2, seed=1), "p": drawn(directions, 6)}
    inputs = ["x", "w", "r", "b", "lengths" if "lengths" in more else "", "h"]
    inputs += ["c"] if kind == "LSTM" else []
    inputs += ["p"] if "peepholes" in more else []
    outputs = ["y", "last", "cell"] if kind == "LSTM" else ["y", "last"]
    nodes = [node(kind, inputs, outputs, hidden_size=2, **attributes)]
    assert_reads(nodes, {"x": drawn(4, 2, 3)}, outputs, {k: v for k, v in weights.items() if k in inputs})


# -- positions, and sizes that the weights tell


def assert_reads_open(nodes, inputs, outputs, weights, axes, opset=17):
    """As `assert_reads`, with sizes that are unknown: pairs of input and axis."""
    model = onnx.load_model_from_string(write(nodes, inputs, outputs, weights, opset))
    for at, axis in axes:
        model.graph.input[at].type.tensor_type.shape.dim[axis].Clear()
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    data, arrays = model.SerializeToString(), list(inputs.values())
    for ours, theirs in zip(flat(decode(data, "f.onnx", "numpy")(*arrays)), run(data, arrays), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_negative_positions():
    assert_reads([node("Gather", ["w", "i"], ["y"])], {"i": np.array([-1, 0, -5])}, ["y"], {"w": drawn(5, 3)})
    nodes = [node("ScatterND", ["x", "i", "u"], ["y"])]
    assert_reads(nodes, {"x": drawn(4, 2), "i": np.array([[-1], [0]]), "u": drawn(2, 2)}, ["y"])


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
def test_fewer_indices_on_other_axes(reduction):
    """They are about a part of the tensor, and are not repeated."""
    indices = np.array([[0, -1]])
    assert_reads([node("GatherElements", ["x", "i"], ["y"], axis=1)], {"x": drawn(3, 4), "i": indices}, ["y"])
    nodes = [node("ScatterElements", ["x", "i", "u"], ["y"], axis=1, reduction=reduction)]
    assert_reads(nodes, {"x": drawn(3, 4), "i": indices, "u": drawn(1, 2)}, ["y"], opset=18)


@pytest.mark.parametrize("steps", [5, 6, 7])
def test_parts_of_an_axis_of_unknown_size(steps):
    nodes = [node("Split", ["x"], ["a", "b", "c"], num_outputs=3)]
    assert_reads_open(nodes, {"x": drawn(steps, 2)}, ["a", "b", "c"], {}, [(0, 0)], opset=18)


def test_scale_of_one_number_for_a_normalized_axis():
    weights = {"s": np.array([2], "float32"), "b": np.array([1], "float32")}
    assert_reads(
        [node("LayerNormalization", ["x", "s", "b"], ["y"])], {"x": drawn(2, 4)}, ["y"], weights, by="reference"
    )


NORMS = {k: np.abs(drawn(3, seed=i)) + 0.5 for i, k in enumerate("sbmv")}
OPEN = {
    "Conv": (["w"], {"w": drawn(4, 3, 2, 2)}, (2, 3, 4, 4), 1),
    "ConvTranspose": (["w"], {"w": drawn(3, 4, 2, 2)}, (2, 3, 4, 4), 1),
    "BatchNormalization": ([*"sbmv"], NORMS, (2, 3, 4), 1),
    "LayerNormalization": ([*"sb"], {k: NORMS[k] for k in "sb"}, (2, 3), 1),
    "InstanceNormalization": ([*"sb"], {k: NORMS[k] for k in "sb"}, (2, 3, 4), 1),
    "LSTM": (["w", "r"], {"w": drawn(1, 8, 3), "r": drawn(1, 8, 2)}, (4, 2, 3), 2),
    "GRU": (["w", "r"], {"w": drawn(1, 6, 3), "r": drawn(1, 6, 2)}, (4, 2, 3), 2),
    "MatMul": (["w"], {"w": drawn(3, 4)}, (2, 3), 1),
    "Gemm": (["w"], {"w": drawn(3, 4)}, (2, 3), 1),
}


@pytest.mark.parametrize("kind", OPEN)
def test_weights_tell_an_unknown_number_of_channels(kind):
    names, weights, shape, axis = OPEN[kind]
    attributes = {"hidden_size": 2} if kind in ("LSTM", "GRU") else {}
    assert_reads_open(
        [node(kind, ["x", *names], ["y"], **attributes)], {"x": drawn(*shape)}, ["y"], weights, [(0, axis)]
    )


def test_weights_of_unknown_size_are_refused_by_their_shape():
    data = write([node("Conv", ["x", "w"], ["y"])], {"x": drawn(1, 3, 4, 4), "w": drawn(4, 3, 2, 2)}, ["y"])
    model = onnx.load_model_from_string(data)
    model.graph.input[1].type.tensor_type.shape.dim[0].Clear()
    with pytest.raises(
        FileFormatError, match=r"Conv\) has weights of shape \(None, 3, 2, 2\)|Conv has weights of shape"
    ):
        decode(model.SerializeToString(), "f.onnx", "numpy")


@pytest.mark.parametrize("name", ["training", "parameters", "forward", "to", "setup", "summary", "x:0", "class"])
def test_inputs_of_any_name(name):
    model = decode(write([node("Neg", [name], ["y"])], {name: drawn(2)}, ["y"]), "f.onnx", "numpy")
    np.testing.assert_array_equal(model(drawn(2)), -drawn(2))


# -- operator sets


def test_operators_of_newer_sets_are_read_where_their_definition_did_not_change(monkeypatch):
    monkeypatch.setattr(versions, "NEWEST", 22)
    versions.unknown_version.cache_clear()
    try:
        assert_reads([node("Flatten", ["x"], ["y"])], {"x": drawn(2, 3, 4)}, ["y"], opset=25, by="reference")
        new = write([node("Swish", ["x"], ["y"])], {"x": drawn(2)}, ["y"], opset=24)
        with pytest.raises(
            FileFormatError, match=r"Swish.* is defined anew in version 24 .* up to version 22: upgrade labdl"
        ):
            decode(new, "f.onnx", "numpy")
    finally:
        versions.unknown_version.cache_clear()


def test_files_of_old_operator_sets_are_converted():
    x = drawn(2, 4)
    nodes = [node("Softmax", ["x"], ["p"], axis=1), node("Squeeze", ["q"], ["y"], axes=[0])]
    nodes.insert(1, node("Unsqueeze", ["p"], ["q"], axes=[0]))
    assert_reads(nodes, {"x": x}, ["y"], opset=11)


def test_functions_of_a_file_are_read():
    inner = [node("Add", ["a", "b"], ["c"]), node("Relu", ["c"], ["d"])]
    function = helper.make_function("mine", "AddRelu", ["a", "b"], ["d"], inner, [helper.make_opsetid("", 17)])
    data = write([node("Add", ["x", "w"], ["y"])], {"x": drawn(2, 3)}, ["y"], {"w": drawn(3)})
    model = onnx.load_model_from_string(data)
    model.graph.node[0].op_type, model.graph.node[0].domain = "AddRelu", "mine"
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("mine", 1))
    result = decode(model.SerializeToString(), "f.onnx", "numpy")(drawn(2, 3))
    np.testing.assert_allclose(result, np.maximum(drawn(2, 3) + drawn(3), 0))
    model.functions[0].node[0].op_type, model.functions[0].node[0].domain = "AddRelu", "mine"  # it calls itself
    with pytest.raises(FileFormatError, match="calls itself"):
        decode(model.SerializeToString(), "f.onnx", "numpy")


# -- constants


def test_values_of_inputs_that_shapes_follow_from(tmp_path):
    data = write([node("ReduceSum", ["x", "axes"], ["y"])], {"x": drawn(2, 3), "axes": np.array([1])}, ["y"])
    (tmp_path / "f.onnx").write_bytes(data)
    model = labdl.load(tmp_path / "f.onnx", "numpy", constants={"axes": [1]})
    assert len(model._inputs) == 1
    np.testing.assert_allclose(model(drawn(2, 3)), drawn(2, 3).sum(1, keepdims=True), rtol=1e-6)
    for wrong, message in (
        ({"axis": 1}, "no input 'axis'"),
        ({"axes": 1}, "has shape"),
        ({"axes": ["a"]}, "is no array"),
    ):
        with pytest.raises(ConfigError, match=message):
            labdl.load(tmp_path / "f.onnx", "numpy", constants=wrong)


def test_what_a_model_needs_at_import_is_asked_for(tmp_path):
    steps = np.array(2)
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Add", ["s", "s"], ["t"])],
        "body",
        [
            helper.make_tensor_value_info(name, kind, shape)
            for name, kind, shape in (("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("s", 1, [3]))
        ],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("t", 1, [3])],
    )
    data = write([node("Loop", ["n", "", "x"], ["y"], body=body)], {"x": drawn(3), "n": steps}, ["y"])
    with pytest.raises(FileFormatError, match=r"Loop.* computes its number of steps .* constants=\{'n': \.\.\.\}"):
        decode(data, "f.onnx", "numpy")
    np.testing.assert_allclose(decode(data, "f.onnx", "numpy", {"n": steps})(drawn(3)), 4 * drawn(3), rtol=1e-6)


def test_isinf_of_neither_sign_is_false_for_nan_too():
    x = np.array([np.nan, np.inf, -np.inf, 1], "float32")
    assert_reads([node("IsInf", ["x"], ["y"], detect_negative=0, detect_positive=0)], {"x": x}, ["y"], opset=20)
