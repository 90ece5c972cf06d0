"""Inputs of a model in a dictionary, by the names of its forward's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labdl.nn.signature import given_inputs

if TYPE_CHECKING:
    from labdl.nn.module import Module


def place_named(model: Module, x: Any) -> Any:
    """Inputs by name as the model was built for them, one or a tuple; as they are without names and for an unbuilt model."""
    if model.unbuilt or not takes_by_name(model, x):
        return x
    values = tuple([x[name] for name, _ in given_inputs(model)])
    return values[0] if len(values) == 1 else values


def takes_by_name(model: Module, x: Any) -> bool:
    """True for a dictionary whose entries are inputs of the model, all that it needs among them."""
    return isinstance(x, Mapping) and {*(names_of_inputs(x, model) or ())} == x.keys()


def describe_inputs(model: Module, x: Any) -> str:
    """Description of inputs for an error: of a dictionary its entries, and the inputs that the model has."""
    if not isinstance(x, Mapping):
        return type(x).__name__
    names = [a.name for a in model._arguments()] if model.unbuilt else [name for name, _ in given_inputs(model)]
    entries = ", ".join(map(repr, x))
    return f"a dictionary with {entries}, the forward of the model takes {', '.join(map(repr, names)) or 'no names'}"


def names_of_inputs(batch: Mapping[str, Any], model: Module) -> list[str] | None:
    """The entries that are inputs of the model, in its order; None if one that it needs is missing, or if there is none.

    They are those that it was built with, or arguments of its forward.
    """
    arguments = model._arguments()
    if not model.unbuilt:
        names = [name for name, _ in given_inputs(model)]
        return names if names and all(name in batch for name in names) else None
    names = [argument.name for argument in arguments if argument.name in batch]
    return names if names and all(argument.optional or argument.name in batch for argument in arguments) else None
