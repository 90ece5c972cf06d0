"""The node cases of the `onnx` package on each backend: right, or refused by an error that says why."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")
sys.path.append(str(Path(__file__).parents[2] / "onnx"))
import node_suite

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
