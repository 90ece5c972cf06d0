"""docs/models.md is what its script writes from the registry."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_model_table_is_up_to_date():
    """`python scripts/model_table.py` brings it up to date."""
    spec = importlib.util.spec_from_file_location("model_table", ROOT / "scripts" / "model_table.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.document() == (ROOT / "docs" / "models.md").read_text()
