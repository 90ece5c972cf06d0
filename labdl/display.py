"""What models and runs show at the end of a notebook cell: the editor and the dashboard."""

from __future__ import annotations

from labdl.errors import ModelError
from labdl.graph import Graph
from labdl.nn import Module
from labdl.train import Run
from labdl.train.race import Race
from labdl.train.racer import Racer
from labdl.train.sweep import Sweep

_LARGEST = 200_000  # bytes of a picture that a notebook keeps
_NODE = 500  # and each node takes more than this


def _run(self: Run | Racer) -> None:
    from labdl.lab import Dashboard  # brings ipywidgets along, which a script does not need

    Dashboard(self)._ipython_display_()


def _runs(self: Race | Sweep) -> None:
    from labdl.lab import Runs

    Runs(self)._ipython_display_()


def _model(self: Module | Graph, **options):
    from labdl.lab import Editor

    try:
        editor = Editor(self)
        return _with_picture(editor._repr_mimebundle_(**options), editor.graph)
    except ModelError:  # not built yet, or something that a graph cannot hold: show it as text
        return {"text/plain": repr(self)}


def _with_picture(bundle, graph: Graph):
    """With what shows in a notebook that is read where no kernel runs, as on GitHub; JupyterLab prefers the editor."""
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    if data and len(graph.nodes) * _NODE < _LARGEST:
        picture = graph.to_svg()
        if len(picture.encode()) <= _LARGEST:
            data["image/svg+xml"] = picture
    return bundle


Run._ipython_display_ = _run  # type: ignore[attr-defined]
Racer._ipython_display_ = _run  # type: ignore[attr-defined]
Race._ipython_display_ = _runs  # type: ignore[attr-defined]
Sweep._ipython_display_ = _runs  # type: ignore[attr-defined]
Module._repr_mimebundle_ = _model  # type: ignore[attr-defined]
Graph._repr_mimebundle_ = _model  # type: ignore[attr-defined]
