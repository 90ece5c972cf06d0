"""Schema of the requests of the editor and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

from labdl.lab.messages.base import Answer, Request, any_of
from labdl.lab.messages.graph import FormJson, GraphJson, Json


class GraphRequest(Request):
    graph: GraphJson


class CodeAnswer(Answer):
    source: str


class DrawingAnswer(Answer):
    svg: str


class SaveRequest(Request):
    content: GraphJson


class ReadRequest(Request):
    """Python source; with the graph on the canvas its unchanged parts keep their ids and positions."""

    source: str
    graph: GraphJson | None = None


class ReadProblem(Answer):
    message: str
    line: int | None


class ReadAnswer(Answer):
    """The graph of Python source, or why there is none."""

    graph: GraphJson | None
    problem: ReadProblem | None


class ConvertRequest(Request):
    path: str
    overwrite: bool = False


class ConvertAnswer(Answer):
    path: str | None = Field(description="The new model file; null where files in `taken` would be replaced.")
    taken: list[str]


class ExportRequest(Request):
    """A model as ONNX, as source of a framework with its weights, or its weights alone; the answer is the file."""

    path: str
    graph: GraphJson
    format: Literal["onnx", "weights", "mindspore", "paddle", "tensorflow", "torch"]


class SampleRequest(Request):
    path: str
    graph: GraphJson
    backend: str | None = None
    dataset: str | None = None


class SampleCode(Answer):
    code: str
    backend: str


# -- two models


Pair = TypeAliasType("Pair", tuple[Json, Json])


class DiffRequest(Request):
    old: GraphJson
    new: GraphJson


class ChangedNode(Answer):
    old: str
    new: str
    settings: dict[str, Pair]


class Difference(Answer):
    same: dict[str, str] = Field(
        description="Ids of nodes in the old graph, with those of the same nodes in the new one."
    )
    removed: list[str] = Field(description="Ids of the old graph.")
    removed_edges: list[str]
    added: list[str] = Field(description="Ids of the new graph.")
    added_edges: list[str]
    changed: list[ChangedNode]
    renamed: list[tuple[str, str]] = Field(description="Ids in both graphs, of nodes whose names differ.")
    name: tuple[str, str] | None = Field(description="The name of the model.")
    classes: dict[str, Pair] = Field(description="The classes of blocks, by path.")
    ties: dict[str, Pair] = Field(description="Parameters that are another, by name.")


# -- models and classes to start from


class ZooModel(Answer):
    name: str
    task: str
    summary: str
    paper: str
    parameters: int
    form: FormJson = Field(alias="schema", description="Of the settings of the model.")


class ZooAnswer(Answer):
    models: list[ZooModel]


class ZooRequest(Request):
    name: str
    settings: dict[str, Any] | None = None


class KernelClass(Answer):
    """A class of nn.Module in a kernel."""

    name: str
    summary: str
    layer: str | None = Field(description="The type of a registered layer; null for a class made of layers.")
    source: str | None = Field(description="The class and the classes that it needs; null for a layer.")
    problem: str | None = Field(description="Why there is no source.")


class KernelClasses(Answer):
    classes: list[KernelClass]


# -- comm messages of the editor and diff widgets

if TYPE_CHECKING:
    _Id = Any
    _Name = Any
else:
    _Id = any_of(str)
    _Name = any_of(Literal["layers", "layout", "check", "code", "read", "classes", "weights", "sample", "difference"])


class WidgetRequest(Request):
    """A request over a widget's comm; the fields that a request needs depend on its name."""

    model_config = ConfigDict(extra="allow")  # the fields of a LayoutRequest

    type: Literal["request"]
    id: _Id = None
    name: _Name = None
    graph: GraphJson | None = None
    new: GraphJson | None = None
    source: str | None = None
    names: list[str] | None = None

    def fields(self) -> dict[str, Any]:
        """Further fields, not validated."""
        return dict(self.model_extra or {})


class WidgetReply(Answer):
    type: Literal["reply"]
    id: _Id
    result: Any = None
    error: str = Field("", description="Why there is no result.")
