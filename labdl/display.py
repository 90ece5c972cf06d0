"""Notebook display of models, graphs and runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from labdl.errors import ModelError

_MAX_BYTES = 200_000  # largest SVG to store in a notebook
_NODE_BYTES = 500  # lower bound of the SVG of a node


def _widget(name: str, shown: Any) -> Any:
    """A widget of `labdl.lab`, imported by name at display time: the library itself does not depend on Jupyter."""
    return getattr(import_module("labdl.lab"), name)(shown)


def display_dashboard(run: Any) -> None:
    """Display the dashboard of one run: ``_ipython_display_`` of a `Run` or a `RaceRun`."""
    _widget("Dashboard", run)._ipython_display_()


def display_runs(runs: Any) -> None:
    """Display the list of several runs: ``_ipython_display_`` of a `Race` or a `Sweep`."""
    _widget("Runs", runs)._ipython_display_()


def model_mimebundle(model: Any, **options: Any) -> Any:
    """Display data of a model or graph, the editor and a static image: ``_repr_mimebundle_`` of `Module` and `Graph`."""
    try:
        editor = _widget("Editor", model)
        return _add_svg(editor._repr_mimebundle_(**options), editor.graph)
    except ModelError:  # not built yet, or not representable as a graph
        return {"text/plain": repr(model)}


def _add_svg(bundle: Any, graph: Any) -> Any:
    """Add the SVG for notebooks that are read without a kernel, as on GitHub; JupyterLab prefers the editor."""
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    if data and len(graph.nodes) * _NODE_BYTES < _MAX_BYTES:
        picture = graph.to_svg()
        if len(picture.encode()) <= _MAX_BYTES:
            data["image/svg+xml"] = picture
    return bundle
