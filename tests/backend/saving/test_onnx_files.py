"""ONNX files as other programs write them: loaded, computed, trained and exported again, on every backend.

The files are of PyTorch's two exporters, tf2onnx, paddle2onnx and skl2onnx; `tests/onnx_files` has the scripts that made
them, and what those programs compute for two batches.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl.errors import FileFormatError
from labdl.saving.onnx import export_onnx, import_onnx

onnxruntime = pytest.importorskip("onnxruntime")

FILES = Path(__file__).parents[2] / "onnx_files"
NAMES = sorted(str(file.relative_to(FILES).with_suffix("")) for file in FILES.glob("*/*.onnx"))
REFUSED = {"sklearn/random_forest": "uses the operator ai.onnx.ml.TreeEnsembleClassifier, .* 'TreeEnsembleClassifier'"}
LAYERS = {  # what a file must become, to be more than operators
    "bilstm": ["Embedding", "LSTM", "Linear"],
    "bilstm_fixed": ["Embedding", "LSTM", "Linear"],
    "gru": ["Embedding", "GRU", "Linear"],
    "residual": ["Conv2d", "Conv2d", "Conv2d", "Linear"],
    "recommender": ["Embedding"] * 4,
    "logistic_regression": ["Linear"],
    "scaler_mlp": ["Linear", "Linear"],
}


def batches(name):
    """Inputs and outputs of the batches of a file."""
    with np.load(FILES / f"{name}.npz") as file:
        for at in (0, 1):
            yield tuple([file[k] for k in file.files if k.startswith(f"{at}/{word}/")] for word in ("input", "output"))


def test_the_files_have_no_paths_of_the_machine_that_wrote_them():
    """Exporters write stack traces into them."""
    assert [name for name in NAMES if b"stack_trace" in (FILES / f"{name}.onnx").read_bytes()] == []


def assert_close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=2e-5)


def flat(value) -> list:
    return list(value) if isinstance(value, list | tuple) else [value]


@pytest.fixture(params=[name for name in NAMES if name not in REFUSED])
def name(request):
    return request.param


def test_there_are_files_of_every_program():
    count = Counter(name.partition("/")[0] for name in NAMES)
    assert count["torch_script"] == count["torch_dynamo"] >= 15
    assert min(count[program] for program in ("tf2onnx", "paddle2onnx", "sklearn")) >= 4


@pytest.mark.sample(every=4, backends=1)
def test_outputs_and_training(name, backend, tmp_path):
    model = import_onnx(FILES / f"{name}.onnx", backend=backend.name)
    for inputs, outputs in batches(name):
        assert_close([backend.to_numpy(v) for v in flat(model(*map(backend.tensor, inputs)))], outputs)
    kinds = Counter(node.type for node in model.graph.nodes.values() if not node.shares)
    assert Counter(LAYERS.get(name.partition("/")[2], ())) <= kinds

    # exported again, it computes the same in ONNX Runtime, for both batches
    session = onnxruntime.InferenceSession(export_onnx(model, tmp_path / "again.onnx"))
    for inputs, outputs in batches(name):
        assert_close(session.run(None, dict(zip((i.name for i in session.get_inputs()), inputs, strict=True))), outputs)

    # trained one step, its loss is lower
    inputs, outputs = next(batches(name))
    target = np.zeros_like(outputs[-1], "float32") if outputs[-1].dtype.kind == "f" else None
    variables = model.trainable_variables()
    if target is None or not variables:
        return

    def loss(*_):
        return labdl.ops.mean(labdl.ops.square(flat(model(*map(backend.tensor, inputs)))[-1]))

    value, gradients = backend.gradients(loss, variables)
    size = sum(float((backend.to_numpy(g) ** 2).sum()) for g in gradients if g is not None)
    assert np.isfinite(size)
    assert size > 0
    for variable, gradient in zip(variables, gradients, strict=True):
        if gradient is not None:
            step = 0.01 * float(backend.to_numpy(value)) / size * backend.to_numpy(gradient)
            backend.assign(variable, (backend.to_numpy(variable) - step).astype("float32"))
    assert float(backend.to_numpy(loss())) < float(backend.to_numpy(value))


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("torch_script/")])
def test_saved_in_the_files_of_labdl(name, backend, tmp_path):
    model = import_onnx(FILES / f"{name}.onnx", backend="numpy")
    labdl.save(model, tmp_path / "net")
    inputs, outputs = list(batches(name))[-1]
    again = labdl.load(tmp_path / "net", backend=backend.name).eval()
    assert_close([backend.to_numpy(v) for v in flat(again(*map(backend.tensor, inputs)))], outputs)


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_operators_are_named(name, backend):
    with pytest.raises(FileFormatError, match=REFUSED[name]):
        import_onnx(FILES / f"{name}.onnx", backend=backend.name)
