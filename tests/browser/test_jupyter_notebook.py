"""Jupyter Notebook, which has no launcher: a model graph from the New menu above its files."""

import pytest
from playwright.sync_api import expect


@pytest.mark.sample(False)
@pytest.mark.blank_page
def test_new_menu_has_a_model_graph(page, lab):
    page.goto(lab.url.replace("/lab?", "/tree?"))
    page.locator(".jp-DropdownMenu").get_by_text("New", exact=True).click()
    items = page.locator(".lm-Menu .lm-Menu-itemLabel")
    item = items.filter(has_text="Model Graph")
    expect(item).to_have_count(1)
    with page.context.expect_page() as opening:
        item.click()
    opened = opening.value
    expect(opened.locator(".labdl-canvas")).to_be_visible()
    assert [path.suffix for path in lab.folder.iterdir() if path.name.startswith("untitled")] == [".labdl"]
    opened.close()
