"""Layout of the boxes of a canvas, on request of the front end."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from labdl.errors import ModelError
from labdl.graph.drawing.nested_layout import nested_layout


class LayoutBox(BaseModel):
    """A layer or a folded block of the canvas."""

    model_config = ConfigDict(allow_inf_nan=False)

    name: str = Field(description="path of the layer or block, `encoder/0/linear`")
    width: float = Field(ge=0, le=1e6)
    height: float = Field(ge=0, le=1e6)


class LayoutRequest(BaseModel):
    """The boxes to arrange, by id."""

    nodes: dict[str, LayoutBox]
    edges: list[tuple[str, str]] = Field(description="source and target of each edge")
    frames: list[str] = Field(description="paths of the open blocks, which get a frame")
    direction: Literal["down", "right"]


class LayoutAnswer(BaseModel):
    """Upper left corners by id."""

    positions: dict[str, tuple[float, float]]


def layout(request: dict[str, Any]) -> dict[str, Any]:
    """Positions for the boxes of a `LayoutRequest`, as a `LayoutAnswer`. Raises ModelError where the request is none."""
    try:
        boxes = LayoutRequest.model_validate(request)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ModelError(f"layout: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    clash = next((i for i in boxes.nodes if i.endswith("//")), None)
    if clash is not None:
        raise ModelError(f"layout: no id ends in //, received {clash!r:.80}")
    return {
        "positions": nested_layout(
            {i: (box.name, (box.width, box.height)) for i, box in boxes.nodes.items()},
            boxes.edges,
            boxes.frames,
            direction=boxes.direction,
        )
    }
