"""Recording of an unfinished model: nodes and edges are kept where shapes are unknown or do not fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from labdl.errors import ModelError
from labdl.graph.node import outputs_of
from labdl.graph.tracing.recorder import Recorder, Symbol
from labdl.nn.module import Module
from labdl.ops.operator import Operator
from labdl.spec import Spec


class UnknownShapeError(ModelError):
    """A source uses a shape that is not known."""


class _UnknownOutput:
    """The output of a node whose shape could not be inferred, and why."""

    def __init__(self, why: str):
        self.why = why


class Unknown(Symbol):
    """The output of a node that has no shape yet."""

    def __init__(self, recorder: Recorder, node: str, port: str, why: str):
        for name, value in (("recorder", recorder), ("node", node), ("port", port), ("why", why)):
            object.__setattr__(self, name, value)

    def _unknown(self) -> Any:
        raise UnknownShapeError(f"the source uses a shape that is not known, because {self.why}")  # type: ignore[attr-defined]

    shape = property(_unknown)  # type: ignore[assignment]
    dtype = property(_unknown)  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "a tensor of unknown shape"


class Draft(Recorder):
    """A recorder that continues after shape errors; ``...`` is a missing connection."""

    unknown = ""  # why the inputs have no shapes, if they have none

    def input(self, spec: Spec | None, argument: str) -> Symbol | None:
        if not self.unknown:
            return super().input(spec, argument)
        return Unknown(self, self.add_input(argument, {}), "output", self.unknown)

    def infer(self, node_id: str, call: Callable[[], Any]):
        try:
            return call()
        except UnknownShapeError as error:
            return _UnknownOutput(str(error).partition(", because ")[2])
        except Exception as error:  # shown at the node by the check; layers of the user may raise anything
            return _UnknownOutput(f"{self.nodes[node_id].name} does not fit: {error}")

    def results(self, node_id: str, outputs):
        if not isinstance(outputs, _UnknownOutput):
            return super().results(node_id, outputs)
        found = tuple(Unknown(self, node_id, port, outputs.why) for port in outputs_of(self.nodes[node_id]))
        return found[0] if len(found) == 1 else found

    def prepare(self, module: Module, inputs, options) -> None:
        if not any(isinstance(v, Unknown) or v is ... for v in (*inputs, *options.values())):
            super().prepare(module, inputs, options)

    def layer(self, module: Module, inputs, options):
        return super().layer(
            module, tuple(_optional(v) for v in inputs), {k: _optional(v) for k, v in options.items() if v is not ...}
        )

    def operator(self, entry: Operator, args, kwargs):
        bound = inspect.signature(entry.body).bind(*args, **kwargs).arguments
        missing = [
            name
            for name, value in bound.items()
            if name != "index" and (value is ... or (isinstance(value, list | tuple) and any(v is ... for v in value)))
        ]
        if not missing:
            return super().operator(entry, args, kwargs)
        node_id = self.add(
            f"ops.{entry.name}",
            self.inside(entry.name),
            {
                name: value
                for name, value in bound.items()
                if name not in missing
                and name not in entry.roles
                and isinstance(value, str | int | float | bool | tuple)
            },
        )
        for name, value in bound.items():
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, Symbol):
                    self.connect(one, node_id, name)
        return Unknown(self, node_id, "output", f"an input of {self.nodes[node_id].name} is missing")

    def finish(self, returned) -> None:
        values = list(returned) if isinstance(returned, list | tuple) else [] if returned is None else [returned]
        # an unused input is not an output
        values = [v for v in values if not (isinstance(v, Symbol) and self.nodes[v.node].type == "Input")]  # type: ignore
        if self.unknown:  # a snippet has no outputs
            nodes = dict.fromkeys(v.node for v in values if isinstance(v, Symbol))  # type: ignore[attr-defined]
            used = {e.source for e in self.edges.values()}
            values = [Unknown(self, n, outputs_of(self.nodes[n])[0], self.unknown) for n in nodes if n not in used]
        super().finish(values)


def _optional(value):
    return None if value is ... else value
