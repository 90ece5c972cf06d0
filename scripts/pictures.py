"""The pictures of the editor in docs/images, taken anew from a JupyterLab and a Chromium of their own.

    python scripts/pictures.py

Chromium is the one on the path or in LABDL_CHROMIUM. Everything shown is computed: the models are checked, and one is trained.
"""

import json
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

import labdl
from labdl import models, nn, ops
from labdl.graph import Graph, Note
from labdl.saving import structure

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from conftest import CHROMIUM_ARGUMENTS, chromium_path, jupyterlab  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1720, "height": 1000}


class Residual(nn.Module):
    def __init__(self, channels: int):
        self.conv, self.norm = nn.Conv2d(channels, kernel_size=3, padding="same"), nn.BatchNorm()

    def forward(self, x):
        return x + ops.relu(self.norm(self.conv(x)))


class Digits(nn.Module):
    def __init__(self):
        self.stem, self.block = nn.Conv2d(16, kernel_size=3, padding="same"), Residual(16)
        self.pool, self.head = nn.MaxPool2d(2), nn.Linear(10)

    def forward(self, x):
        return self.head(ops.reshape(self.pool(self.block(self.stem(x))), (-1, 256)))


def digits() -> Graph:
    graph = labdl.trace(Digits(), (None, 1, 8, 8), name="digits")
    ids = {node.name: i for i, node in graph.nodes.items()}
    rows = [
        ["input"],
        ["stem"],
        ["block/conv"],
        ["block/norm"],
        ["block/relu"],
        ["block/add"],
        ["pool"],
        ["reshape"],
        ["head"],
    ]
    places, y = {}, 0.0
    for [name] in rows:
        y += 60.0 if name in ("block/conv", "pool") else 0.0
        places[ids[name]] = (0.0, y)
        y += 106.0
    note = Note(
        "One residual block is enough for 8 × 8 pixels.\n\nTo do: try two.", (250.0, 270.0), (210.0, 96.0), "yellow"
    )
    return replace(graph, positions=places, notes={"note": note})


@contextmanager
def opened(browser, lab, name: str, theme: str):
    """A page of JupyterLab with a model in front."""
    settings = lab.folder.parent / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": f"JupyterLab {theme}"}))
    page = browser.new_page(viewport=SIZE, device_scale_factor=1)
    page.set_default_timeout(60_000)
    page.goto(lab.url.replace("/lab?", f"/lab/tree/{name}.labdl?") + "&reset")
    page.locator(".labdl-node-shape > span").first.wait_for()
    page.keyboard.press("Control+b")  # the file browser says nothing here
    page.wait_for_timeout(1500)
    page.locator(".react-flow__controls-fitview").click()
    yield page
    page.close()


def take(page: Page, name: str) -> None:
    page.mouse.move(2, 2)
    page.wait_for_timeout(1200)
    page.screenshot(path=IMAGES / f"{name}.png")
    print(name)


def train(page: Page, epochs: int) -> None:
    page.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    panel = page.locator(".labdl-TrainPanel")
    panel.get_by_label("Epochs").fill(f"{epochs}")
    panel.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".labdl-dashboard")).to_have_attribute("data-status", "running", timeout=60_000)


def command(page: Page, label: str) -> None:
    page.keyboard.press("Control+Shift+c")
    page.keyboard.type(label)
    page.keyboard.press("Enter")


def main() -> None:
    graph = digits()
    with tempfile.TemporaryDirectory() as home, jupyterlab(Path(home)) as lab, sync_playwright() as playwright:
        (lab.folder / "digits.labdl").write_bytes(structure.encode(graph))
        (lab.folder / "resnet50.labdl").write_bytes(
            structure.encode(labdl.trace(models.create("resnet50"), name="resnet50"))
        )
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
        with opened(browser, lab, "digits", "Light") as page:
            page.get_by_role("button", name="Hide the properties").click()
            page.locator(".react-flow__controls-fitview").click()
            train(page, 12)
            expect(page.locator(".labdl-dashboard")).to_have_attribute("data-status", "finished", timeout=120_000)
            page.locator(".react-flow__controls-fitview").click()
            take(page, "editor")
        with opened(browser, lab, "digits", "Dark") as page:
            train(page, 400)
            page.locator(".labdl-health").first.wait_for()
            page.wait_for_timeout(6000)
            page.locator(".react-flow__node", has_text="Conv2d").first.click()
            take(page, "editor-dark")
            page.locator(".labdl-dashboard").get_by_role("button", name="Stop").click()
            page.wait_for_timeout(1500)
        with opened(browser, lab, "resnet50", "Light") as page:
            take(page, "zoo")
        with opened(browser, lab, "digits", "Light") as page:
            page.locator(".react-flow__node", has_text="Linear").first.click()
            page.locator("#labdl_out_features").fill("12")
            page.locator("#labdl_out_features").press("Tab")
            page.locator(".react-flow__node", has_text="BatchNorm").first.click()
            page.keyboard.press("Delete")
            command(page, "Compare with the Saved File")
            page.locator(".labdl-diff").wait_for()
            take(page, "diff")
        browser.close()


if __name__ == "__main__":
    main()
