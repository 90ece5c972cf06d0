"""Schema of graph data, and of layers and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypeAliasType

from labdl.lab.messages.base import Answer, object_of

Json = TypeAliasType("Json", "bool | int | float | str | list[Json] | dict[str, Json] | None")
Position = TypeAliasType("Position", tuple[float, float])
Shape = TypeAliasType("Shape", list[int | None])


class NodeData(Answer):
    type: str
    name: str = Field(description="Path of the node's parameters; unique in a graph, a Python identifier.")
    params: dict[str, Json] = Field(
        description="Settings that differ from the schema's default. A float whose type the layer does not declare is "
        '{"float": "2.0"}.'
    )
    shares: str = Field("", description="Id of the node whose layer this one calls again, with its parameters.")


class EdgeData(Answer):
    source: str
    source_port: str
    target: str
    target_port: str


class NoteData(Answer):
    """A note on the canvas."""

    text: str
    home: str = Field(description="Path of the block that holds it; empty for the model itself.")
    color: str = Field(description="Name of a hue, or empty.")
    x: float
    y: float
    width: float
    height: float


class GraphData(Answer):
    version: int
    name: str
    nodes: dict[str, NodeData]
    edges: dict[str, EdgeData]
    positions: dict[str, Position] = Field(description="Lies beside the graph; may lack a node.")
    groups: dict[str, str] = Field({}, description="Class of each module that the paths of names run through.")
    ties: dict[str, str] = Field(
        {}, description="Shared parameters: from a name to the name of the parameter that it is."
    )
    notes: dict[str, NoteData] = Field({}, description="Missing where there are none.")
    read_only: str = Field("", description="Why the file must not be edited.")


if TYPE_CHECKING:
    GraphJson = dict[str, Any]
    FormJson = dict[str, Any]
else:
    GraphJson = object_of(GraphData)


class ParamSchema(Answer):
    """The part of JSON Schema that settings use."""

    model_config = ConfigDict(alias_generator=to_camel)

    type: str | list[str] = ""
    title: str = ""
    description: str = ""
    default: Json = None
    enum: list[Json] = Field([])
    const: Json = None
    any_of: list[ParamSchema] = Field([])
    one_of: list[ParamSchema] = Field([])
    items: ParamSchema = Field(default=None, validate_default=False)  # type: ignore[assignment]
    minimum: float = 0
    maximum: float = 0
    exclusive_minimum: float = 0
    exclusive_maximum: float = 0
    min_items: int = 0
    max_items: int = 0
    properties: dict[str, ParamSchema] = Field({})
    calls: dict[str, ParamSchema] = Field(
        {}, description="Texts such as `normal(std=0.01)`: names of functions, with the schema of their settings."
    )
    required: list[str] = Field([])


if not TYPE_CHECKING:
    FormJson = object_of(ParamSchema)


class InputPort(Answer):
    name: str
    label: str = Field("", description="Name to show where the port's own would not be understood.")
    variadic: bool = Field(description="Takes several edges, in edge order.")
    optional: bool


class OutputPort(Answer):
    name: str
    label: str = ""


class LayerSchema(Answer):
    type: str
    label: str
    category: str
    summary: str
    description: str = Field("", description="The whole docstring; the summary is its first line.")
    palette: bool = Field(description="False for operators that only traced code contains: drawn, but not offered.")
    inputs: list[InputPort]
    outputs: list[OutputPort]
    initial: dict[str, Json] = Field({}, description="Values of a new node for settings that have no default.")
    form: FormJson = Field(alias="schema")


class LayersAnswer(Answer):
    layers: list[LayerSchema]
