"""What models and runs show at the end of a notebook cell: the editor and the dashboard."""

from __future__ import annotations

from labdl.errors import ModelError
from labdl.graph import Graph
from labdl.nn import Module
from labdl.train import Run
from labdl.train.racer import Racer


def _run(self: Run | Racer, **options):
    from labdl.lab import Dashboard  # brings ipywidgets along, which a script does not need

    return Dashboard(self)._repr_mimebundle_(**options)


def _model(self: Module | Graph, **options):
    from labdl.lab import Editor

    try:
        return Editor(self)._repr_mimebundle_(**options)
    except ModelError:  # not built yet, or something that a graph cannot hold: show it as text
        return {"text/plain": repr(self)}


Run._repr_mimebundle_ = _run  # type: ignore[attr-defined]
Racer._repr_mimebundle_ = _run  # type: ignore[attr-defined]
Module._repr_mimebundle_ = _model  # type: ignore[attr-defined]
Graph._repr_mimebundle_ = _model  # type: ignore[attr-defined]
