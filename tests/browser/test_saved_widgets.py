"""Widgets of a saved notebook that is opened again: live where its kernel still runs, a picture where it does not."""

import urllib.request

import pytest
from places import open_notebook, run_cell, write_notebook
from playwright.sync_api import expect
from test_cell_keys import outputs
from test_journey import Graph
from test_selecting import CELL


@pytest.mark.sample(every=2)
@pytest.mark.blank_page
@pytest.mark.parametrize("workspace", ["lab/tree", "notebooks"])
def test_the_editor_comes_back_with_its_kernel(page, lab, workspace):
    write_notebook(lab, CELL)
    open_notebook(page, lab, workspace=workspace)
    run_cell(page)
    graph = Graph(page)
    expect(graph.node("2")).to_be_visible(timeout=60_000)
    page.keyboard.press("Control+s")
    for _ in range(100):
        if outputs(lab):
            break
        page.wait_for_timeout(100)

    open_notebook(page, lab, workspace=workspace)
    expect(graph.node("2")).to_be_visible()
    expect(page.locator(".labdl-RunOutput-picture")).to_have_count(0)
    expect(page.get_by_text("Saved output without its kernel")).to_have_count(0)
    graph.node("2").click()
    expect(page.locator("#labdl-name")).to_have_value("2")

    sessions = page.request.get(f"{lab.url.split('/lab?')[0]}/api/sessions").json()
    token = lab.url.partition("token=")[2]
    for one in sessions:
        url = f"{lab.url.split('/lab?')[0]}/api/sessions/{one['id']}"
        request = urllib.request.Request(url, headers={"Authorization": f"token {token}"}, method="DELETE")
        urllib.request.urlopen(request).close()
    open_notebook(page, lab, workspace=workspace)
    expect(page.get_by_text("Saved output without its kernel")).to_be_visible()
    expect(page.locator(".labdl-RunOutput-picture")).to_be_visible()
