"""Documents name files, folders and commands that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(ROOT.glob("README*.md")), ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def names(text: str) -> set[str]:
    """Words in backticks that begin with a folder of the project."""
    found = re.findall(
        r"`((?:labdl|labextension|tests|scripts|docs|notebooks|backend|core|lab|browser|parity|bench)/[\w./-]+)`", text
    )
    return {name.rstrip("/.") for name in found}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_files_exist(document):
    missing = [
        name
        for name in sorted(names(document.read_text(encoding="utf-8")))
        if not any((base / name).exists() for base in (ROOT, ROOT / "labdl", ROOT / "tests", ROOT / "labextension/src"))
    ]
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    text = re.sub(r"`[^`]*`", "", document.read_text(encoding="utf-8"))  # code may look like a link
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", text)
    missing = [link for link in links if not (document.parent / link).exists()]
    assert not missing


def test_commands_of_make_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    commands = {
        name for document in DOCUMENTS for name in re.findall(r"`make ([a-z]+)`", document.read_text(encoding="utf-8"))
    }
    assert commands <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_tests_exist(document):
    for file, test in re.findall(r"`(test_\w+\.py)::(test_\w+)`", document.read_text(encoding="utf-8")):
        found = [*(ROOT / "tests").rglob(file)]
        assert any(re.search(rf"^def {test}\b", path.read_text(encoding="utf-8"), re.MULTILINE) for path in found), test
