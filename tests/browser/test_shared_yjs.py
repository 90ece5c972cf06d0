"""The editor in a cell shares JupyterLab's copy of Yjs."""

import pytest
from places import NEW_GRAPH, run_in_notebook
from playwright.sync_api import expect


@pytest.mark.sample(False)
def test_editor_in_a_cell_starts_no_second_copy(page, lab):
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    run_in_notebook(page, lab, NEW_GRAPH)
    expect(page.locator(".labdl-canvas")).to_be_visible()
    assert [text for text in messages if "Yjs was already imported" in text] == []
    assert page.evaluate("() => Object.hasOwn(globalThis, Symbol.for('labdl.yjs'))")
