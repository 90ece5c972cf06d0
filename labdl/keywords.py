"""Signatures that show the keywords of ``**options``, so that completion and `help` list them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def show_keywords(*sources: Any, without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Show the keywords of other functions, or the fields of dataclasses, in place of the ``**options`` of a function.

    ``sources`` are where these keywords go; the first that has a name gives its default and annotation. ``without``
    leaves names out. Only the signature changes: the function checks what it receives.
    """

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        listed = {name: p for name, p in own.parameters.items() if p.kind is not p.VAR_KEYWORD}
        for source in sources:
            for parameter in _keywords(source):
                if parameter.name not in listed and parameter.name not in without:
                    listed[parameter.name] = parameter
        function.__signature__ = own.replace(parameters=list(listed.values()))  # type: ignore[attr-defined]
        return function

    return decorate


def _keywords(source: Any) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        p.replace(kind=kind)
        for name, p in inspect.signature(source).parameters.items()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and name != "self" and p.default is not p.empty
    ]
