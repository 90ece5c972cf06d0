"""Traits that operators inherit from their shape rule: promotion of operands, and layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

Layout = Literal["elementwise", "axis", "index_reduction", "pad", "getitem", "take", "permute_dims"]

Rule = TypeVar("Rule", bound=Callable)


def promoting(rule: Rule) -> Rule:
    """Decorator of a shape rule whose operators promote their free operands to one dtype."""
    rule.promotes = True  # type: ignore[attr-defined]
    return rule


def layout(kind: Layout) -> Callable[[Rule], Rule]:
    """Decorator of a shape rule: how its operators support a channels-last layout (see `labdl.ops.channels_last`).

    "elementwise": each element of the result is computed from one element of each tensor, after broadcasting; "axis": the
    result has as many axes as the tensor, and ``axis`` is its special one; other values name a rule.
    """

    def mark(rule: Rule) -> Rule:
        rule.layout = kind  # type: ignore[attr-defined]
        return rule

    return mark
