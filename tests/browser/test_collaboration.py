"""Two people in one document, each with a browser: they see what the other does, and one file holds it all."""

import itertools
from contextlib import suppress

import numpy as np
import pytest
from conftest import close_connection_errors, end, jupyterlab
from example_graphs import graph_with_input
from playwright.sync_api import expect
from test_journey import Graph as People
from test_never_lost import Server, add, nodes_in, save

from labdl.errors import FileFormatError
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import service
from labdl.saving import structure

pytest.importorskip("jupyter_server_ydoc", reason="jupyter-collaboration is not installed")

AUTOSAVED = 15_000  # ms: the server writes a second after the last change


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    with jupyterlab(tmp_path_factory.mktemp("together"), collaboration=True) as running:
        yield running


@pytest.fixture
def open_as(chromium, together, tmp_path):
    """Opens a file as one more person, in a browser with cookies of its own."""
    people, errors = [], []

    def arrive(name: str):
        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        page = context.new_page()
        page.set_default_timeout(40_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        close_connection_errors(page)
        page.goto(together.url.replace("/lab?", f"/lab/tree/{name}?") + "&reset")
        expect(page.locator(".labdl-canvas")).to_be_visible(timeout=60_000)
        people.append(page)
        return page

    yield arrive
    for number, page in enumerate(people):
        page.screenshot(path=tmp_path / f"end{number}.png")
        page.context.close()
    assert not errors, errors


def new_file(lab, name: str):
    path = lab.folder / name
    path.write_bytes(service.encode(graph_with_input()))
    return path


def until(condition, page, timeout=AUTOSAVED):
    """Wait for something on the disk, while the page goes on; a new file is not whole at once."""
    for _ in range(timeout // 100):
        with suppress(FileNotFoundError, FileFormatError):
            if condition():
                return
        page.wait_for_timeout(100)
    pytest.fail("it did not come to be")


def params(path, name: str) -> dict:
    return next(dict(n.params) for n in structure.load_structure(path).nodes.values() if n.name == name)


@pytest.mark.sample(False)
def test_two_people_build_one_model(together, open_as, tmp_path):
    path = new_file(together, "net.labdl")
    before = path.read_bytes(), path.stat().st_mtime_ns
    ada, bob = open_as("net.labdl"), open_as("net.labdl")
    hers, his = People(ada), People(bob)
    expect(his.node("input")).to_be_visible()
    ada.wait_for_timeout(2500)  # more than the server waits before it writes
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before, "opening a file has written it"

    # what one adds, moves and selects the other sees, with the name of who did it
    add(ada, "Conv2d")
    hers.node("conv2d").click()
    expect(his.node("conv2d")).to_be_visible()
    expect(his.node("conv2d").locator(".labdl-visitors")).to_be_visible()
    expect(hers.node("conv2d").locator(".labdl-visitors")).to_have_count(0)
    bob.screenshot(path=tmp_path / "selected.png")
    at = his.node("conv2d").bounding_box()
    hers.move("conv2d", 300, 150)
    until(lambda: his.node("conv2d").bounding_box() != at, bob)

    # two settings of one layer at once, then the same one: both end with the same
    his.node("conv2d").click()
    hers.field("out_channels").fill("16")
    his.field("kernel_size").fill("5")
    for graph in (hers, his):
        expect(graph.field("out_channels")).to_have_value("16")
        expect(graph.field("kernel_size")).to_have_value("5")
    hers.field("kernel_size").fill("3")
    his.field("kernel_size").fill("7")
    ada.wait_for_timeout(500)
    agreed = hers.field("kernel_size").input_value()  # 37 where he was typing as hers arrived
    expect(his.field("kernel_size")).to_have_value(agreed)

    # undo takes back one's own step only
    add(bob, "ReLU")
    expect(hers.node("relu")).to_be_visible()
    add(ada, "Flatten")
    expect(his.node("flatten")).to_be_visible()
    his.canvas.focus()
    bob.keyboard.press("Control+z")
    for graph in (hers, his):
        expect(graph.node("relu")).to_have_count(0)
        expect(graph.node("flatten")).to_be_visible()

    # the server writes by itself, and at once when somebody saves; the numbers are of the kind that layers want
    until(lambda: nodes_in(path) == ["conv2d", "flatten", "input"], ada)
    add(ada, "Tanh")
    save(ada)
    until(lambda: "tanh" in nodes_in(path), ada)
    found = params(path, "conv2d")
    assert (found["out_channels"], str(found["kernel_size"])) == (16, agreed)
    for page in (ada, bob):
        expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
        expect(page.locator(".jp-Dialog, .labdl-bar")).to_have_count(0)
    # a page that comes back finds it all
    ada.reload()
    expect(hers.node("tanh")).to_be_visible(timeout=60_000)
    assert hers.node("relu").count() == 0


@pytest.mark.sample(False)
def test_the_same_name_twice_is_mended_everywhere(together, open_as):
    path = new_file(together, "twice.labdl")
    ada, bob = open_as("twice.labdl"), open_as("twice.labdl")
    expect(People(bob).node("input")).to_be_visible()
    bob.context.set_offline(True)
    add(ada, "ReLU")
    bob.wait_for_timeout(1000)
    expect(People(bob).node("relu")).to_have_count(0)  # he is away
    add(bob, "ReLU")
    bob.context.set_offline(False)
    for page in (ada, bob):
        expect(People(page).node("relu")).to_have_count(1)
        expect(People(page).node("relu_1")).to_have_count(1)
    until(lambda: nodes_in(path) == ["input", "relu", "relu_1"], ada)


@pytest.mark.sample(False)
def test_the_file_changes_on_the_disk(together, open_as):
    path = new_file(together, "outside.labdl")
    page = open_as("outside.labdl")
    graph = People(page)
    expect(graph.node("input")).to_be_visible()

    # somebody else writes it: the canvas follows
    data = graph_with_input()
    data["nodes"]["input"]["name"] = "theirs"
    path.write_bytes(service.encode(data))
    expect(graph.node("theirs")).to_be_visible()

    # broken: the page says why, and the file stays as it is, whatever somebody tries
    broken = path.read_bytes()[:-100]
    path.write_bytes(broken)
    bar = page.locator(".labdl-bar")
    expect(bar).to_contain_text("truncated")
    save(page)
    page.wait_for_timeout(1500)
    assert path.read_bytes() == broken

    # mended: it can be edited again
    path.write_bytes(service.encode(data))
    expect(bar).to_have_count(0)
    add(page, "ReLU")
    until(lambda: nodes_in(path) == ["relu", "theirs"], page)


@pytest.mark.sample(False)
@pytest.mark.timeout(60)
def test_a_damaged_file_says_why(together, open_as):
    path = new_file(together, "damaged.labdl")
    damaged = path.read_bytes()[:-100]
    path.write_bytes(damaged)
    page = open_as("damaged.labdl")
    expect(page.locator(".labdl-bar")).to_contain_text("This file is truncated")
    page.wait_for_timeout(1500)
    assert path.read_bytes() == damaged


@pytest.mark.sample(False)
def test_training_takes_what_is_on_the_canvas(together, open_as):
    chain = {
        "a": Node("Input", "input", {"shape": (None, 1, 8, 8)}),
        "b": Node("Flatten", "flatten"),
        "c": Node("Linear", "hidden", {"out_features": 16}),
        "d": Node("Linear", "head", {"out_features": 10}),
    }
    edges = {f"e{n}": Edge(*pair) for n, pair in enumerate(itertools.pairwise(chain))}
    path = together.folder / "trained.labdl"
    path.write_bytes(structure.encode(Graph(chain, edges)))
    ada, bob = open_as("trained.labdl"), open_as("trained.labdl")
    People(bob).node("head").click()
    hers = People(ada)
    ada.locator(".jp-Toolbar").get_by_text("Train", exact=True).click()
    panel = ada.locator(".labdl-TrainPanel")
    panel.get_by_label("Backend").select_option("torch")
    panel.get_by_label("Epochs").fill("1")
    bob.keyboard.press("Delete")  # his last word before she starts
    expect(hers.node("head")).to_have_count(0)
    ada.get_by_label("Show the properties").click()  # beside the panel the canvas keeps its room
    hers.node("hidden").click()
    hers.field("out_features").fill("10")
    panel.get_by_role("button", name="Train", exact=True).click()
    expect(ada.locator(".labdl-dashboard")).to_have_attribute("data-status", "finished", timeout=120_000)
    with np.load(path.with_suffix(".npz")) as saved:
        shapes = {name: saved[name].shape for name in saved.files if "kernel" in name}
    assert list(shapes) == ["hidden/kernel:0"]
    assert 10 in shapes["hidden/kernel:0"]
    assert nodes_in(path) == ["flatten", "hidden", "input"]


@pytest.mark.sample(False)
def test_a_document_is_renamed_and_copied(together, open_as):
    new_file(together, "first.labdl")
    ada, bob = open_as("first.labdl"), open_as("first.labdl")
    hers, his = People(ada), People(bob)
    expect(his.node("input")).to_be_visible()

    ada.locator(".jp-DirListing-item[data-file-type=labdl]", has_text="first.labdl").click()
    ada.keyboard.press("F2")
    ada.locator(".jp-DirListing-editor").fill("second.labdl")
    ada.keyboard.press("Enter")
    for page in (ada, bob):
        expect(page.locator(".lm-TabBar-tab.lm-mod-current", has_text="second.labdl").first).to_be_visible()
    add(bob, "ReLU")
    until(lambda: nodes_in(together.folder / "second.labdl") == ["input", "relu"], bob)
    expect(hers.node("relu")).to_be_visible()

    # a copy under another name is a model file too
    ada.locator(".labdl-canvas").focus()
    ada.keyboard.press("Control+Shift+s")
    ada.locator(".jp-Dialog input").fill("third.labdl")
    ada.locator(".jp-Dialog .jp-mod-accept").click()
    until(lambda: nodes_in(together.folder / "third.labdl") == ["input", "relu"], ada)


@pytest.mark.sample(False)
def test_the_server_is_killed_and_comes_back(chromium, tmp_path):
    server = Server(tmp_path, collaboration=True)
    server.start()
    try:
        path = new_file(server, "net.labdl")
        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        page = server.open(context, "net.labdl")
        add(page, "ReLU")
        until(lambda: nodes_in(path) == ["input", "relu"], page)
        close_connection_errors(page)
        server.kill()
        add(page, "Tanh")  # nobody hears of it yet
        server.start()
        until(lambda: nodes_in(path) == ["input", "relu", "tanh"], page, 60_000)
        expect(People(page).node("tanh")).to_have_count(1)
        context.close()
    finally:
        end(server.process)
