"""Schema of the layout of a canvas."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from labdl.lab.messages.base import Answer, Request


class LayoutBox(Request):
    """A layer or a folded block of the canvas."""

    model_config = ConfigDict(allow_inf_nan=False)

    name: str = Field(description="path of the layer or block, `encoder/0/linear`")
    width: float = Field(ge=0, le=1e6)
    height: float = Field(ge=0, le=1e6)


class LayoutRequest(Request):
    """The boxes to arrange, by id."""

    nodes: dict[str, LayoutBox]
    edges: list[Annotated[tuple[str, str], Field(strict=False)]] = Field(description="source and target of each edge")
    frames: list[str] = Field(description="paths of the open blocks, which get a frame")
    direction: Literal["down", "right"]


class LayoutAnswer(Answer):
    """Upper left corners by id."""

    positions: dict[str, tuple[float, float]]
