"""The overview in the corner of the canvas: few elements however many layers, and it moves the view."""

import re

import pytest
from playwright.sync_api import expect

from labdl.graph import Edge, Node
from labdl.graph import Graph as Model
from labdl.saving import structure

pytestmark = pytest.mark.sample(False)

LAYERS = 400


def row() -> Model:
    nodes = {"n0": Node("Input", "image", {"shape": (None, 8)})}
    nodes |= {f"n{i}": Node("ReLU", f"relu_{i}") for i in range(1, LAYERS)}
    edges = {f"e{i}": Edge(f"n{i - 1}", f"n{i}") for i in range(1, LAYERS)}
    return Model(nodes, edges, positions={f"n{i}": (260 * i, 0) for i in range(LAYERS)})


def view(page) -> tuple[float, float, float]:
    transform = page.locator(".react-flow__viewport").evaluate("element => element.style.transform")
    return tuple(float(number) for number in re.findall(r"-?[\d.]+", transform))


def test_overview_moves_and_zooms_the_view(page, lab):
    (lab.folder / "row.labdl").write_bytes(structure.encode(row()))
    page.get_by_title("Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="row.labdl").dblclick()
    overview = page.get_by_role("img", name="Overview")
    expect(overview).to_be_visible()
    expect(overview.locator("*")).to_have_count(4)
    expect(page.locator(".labdl-node").first).to_be_visible()

    x, _, zoom = view(page)
    box = overview.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 14, middle[1], steps=2)
    expect(overview).to_be_visible()
    page.mouse.up()
    # 140 pixels show 400 layers of 260 units, so that 14 pixels are a tenth of them
    assert view(page)[0] == pytest.approx(x - 0.1 * LAYERS * 260 * zoom, rel=0.1)
    page.mouse.wheel(0, -100)
    page.wait_for_function(
        f"() => Number(/scale\\((.*)\\)/.exec(document.querySelector('.react-flow__viewport').style.transform)[1]) > {zoom}"
    )
    assert view(page)[2] == pytest.approx(zoom * 2**0.2, rel=0.01)

    # what is selected is drawn in its color
    page.locator(".labdl-node").nth(1).click()
    expect(overview.locator(".labdl-mod-selected")).to_have_attribute("d", re.compile("^M"))
