"""Everybody can use the editor: no violations that axe finds, in each theme and state; by keyboard; on a small screen."""

import json
from pathlib import Path

import pytest
from places import new_model
from playwright.sync_api import expect
from test_journey import Graph

AXE = Path(__file__).parents[2] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
THEMES = ["JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"]


def violations(page) -> list[str]:
    """What axe finds in our part of the page, a line for each element."""
    found = page.evaluate("() => axe.run('.labdl-editor')")["violations"]
    return [f"{v['id']}: {node['html'][:200]}" for v in found for node in v["nodes"]]


def use_theme(page, name: str) -> None:
    page.locator(".lm-MenuBar-item", has_text="Settings").click()
    page.get_by_text("Theme", exact=True).hover()
    page.get_by_text(name, exact=True).click()
    expect(page.locator(f"body[data-jp-theme-name='{name}']")).to_have_count(1)


def test_keyboard_alone_and_axe(page):
    page.locator(".jp-LauncherCard", has_text="Model Graph").focus()
    page.keyboard.press("Enter")
    graph = Graph(page)
    expect(page.locator(".labdl-empty")).to_be_visible()

    # build and connect without a pointer
    for layer in ("Input", "Flatten", "Linear"):
        page.keyboard.press("Shift+A")
        page.keyboard.type(layer)
        page.keyboard.press("Enter")
        expect(graph.node(layer.lower())).to_be_visible()
        page.keyboard.press("Escape")  # what is selected is linked to the next layer
    edges = page.locator(".react-flow__edge")
    count = edges.count()
    page.keyboard.press("Escape")
    for name in ("input", "flatten", "linear"):
        graph.node(name).focus()
        page.keyboard.down("Control")
        page.keyboard.press("Enter")
        page.keyboard.up("Control")
    page.keyboard.press("l")
    expect(edges).to_have_count(2)
    assert count < 2
    expect(page.locator(".labdl-status-problems")).to_have_text("No problems")
    page.keyboard.press("Control+g")
    expect(page.locator(".labdl-frame")).to_have_count(1)
    page.get_by_label("Collapse block").focus()
    page.keyboard.press("Enter")
    expect(graph.node("block")).to_be_visible()

    # every theme: with a block selected, the menu open, the code shown, a layer with a form, and a problem
    page.add_script_tag(path=AXE)
    for theme in THEMES:
        use_theme(page, theme)
        graph.node("block").click()
        assert violations(page) == [], theme
    graph.canvas.press("Shift+A")
    expect(page.get_by_role("dialog", name="Add a layer")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator(".labdl-inspector").get_by_role("button", name="Enter").click()
    graph.node("linear").click()
    assert violations(page) == []
    graph.field("out_features").fill("-1")  # refused, with the reason under the field
    assert violations(page) == []
    graph.node("flatten").click()
    graph.canvas.press("Delete")
    expect(page.locator(".labdl-status-problems")).to_contain_text("problem")
    assert violations(page) == []


@pytest.mark.sample(False)
def test_a_small_screen(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    new_model(page)
    graph = Graph(page)
    assert graph.canvas.bounding_box()["width"] > 450
    for part in (".labdl-palette", ".labdl-inspector", ".labdl-status"):
        box = page.locator(part).bounding_box()
        assert box["x"] >= 0, part
        assert box["x"] + box["width"] <= 1280, part
        assert box["y"] + box["height"] <= 720, part
    # what is in the way goes away
    page.get_by_label("Hide the palette").click()
    page.get_by_label("Hide the properties").click()
    assert graph.canvas.bounding_box()["width"] > 800


@pytest.mark.sample(False)
def test_chinese(page, lab):
    use_language(page, lab, "zh_CN")
    try:
        page.locator(".jp-LauncherCard", has_text="模型图").click()
        graph = Graph(page)
        expect(page.locator(".labdl-status-nodes")).to_have_text("0 个层")
        expect(page.locator(".labdl-palette input")).to_have_attribute("placeholder", "搜索")
        graph.canvas.press("Shift+A")
        expect(page.get_by_role("dialog", name="添加层")).to_be_visible()
    finally:
        use_language(page, lab, "default")


def use_language(page, lab, locale: str) -> None:
    """As the language menu does: a setting, and a reload."""
    server, _, token = lab.url.partition("/lab?token=")
    answer = page.request.put(
        f"{server}/lab/api/settings/@jupyterlab/translation-extension:plugin",
        data={"raw": json.dumps({"locale": locale})},
        headers={"Authorization": f"token {token}"},
    )
    assert answer.ok, answer.text()
    page.goto(f"{lab.url}&reset")
    page.wait_for_selector(".jp-LauncherCard", timeout=60_000)
