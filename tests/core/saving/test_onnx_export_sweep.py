"""Every layer and operator with each of its samples, written as ONNX: onnx's evaluator, and the file read again.

ONNX Runtime's values are compared in test_onnx.py; the checker of the format runs in each export.
"""

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx
from onnx.reference import ReferenceEvaluator
from test_onnx import DRAWN, LAYER_CASES, Numpy, call, called, draw, flat, twins

from labdl import nn, ops
from labdl.errors import FileFormatError, ModelError
from labdl.ops.operator import OPERATORS
from labdl.saving.onnx.exporter.file import encode
from labdl.saving.onnx.importer.module import decode
from labdl.spec import Spec

pytestmark = pytest.mark.slow

# where onnx's evaluator differs from the standard and from ONNX Runtime
_GROUPS, _STEPS = (
    "it refuses groups of a transposed convolution",
    "it ignores lengths, and of two directions the second",
)
GAPS = {
    "transposed": _GROUPS,
    "conv_transpose1d": _GROUPS,
    "conv_transpose2d": _GROUPS,
    **dict.fromkeys(
        ("both directions", "gated both directions", "simple both directions", "lstm", "gru", "rnn"), _STEPS
    ),
    "softsign": "it refuses numbers without axes",
    "log_softmax": "it is the logarithm of a softmax, which underflows",
}


def compare(data, arrays, expected):
    """What differs: of onnx's evaluator, and of the model that is read from the file."""
    faults = []
    try:
        session = ReferenceEvaluator(onnx.load_model_from_string(data))
        by_reference = session.run(None, dict(zip(session.input_names, arrays, strict=True)))
    except Exception as error:
        faults.append(f"reference: {type(error).__name__}: {error}")
    else:
        faults += [f"reference: {f}" for f in differences(by_reference, expected)]
    try:
        model = decode(data, "file.onnx", "numpy")
    except FileFormatError as error:
        return [*faults, f"read: {error}"]
    return [*faults, *(f"read: {f}" for f in differences(flat(model(*[a.copy() for a in arrays])), expected))]


def differences(found, expected):
    if len(found) != len(expected):
        return [f"{len(found)} outputs for {len(expected)}"]
    faults = []
    for one, other in zip(map(np.asarray, found), expected, strict=True):
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            faults.append(f"{one.dtype} {one.shape} for {other.dtype} {other.shape}")
        elif other.dtype.kind not in "OUS" and not np.allclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True):
            faults.append(f"{one.ravel()[:4]} for {other.ravel()[:4]}")
    return faults


def check(name, faults):
    """No faults, but for those that the evaluator has."""
    assert [f for f in faults if "reference: " not in f or name not in GAPS] == []
    assert name not in GAPS or faults


@pytest.mark.sample(False)
@pytest.mark.parametrize("case", [case for case in LAYER_CASES if case not in DRAWN])
def test_every_layer_by_the_evaluator_and_read_again(case):
    layer, _ = twins(case, Numpy)
    data, arrays = encode(layer), draw(case)
    check(case, compare(data, arrays, flat(call(layer.eval(), arrays))))


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", [name for name, entry in OPERATORS.items() if not entry.random])
def test_every_operator_by_the_evaluator_and_read_again(name):
    faults = []
    for args, kwargs in OPERATORS[name].samples:
        try:
            model, data, arrays = called(name, args, kwargs)
        except ModelError:
            continue  # test_onnx.py says which
        found = compare(data, arrays, flat(model(*[a.copy() for a in arrays])))
        faults += [f"{args} {kwargs}: {f}" for f in found]
    check(name, faults)


class Twice(nn.Module):
    """One layer that is used twice, and a table that is the last layer too."""

    def __init__(self):
        self.table = nn.Embedding(11, 6)
        self.mix = nn.Linear(6)

    def forward(self, tokens):
        x = self.mix(self.mix(self.table(tokens)))
        return ops.matmul(x, ops.matrix_transpose(self.table.embeddings))


def test_tied_weights_stay_one_in_both_directions():
    model = Twice().build(Spec((None, 4), "int64"), backend="numpy")
    data, tokens = encode(model), np.array([[1, 2, 10, 0]])
    again = decode(data, "file.onnx", "numpy")
    assert [v.shape for v in again.parameters()] == [v.shape for v in model.parameters()]
    assert differences(flat(again(tokens)), flat(model.eval()(tokens))) == []
    third = decode(encode(again), "file.onnx", "numpy")
    assert len([*third.parameters()]) == len([*model.parameters()])
