"""ONNX's operators for linear models against ONNX Runtime."""

import numpy as np
import pytest

from labdl.errors import FileFormatError

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper  # noqa: E402

from labdl.saving.onnx.importer.module import decode  # noqa: E402

X = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
COEFFICIENTS = [round(0.1 * n - 0.5, 3) for n in range(12)]
CLASSIFIER = {"coefficients": COEFFICIENTS, "intercepts": [0.1, -0.2, 0.3], "multi_class": 1}


def file(kind, outputs=("y",), **attributes) -> bytes:
    node = helper.make_node(kind, ["x"], list(outputs), name="it", domain="ai.onnx.ml", **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])
    kinds = (TensorProto.INT64, TensorProto.FLOAT) if len(outputs) == 2 else (TensorProto.FLOAT,)
    made = [helper.make_tensor_value_info(*pair, None) for pair in zip(outputs, kinds, strict=True)]
    sets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(helper.make_graph([node], "g", [x], made), opset_imports=sets, producer_name="skl2onnx")
    model.ir_version = 8
    return model.SerializeToString()


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("Scaler", {"offset": [0.5, -1.0, 0.0, 2.0], "scale": [1.0, 2.0, 0.5, 0.1]}),
        ("Scaler", {"offset": [0.5], "scale": [2.0]}),
        ("Normalizer", {"norm": "L1"}),
        ("Normalizer", {"norm": "L2"}),
        ("Normalizer", {"norm": "MAX"}),
        ("LinearRegressor", {"coefficients": COEFFICIENTS[:4], "intercepts": [0.25]}),
        ("LinearRegressor", {"coefficients": COEFFICIENTS, "targets": 3}),
        ("LinearClassifier", {**CLASSIFIER, "classlabels_ints": [0, 1, 2], "post_transform": "SOFTMAX"}),
        ("LinearClassifier", {**CLASSIFIER, "classlabels_ints": [7, -1, 3], "post_transform": "LOGISTIC"}),
        ("LinearClassifier", {**CLASSIFIER, "classlabels_ints": [0, 1, 2]}),
    ],
    ids=str,
)
def test_linear_models_compute_as_onnx_runtime(kind, attributes):
    outputs = ("label", "scores") if kind == "LinearClassifier" else ("y",)
    data = file(kind, outputs, **attributes)
    found = decode(data, "net.onnx", "numpy")(X)
    expected = onnxruntime.InferenceSession(data).run(None, {"x": X})
    for one, other in zip(found if len(outputs) == 2 else [found], expected, strict=True):
        np.testing.assert_allclose(one, other.reshape(one.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (file("TreeEnsembleRegressor"), "uses the operator ai.onnx.ml.TreeEnsembleRegressor, .*'it'"),
        (file("SVMRegressor"), "uses the operator ai.onnx.ml.SVMRegressor, .*'it'"),
        (file("LinearClassifier", ("a", "b"), **CLASSIFIER, classlabels_strings=["a", "b", "c"]), "texts as labels"),
        (file("LinearRegressor", coefficients=COEFFICIENTS, targets=5), "12 coefficients"),
        (file("LinearRegressor", coefficients=COEFFICIENTS[:4], post_transform="PROBIT"), "PROBIT"),
        (file("Scaler", offset=[1.0, 2.0, 3.0]), "does not fit together"),
    ],
    ids=["trees", "support vectors", "texts", "coefficients", "transform", "offsets"],
)
def test_unsupported_models_are_refused(data, message):
    with pytest.raises(FileFormatError, match=message):
        decode(data, "net.onnx", "numpy")
