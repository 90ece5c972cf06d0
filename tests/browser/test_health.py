"""How layers do in training, on the canvas: strips during a run and after a reload, and where NaN came from."""

import re

import pytest
from playwright.sync_api import expect
from test_journey import Graph

from labdl.graph import Edge, Node
from labdl.graph import Graph as Model
from labdl.lab.editor import service

pytestmark = pytest.mark.sample(False)


def chain(*layers: Node) -> Model:
    nodes = {"n0": Node("Input", "image", {"shape": (None, 1, 8, 8)}), **{f"n{i}": n for i, n in enumerate(layers, 1)}}
    ids = list(nodes)
    edges = {f"e{i}": Edge(ids[i], ids[i + 1]) for i in range(len(layers))}
    return Model(nodes, edges, positions={node: (0, 120 * at) for at, node in enumerate(ids)})


GOOD = chain(
    Node("Conv2d", "conv", {"out_channels": 16, "kernel_size": 3, "padding": "same"}),
    Node("ReLU", "relu"),
    Node("Flatten", "flat"),
    Node("Linear", "head", {"out_features": 10}),
)
BROKEN = chain(
    Node("Flatten", "flat"),
    Node("Linear", "fc", {"out_features": 10}),
    Node("ops.log", "log"),
    Node("Linear", "head", {"out_features": 10}),
)


def opened(page, lab, name: str, model: Model) -> Graph:
    (lab.folder / name).write_bytes(service.encode(model.to_dict()))
    page.get_by_title("Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text=name).dblclick()
    graph = Graph(page)
    expect(graph.node("head")).to_contain_text("N × 10")
    return graph


def train(page, epochs: int):
    page.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    panel = page.locator(".labdl-TrainPanel")
    panel.get_by_label("Backend").select_option("torch")
    panel.get_by_label("Data set").select_option("digits")
    panel.get_by_label("Epochs").fill(f"{epochs}")
    panel.get_by_role("button", name="Train", exact=True).click()
    return page.locator(".labdl-dashboard")


def test_strips_during_a_run_and_after_a_reload(page, lab):
    graph = opened(page, lab, "healthy.labdl", GOOD)
    strips = page.locator(".labdl-node .labdl-health")
    expect(strips).to_have_count(0)
    dashboard = train(page, 500)
    bar = graph.node("conv").locator(".labdl-health-bar > span")
    expect(bar).to_have_attribute("style", re.compile(r"scaleX\(0\.[1-9]"), timeout=60_000)
    expect(dashboard).to_have_attribute("data-status", "running")
    for layer, figure in (("head", "Gradient: "), ("relu", "Zeros: ")):
        strip = graph.node(layer).locator(".labdl-health")
        expect(strip).to_have_attribute("aria-label", re.compile(r"\w\."))
        strip.hover(position={"x": 12, "y": 2})  # beside the port in its middle
        expect(strip).to_have_attribute("title", re.compile(figure))
    expect(graph.node("relu").locator(".labdl-health-bar")).to_have_count(0)  # it learns nothing

    # the figures of a layer, and how they came
    page.get_by_label("Show the properties").click()  # beside the panel the canvas keeps its room
    graph.node("conv").click()
    facts = page.locator(".labdl-health-facts")
    expect(facts.get_by_text("Update", exact=True)).to_be_visible()
    expect(facts.locator("path").first).to_have_attribute("d", re.compile("^M"))
    dashboard.get_by_role("button", name="Stop").click()

    # a refreshed page shows them again
    page.reload()
    expect(bar).to_be_visible(timeout=60_000)
    expect(strips).to_have_count(4)

    # another structure is not what was trained
    graph.node("relu").click()
    graph.canvas.press("Delete")
    expect(page.locator(".labdl-health.labdl-mod-stale")).to_have_count(3)
    graph.canvas.press("Control+z")
    expect(page.locator(".labdl-health.labdl-mod-stale")).to_have_count(0)

    # and who does not want to see them does not
    for count in (0, 4):
        graph.node("conv").click(button="right")
        page.locator(".lm-Menu-item", has_text="Show Layer Statistics").click()
        expect(strips).to_have_count(count)


def test_where_nan_came_from_is_red_and_a_click_away(page, lab):
    graph = opened(page, lab, "broken.labdl", BROKEN)
    dashboard = train(page, 3)
    expect(dashboard).to_have_attribute("data-status", "failed", timeout=60_000)
    expect(dashboard.get_by_role("alert")).to_contain_text("the output of log (ops.log) has NaN or infinity")
    red = page.locator(".react-flow__edge.labdl-mod-fault")
    expect(red).to_have_count(1)
    expect(red).to_have_attribute("data-id", "e3")
    expect(graph.node("log").locator(".labdl-health-word")).to_have_text("first NaN")
    dashboard.get_by_role("button", name="Show layer").click()
    expect(graph.node("log")).to_have_class(re.compile("selected"))
    expect(page.locator(".labdl-health-note")).to_have_text("The output first became infinite or NaN here.")
    page.reload()
    expect(red).to_have_count(1, timeout=60_000)
