"""Two models side by side as a notebook widget."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import traitlets

from labdl.errors import ConfigError
from labdl.graph import Graph, diff
from labdl.lab.editor import arrangement, comparison, service
from labdl.lab.messages.base import read, write
from labdl.lab.messages.check import CheckResult
from labdl.lab.messages.editor import Difference, WidgetRequest
from labdl.lab.messages.graph import LayersAnswer
from labdl.lab.messages.layout import LayoutAnswer, LayoutRequest
from labdl.lab.widgets import graph_output
from labdl.lab.widgets.base import NotebookWidget
from labdl.lab.widgets.requests import graph_of, reply_to
from labdl.translation import asked_language, translate_form

if TYPE_CHECKING:
    from labdl.nn import Module


class Diff(NotebookWidget):
    """Two models side by side in a notebook cell, with their differences: ``lab.Diff(before, after)``.

    ``diff.difference`` is the difference as data (see `labdl.graph.diff`), and prints as text.
    """

    _old = traitlets.Dict().tag(sync=True)
    _graph = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(560, min=240, help="Height in pixels.").tag(sync=True)

    def __init__(self, old: Graph | Module, new: Graph | Module, *, height: int = 560):
        self.difference = diff(old, new)
        shown = self.difference.old.to_dict(tagged=True), self.difference.new.to_dict(tagged=True)
        picture = graph_output.stack(self.difference.old, self.difference.new)
        snapshot = {"text": str(self.difference)} | ({} if picture is None else {"picture": picture})
        super().__init__("editor", _old=shown[0], _graph=shown[1], height=height, _snapshot=snapshot)
        self.on_msg(self._on_message)

    def _forms(self) -> dict[str, Any]:
        text = str(self.difference)
        page = f"<pre>{html.escape(text)}</pre>{self._snapshot.get('picture', '')}"
        return {**graph_output.forms(self._snapshot), "text/plain": text, "text/html": page}

    def _on_message(self, _widget, content: Any, _buffers) -> None:
        if isinstance(content, dict) and content.get("type") == "request":
            self.send(reply_to(content, _result, language=self._language))


def _result(asked: WidgetRequest) -> dict[str, Any]:
    match asked.name:
        case "layers":
            return write(LayersAnswer, translate_form(service.layers(), asked_language()))
        case "layout":
            return write(LayoutAnswer, arrangement.layout(read(LayoutRequest, asked.fields())))
        case "check":
            return write(CheckResult, service.check(graph_of(asked)))
        case "difference":
            if asked.new is None:
                raise ConfigError("'difference' needs two graphs")
            return write(Difference, comparison.difference(graph_of(asked), asked.new))
    raise ConfigError(f"the view can request layers, layout, check, difference, received {asked.name!r:.80}")
