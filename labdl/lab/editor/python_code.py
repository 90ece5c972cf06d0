"""Python source of the editor: parse it as a whole graph or as a fragment."""

from __future__ import annotations

from typing import Any

from labdl.errors import LabDLError, ModelError
from labdl.graph.graph import Graph
from labdl.graph.parsing.grammar import ReadingError
from labdl.graph.parsing.parser import read_draft, read_piece
from labdl.lab.editor.graph_merge import in_place_of
from labdl.spec import Spec

LONGEST = 200_000  # characters; Python's parser stops everything else for about a third of a second at that
SECONDS = 5.0


def read(source: str, graph: dict[str, Any] | None) -> dict[str, Any]:
    """The graph that the source describes, or what cannot be read in it and where: ``graph`` or ``problem`` is None.

    With the canvas's ``graph`` what is still the same keeps ids, places, inputs and their shapes; without one the source may
    be a piece, such as a row of layers, and the answer has no inputs. Nothing but layers and operators is run.
    """
    try:
        if len(source) > LONGEST:
            raise ReadingError(f"the source has {len(source):,} characters, which are more than {LONGEST:,}")
        if graph is None:
            found = read_piece(source, seconds=SECONDS)
            if not found.nodes:
                raise ReadingError("there is no layer in the source")
        else:
            canvas = Graph.from_dict(graph)
            found = in_place_of(canvas, read_draft(source, _inputs(canvas), seconds=SECONDS))
    except LabDLError as error:
        return {"graph": None, "problem": {"message": str(error), "line": getattr(error, "line", None)}}
    return {"graph": found.to_dict(tagged=True), "problem": None}


def _inputs(canvas: Graph) -> list[Spec]:
    specs = []
    for node_id in canvas.inputs():
        node = canvas.nodes[node_id]
        try:
            specs.append(Spec(tuple(node.params["shape"]), node.params.get("dtype", "float32")))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the input {node.name!r} has no shape yet: give it one on the canvas") from error
    return specs
