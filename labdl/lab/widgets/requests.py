"""Requests of the editor and diff widgets over their comms, and the replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labdl.errors import ConfigError
from labdl.lab.messages.base import read, write
from labdl.lab.messages.editor import WidgetReply, WidgetRequest
from labdl.translation import translate_answer


def reply_to(
    content: dict[str, Any], answer: Callable[[WidgetRequest], dict[str, Any]], *, language: str
) -> dict[str, Any]:
    """The reply to a request: the result of ``answer``, or the message of what it raises, in ``language``."""
    reply = {"type": "reply", "id": content.get("id")}
    try:
        reply["result"] = answer(read(WidgetRequest, content))
    except Exception as error:  # shown in the editor
        reply["error"] = str(error) or type(error).__name__
    return translate_answer(write(WidgetReply, reply), language)


def graph_of(request: WidgetRequest) -> dict[str, Any]:
    """The graph data of a request. Raises ConfigError if it is missing."""
    if request.graph is None:
        raise ConfigError(f"{request.name!r:.80} needs a graph")
    return request.graph
