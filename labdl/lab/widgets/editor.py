"""The graph editor as a notebook widget."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import traitlets

from labdl.errors import ConfigError
from labdl.graph import Graph, as_graph
from labdl.lab.editor import arrangement, inspection, python_code, sample_run, service
from labdl.lab.editor.kernel_classes import classes_of
from labdl.lab.editor.model_sync import ModelSync, after_each_cell
from labdl.lab.messages.base import read, write
from labdl.lab.messages.check import CheckResult
from labdl.lab.messages.editor import CodeAnswer, KernelClasses, ReadAnswer, WidgetRequest
from labdl.lab.messages.graph import LayersAnswer
from labdl.lab.messages.inspection import SampleAnswer, WeightsAnswer
from labdl.lab.messages.layout import LayoutAnswer, LayoutRequest
from labdl.lab.widgets import graph_output
from labdl.lab.widgets.base import NotebookWidget
from labdl.lab.widgets.event_messages import ModelRunSender
from labdl.lab.widgets.interactive_page import has_page
from labdl.lab.widgets.requests import graph_of, reply_to
from labdl.translation import asked_language, translate_form

if TYPE_CHECKING:
    from labdl.nn import Module


class Editor(NotebookWidget):
    """The graph editor in a notebook cell. ``editor.graph`` is the graph on the canvas.

    Canvas and model are synchronized: when a cell changes the structure of the model that the editor was created with, or that
    `model` returned, the canvas shows it, and changes of the canvas are in the next `model`. All editors of one model show the
    same canvas. While a `Run` of this process trains that model, the canvas shows the statistics of its layers.
    """

    _graph = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(480, min=240, help="Height in pixels.").tag(sync=True)

    def __init__(self, model: Graph | Module, *, height: int = 480):
        self._sync = ModelSync.of(model)
        others = [editor._graph for editor in self._sync.views]
        data = others[0] if others else self._sync.graph.to_dict(tagged=True)
        snapshot = graph_output.snapshot(Graph.from_dict(data))
        super().__init__("editor", _graph=data, height=height, _snapshot=snapshot)
        self._saved = data  # the graph of the snapshot
        self._runs = ModelRunSender(lambda run: run.model is self._sync.model, lambda *message: self.send(*message))
        self._sync.views.add(self)
        self.observe(self._show_in_other_editors, "_graph")
        self.on_msg(self._on_message)
        self._unfollow = after_each_cell(self._follow)

    def close(self) -> None:
        """Remove the editor from the page; built models remain."""
        if not hasattr(self, "_unfollow"):
            return  # called by the garbage collector after `__init__` raised
        self._unfollow()
        self._runs.close()
        self._sync.views.discard(self)
        super().close()

    @property
    def graph(self) -> Graph:
        """The graph on the canvas; set it to show another one."""
        return Graph.from_dict(self._graph)

    @graph.setter
    def graph(self, graph: Graph | Module) -> None:
        self._graph = as_graph(graph).to_dict(tagged=True)

    def model(self, backend: str | None = None) -> Module:
        """The model of the graph on the canvas, built for a backend; by default that of the previous model.

        If nothing changed it is the previous model, else a new one: a remaining layer keeps its weights if they fit, also
        under another name. Raises ModelError for a graph with problems.
        """
        return self._sync.build(self.graph, backend)

    def _show_in_other_editors(self, change: dict[str, Any]) -> None:
        for editor in list(self._sync.views):
            if editor is not self and editor._graph != change["new"]:
                editor._graph = change["new"]

    def _follow(self) -> None:
        changed = self._sync.graph_if_changed(self.graph)
        if changed is not None:
            self._graph = changed.to_dict(tagged=True)
        self._update_snapshot()

    def _update_snapshot(self) -> None:
        if self._graph != self._saved:
            self._saved = self._graph
            self._snapshot = graph_output.snapshot(self.graph)

    def _forms(self) -> dict[str, Any]:
        self._update_snapshot()
        return graph_output.forms(self._snapshot)

    def _on_message(self, _widget, content: Any, _buffers) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        if kind == "sync":
            self._runs.send_after(content.get("after"), content.get("run"))
        elif kind == "request":
            self.send(reply_to(content, self._result, language=self._language))

    def _result(self, asked: WidgetRequest) -> dict[str, Any]:
        """The answer to a request. Raises ConfigError for an unknown request, LabDLError for bad data."""
        match asked.name:
            case "layers":
                return write(LayersAnswer, translate_form(service.layers(), asked_language()))
            case "classes":
                return write(KernelClasses, {"classes": classes_of(sys.modules["__main__"].__dict__)})
            case "read":
                if asked.source is None:
                    raise ConfigError("'read' needs the source")
                return write(ReadAnswer, python_code.read(asked.source, asked.graph))
            case "layout":
                return write(LayoutAnswer, arrangement.layout(read(LayoutRequest, asked.fields())))
            case "check":
                return write(CheckResult, service.check(graph_of(asked)))
            case "code":
                return write(CodeAnswer, service.code(graph_of(asked)))
            case "weights":
                if asked.names is None:
                    raise ConfigError("'weights' needs the names of layers")
                return write(WeightsAnswer, self._weights(Graph.from_dict(graph_of(asked)), asked.names))
            case "sample":
                return write(SampleAnswer, self._sample(Graph.from_dict(graph_of(asked))))
        raise ConfigError(
            f"the editor can request layers, classes, read, layout, check, code, weights, sample, received {asked.name!r:.80}"
        )

    def _weights(self, graph: Graph, names: list[str]) -> dict[str, Any]:
        return inspection.weights_of(self._sync.parameters(graph, names))

    def _sample(self, graph: Graph) -> dict[str, Any]:
        former = self._sync.model
        known = former is not None and not former.unbuilt
        return sample_run.answer(self._sync.runnable_model(graph), weights="model" if known else "new")


def mime_bundle(model: Graph | Module, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The MIME data of a model: its editor, or only a static image where no page can show a widget."""
    if has_page():
        data, metadata = Editor(model)._repr_mimebundle_(**options)
    else:
        data, metadata = graph_output.forms(graph_output.snapshot(as_graph(model))), {}
    return {**data, "text/plain": repr(model)}, metadata
