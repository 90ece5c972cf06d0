"""Code blocks of README and docs run from top to bottom in a new kernel, as a reader copies them into a notebook."""

import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from labdl import config

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# a cell after the block that contains the text
CHECKS = {
    ("README.md", "run.wait()"): "assert run.history['val_accuracy'][-1] > 0.95, run.history",
    ("experiments.md", "race.wait()"): "assert [row['status'] for row in race.table()] == ['finished'] * 2",
    ("experiments.md", "trials.wait()"): "assert [trial.status for trial in trials.trials] == ['finished'] * 4",
    ("own-data.md", "wine.csv"): "assert history['val_accuracy'][-1] > 0.8, history",
}
# documents that promise to run with `labdl[lab,torch]` alone: nothing imports what it does not bring
PYTORCH_ALONE = ("README.md", "own-data.md", "callbacks.md", "saving.md", "editor.md")
OTHERS = ("tensorflow", "keras", "paddle", "mindspore", "onnx", "onnxruntime", "optuna", "plotly", "resvg_py")
WITHOUT_OTHERS = f"import sys; sys.modules.update(dict.fromkeys({OTHERS}))"


def blocks(document: Path, language: str) -> list[str]:
    """The code blocks of a language in a document."""
    text = document.read_text(encoding="utf-8")
    return [code for code in re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


WITH_CODE = [document for document in DOCUMENTS if blocks(document, "python")]


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("document", WITH_CODE, ids=lambda path: path.name)
def test_blocks_run_in_order(document, tmp_path):
    cells = [nbformat.v4.new_code_cell(WITHOUT_OTHERS)] if document.name in PYTORCH_ALONE else []
    for code in blocks(document, "python"):
        cells.append(nbformat.v4.new_code_cell(code))
        checks = [check for (name, text), check in CHECKS.items() if name == document.name and text in code]
        cells += [nbformat.v4.new_code_cell(check) for check in checks]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_checks_have_their_blocks():
    for name, text in CHECKS:
        assert any(
            text in code for document in DOCUMENTS if document.name == name for code in blocks(document, "python")
        )


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "toml")], ids=lambda path: path.name)
def test_configuration_files_are_valid(document, tmp_path, monkeypatch):
    for toml in blocks(document, "toml"):
        (tmp_path / "labdl.toml").write_text(toml)
        monkeypatch.chdir(tmp_path)
        for key, value in tomllib.loads(toml).items():
            monkeypatch.delenv(f"LABDL_{key.upper()}", raising=False)
            expected = tuple(value) if isinstance(value, list) else value
            assert config.setting(key) == config.Setting(expected, f"{key} in {tmp_path / 'labdl.toml'}")
