"""Batches that are dictionaries: entries named as arguments of the model's forward are its inputs, the others the targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.nn.module import Module
from labdl.nn.signature import given_inputs
from labdl.train.data_adapter import flatten


def split_by_name(batch: Mapping[str, Any], model: Module) -> tuple[Any, Any] | None:
    """Inputs and targets of a batch; None if the entries do not cover the arguments that the forward needs.

    One target is an array, several are a dictionary, for a loss of each; entries of text, such as the names of files, are left
    out. Inputs of a model that is not built are a dictionary, see `place_named`.
    """
    names = _names_of_inputs(batch, model)
    if names is None:
        return None
    rest = {name: value for name, value in batch.items() if name not in names and not _is_text(value)}
    targets = next(iter(rest.values()), None) if len(rest) < 2 else rest
    return place_named(model, {name: batch[name] for name in names}), targets


def place_named(model: Module, x: Any) -> Any:
    """Inputs by name as the model was built for them, one or a tuple; as they are without names and for an unbuilt model."""
    if model.unbuilt or not takes_by_name(model, x):
        return x
    values = tuple([x[name] for name, _ in given_inputs(model)])
    return values[0] if len(values) == 1 else values


def takes_by_name(model: Module, x: Any) -> bool:
    """True for a dictionary whose entries are inputs of the model, all that it needs among them."""
    return isinstance(x, Mapping) and {*(_names_of_inputs(x, model) or ())} == x.keys()


def describe_inputs(model: Module, x: Any) -> str:
    """Description of inputs for an error: of a dictionary its entries, and the inputs that the model has."""
    if not isinstance(x, Mapping):
        return type(x).__name__
    names = [a.name for a in model._arguments()] if model.unbuilt else [name for name, _ in given_inputs(model)]
    entries = ", ".join(map(repr, x))
    return f"a dictionary with {entries}, the forward of the model takes {', '.join(map(repr, names)) or 'no names'}"


def _names_of_inputs(batch: Mapping[str, Any], model: Module) -> list[str] | None:
    """The entries that are inputs of the model, in its order; None if one that it needs is missing, or if there is none.

    They are those that it was built with, or arguments of its forward.
    """
    arguments = model._arguments()
    if not model.unbuilt:
        names = [name for name, _ in given_inputs(model)]
        return names if names and all(name in batch for name in names) else None
    names = [argument.name for argument in arguments if argument.name in batch]
    return names if names and all(argument.optional or argument.name in batch for argument in arguments) else None


def _is_text(value: Any) -> bool:
    return any(getattr(getattr(leaf, "dtype", None), "kind", "") in "OSU" for leaf in flatten(value)[0])
