"""Attributes of ONNX nodes: each value is read as ONNX Runtime does or refused, and none is read without effect."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
sys.path.append(str(Path(__file__).parents[2] / "onnx"))
import attribute_sweep
import onnx

from labdl.saving.onnx.importer.module import decode

# where neither ONNX Runtime nor onnx's evaluator computes what the standard says
DIFFERENT = {
    ("LpPool", "dilations"): "with pads that keep the size they pad for windows without dilation; see the test below",
}
# no second value is valid, or none gives another result
ALIKE = {
    ("Conv", "kernel_shape"): "it is the shape of the weights",
    ("ConvTranspose", "kernel_shape"): "it is the shape of the weights",
    ("DeformConv", "kernel_shape"): "it is the shape of the weights",
    ("Dropout", "ratio"): "it is of the training, where results are random",
    ("QuantizeLinear", "saturate"): "it is of floating-point numbers of 8 bits beyond their range, which no sample has",
    ("Split", "num_outputs"): "it is the number of the outputs",
    ("TensorScatter", "mode"): "the other mode only takes more positions",
}


@pytest.fixture(scope="module")
def findings():
    return [*attribute_sweep.sweep()]


@pytest.mark.sample(False)
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore")
def test_every_value_is_read_or_refused(findings):
    assert [f for f in findings if f.fault and (f.operator, f.attribute) not in DIFFERENT] == []


@pytest.mark.sample(False)
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore")
def test_every_attribute_changes_a_result(findings):
    pairs = {(f.operator, f.attribute) for f in findings}
    assert pairs - {(f.operator, f.attribute) for f in findings if f.changes} == ALIKE.keys()
    assert len(pairs) > 150


def test_pooling_with_dilation_keeps_the_size():
    """The sum over the elements at 0 and 2 of each window, with an element of padding on either side (LpPool of opset 18)."""
    helper = onnx.helper
    x = np.random.default_rng(0).normal(size=(1, 2, 6, 5)).astype("float32")
    settings = {"kernel_shape": [2, 2], "dilations": [2, 2], "auto_pad": "SAME_UPPER", "p": 3}
    graph = helper.make_graph(
        [helper.make_node("LpPool", ["x"], ["y"], **settings)],
        "pooling",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, x.shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True))
    padded = np.abs(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))) ** 3
    sums = sum(padded[:, :, i : i + 6, j : j + 5] for i in (0, 2) for j in (0, 2))
    result = decode(model.SerializeToString(), "pooling.onnx", "numpy")(x)
    np.testing.assert_allclose(result, np.cbrt(sums), rtol=1e-5)
