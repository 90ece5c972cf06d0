"""What a person changed outlives the page, the browser and the server; and nothing is overwritten unasked."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys

import psutil
import pytest
from conftest import CHROMIUM_ARGUMENTS, close_connection_errors, end, switch_collaboration, wait_for
from example_graphs import graph_with_input
from playwright.sync_api import expect, sync_playwright
from test_journey import Graph

from labdl.lab.editor import service
from labdl.saving import structure


class Server:
    """A JupyterLab that is killed and started again at the same address."""

    def __init__(self, home, *, collaboration=False):
        self.home, self.folder = home, home / "work"
        self.folder.mkdir()
        switch_collaboration(home / "config", on=collaboration)
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.token = secrets.token_hex(16)
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        names = {"CONFIG": "config", "DATA": "data", "RUNTIME": "runtime"}
        environment = os.environ | {f"JUPYTER_{key}_DIR": str(self.home / name) for key, name in names.items()}
        arguments = [
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.folder}",
        ]
        log = self.home / "lab.log"
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", *arguments],
                env=environment,
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        wait_for(self.address, self.token, self.process, log)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)

    def open(self, context, name: str):
        page = context.new_page()
        page.set_default_timeout(40_000)
        page.goto(f"{self.address}/lab/tree/{name}?token={self.token}&reset")
        expect(page.locator(".react-flow__node").first).to_be_visible(timeout=60_000)
        return page


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    end(server.process)


@pytest.fixture
def browser(tmp_path):
    """Starts a browser that keeps its data, as a person's does; each call starts it again after it was killed."""
    with sync_playwright() as playwright:
        running = []

        def start():
            path = os.environ.get("LABDL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
            context = playwright.chromium.launch_persistent_context(
                tmp_path / "profile",
                executable_path=path,
                args=CHROMIUM_ARGUMENTS,
                viewport={"width": 1400, "height": 900},
            )
            running.append(context)
            return context

        yield start
        running[-1].close()


def kill_browser(profile) -> None:
    """The end of a browser's process and its children, without a word to the pages."""
    mine = [p for p in psutil.process_iter(["cmdline"]) if f"--user-data-dir={profile}" in (p.info["cmdline"] or [])]
    assert mine, "no browser runs with this profile"
    family = {child for p in mine for child in [p, *p.children(recursive=True)]}
    for one in family:
        one.kill()
    psutil.wait_procs(family, timeout=10)


def new_file(server, name: str):
    path = server.folder / name
    path.write_bytes(service.encode(graph_with_input()))
    return path


def nodes_in(path) -> list[str]:
    return sorted(node.name for node in structure.load_structure(path).nodes.values())


def add(page, layer: str) -> None:
    page.get_by_label("Search layers").fill(layer)
    page.locator(f".labdl-palette-item[data-layer={layer}]").first.dblclick()
    expect(Graph(page).node(layer.lower())).to_be_visible()


def save(page) -> None:
    page.locator(".labdl-canvas").focus()
    page.keyboard.press("Control+s")


@pytest.mark.sample(False)
def test_what_was_not_saved_outlives_page_browser_and_server(server, browser, tmp_path):
    path = new_file(server, "net.labdl")
    context = browser()
    page = server.open(context, "net.labdl")
    bar = page.locator(".labdl-bar")
    expect(bar).to_have_count(0)

    # the page goes: without a question, as when the tab crashes
    add(page, "ReLU")
    page.wait_for_timeout(1000)  # what a crash may cost
    page.close(run_before_unload=False)
    page = server.open(context, "net.labdl")
    bar = page.locator(".labdl-bar")
    expect(bar).to_contain_text("unsaved changes from")
    expect(Graph(page).node("relu")).to_have_count(0)
    page.screenshot(path=tmp_path / "offer.png")
    bar.get_by_role("button", name="Restore").click()
    expect(bar).to_have_count(0)
    expect(Graph(page).node("relu")).to_be_visible()
    assert nodes_in(path) == ["input"]

    # the browser is killed: what was restored is still to be saved, and so is what came after it
    add(page, "Linear")
    page.wait_for_timeout(1000)
    kill_browser(tmp_path / "profile")
    context = browser()
    page = server.open(context, "net.labdl")
    bar = page.locator(".labdl-bar")
    bar.get_by_role("button", name="Restore").click()
    for name in ("relu", "linear"):
        expect(Graph(page).node(name)).to_be_visible()

    # another page of the same document is no crash
    other = server.open(context, "net.labdl")
    expect(Graph(other).node("input")).to_be_visible()
    other.wait_for_timeout(500)
    expect(other.locator(".labdl-bar")).to_have_count(0)
    other.close()

    # the server is killed and started again: the page keeps what it has, and saves it
    close_connection_errors(page)
    server.kill()
    add(page, "Tanh")
    server.start()
    save(page)
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert nodes_in(path) == ["input", "linear", "relu", "tanh"]

    # what was saved is not offered any more, and what comes after it may be discarded
    add(page, "Sigmoid")
    page.wait_for_timeout(1000)
    page.close(run_before_unload=False)
    page = server.open(context, "net.labdl")
    bar = page.locator(".labdl-bar")
    bar.get_by_role("button", name="Discard").click()
    expect(bar).to_have_count(0)
    expect(Graph(page).node("tanh")).to_be_visible()
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert nodes_in(path) == ["input", "linear", "relu", "tanh"]


@pytest.mark.sample(False)
def test_a_file_that_changed_on_the_disk_is_not_overwritten_unasked(server, browser):
    path = new_file(server, "shared.labdl")
    page = server.open(browser(), "shared.labdl")
    graph, dialog = Graph(page), page.locator(".jp-Dialog")

    def change_on_disk(name: str) -> bytes:
        data = graph_with_input()
        data["nodes"]["input"]["name"] = name
        path.write_bytes(service.encode(data))
        return path.read_bytes()

    # revert: the file wins
    theirs = change_on_disk("theirs")
    add(page, "ReLU")
    save(page)
    expect(dialog).to_contain_text("has changed on disk")
    assert path.read_bytes() == theirs
    dialog.get_by_role("button", name="Revert").click()
    expect(graph.node("theirs")).to_be_visible()
    expect(graph.node("relu")).to_have_count(0)
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert path.read_bytes() == theirs

    # and what comes after it can be saved without a question
    add(page, "Tanh")
    save(page)
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert nodes_in(path) == ["tanh", "theirs"]

    # overwrite: the page wins
    change_on_disk("again")
    add(page, "ReLU")
    save(page)
    dialog.get_by_role("button", name="Overwrite").click()
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    assert nodes_in(path) == ["relu", "tanh", "theirs"]
    add(page, "Sigmoid")
    save(page)
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    expect(dialog).to_have_count(0)
    assert nodes_in(path) == ["relu", "sigmoid", "tanh", "theirs"]
