"""A person trains a model by a task on a folder of pictures, from the Train panel."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from labdl.data.codecs.image import encode_image
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import service


@pytest.fixture
def folder(lab):
    folder = lab.folder / "tasks"
    folder.mkdir()
    names = {
        "input": ("Input", {"shape": (None, 3, 16, 16)}),
        "flatten": ("Flatten", {}),
        "out": ("Linear", {"out_features": 2}),
    }
    nodes = {name: Node(kind, name, params) for name, (kind, params) in names.items()}
    edges = {f"e{n}": Edge(a, b) for n, (a, b) in enumerate(zip(names, list(names)[1:], strict=False))}
    positions = {name: (0.0, 110.0 * n) for n, name in enumerate(names)}
    (folder / "net.labdl").write_bytes(service.encode(Graph(nodes, edges, positions=positions).to_dict()))
    for number, picture in enumerate(np.random.default_rng(0).integers(0, 256, (12, 20, 24, 3), "uint8")):
        place = folder / "flowers" / ("rose", "tulip")[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.png").write_bytes(encode_image(picture, "png"))
    return folder


@pytest.mark.sample(False)
def test_a_task_trains_on_a_folder(lab, folder, page, tmp_path):
    page.locator(".jp-DirListing-item", has_text="tasks").dblclick()
    page.locator(".jp-DirListing-item", has_text="net.labdl").dblclick()
    page.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    form = page.locator(".labdl-TrainPanel form")
    task = form.get_by_label("Task")

    # arrays that are prepared already have no task, and the form says why
    expect(form).to_contain_text("No task fits digits: its samples are arrays that are prepared already.")
    expect(task).to_be_disabled()
    page.screenshot(path=tmp_path / "none.png")

    # a folder of pictures brings the task that fits, with its loss, metrics and transforms
    form.get_by_role("button", name="Folder…").click()
    page.locator(".jp-Open-Dialog .jp-DirListing-item", has_text="flowers").click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(task).to_have_value("image classification")
    expect(form).to_contain_text("12 samples with image and label, 2 classes")
    expect(form).to_contain_text("Transforms: RandomResizedCrop, HorizontalFlip")
    expect(form.get_by_label("Loss")).to_have_value("cross_entropy")
    expect(form.get_by_label("Remove accuracy")).to_be_visible()
    form.get_by_role("button", name="Show code").click()
    code = page.locator(".labdl-TrainPanel pre")
    expect(code).to_contain_text("labdl.tasks.create_trainer(")
    page.screenshot(path=tmp_path / "task.png")

    # it runs from the panel
    form.get_by_label("Epochs").fill("1")
    expect(code).to_contain_text("epochs=1,")
    form.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".labdl-dashboard")).to_have_attribute("data-status", "finished", timeout=180_000)
    page.screenshot(path=tmp_path / "run.png")
    [run] = (folder / "runs").iterdir()
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    [epoch] = [event for event in events if event["kind"] == "epoch"]
    assert "val_accuracy" in epoch

    # a registered data set takes the task away
    form.get_by_label("Data set").select_option("digits")
    expect(task).to_have_value("")
    expect(form).to_contain_text("digits has samples of 1 × 8 × 8, the model's input wants 3 × 16 × 16")
