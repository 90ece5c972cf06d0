"""Parsing of Python source in the editor, as a whole graph or a fragment."""

from __future__ import annotations

from typing import Any

from labdl.errors import LabDLError, ModelError
from labdl.graph.graph import Graph
from labdl.graph.inputs import graph_arguments
from labdl.graph.parsing.grammar import ReadingError
from labdl.graph.parsing.parser import read_draft, read_piece
from labdl.lab.editor.graph_merge import merge_source
from labdl.nn.input import Input
from labdl.spec import Spec

LONGEST = 200_000  # characters, for which Python's parser holds the GIL for about a third of a second
SECONDS = 3.0


def read(source: str, graph: dict[str, Any] | None) -> dict[str, Any]:
    """The graph that the source describes, or the error and its place: ``graph`` or ``problem`` is None.

    With the canvas's ``graph``, unchanged parts keep ids, positions, inputs and their shapes; without one the source may be
    a fragment, such as a row of layers, and the answer has no inputs. Only layers and operators are executed.
    """
    try:
        if len(source) > LONGEST:
            raise ReadingError(f"the source has {len(source):,} characters, which are more than {LONGEST:,}")
        if graph is None:
            found = read_piece(source, seconds=SECONDS)
            if not found.nodes:
                raise ReadingError("the source contains no layers")
        else:
            canvas = Graph.from_dict(graph)
            found = merge_source(canvas, read_draft(source, _inputs(canvas), seconds=SECONDS))
    except LabDLError as error:
        return {"graph": None, "problem": {"message": str(error), "line": getattr(error, "line", None)}}
    return {"graph": found.to_dict(tagged=True), "problem": None}


def _inputs(canvas: Graph) -> list[Spec | None]:
    specs: list[Spec | None] = []
    for argument in graph_arguments(canvas):
        if not argument.node:
            specs.append(None)
            continue
        node = canvas.nodes[argument.node]
        try:
            specs.append(Spec(tuple(node.params.get("shape", Input.shape)), node.params.get("dtype", Input.dtype)))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the input {node.name!r} has no shape yet: give it one on the canvas") from error
    return specs
