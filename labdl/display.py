"""Notebook display of models, graphs and runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from labdl.errors import ModelError


def _widgets(name: str) -> Any:
    """A module of `labdl.lab.widgets`, imported by name at display time: the library itself does not depend on Jupyter."""
    return import_module(f"labdl.lab.widgets.{name}")


def display_dashboard(run: Any) -> None:
    """Display the dashboard of one run: ``_ipython_display_`` of a `Run` or a `RaceRun`."""
    _widgets("dashboard").display(run)


def display_runs(runs: Any) -> None:
    """Display the list of several runs: ``_ipython_display_`` of a `Race` or a `Sweep`."""
    _widgets("runs").display(runs)


def dashboard_widget(run: Any) -> Any:
    """The dashboard of one run as a widget: ``_display_`` of a `Run` or a `RaceRun`, which marimo calls."""
    return _widgets("dashboard").Dashboard(run)


def runs_widget(runs: Any) -> Any:
    """The list of several runs as a widget: ``_display_`` of a `Race` or a `Sweep`, which marimo calls."""
    return _widgets("runs").Runs(runs)


def model_widget(model: Any) -> Any:
    """The editor of a model or graph: ``_display_`` of `Module` and `Graph`, which marimo calls; the text without a graph."""
    try:
        return _widgets("editor").Editor(model)
    except ModelError:  # not built yet, or not representable as a graph
        return repr(model)


def model_mimebundle(model: Any, **options: Any) -> Any:
    """Display data of a model or graph, the editor and a static image: ``_repr_mimebundle_`` of `Module` and `Graph`."""
    try:
        return _widgets("editor").mime_bundle(model, **options)
    except ModelError:  # not built yet, or not representable as a graph
        return {"text/plain": repr(model)}
