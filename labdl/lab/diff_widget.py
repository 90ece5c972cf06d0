"""Two models side by side as a notebook widget: the kernel's side of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from labdl.graph import Graph, diff
from labdl.lab import comparing, service, widgets

if TYPE_CHECKING:
    from labdl.nn import Module


class Diff(anywidget.AnyWidget):
    """Two models side by side in a notebook cell, with what differs: ``lab.Diff(before, after)``.

    ``diff.difference`` is the same as data (see `labdl.graph.diff`), and prints as text.
    """

    _old = traitlets.Dict().tag(sync=True)
    _graph = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(560, min=240, help="Height in pixels.").tag(sync=True)

    def __init__(self, old: Graph | Module, new: Graph | Module, *, height: int = 560):
        self._esm, self._css = widgets.built("editor.js"), widgets.built("editor.css")
        self.difference = diff(old, new)
        shown = self.difference.old.to_dict(), self.difference.new.to_dict()
        super().__init__(_old=shown[0], _graph=shown[1], height=height)
        self.on_msg(self._on_message)

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data:  # what is left where no kernel runs
            data["text/plain"] = str(self.difference)
        return bundle

    def _on_message(self, _widget, content: dict[str, Any], _buffers) -> None:
        if not isinstance(content, dict) or content.get("type") != "request":
            return
        try:
            answer = {"result": _answer(content)}
        except Exception as error:  # shown to the person in the view
            answer = {"error": str(error) or type(error).__name__}
        self.send({"type": "reply", "id": content.get("id"), **answer})


def _answer(content: dict[str, Any]) -> dict[str, Any]:
    name, graph, new = (content.get(key) for key in ("name", "graph", "new"))
    if name == "layers":
        return service.layers()
    if name not in ("check", "difference"):
        raise ValueError(f"the view may ask for layers, check, difference, received {name!r:.80}")
    if not isinstance(graph, dict):
        raise ValueError(f"{name!r} needs a graph, received {type(graph).__name__}")
    if name == "check":
        return service.check(graph)
    if not isinstance(new, dict):
        raise ValueError(f"'difference' needs two graphs, received {type(new).__name__}")
    return comparing.difference(graph, new)
