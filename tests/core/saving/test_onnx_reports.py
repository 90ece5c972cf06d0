"""Public reports of other readers and writers of ONNX files, tried on LabDL: values of ONNX Runtime, or a refusal.

Each case has the repository and number of the report. Those whose files are not public, or whose fault is of a device, are
not here.
"""

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx
from onnx import helper
from test_onnx import flat, run
from test_onnx_import import drawn
from test_onnx_values import node, write

from labdl.errors import FileFormatError
from labdl.saving.onnx.importer.module import decode


def numbers(*values):
    return np.array(values, "int64")


PADDED = [  # how PyTorch's exporter writes torch.nn.functional.pad
    node("ConstantOfShape", ["four"], ["zeros"], value=helper.make_tensor("", 7, [1], [0])),
    node("Concat", ["given", "zeros"], ["all"], axis=0),
    node("Reshape", ["all", "pairs"], ["rows"]),
    node("Slice", ["rows", "last", "far", "zero", "last"], ["backward"]),
    node("Transpose", ["backward"], ["columns"], perm=[1, 0]),
    node("Reshape", ["columns", "last"], ["line"]),
    node("Cast", ["line"], ["pads"], to=7),
    node("Pad", ["x", "pads", "value"], ["y"], mode="constant"),
]
PADDED_WEIGHTS = {
    "four": numbers(4),
    "given": numbers(1, 2, 0, 1),
    "pairs": numbers(-1, 2),
    "last": numbers(-1),
    "far": numbers(-(2**63) + 1),
    "zero": numbers(0),
    "value": np.array(0.5, "float32"),
}

# the report: nodes, weights, inputs
CASES = {
    "apache/tvm#18598": (
        [node("PRelu", ["x", "slope"], ["a"]), node("PRelu", ["a", "one"], ["y"])],
        {"slope": drawn(4, 1, 1), "one": drawn(1)},
        {"x": drawn(2, 4, 4, 4)},
    ),
    "apache/tvm#18598, slopes of the last axis": (
        [node("PRelu", ["x", "slope"], ["y"])],
        {"slope": drawn(4)},
        {"x": drawn(1, 4, 4, 4)},
    ),
    "apache/tvm#18594": (
        [node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 1, 1], ceil_mode=1)],
        {},
        {"x": drawn(1, 3, 17, 17)},
    ),
    "apache/tvm#18601": (
        [
            node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], pads=[1, 0, 0, 1], output_padding=[1, 1]),
        ],
        {"w": drawn(3, 6, 3, 2)},
        {"x": drawn(1, 3, 28, 28)},
    ),
    "apache/tvm#14661": ([node("LpPool", ["x"], ["y"], kernel_shape=[3, 2])], {}, {"x": drawn(1, 3, 8, 8)}),
    "apache/tvm#15651": (
        [node("Gather", ["x", "i"], ["a"], axis=-2), node("Gather", ["a", "j"], ["y"], axis=1)],
        {"i": np.array([[-1, 0], [1, -3]]), "j": numbers(2, -2)},
        {"x": drawn(2, 3, 4, 2)},
    ),
    "apache/tvm#17835": (
        [node("Div", ["x", "d"], ["a"]), node("Mod", ["x", "d"], ["b"]), node("Add", ["a", "b"], ["y"])],
        {"d": numbers(25, 25, -25, 25, -7)},
        {"x": numbers(-1, 24, 1, -26, -20)},
    ),
    "apache/tvm#18900": (
        [node("ReduceMean", ["v"], ["m"], axes=[3]), node("Add", ["x", "m"], ["y"])],
        {"v": drawn(1, 43, 1, 5)},
        {"x": drawn(7, 21, 1, 1, 1)},
    ),
    "onnx/tensorflow-onnx#765": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_shape=[39, 40], auto_pad="SAME_UPPER")],
        {"w": drawn(3, 2, 4, 4)},
        {"x": drawn(1, 3, 20, 20)},
    ),
    "onnx/tensorflow-onnx#765, pads from the shape alone": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_shape=[39, 41])],
        {"w": drawn(3, 2, 4, 4)},
        {"x": drawn(1, 3, 20, 20)},
    ),
    "pytorch/pytorch#34743": (
        [node("AveragePool", ["x"], ["y"], kernel_shape=[4, 4], pads=[0, 0, 0, 0])],
        {},
        {"x": drawn(1, 3, 4, 4)},
    ),
    "nod-ai/AMD-SHARK-ModelDev#824": (PADDED, PADDED_WEIGHTS, {"x": drawn(1, 2, 3, 4)}),
    "openvinotoolkit/openvino#13491": (
        [
            node("ArgMin", ["x"], ["a"], axis=-1, keepdims=0),
            node("ArgMin", ["x"], ["b"], axis=-1, keepdims=0, select_last_index=1),
            node("Sub", ["a", "b"], ["y"]),
        ],
        {},
        {"x": np.array([[2, 1, 1, 3], [0, 0, 0, 0], [5, 4, 3, 3]], "float32")},
    ),
    "openvinotoolkit/openvino#20977": (
        [node("SoftmaxCrossEntropyLoss", ["x", "label", "weight"], ["y"], reduction="mean")],
        {"weight": np.abs(drawn(5))},
        {"x": drawn(3, 5), "label": numbers(0, 4, 1)},
    ),
    "Talmaj/onnx2pytorch#44": (
        [
            node("Transpose", ["x"], ["a"], perm=[0, 3, 1, 2]),
            node("BatchNormalization", ["a", "s", "b", "m", "v"], ["c"], epsilon=0.001),
            node("Transpose", ["c"], ["y"], perm=[0, 2, 3, 1]),
        ],
        {"s": drawn(3), "b": drawn(3, seed=1), "m": drawn(3, seed=2), "v": np.abs(drawn(3, seed=3)) + 0.1},
        {"x": drawn(2, 3, 3, 3)},
    ),
    "pytorch/pytorch#88072": (
        [
            node("Conv", ["x", "w"], ["a"], kernel_shape=[1, 3, 3], strides=[2, 1, 2]),
            node("ReduceMean", ["a"], ["m"], keepdims=0),
            node("Div", ["a", "m"], ["b"]),
            node("Relu", ["b"], ["c"]),
            node("Clip", ["b", "low", "high"], ["d"]),
            node("Concat", ["c", "d", "d"], ["y"], axis=0),
        ],
        {"w": drawn(4, 3, 1, 3, 3), "low": np.array(0, "float32"), "high": np.array(6, "float32")},
        {"x": drawn(1, 3, 3, 6, 9) + 1},
    ),
    "PINTO0309/onnx2tf#382": (
        [
            node("Conv", ["x", "w", "b"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=3),
            node("MatMul", ["a", "a"], ["c"]),
            node("Mul", ["c", "line"], ["y"]),
        ],
        {"w": drawn(3, 1, 3, 3), "b": drawn(3), "line": drawn(3)},
        {"x": drawn(3, 3, 3, 3)},
    ),
    "PINTO0309/onnx2tf#211": (
        [
            node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            node("AveragePool", ["a"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
        ],
        {},
        {"x": drawn(1, 2, 15, 13)},
    ),
    "Xilinx/pyxir#49": (
        [
            node("AveragePool", ["x"], ["a"], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER"),
            node("MaxPool", ["a"], ["b"], kernel_shape=[2, 2], auto_pad="SAME_LOWER"),
            node("Conv", ["b", "w"], ["y"], auto_pad="SAME_LOWER", strides=[1, 2]),
        ],
        {"w": drawn(2, 3, 3, 2)},
        {"x": drawn(1, 3, 9, 10)},
    ),
}


@pytest.mark.parametrize("report", CASES)
def test_reports_of_values(report):
    nodes, weights, inputs = CASES[report]
    data = write(nodes, inputs, ["y"], weights, opset=17)
    expected = run(data, [*inputs.values()])
    found = flat(decode(data, "file.onnx", "numpy")(*inputs.values()))
    assert [(v.shape, v.dtype) for v in found] == [(v.shape, v.dtype) for v in expected]
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)


def opened(nodes, weights, inputs, axes, outputs=("y",), opset=17):
    """The bytes of a file whose named axes of inputs have no size."""
    model = onnx.load_model_from_string(write(nodes, inputs, list(outputs), weights, opset))
    for value in model.graph.input:
        for axis in axes.get(value.name, ()):
            value.type.tensor_type.shape.dim[axis].dim_param = f"{value.name}_{axis}"
    for value in model.graph.output:
        for size in value.type.tensor_type.shape.dim:
            size.ClearField("value")
    return model.SerializeToString()


def test_a_shape_of_two_unknown_sizes_is_followed():
    """pytorch/pytorch#87677"""
    nodes = [
        node("Shape", ["x"], ["sizes"]),
        node("Gather", ["sizes", "one"], ["steps"]),
        node("Range", ["zero", "steps", "by"], ["line"]),
        node("Unsqueeze", ["line", "axis"], ["row"]),
        node("Expand", ["row", "sizes"], ["y"]),
    ]
    weights = {"one": np.array(1), "zero": np.array(0), "by": np.array(1), "axis": numbers(0)}
    data = opened(nodes, weights, {"x": np.zeros((2, 3), "int64")}, {"x": (0, 1)})
    model = decode(data, "file.onnx", "numpy")
    for shape in ((1, 512), (3, 2), (2, 1)):
        np.testing.assert_array_equal(model(np.zeros(shape, "int64")), np.tile(np.arange(shape[1]), (shape[0], 1)))


def test_padding_to_a_multiple_and_back():
    """microsoft/onnxscript#2539: pads are computed from the size, and the slice ends at the old size."""
    nodes = [
        node("Shape", ["x"], ["n"], start=2, end=3),
        node("Mod", ["n", "eight"], ["over"]),
        node("Sub", ["eight", "over"], ["more"]),
        node("Mod", ["more", "eight"], ["end"]),
        node("Concat", ["zeros", "zeros", "zeros", "zeros", "zeros", "end"], ["pads"], axis=0),
        node("Pad", ["x", "pads"], ["padded"], mode="reflect"),
        node("MaxPool", ["padded"], ["pooled"], kernel_shape=[3], pads=[1, 1]),
        node("Slice", ["pooled", "zeros", "n", "axis"], ["y"]),
    ]
    weights = {"eight": numbers(8), "zeros": numbers(0), "axis": numbers(2)}
    data = opened(nodes, weights, {"x": drawn(1, 2, 12)}, {"x": (0, 2)})
    model = decode(data, "file.onnx", "numpy")
    for length in (12, 16, 21):
        x = drawn(2, 2, length)
        np.testing.assert_allclose(model(x), run(data, [x])[0], rtol=1e-6)


def test_negative_padding_of_a_convolution_is_read_or_refused():
    """apache/tvm#13757: the standard has none, and ONNX Runtime refuses it."""
    data = write(
        [node("Conv", ["x", "w"], ["y"], pads=[1, 0, 1, 1])], {"x": drawn(1, 3, 8, 8)}, ["y"], {"w": drawn(2, 3, 3, 3)}
    )
    model = onnx.load_model_from_string(data)
    model.graph.node[0].attribute[0].ints[:] = [-1, 0, -1, 1]
    with pytest.raises(FileFormatError, match="Conv"):
        decode(model.SerializeToString(), "file.onnx", "numpy")


def test_minus_one_as_a_size_of_expand_is_refused():
    """pytorch/pytorch#32926: the standard has none, and ONNX Runtime refuses it."""
    model = onnx.load_model_from_string(
        write([node("Expand", ["x", "s"], ["y"])], {"x": drawn(3, 3, 1, 1)}, ["y"], {"s": numbers(1, 3, 3, 1)})
    )
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(numbers(-1, 3, 3, 1), "s"))
    with pytest.raises(FileFormatError, match="Expand"):
        decode(model.SerializeToString(), "file.onnx", "numpy")


def test_empty_lists_of_attributes_are_the_defaults():
    """pytorch/pytorch#34743: strides=[]."""
    data = write([node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2])], {"x": drawn(1, 3, 4, 4)}, ["y"])
    model = onnx.load_model_from_string(data)
    for word in ("strides", "pads"):
        model.graph.node[0].attribute.append(onnx.AttributeProto(name=word, type=onnx.AttributeProto.INTS))
    found = decode(model.SerializeToString(), "file.onnx", "numpy")(drawn(1, 3, 4, 4))
    np.testing.assert_allclose(found, run(data, [drawn(1, 3, 4, 4)])[0], rtol=1e-6)
