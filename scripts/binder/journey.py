"""What a visitor of the Binder does: opens the page, drags a layer, trains, and runs the notebook.

Runs by itself in a network of its own, where the server and the browser reach each other and nothing else.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "browser"))
from conftest import CHROMIUM_ARGUMENTS, chromium_path, close_connection_errors

PORT, TOKEN, BASE = 8888, "visitor", "/user/visitor/"
ADDRESS = f"http://127.0.0.1:{PORT}{BASE}"
LARGE, SMALL = ViewportSize(width=1440, height=900), ViewportSize(width=720, height=450)
ACCURACY = 0.95
SECONDS = 180.0  # for a server with one processor, or a part of one, to do a thing


class Clock:
    """Seconds of each step, which `step` also prints."""

    def __init__(self):
        self.steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.steps[name] = time.monotonic() - start
        print(f"  {name}: {self.steps[name]:.1f} s", flush=True)


def wait_for_server(process: subprocess.Popen) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{ADDRESS}api/status?token={TOKEN}", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"The server did not start within {SECONDS:.0f} s.")


def open_page(page: Page, path: str) -> None:
    page.goto(f"{ADDRESS}{path}?token={TOKEN}")


def drag_a_layer(page: Page) -> None:
    """Drag a layer from the palette into the connection between the first convolution and its activation."""
    edges = page.locator(".react-flow__edge")
    expect(edges).to_have_count(8)
    page.get_by_label("Search layers").fill("BatchNorm")
    page.locator(".labdl-palette-item[data-layer=BatchNorm]").hover()
    page.mouse.down()
    box = edges.nth(1).bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y, steps=8)
    page.mouse.move(x + 1, y)
    expect(page.locator(".react-flow__edge.labdl-mod-drop")).to_have_count(1)
    page.mouse.up()
    expect(edges).to_have_count(9)
    expect(page.locator(".labdl-status-problems")).to_have_text("No problems")


def train(page: Page) -> None:
    """Press Train, and wait until the curve has moved and the run has ended."""
    page.locator(".jp-Toolbar:visible").get_by_text("Train", exact=True).click()
    page.locator(".labdl-TrainPanel").get_by_role("button", name="Train", exact=True).click()
    dashboard = page.locator(".labdl-dashboard")
    expect(dashboard).to_have_attribute("data-status", re.compile("running|finished"))
    chart = dashboard.locator(".labdl-chart[data-metric] canvas").first
    expect(chart).to_be_visible()
    pictures = {chart.evaluate("canvas => canvas.toDataURL()")}
    while dashboard.get_attribute("data-status") != "finished":
        pictures.add(chart.evaluate("canvas => canvas.toDataURL()"))
        page.wait_for_timeout(200)
    assert len(pictures) > 2, "the curve does not move"


def accuracy(repository: Path) -> float:
    """The best accuracy on validation data of the run of the canvas, the only one so far."""
    [run] = (repository / "notebooks" / "runs").iterdir()
    events = map(json.loads, (run / "events.jsonl").read_text().splitlines())
    return max(event["val_accuracy"] for event in events if event["kind"] == "epoch")


def run_notebook(page: Page) -> None:
    """Run all cells of the quickstart, while the kernel of the training still lives."""
    page.locator(".lm-TabBar-tab", has_text="quickstart.ipynb").click()
    page.keyboard.press("Control+Shift+c")
    page.locator(".lm-CommandPalette-input").fill("Run All Cells")
    page.locator(".lm-CommandPalette-item", has_text="Run All Cells").first.click()
    output = page.locator(".jp-Notebook .jp-CodeCell").last.locator(".jp-OutputArea-output")
    expect(output).to_contain_text("largest difference")
    expect(page.locator(".jp-Notebook [data-mime-type='application/vnd.jupyter.stderr']")).to_have_count(0)


def visit(repository: Path, pictures: Path) -> dict:
    """Everything that a visitor does; the seconds of each step and the accuracy of the training."""
    clock = Clock()
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(viewport=LARGE)
        page.set_default_timeout(SECONDS * 1000)
        close_connection_errors(page)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        with clock.step("page"):
            open_page(page, "lab/workspaces/labdl")
            page.locator(".labdl-node-shape > span").first.wait_for()
            page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
            expect(page.locator(".labdl-status-problems")).to_have_text("No problems")
        page.wait_for_timeout(3000)
        page.screenshot(path=pictures / "workspace.png")
        with clock.step("layer dragged"):
            drag_a_layer(page)
        with clock.step("training"):
            train(page)
        reached = accuracy(repository)
        page.screenshot(path=pictures / "trained.png")
        with clock.step("notebook"):
            run_notebook(page)
        page.screenshot(path=pictures / "notebook.png")
        page.set_viewport_size(SMALL)
        page.wait_for_timeout(1000)
        page.screenshot(path=pictures / "small.png")
        for name, path, element in (
            ("canvas", "lab/tree/notebooks/digits.labdl", ".labdl-node-shape > span"),
            ("quickstart", "lab/tree/notebooks/quickstart.ipynb", ".jp-Notebook .jp-CodeCell"),
        ):
            with clock.step(f"page of the {name}"):
                open_page(page, path)
                page.locator(f"{element}:visible").first.wait_for()
        assert not errors, errors
        browser.close()
    return {"seconds": clock.steps, "accuracy": reached}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("server", nargs="+", help="the command that starts the server")
    options = parser.parse_args()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    start = time.monotonic()
    with open(options.pictures / "server.log", "wb") as log:
        settings = ["--ip=127.0.0.1", f"--port={PORT}", "--no-browser", f"--ServerApp.base_url={BASE}"]
        server = subprocess.Popen(
            [*options.server, *settings, f"--IdentityProvider.token={TOKEN}"],
            cwd=options.repository,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for_server(server)
            seconds = time.monotonic() - start
            print(f"  start: {seconds:.1f} s", flush=True)
            result = visit(options.repository, options.pictures)
        finally:
            server.terminate()
            server.wait()
    result["seconds"] = {"start": seconds, **result["seconds"]}
    (options.pictures / "result.json").write_text(json.dumps(result))
    assert result["accuracy"] > ACCURACY, result


if __name__ == "__main__":
    main()
