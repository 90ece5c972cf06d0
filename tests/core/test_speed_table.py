"""The table of ratios in docs/speed.md is that of the results of the benchmarks."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_document_has_the_table_of_the_results(tmp_path):
    """`python scripts/speed_table.py` brings it up to date."""
    made = tmp_path / "speed.md"
    subprocess.run([sys.executable, str(ROOT / "scripts" / "speed_table.py"), str(made)], check=True, timeout=60)
    assert made.read_text() == (ROOT / "docs" / "speed.md").read_text()
