"""The built programs of the widgets as data in pages."""

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
