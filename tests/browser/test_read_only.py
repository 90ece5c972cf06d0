"""Models that cannot be edited say why: unknown layers, a newer format, a file that is write-protected."""

import io

import h5py
import pytest
from playwright.sync_api import expect
from test_journey import Graph, center

from labdl.graph import Edge, Node
from labdl.graph import Graph as GraphData
from labdl.saving import structure

pytestmark = pytest.mark.sample(False)


def model(kind: str = "Linear") -> bytes:
    """An input, and a layer that may be unknown."""
    nodes = {"a": Node("Input", "input", {"shape": (None, 8)}), "b": Node(kind, "scale", {"out_features": 4})}
    return structure.encode(GraphData(nodes, {"e": Edge("a", "b")}, "net", {"a": (0.0, 0.0), "b": (0.0, 140.0)}))


def newer(data: bytes, *, without: str | None = None) -> bytes:
    buffer = io.BytesIO(data)
    with h5py.File(buffer, "r+") as file:
        file.attrs["version"] = 99
        if without:
            del file[without]
    return buffer.getvalue()


def open_file(page, lab, name: str) -> None:
    page.goto(lab.url.replace("/lab?", f"/lab/tree/{name}?") + "&reset")
    expect(page.locator(".react-flow__node").first).to_be_visible(timeout=60_000)


def choose_theme(page, name: str) -> None:
    page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text="Theme").first.hover()
    page.locator(".lm-Menu-itemLabel", has_text=f"JupyterLab {name}").first.click()
    expect(page.locator(f"body[data-jp-theme-light={'true' if name == 'Light' else 'false'}]")).to_have_count(1)
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)


def distance(graph: Graph) -> list[float]:
    a, b = (graph.node(name).bounding_box() for name in ("input", "scale"))
    return [round(b[side] - a[side]) for side in ("x", "y")]


def try_to_edit(page, graph: Graph) -> None:
    """All ways to change a graph that the keyboard and the mouse offer."""
    before = distance(graph)
    graph.node("input").click()
    for keys in ("Delete", "Control+x", "Control+v", "Control+d", "ArrowDown", "Shift+A", "Control+z"):
        page.keyboard.press(keys)
    x, y = center(graph.node("input"))
    graph.press_and_move((x, y), (x + 60, y + 60))  # moves the view, as beside a node
    expect(page.locator(".react-flow__node")).to_have_count(2)
    assert distance(graph) == before
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    expect(page.locator(".labdl-quick-menu")).to_have_count(0)
    expect(page.locator(".labdl-palette")).to_have_count(0)
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)


@pytest.mark.blank_page
def test_unknown_layers_a_newer_format_and_a_write_protected_file(page, lab, tmp_path):
    files = {"unknown": model("acme.Scale"), "newer": newer(model()), "known": model()}
    files["foreign"] = newer(model(), without="nodes/type")
    for name, data in files.items():
        (lab.folder / f"{name}.labdl").write_bytes(data)
    graph = Graph(page)
    bar = page.locator(".labdl-bar")
    save = page.get_by_role("button", name="Save the model")

    # layers that nobody here knows
    open_file(page, lab, "unknown.labdl")
    expect(bar).to_contain_text("This model uses a layer that is not available here: acme.Scale.")
    expect(graph.node("scale")).to_contain_text("acme.Scale")
    expect(save).to_be_disabled()
    try_to_edit(page, graph)
    graph.node("scale").click()
    expect(page.locator(".labdl-inspector input").first).to_be_disabled()
    page.screenshot(path=tmp_path / "unknown-light.png")
    choose_theme(page, "Dark")
    page.screenshot(path=tmp_path / "unknown-dark.png")
    choose_theme(page, "Light")
    bar.get_by_role("button", name="Edit anyway").click()
    expect(bar).to_have_count(0)
    expect(page.locator(".labdl-palette")).to_be_visible()
    graph.node("scale").click()
    page.keyboard.press("Delete")
    expect(graph.node("scale")).to_have_count(0)
    expect(page.locator(".jp-mod-dirty")).not_to_have_count(0)
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert list(structure.load_structure(lab.folder / "unknown.labdl").nodes) == ["a"]

    # a format that is newer than this version
    open_file(page, lab, "newer.labdl")
    expect(bar).to_contain_text("newer.labdl was written by a newer version of LabDL (format 99")
    expect(bar.get_by_role("button")).to_have_count(0)
    expect(save).to_be_disabled()
    try_to_edit(page, graph)
    page.keyboard.press("Control+s")
    page.screenshot(path=tmp_path / "newer.png")
    assert (lab.folder / "newer.labdl").read_bytes() == files["newer"]

    # a newer format that cannot be shown
    page.goto(lab.url.replace("/lab?", "/lab/tree/foreign.labdl?") + "&reset")
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("foreign.labdl was written by a newer LabDL (format 99", timeout=60_000)
    dialog.get_by_role("button").last.click()

    # a file that the disk does not let be written, until it has another name
    def protect(route):
        response = route.fetch()
        route.fulfill(response=response, json=response.json() | {"writable": False})

    page.route("**/labdl/graph?path=known.labdl*", protect)
    open_file(page, lab, "known.labdl")
    expect(bar).to_contain_text("write-protected")
    expect(save).to_be_disabled()
    try_to_edit(page, graph)
    page.screenshot(path=tmp_path / "protected.png")
    page.keyboard.press("Control+Shift+s")
    page.locator(".jp-Dialog input").fill("mine.labdl")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(bar).to_have_count(0)
    graph.node("scale").click()
    page.keyboard.press("Delete")
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert list(structure.load_structure(lab.folder / "mine.labdl").nodes) == ["a"]
    assert (lab.folder / "known.labdl").read_bytes() == files["known"]


def test_what_is_set_holds_for_open_models_and_after_a_reload(page, lab, tmp_path):
    (lab.folder / "grid.labdl").write_bytes(model())
    open_file(page, lab, "grid.labdl")
    graph = Graph(page)
    page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text="Settings Editor").first.click()
    editor = page.locator(".jp-SettingsPanel")
    page.locator("#json-setting-editor, .jp-PluginList").get_by_text("LabDL", exact=True).click()
    expect(editor.get_by_text("Keep unsaved changes", exact=True)).to_be_visible()
    page.screenshot(path=tmp_path / "settings.png")
    with page.expect_response(lambda r: "/api/settings/labdl" in r.url and r.request.method == "PUT"):
        editor.get_by_label("Snap to grid").check()
    page.wait_for_timeout(500)  # the settings are read again after they were written
    page.locator(".lm-TabBar-tabLabel", has_text="grid.labdl").first.click()
    for is_new in (False, True):
        if is_new:
            page.reload()
            expect(graph.node("scale")).to_be_visible(timeout=60_000)
        x, y = center(graph.node("scale"))
        graph.press_and_move((x, y), (x + 33, y + 47))
        page.locator(".labdl-canvas").focus()
        page.keyboard.press("Control+s")
        expect(page.locator(".jp-mod-dirty")).to_have_count(0)
        places = structure.load_structure(lab.folder / "grid.labdl").positions
        assert places["b"] != (0.0, 140.0)
        assert all(side % 20 == 0 for side in places["b"]), places
