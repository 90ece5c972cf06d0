"""A person says in forms how a model is to be trained: data, loss, metrics, optimizer, kernel; and sees the code."""

import json
import re
import shutil
import sys

import numpy as np
import pytest
from playwright.sync_api import expect

from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import service

KERNEL = "Another Python"


@pytest.fixture
def another_kernel(lab):
    """A second kernel to choose from."""
    folder = lab.folder.parent / "data" / "kernels" / "another"
    folder.mkdir(parents=True)
    start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": start, "display_name": KERNEL, "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    yield
    shutil.rmtree(folder)


@pytest.fixture
def folder(lab):
    folder = lab.folder / "forms"
    folder.mkdir()
    names = {
        "input": ("Input", {"shape": (None, 10)}),
        "hidden": ("Linear", {"out_features": 16}),
        "relu": ("ReLU", {}),
        "out": ("Linear", {"out_features": 1}),
    }
    nodes = {name: Node(kind, name, params) for name, (kind, params) in names.items()}
    edges = {f"e{n}": Edge(a, b) for n, (a, b) in enumerate(zip(names, list(names)[1:], strict=False))}
    positions = {name: (0.0, 110.0 * n) for n, name in enumerate(names)}
    (folder / "net.labdl").write_bytes(service.encode(Graph(nodes, edges, positions=positions).to_dict()))
    lines = "".join(f"{n % 7},{n % 5},{n},{n % 3}\n" for n in range(60))
    (folder / "points.csv").write_text("a,b,c,kind\n" + lines)
    return folder


def test_a_training_from_forms(another_kernel, lab, folder, page):
    page.locator(".jp-DirListing-item", has_text="forms").dblclick()
    page.locator(".jp-DirListing-item", has_text="net.labdl").dblclick()
    page.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    panel = page.locator(".labdl-TrainPanel")
    train = panel.get_by_role("button", name="Train", exact=True)

    # data that do not fit are said before anything is started; those that fit stand first
    expect(panel.get_by_text("digits has samples of 1 × 8 × 8, the model's input wants 10 numbers")).to_be_visible()
    expect(train).to_be_disabled()
    dataset = panel.get_by_label("Data set")
    expect(dataset.locator("optgroup").first.locator("option")).to_have_text(["diabetes"])
    dataset.select_option("diabetes")
    expect(panel.get_by_label("Loss")).to_have_value("mean_squared_error")  # it is the first for numbers
    expect(train).to_be_enabled()

    # a file of the folder, whose last column tells classes
    panel.get_by_role("button", name="File…").click()
    page.locator(".jp-Open-Dialog .jp-DirListing-item", has_text="points.csv").click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(panel.get_by_text("60 samples of 3 numbers, 3 classes")).to_be_visible()
    expect(panel.get_by_label("Loss")).to_have_value("cross_entropy")
    panel.get_by_label("Target").select_option("c")
    expect(panel.get_by_text("60 samples of 3 numbers, a regression target")).to_be_visible()
    expect(panel.get_by_text("points.csv has samples of 3 numbers, the model's input wants 10 numbers")).to_be_visible()
    dataset.select_option("diabetes")

    # the code follows the form
    panel.get_by_role("button", name="Show code").click()
    code = panel.locator("pre")
    expect(code).to_contain_text("labdl.data.diabetes()")
    panel.get_by_label("Loss").select_option("huber")
    panel.get_by_label("Optimizer").select_option("sgd")
    panel.get_by_label("Learning rate").fill("0.01")
    panel.get_by_label("Epochs").fill("1")
    panel.get_by_role("button", name="More settings").click()
    page.locator("#labdl-optimizer_momentum").fill("0.9")
    page.locator("#labdl-loss_delta").fill("2")
    page.locator("#labdl-optimizer_weight_decay").fill("lots")
    expect(page.locator("#labdl-optimizer_weight_decay-error")).to_contain_text("number")
    page.locator("#labdl-optimizer_weight_decay").press("Escape")
    expect(code).to_contain_text("labdl.train.SGD(learning_rate=0.01, momentum=0.9)")
    expect(code).to_contain_text("labdl.nn.HuberLoss(delta=2)")
    panel.get_by_role("button", name="More settings").click()

    # metrics by keyboard: the list is open, its first box has the focus
    panel.get_by_role("button", name="Choose…").press("Enter")
    boxes = panel.get_by_role("dialog", name="Metrics").get_by_role("checkbox")
    expect(boxes.first).to_be_focused()
    r2 = panel.get_by_role("checkbox", name=re.compile("^r2"))
    while not r2.evaluate("box => box === document.activeElement"):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    expect(panel.get_by_role("button", name="Choose…")).to_be_focused()
    expect(code).to_contain_text("metrics=['mean_absolute_error', 'r2']")

    # the kernel, as a notebook's
    name = page.locator(".jp-KernelName:visible", has_text="Python")
    name.click()
    page.locator(".jp-Dialog select").select_option(label=KERNEL)
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator(".jp-KernelName:visible", has_text=KERNEL)).to_be_visible(timeout=30_000)

    # what is shown is what is run
    shown = code.inner_text()
    train.click()
    dashboard = page.locator(".labdl-dashboard")
    expect(dashboard).to_have_attribute("data-status", "finished", timeout=90_000)
    expect(dashboard).to_contain_text("r2")
    expect(dashboard).to_contain_text("mean_absolute_error")
    [run] = (folder / "runs").iterdir()
    assert f"runs/{run.name}" in shown
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    [start] = [event for event in events if event["kind"] == "start"]
    assert (start["loss"], start["optimizer"], start["metrics"]) == ("huber", "sgd", ["mean_absolute_error", "r2"])
    [epoch] = [event for event in events if event["kind"] == "epoch"]
    assert {"val_r2", "val_mean_absolute_error"} <= epoch.keys()

    # the parameters lie beside the document, and the next training may go on with them
    with np.load(folder / "net.npz", allow_pickle=False) as weights:
        assert weights["hidden/kernel:0"].shape == (10, 16)
    expect(code).not_to_contain_text(run.name)  # the next run has a name of its own
    panel.get_by_label("Parameters").select_option("saved")
    expect(code).to_contain_text("labdl.load('net.labdl', backend='torch')")
    second = re.search(r"runs/([\w.-]+)", code.inner_text())[1]
    panel.get_by_label("Batch size").press("Enter")
    expect(code).not_to_contain_text(second, timeout=60_000)  # it is over, and the form has another name
    assert {path.name for path in (folder / "runs").iterdir()} == {run.name, second}
    assert '"finished"' in (folder / "runs" / second / "events.jsonl").read_text().splitlines()[-1]

    # form and kernel are remembered
    page.reload()
    form = panel.locator("form")  # the charts have labels as well
    expect(form.get_by_label("Loss")).to_have_value("huber", timeout=60_000)
    expect(panel.get_by_label("Remove r2")).to_be_visible()
    expect(page.locator(".jp-KernelName:visible", has_text=KERNEL)).to_be_visible()
    page.locator(".jp-Toolbar:visible").get_by_role("button", name="Shut down the kernel").click()
    expect(page.locator("[title='The kernel starts when training starts']")).to_be_visible()
