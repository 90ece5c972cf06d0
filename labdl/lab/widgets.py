"""The dashboard and the editor as notebook widgets: the kernel's side of their conversations."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from labdl.errors import ConfigError
from labdl.graph import Graph, as_graph
from labdl.lab import coding, looking, outputs, sampling, service
from labdl.lab.classes import classes_of
from labdl.lab.editing import Counterpart, after_each_cell
from labdl.lab.runlist import code
from labdl.lab.telling import RunWatch, Telling

if TYPE_CHECKING:
    from labdl.nn import Module
    from labdl.train import Run
    from labdl.train.racer import Racer

STATIC = Path(__file__).parent / "static"
log = logging.getLogger(__name__)


def built(name: str) -> str:
    """The text of a file of the built front end, which is not in the source tree."""
    path = STATIC / name
    if not path.is_file():
        raise FileNotFoundError(f"the front end of labdl has not been built ({path} is missing): run `make lab`")
    return path.read_text(encoding="utf-8")


class Dashboard(anywidget.AnyWidget):
    """The live dashboard of a run, or of one backend in a race: progress, curves, and what steers it."""

    def __init__(self, run: Run | Racer):
        # read now and not with the class, so that labdl.lab can be imported before the front end is built
        self._esm, self._css = built("dashboard.js"), built("dashboard.css")
        super().__init__()
        self.run = run
        self._telling = Telling(run, lambda *message: self.send(*message))
        self.on_msg(self._on_message)

    def _ipython_display_(self) -> None:
        outputs.show(self.run, outputs.forms(self))

    def close(self) -> None:
        """Leave the run and take the dashboard off the page; the run goes on."""
        self._telling.close()
        super().close()

    def _on_message(self, _widget, content: dict[str, Any], _buffers) -> None:
        match content:
            case {"type": "sync", **rest}:
                self._telling.answer(rest.get("after", 0))
            case {"type": "code"}:
                self.send({"type": "code", "files": code(Path(self.run.folder))})
            case {"type": "command", "command": command, **rest}:
                try:
                    self.run.obey(command, rest.get("value"), rest.get("id"))
                except ConfigError as error:  # a page of another version, say
                    log.warning("run %s: %s", self.run.folder, error)


class Editor(anywidget.AnyWidget):
    """The graph editor in a notebook cell. ``editor.graph`` is always what the canvas shows.

    Canvas and model follow each other: when a cell has changed the structure of the model that the editor was given, or that
    `model` returned, the canvas shows it, and what changed on the canvas is in the next `model`. While a `Run` of this process
    trains that model, the canvas shows how its layers do.
    """

    _graph = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(480, min=240, help="Height in pixels.").tag(sync=True)

    def __init__(self, model: Graph | Module, *, height: int = 480):
        self._esm, self._css = built("editor.js"), built("editor.css")
        self._counterpart = Counterpart(model)
        super().__init__(_graph=self._counterpart.graph.to_dict(), height=height)
        self._runs = RunWatch(lambda run: run.model is self._counterpart.model, lambda *message: self.send(*message))
        self.on_msg(self._on_message)
        self._unfollow = after_each_cell(self._follow)

    def close(self) -> None:
        """Take the editor off the page; what was built stays."""
        self._unfollow()
        self._runs.close()
        super().close()

    @property
    def graph(self) -> Graph:
        """The graph on the canvas; set it to show another one."""
        return Graph.from_dict(self._graph)

    @graph.setter
    def graph(self, graph: Graph | Module) -> None:
        self._graph = as_graph(graph).to_dict()

    def model(self, backend: str | None = None) -> Module:
        """The model of the graph on the canvas, built for a backend; by default for that of the model before.

        As long as nothing changed it is the model that the editor was given or that was returned before, else a new one: a
        layer that is still there keeps its weights if they fit, also under another name. Raises ModelError where the graph does
        not fit.
        """
        return self._counterpart.rebuilt(self.graph, backend)

    def _follow(self) -> None:
        changed = self._counterpart.changed(self.graph)
        if changed is not None:
            self._graph = changed.to_dict()

    def _on_message(self, _widget, content: dict[str, Any], _buffers) -> None:
        if isinstance(content, dict) and content.get("type") == "sync":
            self._runs.answer(content.get("after"), content.get("run"))
        if not isinstance(content, dict) or content.get("type") != "request":
            return
        try:
            if content.get("name") == "classes":
                answer = {"result": {"classes": classes_of(sys.modules["__main__"].__dict__)}}
            elif content.get("name") == "read":
                answer = {"result": _read(content.get("source"), content.get("graph"))}
            else:
                answer = {"result": self._answer(content.get("name"), content.get("graph"), content.get("names"))}
        except Exception as error:  # shown to the person in the editor
            answer = {"error": str(error) or type(error).__name__}
        self.send({"type": "reply", "id": content.get("id"), **answer})

    def _answer(self, name: Any, graph: Any, names: Any) -> dict[str, Any]:
        if name == "layers":
            return service.layers()
        answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "check": service.check,
            "code": service.code,
            "weights": lambda graph: self._weights(Graph.from_dict(graph), names),
            "sample": lambda graph: self._sample(Graph.from_dict(graph)),
        }
        if not isinstance(name, str) or name not in answers:
            raise ValueError(f"the editor may ask for layers, {', '.join(answers)}, received {name!r}")
        if not isinstance(graph, dict):
            raise ValueError(f"{name!r} needs a graph, received {type(graph).__name__}")
        return answers[name](graph)

    def _weights(self, graph: Graph, names: Any) -> dict[str, Any]:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"'weights' needs the names of layers, received {names!r:.80}")
        return looking.weights_of(self._counterpart.parameters(graph, names))

    def _sample(self, graph: Graph) -> dict[str, Any]:
        former = self._counterpart.model
        known = former is not None and not former.unbuilt
        return sampling.answer(self._counterpart.runnable(graph), weights="model" if known else "new")


def _read(source: Any, graph: Any) -> dict[str, Any]:
    if not isinstance(source, str) or not isinstance(graph, dict | None):
        raise ValueError(f"'read' needs a text and a graph or none, received {source!r:.80} and {graph!r:.80}")
    return coding.read(source, graph)
