"""Building a graph quickly: the menu where a link ends, a layer dropped into a link, favorites."""

import itertools

from places import LARGE, in_both_places, open_editor
from playwright.sync_api import expect
from test_journey import Graph, center


@in_both_places
def test_quick_menu_insertion_and_favorites(page, lab, place):
    page.set_viewport_size(LARGE)
    open_editor(page, lab, place)
    graph = Graph(page)
    edges = page.locator(".react-flow__edge")
    graph.move("input", 300, 60)

    # a link that ends in the open asks for the layer to connect
    x, y = center(graph.node("input").locator(".react-flow__handle.source"))
    graph.press_and_move((x, y), (x + 40, y + 90))
    menu = page.get_by_role("dialog", name="Add a layer")
    expect(menu.get_by_role("option", name="Input")).to_have_count(0)
    page.keyboard.type("lin")
    expect(menu.get_by_role("option", selected=True)).to_contain_text("Linear")
    page.keyboard.press("Enter")
    expect(menu).to_have_count(0)
    expect(graph.node("linear")).to_be_visible()
    expect(edges).to_have_count(1)
    box = graph.node("input").bounding_box()
    graph.press_and_move(center(graph.node("linear").locator(".source")), (box["x"] + 30, box["y"] + 30))
    expect(menu).to_have_count(0)  # that was not in the open

    # a layer from the palette goes into the link that it is dropped on, as one step
    before = graph.node("linear").bounding_box()
    page.get_by_label("Search layers").fill("ReLU")
    page.locator(".labdl-palette-item[data-layer=ReLU]").hover()
    page.mouse.down()
    x, y = center(edges)
    page.mouse.move(x, y, steps=8)
    page.mouse.move(x + 1, y)  # entering the link and moving over it are two events
    expect(page.locator(".react-flow__edge.labdl-mod-drop")).to_have_count(1)
    page.mouse.up()
    expect(edges).to_have_count(2)
    expect(page.locator(".labdl-mod-drop")).to_have_count(0)
    boxes = [graph.node(name).bounding_box() for name in ("input", "relu", "linear")]
    for above, below in itertools.pairwise(boxes):
        assert above["y"] + above["height"] < below["y"], "nodes cover each other"
    page.keyboard.press("Control+z")
    expect(graph.node("relu")).to_have_count(0)
    expect(edges).to_have_count(1)
    assert graph.node("linear").bounding_box() == before

    # the menu opens by a key too, and adds after the selection
    graph.node("linear").click()
    page.keyboard.press("Shift+A")
    page.keyboard.type("relu")
    page.keyboard.press("Enter")
    expect(edges).to_have_count(2)

    # a name that cannot be stays in its field with the reason, and a valid one is offered; others are of any language
    graph.node("linear").click()
    name = page.get_by_role("textbox", name="Name", exact=True)
    for wrong, reason in (("class", "keyword"), ("my layer", "letters, digits and _"), ("relu", "already named relu")):
        name.fill(wrong)
        name.press("Tab")
        expect(name).to_have_value(wrong)
        expect(page.locator("#labdl-name-error")).to_contain_text(reason)
    expect(graph.node("linear")).to_be_visible()
    page.get_by_role("button", name="Use “relu_1”").click()
    expect(name).to_have_value("relu_1")
    name.fill("卷积层")
    name.press("Enter")
    expect(graph.node("卷积层").locator(".labdl-node-shape")).to_contain_text("N")
    expect(page.locator(".labdl-status-problems")).to_have_text("No problems")
    name.fill("linear")
    name.press("Enter")

    # favorites and what was used last come first, also after a reload
    palette = page.locator(".labdl-palette")
    item = palette.locator(".labdl-palette-row", has=page.locator("[data-layer=ReLU]"))
    item.hover()
    item.get_by_label("ReLU is a favorite").click()
    page.get_by_label("Search layers").fill("")

    def check():
        expect(group(palette, "Favorites")).to_have_text(["ReLU"])
        expect(group(palette, "Recent")).to_have_text(["ReLU", "Linear", *(["Input"] if place == "panel" else [])])

    check()
    if place == "panel":
        page.reload()
        expect(palette).to_be_visible(timeout=60_000)
        check()


def group(palette, name: str):
    """The layers in a group of the palette."""
    heading = palette.page.get_by_role("button", name=name, exact=True)
    return palette.locator(".labdl-palette-group", has=heading).locator(".labdl-palette-item")
