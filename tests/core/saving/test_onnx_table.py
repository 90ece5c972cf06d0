"""docs/onnx.md is what its script writes from the recorded results."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_table_of_node_cases_is_up_to_date():
    spec = importlib.util.spec_from_file_location("onnx_table", ROOT / "scripts" / "onnx_table.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (ROOT / "docs" / "onnx.md").read_text() == script.table()
