"""What a notebook contains after nbconvert, papermill or nbclient has run it, and what pages without a kernel show of it."""

import base64
import html
import itertools
import json
import re
import threading
import time

import nbformat
import pytest
from ipywidgets import Widget
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from labdl import lab, nn
from labdl.graph import Edge, Graph, Node
from labdl.lab.widgets import front_end, graph_output, interactive_page, notebook_output
from labdl.train.leaderboard import Leaderboard

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
START = """
import numpy as np
from labdl import lab, nn, train
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
model = nn.Sequential(nn.Linear(3), nn.Linear(1)).build((None, 4), backend="torch")
def start(name, loss="mean_squared_error"):
    trainer = train.Trainer(model, loss=loss, optimizer=train.SGD(0.05), backend="torch")
    return trainer.start(x, x[:, :1], epochs=2, batch_size=8, folder=f"runs/{name}")
def fail(outputs, targets):
    raise ValueError("the moon is full")
"""
CELLS = {
    "start": START,
    "model": "model",
    "editor": "lab.Editor(model)",
    "diff": "lab.Diff(model, nn.Sequential(nn.Linear(3), nn.ReLU(), nn.Linear(1)).build((None, 4), backend='torch'))",
    "run": "run = start('good')\nrun",
    "dashboard": "run.wait()\nlab.Dashboard(run)",
    "failed": "failed = start('bad', fail)\nfailed",
    "wait": "try:\n    failed.wait()\nexcept Exception:\n    pass",
    "runs": "lab.Runs('runs')",
    "children": "import ipywidgets\nipywidgets.VBox([lab.Editor(model)])",
}
PICTURES = ("model", "editor", "run", "dashboard", "failed")


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS.values()])
    folder = tmp_path_factory.mktemp("executed")
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


@pytest.fixture(scope="module")
def outputs(executed):
    """The data of the outputs by the name of the cell."""
    cells = zip(CELLS, executed.cells, strict=True)
    return {name: [o.data for o in cell.outputs if "data" in o] for name, cell in cells}


@pytest.fixture(scope="module")
def page(executed):
    return HTMLExporter().from_notebook_node(executed)[0]


def test_an_executed_notebook_is_small(executed):
    nbformat.validate(executed)
    size = len(json.dumps(executed.metadata))
    assert size < 100_000, f"{size:,} bytes of widgets"
    assert len(json.dumps(executed)) < 250_000


@pytest.mark.parametrize("name", PICTURES)
def test_it_has_pictures_in_place_of_widgets(name, outputs):
    [data] = outputs[name]
    assert VIEW not in data
    assert data["image/svg+xml"].startswith("<svg ")


def test_its_diff_and_runs_are_tables_and_pictures(outputs):
    [diff], [runs] = outputs["diff"], outputs["runs"]
    assert VIEW not in diff
    assert VIEW not in runs
    assert "ReLU" in diff["text/html"]
    assert diff["text/html"].count("<svg ") == 3  # both models in one picture
    assert "good" in runs["text/html"]


@pytest.mark.parametrize("count", [400, 2000])
def test_a_large_graph_is_one_line_of_text(count):
    ids = [f"n{at}" for at in range(count)]
    edges = {a: Edge(a, b) for a, b in itertools.pairwise(ids)}
    graph = Graph({"n0": Node("Input", "input", {"shape": (None, 4)}), **{i: Node("ReLU", i) for i in ids[1:]}}, edges)
    shown = graph_output.snapshot(graph)
    assert shown == {"text": f"{graph.name}: {count} nodes"}
    assert graph_output.PICTURE not in graph_output.forms(shown)


def test_nbconvert_shows_all_of_them(page, outputs):
    shown = [base64.b64decode(data).decode() for data in re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)]
    assert shown == [outputs[name][0]["image/svg+xml"] for name in PICTURES]
    assert "finished" in outputs["run"][0]["image/svg+xml"]
    assert html.escape("- 1 (Linear)\n+ 1 (ReLU)") in page
    assert "good" in page


def test_it_says_why_a_run_failed(outputs):
    [data] = outputs["failed"]
    shown = re.sub("<title>.*</desc>", "", data["image/svg+xml"])
    assert "the moon is full" in shown
    assert "the moon is full" in data["text/plain"]


def test_a_widget_inside_another_is_its_snapshot(executed, outputs):
    """The saved state has the program of the snapshot in place of the editor's."""
    assert VIEW in outputs["children"][0]
    state = executed.metadata.widgets[STATE]["state"]
    editors = [model["state"] for model in state.values() if "_esm" in model["state"] and "_graph" in model["state"]]
    assert editors
    for saved in editors:
        assert saved["_esm"] == front_end.read_static("snapshot.js")
        assert saved["_snapshot"]["picture"].startswith("<svg ")


class _Cell:
    """A kernel whose running cell was requested with this content."""

    def __init__(self, content):
        self.kernel = self
        self.content = content

    def get_parent(self, channel):
        return {} if self.content is None else {"content": self.content}


class _Shell:
    """An IPython shell that records what it publishes."""

    def __init__(self):
        self.display_pub = self.events = self
        self.published, self.hooks = [], []

    def publish(self, data, **_):
        self.published.append(data["text/html"])

    def register(self, name, hook):
        assert name == "post_run_cell"
        self.hooks.append(hook)

    def unregister(self, name, hook):
        self.hooks.remove(hook)

    def end_cell(self):
        for hook in [*self.hooks]:
            hook(None)


class _Race:
    """A race whose end tests decide."""

    def __init__(self, error=None):
        self.alive, self.error, self._over = True, error, threading.Event()

    def table(self):
        return Leaderboard([{"status": "waiting" if self.alive else "over"}])

    def end(self):
        self.alive = False
        self._over.set()

    def wait(self):
        self._over.wait(30)
        if self.error is not None:
            raise self.error


def eventually(check):
    return any(check() or time.sleep(0.01) for _ in range(1000))


@pytest.fixture
def shell(monkeypatch):
    shell = _Shell()
    monkeypatch.setattr(notebook_output, "_shell", lambda: shell)
    return shell


def test_the_end_of_a_race_is_published_again_after_the_cell_that_reached_it(shell, tmp_path):
    """What is published between two cells is lost."""
    race = _Race()
    notebook_output.show_runs(race, tmp_path, {})
    shell.end_cell()
    assert ["waiting" in table for table in shell.published] == [True]
    race.end()
    assert eventually(lambda: len(shell.published) == 2)
    shell.published.clear()
    shell.end_cell()
    shell.end_cell()
    assert ["over" in table for table in shell.published] == [True]
    assert not shell.hooks


def test_a_page_with_widgets_gets_the_end_once_also_of_trainings_that_failed(shell, tmp_path):
    race = _Race(ValueError("the moon is full"))
    notebook_output.show_runs(race, tmp_path, {VIEW: {}})
    assert not shell.hooks
    race.end()
    assert eventually(lambda: len(shell.published) == 2)
    assert "over" in shell.published[-1]


@pytest.mark.parametrize(
    ("content", "software", "expected"),
    [
        ({"allow_stdin": True}, "", True),
        ({"allow_stdin": False}, "", False),
        ({"allow_stdin": False}, "voila/0.5.8", True),
        ({}, "", True),
        (None, "", True),
    ],
)
def test_pages_are_where_a_cell_may_ask_for_input(content, software, expected, monkeypatch):
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: _Cell(content))
    monkeypatch.setenv("SERVER_SOFTWARE", software)
    assert interactive_page.has_page() is expected


def graph(count: int = 1) -> Graph:
    nodes = {"a": Node("Input", "a", {"shape": (None, 4)})}
    nodes |= {f"b{i}": Node("Linear", f"b{i}", {"out_features": 3}) for i in range(count)}
    return Graph(nodes, {"e": Edge("a", "b0", target_port="x")}, name="<small>")


class TestStateOfLiveWidgets:
    """A page may save the state of its widgets, and show it later without the kernel."""

    @pytest.fixture(autouse=True)
    def _static(self, tmp_path, monkeypatch):
        for name in ("editor", "dashboard"):
            (tmp_path / f"{name}.js").write_text(name)
            (tmp_path / f"{name}.css").write_text(name)
        monkeypatch.setattr(front_end, "STATIC", tmp_path)

    def test_it_has_the_picture_of_the_graph(self):
        editor = lab.Editor(graph())
        assert editor.get_state()["_snapshot"] == {"picture": graph().to_svg(theme="auto")}
        editor.graph = graph(2)
        assert editor._repr_mimebundle_()[0]["image/svg+xml"] == graph(2).to_svg(theme="auto")
        assert editor.get_state()["_snapshot"] == {"picture": graph(2).to_svg(theme="auto")}
        assert VIEW in editor._repr_mimebundle_()[0]

    def test_a_graph_that_is_too_large_is_a_line_of_text(self):
        assert graph_output.snapshot(graph(500)) == {"text": "<small>: 501 nodes"}
        assert graph_output.stack(graph(), graph(500)) is None
        assert "image/svg+xml" not in lab.Editor(graph(500))._repr_mimebundle_()[0]

    def test_a_stack_of_graphs_is_one_picture(self):
        from xml.etree import ElementTree

        root = ElementTree.fromstring(graph_output.stack(graph(), graph(2)))
        space = "{http://www.w3.org/2000/svg}"
        assert [name.text for name in root.findall(f"{space}text")] == ["<small>", "<small>"]
        first, second = root.findall(f"{space}svg")
        assert float(second.get("y")) > float(first.get("y")) + float(first.get("height"))
        assert float(root.get("height")) == float(second.get("y")) + float(second.get("height"))

    def test_it_has_the_picture_of_the_ended_run(self, tmp_path):
        import numpy as np

        from labdl.train import Trainer

        data = np.ones((8, 4), "float32"), np.ones((8, 1), "float32")
        trainer = Trainer(nn.Linear(1), "mean_squared_error", backend="torch")
        go = threading.Event()
        run = trainer.start(data, epochs=1, folder=tmp_path / "run", callbacks=[lambda event: go.wait(30)])
        dashboard = lab.Dashboard(run)
        assert dashboard._snapshot["text"].startswith("Run(")
        go.set()
        run.wait()
        assert "finished" in dashboard._snapshot["picture"]
        assert "finished" in lab.Dashboard(run)._snapshot["picture"]

    def test_it_is_json(self):
        json.dumps(Widget.get_manager_state(widgets=[lab.Editor(graph()), lab.Diff(graph(), graph(2))]))
