"""The node cases of the `onnx` package on each backend: right, or refused by an error that says why."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
sys.path.append(str(Path(__file__).parents[2] / "onnx"))
import node_suite
from onnx import TensorProto, helper, numpy_helper

from labdl.saving.onnx.importer.module import decode

pytestmark = pytest.mark.sample(backends=2)

# modules of cases that are quick to make: of each kind of reader some
SAMPLE = (
    "argmax cumsum depthtospace gemm hardmax lpnormalization onehot reduce_log_sum_exp reversesequence scatternd "
    "shrink topk trilu unique"
)
# cases that are right in the full breadth
LEAST = {"torch": 1500, "paddle": 1400, "tensorflow": 1400, "mindspore": 1400}


def _faults(found):
    return [o for o in found if o.kind in ("wrong", "error")]


def test_sample_of_node_cases(backend):
    found = list(node_suite.outcomes(backend.name, node_suite.collect(SAMPLE.split())))
    assert _faults(found) == []
    assert sum(o.kind == "right" for o in found) >= 0.8 * len(found) > 60


@pytest.mark.sample(False)
def test_every_node_case_is_right_or_refused(backend):
    cases = node_suite.collect()
    found = list(node_suite.outcomes(backend.name, cases))
    assert _faults(found) == []
    assert sum(o.kind == "right" for o in found) >= LEAST[backend.name]
    path = node_suite.RESULTS / f"{backend.name}.json"
    if path.exists():  # nothing new is refused
        result = node_suite.record(backend.name, cases, found)
        assert result["cases"].keys() <= json.loads(path.read_text())["cases"].keys()


def test_the_sign_of_zero(backend):
    """Zeros of both signs beside each other, by constants and by a repetition along an axis of unknown size."""
    node, x = helper.make_node, np.array([[-0.0, 0.0, 1.0, -1.0]], "float32")
    nodes = [
        node("Add", ["x", "plus"], ["add"]),
        node("Add", ["x", "minus"], ["add_minus"]),
        node("Mul", ["x", "minus"], ["product"]),
        node("Mul", ["x", "plus"], ["product_plus"]),
        node("Shape", ["x"], ["sizes"]),
        node("Expand", ["x", "sizes"], ["expanded"]),
    ]
    outputs = ["add", "add_minus", "product", "product_plus", "expanded"]
    graph = helper.make_graph(
        nodes,
        "zeros",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in outputs],
        [numpy_helper.from_array(np.array(v, "float32"), k) for k, v in (("plus", 0.0), ("minus", -0.0))],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    found = [backend.to_numpy(v) for v in decode(data, "f.onnx", backend.name)(backend.tensor(x))]
    zero, minus = np.float32(0.0), np.float32(-0.0)
    for ours, theirs in zip(found, [x + zero, x + minus, x * minus, x * zero, x], strict=True):
        np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))
