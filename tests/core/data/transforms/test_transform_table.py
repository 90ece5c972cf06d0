"""docs/transforms.md is that of the registry."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[4]


def test_the_table_is_up_to_date():
    """`python scripts/transform_table.py` brings it up to date."""
    spec = importlib.util.spec_from_file_location("transform_table", ROOT / "scripts" / "transform_table.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.document() == (ROOT / "docs" / "transforms.md").read_text(encoding="utf-8")
