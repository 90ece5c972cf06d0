"""Two-way synchronization of an editor's canvas and its model; weights that still fit are kept."""

from __future__ import annotations

import dataclasses
import logging
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from labdl.graph import Graph, GraphModule, as_graph
from labdl.graph.tracing.trace import parameter_prefix
from labdl.lab.editor.inspection import of_layer
from labdl.nn import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import LAYERS, params_of

log = logging.getLogger(__name__)
_OF_MODELS: weakref.WeakValueDictionary[int, ModelSync] = weakref.WeakValueDictionary()  # by the id of the model


class ModelSync:
    """A model and its graph at the last synchronization; the editors of one model share it."""

    def __init__(self, value: Graph | Module):
        self.graph = as_graph(value)
        self.model = value if isinstance(value, Module) else None
        self.views: weakref.WeakSet[Any] = weakref.WeakSet()  # editors that show the graph
        self._structure = _structure(self.model)

    @classmethod
    def of(cls, value: Graph | Module) -> ModelSync:
        """The synchronization of a model that an editor shows, else a new one; a graph is a value and has always a new one."""
        shared = _OF_MODELS.get(id(value))
        if shared is not None and shared.model is value:
            return shared
        new = cls(value)
        new._share()
        return new

    def _share(self) -> None:
        if self.model is not None:
            _OF_MODELS[id(self.model)] = self

    def build(self, graph: Graph, backend: str | None) -> Module:
        """Build the model of a graph: the former model if nothing has changed, else a new one with its fitting weights."""
        former = self.model
        if former is not None and not former.unbuilt and graph == self.graph and backend in (None, former.backend):
            return former
        model = self._build(graph, backend)
        self.graph, self.model, self._structure = graph, model, _structure(model)
        self._share()
        return model

    def runnable_model(self, graph: Graph) -> GraphModule:
        """A model of a graph that returns the values of its nodes, with the current weights; `model` does not change.

        Without a current model it is the one that `build` would return.
        """
        former = self.model
        if former is None:
            former = self.build(graph, None)
        if isinstance(former, GraphModule) and not former.unbuilt and graph == self.graph:
            return former
        return self._build(graph, None)

    def parameters(self, graph: Graph, layers: Sequence[str]) -> dict[str, Parameter]:
        """The built model's parameters of some layers, or by their full names, under their names on the canvas."""
        former = self.model
        if former is None or former.unbuilt:
            return {}
        home = parameter_prefix(former, self.graph)
        own = {f"{home}{name}": parameter for name, parameter in former.named_parameters()}
        names = {
            node.name: self.graph.nodes[i].name
            for i, node in graph.nodes.items()
            if i in self.graph.nodes and self.graph.nodes[i].type == node.type
        }
        found = {}
        for layer in layers:
            name = layer if layer in names else next((n for n in names if layer.startswith(f"{n}/")), None)
            if name is not None:
                old = names[name] + layer.removeprefix(name)
                found |= {name + key.removeprefix(names[name]): own[key] for key in of_layer(own, old)}
        return found

    def _build(self, graph: Graph, backend: str | None) -> GraphModule:
        former = self.model
        if former is None or former.unbuilt:
            return graph.to_module().build(backend=backend)
        model = graph.to_module().build(backend=backend or former.backend)
        model.load_state_dict(self._fitting_weights(former, graph, model), strict=False)
        return model

    def graph_if_changed(self, canvas: Graph) -> Graph | None:
        """The graph of the model if the model has changed since; nodes that keep their names keep their positions."""
        structure = _structure(self.model)
        if structure == self._structure:
            return None
        self._structure = structure
        try:
            graph = as_graph(self.model)
        except Exception as error:  # the model may be incomplete: the canvas keeps the last graph
            log.info("the editor does not show the changed model: %s", error)
            return None
        places = {node.name: canvas.positions[i] for i, node in canvas.nodes.items() if i in canvas.positions}
        kept = {i: places[node.name] for i, node in graph.nodes.items() if node.name in places}
        kept |= {i: place for i, place in canvas.positions.items() if i.endswith("/")}  # of collapsed blocks
        self.graph = dataclasses.replace(graph, positions=kept, notes=canvas.notes)
        return self.graph

    def _fitting_weights(self, former: Module, graph: Graph, model: Module) -> dict[str, Any]:
        """Weights of the former model under the current names of their layers."""
        home, wanted = parameter_prefix(former, self.graph), model.state_dict()
        names = {
            old.name: graph.nodes[i].name
            for i, old in self.graph.nodes.items()
            if i in graph.nodes and graph.nodes[i].type == old.type
        }
        found = {}
        for key, value in former.state_dict().items():
            layer, _, parameter = f"{home}{key}".rpartition("/")
            new = f"{names.get(layer, layer)}/{parameter}"
            if new in wanted and wanted[new].shape == value.shape and wanted[new].dtype == value.dtype:
                found[new] = value
        return found


def _structure(model: Module | None) -> list[tuple]:
    """Modules and settings of a model, to detect changes."""
    if model is None:
        return []
    return [
        (path, id(m), tuple(params_of(m).items()) if type(m) in LAYERS.values() else ())
        for path, m in model.named_modules()
    ]


def after_each_cell(method: Callable[[], None]) -> Callable[[], None]:
    """Call a bound method after each cell of the notebook while its object lives; returns a function that stops it."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return lambda: None
    held = weakref.WeakMethod(method)

    def follow(*_) -> None:
        alive = held()
        if alive is None:
            end()
        else:
            alive()

    def end() -> None:
        if follow in shell.events.callbacks["post_run_cell"]:
            shell.events.unregister("post_run_cell", follow)

    shell.events.register("post_run_cell", follow)
    return end
