"""Layout of the boxes of a canvas, on request of the front end."""

from __future__ import annotations

from typing import Any

from labdl.errors import ModelError
from labdl.graph.drawing.nested_layout import nested_layout
from labdl.lab.messages.layout import LayoutRequest


def layout(request: LayoutRequest) -> dict[str, Any]:
    """Positions for the boxes of a request, as a `LayoutAnswer`. Raises ModelError for an id that a frame would have."""
    clash = next((i for i in request.nodes if i.endswith("//")), None)
    if clash is not None:
        raise ModelError(f"layout: no id ends in //, received {clash!r:.80}")
    return {
        "positions": nested_layout(
            {i: (box.name, (box.width, box.height)) for i, box in request.nodes.items()},
            request.edges,
            request.frames,
            direction=request.direction,
        )
    }
