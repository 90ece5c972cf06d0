"""Schema of the check of a graph: shapes, costs, problems and their fixes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from labdl.lab.messages.base import Answer
from labdl.lab.messages.graph import Json, Shape


class TensorSpec(Answer):
    shape: Shape
    dtype: str


class Costs(Answer):
    """Costs of one sample."""

    parameters: int
    operations: int = Field(description="Floating-point operations.")
    memory: int = Field(description="Bytes that training keeps.")


class NodeCheck(Costs):
    outputs: dict[str, TensorSpec]
    problem: str | None


class InsertFix(Answer):
    kind: Literal["insert"]
    edge: str
    type: str
    params: dict[str, Json]


class AddFix(Answer):
    kind: Literal["add"]
    node: str
    port: str
    type: str
    params: dict[str, Json]


class ConnectFix(Answer):
    kind: Literal["connect"]
    node: str
    port: str
    source: str
    source_port: str


class DisconnectFix(Answer):
    kind: Literal["disconnect"]
    edge: str


class SetFix(Answer):
    kind: Literal["set"]
    node: str
    name: str
    value: Json


class RenameFix(Answer):
    kind: Literal["rename"]
    node: str
    name: str


Fix = TypeAliasType(
    "Fix",
    Annotated[
        InsertFix | AddFix | ConnectFix | DisconnectFix | SetFix | RenameFix,
        Field(discriminator="kind", description="A change that fixes a problem, tried out on the shapes."),
    ],
)


class Problem(Answer):
    node: str | None
    edge: str | None
    message: str
    fix: Fix | None


class CheckResult(Costs):
    nodes: dict[str, NodeCheck]
    problems: list[Problem]
    hints: list[Problem] = Field([], description="What works, but is seldom meant.")
