"""Objects at the end of a marimo cell: marimo calls ``_display_`` and shows the widget that it returns."""

import pytest

from labdl import nn
from labdl.errors import ModelError
from labdl.graph import Graph, Node
from labdl.train import Run, Sweep
from labdl.train.race.client import RaceRun
from labdl.train.race.race import Race

pytestmark = pytest.mark.sample(backends=1)
WIDGETS = {
    Run: "dashboard.Dashboard",
    RaceRun: "dashboard.Dashboard",
    Race: "runs.Runs",
    Sweep: "runs.Runs",
}


@pytest.mark.parametrize("kind", WIDGETS)
def test_run_is_its_dashboard_and_several_runs_their_list(kind, monkeypatch):
    monkeypatch.setattr(f"labdl.lab.widgets.{WIDGETS[kind]}", lambda shown: ("widget", shown))
    run = object.__new__(kind)  # without its training
    assert run._display_() == ("widget", run)


def test_model_is_its_editor(monkeypatch):
    monkeypatch.setattr("labdl.lab.widgets.editor.Editor", lambda model: ("editor", model))
    graph = Graph({"input": Node("Input", "input", {"shape": (None, 4)})})
    model = nn.Linear(3)
    assert graph._display_() == ("editor", graph)
    assert model._display_() == ("editor", model)


def test_model_without_a_graph_is_its_text(monkeypatch):
    def refuse(model):
        raise ModelError("not built")

    monkeypatch.setattr("labdl.lab.widgets.editor.Editor", refuse)
    assert nn.Linear(3)._display_() == repr(nn.Linear(3))
