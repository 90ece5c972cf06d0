"""The generated table docs/operators.md is up to date."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

from labdl import ops

ROOT = Path(__file__).parents[2]


def test_operator_table_is_up_to_date(tmp_path):
    """`python scripts/operator_table.py` generates the same file."""
    made = tmp_path / "operators.md"
    subprocess.run([sys.executable, str(ROOT / "scripts" / "operator_table.py"), str(made)], check=True, timeout=300)
    text = made.read_text()
    assert "| missing |" not in text
    listed = set(re.findall(r"^\| `(\w+)\(", text, re.MULTILINE))
    assert {name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))} - listed == {"operator"}
    assert text == (ROOT / "docs" / "operators.md").read_text()
