"""Batches that are dictionaries: entries named as arguments of the model's forward are its inputs, the others the targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.nn.module import Module
from labdl.nn.named_inputs import names_of_inputs, place_named
from labdl.train.data_adapter import flatten


def split_by_name(batch: Mapping[str, Any], model: Module) -> tuple[Any, Any] | None:
    """Inputs and targets of a batch; None if the entries do not cover the arguments that the forward needs.

    One target is an array, several are a dictionary, for a loss of each; entries of text, such as the names of files, are left
    out. Inputs of a model that is not built are a dictionary, see `place_named`.
    """
    names = names_of_inputs(batch, model)
    if names is None:
        return None
    rest = {name: value for name, value in batch.items() if name not in names and not _is_text(value)}
    targets = next(iter(rest.values()), None) if len(rest) < 2 else rest
    return place_named(model, {name: batch[name] for name in names}), targets


def _is_text(value: Any) -> bool:
    return any(getattr(getattr(leaf, "dtype", None), "kind", "") in "OSU" for leaf in flatten(value)[0])
