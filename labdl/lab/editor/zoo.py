"""Models of the zoo for the editor: their list, and the graph of one."""

from __future__ import annotations

from typing import Any

from labdl import models  # noqa: F401, for the models register themselves when they are imported
from labdl.graph import trace
from labdl.models import zoo


def models_list() -> dict[str, Any]:
    """List the models of the zoo, sorted by task, those of a family together, without building any."""
    return {
        "models": [
            {
                "name": m.name,
                "task": m.task,
                "summary": m.summary,
                "paper": m.paper,
                "parameters": m.parameters,
                "schema": m.schema(),
            }
            for m in sorted(zoo.ZOO.values(), key=lambda m: m.task)
        ]
    }


def graph(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Graph data of a zoo model with these settings. Raises ConfigError, and ModelError for settings that do not fit."""
    return trace(zoo.create(name, **settings), name=name).to_dict(tagged=True)
