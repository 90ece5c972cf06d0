"""The built programs of the widgets as data in pages."""

import json

import pytest

from labdl.lab.widgets.front_end import STATIC, read_static

PROGRAMS = ("data", "editor", "dashboard", "runs", "snapshot")


def test_all_programs_are_known():
    assert {path.stem for path in STATIC.glob("*.js")} == set(PROGRAMS), "build the front end: make front"


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", ["js", "css"])
def test_they_do_not_end_the_script_element_around_them(name, kind):
    """nbconvert puts them into a page as JSON in a script element, where `<!--` and `<script` begin something else."""
    text = read_static(f"{name}.{kind}").lower()
    assert [mark for mark in ("<!--", "<script", "</script") if mark in text] == []


def test_the_snapshot_is_small():
    assert len(read_static("snapshot.js")) + len(read_static("snapshot.css")) < 5_000


def test_the_editor_takes_the_yjs_of_the_page():
    """A second copy of Yjs warns in the console; LabDL's extension of JupyterLab shares JupyterLab's under this name."""
    assert 'Symbol.for("labdl.yjs")' in read_static("editor.js")
    assert "labdl.yjs" not in read_static("dashboard.js")


def test_licenses_of_the_packages_in_the_programs():
    packages = json.loads((STATIC / "third-party-licenses.json").read_text(encoding="utf-8"))["packages"]
    assert {"react", "uplot", "yjs", "@xyflow/react"} <= {package["name"] for package in packages}
    assert [package["name"] for package in packages if not package["licenseId"] or not package["extractedText"]] == []
