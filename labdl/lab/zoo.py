"""What the editor asks of the zoo: its models, and the graph of one of them."""

from __future__ import annotations

from typing import Any

from labdl import models  # noqa: F401, for the models register themselves when they are imported
from labdl.graph import trace
from labdl.models import zoo


def listed() -> dict[str, Any]:
    """The models of the zoo, in the order in which their families stand there; none of them is made for it."""
    return {"models": [{"name": m.name, "task": m.task, "summary": m.summary, "paper": m.paper,
                        "parameters": m.parameters, "schema": m.schema()} for m in zoo.ZOO.values()]}  # fmt: skip


def graph(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Graph data of a model of the zoo with these settings. Raises ConfigError, and ModelError where they do not fit."""
    return trace(zoo.create(name, **settings), name=name).to_dict()
