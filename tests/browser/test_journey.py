"""The journey of a person: build a model, train it, and find the files on another framework."""

import itertools
import json
import re
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from places import new_model
from playwright.sync_api import Page, expect

EPOCHS = 30
OTHER_FRAMEWORKS = ("tensorflow", "paddle", "mindspore")


class Graph:
    """The editor as a person uses it: with mouse and keyboard, by what is written on the screen."""

    def __init__(self, page: Page):
        self.page = page
        self.canvas = page.locator(".labdl-canvas")

    def node(self, name: str):
        named = self.page.locator(".labdl-node-name", has_text=re.compile(f"^{name}$"))
        return self.page.locator(".react-flow__node").filter(has=named)

    def field(self, name: str):
        return self.page.locator(f"#labdl_{name}")

    def drop(self, layer: str, x: int, y: int, **params: str) -> None:
        """Drag a layer from the palette onto the canvas, and fill in its form."""
        self.page.get_by_label("Search layers").fill(layer)
        item = self.page.locator(f".labdl-palette-item[data-layer={layer}]")
        item.drag_to(self.canvas, target_position={"x": x, "y": y})
        for name, value in params.items():
            self.field(name).fill(value)
            self.field(name).press("Tab")

    def move(self, name: str, x: int, y: int) -> None:
        box = self.canvas.bounding_box()
        self.press_and_move(center(self.node(name)), (box["x"] + x, box["y"] + y))

    def connect(self, source: str, target: str) -> None:
        output = self.node(source).locator(".react-flow__handle.source")
        entry = self.node(target).locator(".react-flow__handle.target")
        self.press_and_move(center(output), center(entry))

    def press_and_move(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=5)
        mouse.move(*end, steps=5)
        mouse.up()


def center(locator) -> tuple[float, float]:
    locator.wait_for()  # the nodes of a graph that opens are hidden until they are where they stay
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def wait_until_finished(dashboard, idle_seconds: float = 120) -> None:
    """Wait for the end of a run for as long as its figures change: a busy machine may take its time."""
    facts, deadline = None, 0.0
    while dashboard.get_attribute("data-status") != "finished":
        now = dashboard.locator(".labdl-dashboard-facts").all_inner_texts()
        if now != facts:
            facts, deadline = now, time.monotonic() + idle_seconds
        assert time.monotonic() < deadline, f"the run makes no progress: {facts}"
        dashboard.page.wait_for_timeout(200)


@pytest.mark.timeout(1200)  # with full breadth, four frameworks start here, one after the other
def test_build_train_and_open_elsewhere(page, lab, full_breadth):
    # a new model graph, from the launcher
    new_model(page)
    graph = Graph(page)
    expect(graph.node("input")).to_contain_text("N × 1 × 8 × 8")

    # layers from the palette, connected with the mouse
    graph.move("input", 300, 60)
    graph.drop("Conv2d", 300, 190, out_channels="16", kernel_size="3", padding="same")
    graph.drop("ReLU", 300, 320)
    graph.drop("MaxPool2d", 300, 450, kernel_size="2")
    graph.drop("Flatten", 300, 580)
    graph.drop("Linear", 300, 710, out_features="10")
    chain = ["input", "conv2d", "relu", "maxpool2d", "flatten", "linear"]
    for source, target in itertools.pairwise(chain):
        graph.connect(source, target)
        # a node grows smaller when its problem is solved, and its output moves
        expect(graph.node(target).locator(".labdl-node-problem")).to_have_count(0)
    shapes = ["N × 1 × 8 × 8", "N × 16 × 8 × 8", "N × 16 × 8 × 8", "N × 16 × 4 × 4", "N × 256", "N × 10"]
    for name, shape in zip(chain, shapes, strict=True):
        expect(graph.node(name).locator(".labdl-node-shape")).to_have_text(shape)
    expect(graph.node("conv2d").locator("[title^='160 parameters']")).to_be_visible()
    expect(graph.node("linear").locator("[title^='2,570 parameters']")).to_be_visible()
    expect(page.locator(".labdl-status-parameters")).to_have_text("2,730 parameters")
    expect(page.locator(".labdl-status-problems")).to_have_text("No problems")

    # a parameter that cannot be, and one that does not fit, are answered in words
    graph.node("conv2d").click()
    graph.field("out_channels").fill("many")
    expect(page.locator("#labdl_out_channels-error")).to_contain_text("integer")
    graph.field("out_channels").fill("0")
    expect(page.locator("#labdl_out_channels-error, .labdl-node-problem").first).to_be_visible()
    graph.field("out_channels").press("Escape")
    # a connection that cannot be: into a layer's own input
    graph.connect("linear", "conv2d")
    expect(page.locator(".labdl-status-notice")).not_to_be_empty()
    expect(page.locator(".labdl-status-problems")).to_have_text("No problems")

    # the inspector, undo and redo
    graph.node("linear").click()
    graph.field("out_features").fill("12")
    expect(graph.node("linear").locator(".labdl-node-shape")).to_have_text("N × 12")
    graph.canvas.click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+z")
    expect(graph.node("linear").locator(".labdl-node-shape")).to_have_text("N × 10")
    page.keyboard.press("Control+Shift+z")
    expect(graph.node("linear").locator(".labdl-node-shape")).to_have_text("N × 12")
    page.keyboard.press("Control+z")
    expect(graph.node("linear").locator(".labdl-node-shape")).to_have_text("N × 10")

    # save: JupyterLab asks for a name at the first time
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(1)
    page.keyboard.press("Control+s")
    page.locator(".jp-Dialog input[type=text]").first.fill("digits.labdl")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator(".lm-TabBar-tab.lm-mod-current", has_text="digits.labdl").first).to_be_visible()
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
    assert (lab.folder / "digits.labdl").is_file()

    # train, pause, resume
    page.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    panel = page.locator(".labdl-TrainPanel")
    panel.get_by_label("Backend").select_option("torch")
    panel.get_by_label("Data set").select_option("digits")
    panel.get_by_label("Optimizer").select_option("adam")
    panel.get_by_label("Learning rate").fill("0.003")
    panel.get_by_role("textbox", name="Epochs").fill(f"{EPOCHS}")
    panel.get_by_label("Batch size").fill("32")
    panel.get_by_role("button", name="Train", exact=True).click()
    dashboard = page.locator(".labdl-dashboard")
    expect(dashboard).to_have_attribute("data-status", "running", timeout=60_000)
    dashboard.get_by_role("button", name="Pause").click()
    expect(dashboard).to_have_attribute("data-status", "paused")

    # a refreshed page shows the same run, and takes its commands
    page.reload()
    expect(dashboard).to_have_attribute("data-status", "paused", timeout=60_000)
    expect(graph.node("linear")).to_contain_text("N × 10")
    dashboard.get_by_role("button", name="Resume").click()
    expect(dashboard).to_have_attribute("data-status", "running")
    panel.get_by_text("Show code").click()
    expect(panel.locator("pre")).to_contain_text("labdl.load('digits.labdl', backend='torch'")
    wait_until_finished(dashboard)
    [run] = (lab.folder / "runs").iterdir()
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    epochs = [event for event in events if event["kind"] == "epoch"]
    assert len(epochs) == EPOCHS
    assert {"paused", "running"} <= {event["status"] for event in events if event["kind"] == "status"}
    assert epochs[-1]["val_accuracy"] > 0.97
    expect(panel.get_by_role("button", name="Train", exact=True)).to_be_enabled()

    # the files are what they say they are, and say the same elsewhere
    with h5py.File(lab.folder / "digits.labdl") as file:
        assert "format" in file or "format" in file.attrs
    with np.load(lab.folder / "digits.npz", allow_pickle=False) as weights:
        assert weights["conv2d/kernel:0"].shape == (3, 3, 1, 16)
        assert sum(weights[key].size for key in weights) == 2730
    expected = predictions("torch", lab.folder)
    for backend in (*OTHER_FRAMEWORKS, "numpy") if full_breadth else ("numpy",):
        np.testing.assert_allclose(predictions(backend, lab.folder), expected, atol=1e-5)

    # the same document trains on every framework, in a kernel of its own, and stops when it is told to
    for backend in OTHER_FRAMEWORKS if full_breadth else ():
        panel.get_by_label("Backend").select_option(backend)
        panel.get_by_role("textbox", name="Epochs").fill("2")
        panel.get_by_role("button", name="Train", exact=True).click()
        expect(dashboard).to_contain_text(backend, timeout=300_000)
        wait_until_finished(dashboard)
    panel.get_by_role("textbox", name="Epochs").fill("5000")
    panel.get_by_role("button", name="Train", exact=True).click()
    expect(dashboard).to_have_attribute("data-status", "running", timeout=60_000)

    # a renamed model takes its parameters along, and the training writes to their new name
    page.locator(".jp-DirListing-item", has_text="digits.labdl").click()
    page.keyboard.press("F2")
    page.locator(".jp-DirListing-editor").fill("shapes.labdl")
    page.keyboard.press("Enter")
    expect(page.locator(".jp-DirListing-item", has_text="shapes.npz")).to_be_visible()
    expect(page.locator(".jp-DirListing-item", has_text="digits.npz")).to_have_count(0)
    renamed = (lab.folder / "shapes.npz").stat().st_mtime_ns
    dashboard.get_by_role("button", name="Stop").click()
    expect(dashboard).to_have_attribute("data-status", "stopped", timeout=60_000)
    assert (lab.folder / "shapes.npz").stat().st_mtime_ns > renamed
    assert not (lab.folder / "digits.npz").exists()


PREDICT = """
import sys, numpy as np, labdl
images = np.linspace(-1, 1, 4 * 64, dtype="float32").reshape(4, 1, 8, 8)
np.save(sys.argv[2], labdl.predict(labdl.load("digits", backend=sys.argv[1]), images))
"""


def predictions(backend: str, folder):
    """What the saved model says in a fresh process on another backend."""
    file = folder / f"{backend}.npy"
    subprocess.run([sys.executable, "-c", PREDICT, backend, str(file)], cwd=folder, check=True, timeout=120)
    return np.load(file)
