"""Loading public weights into a model: as a whole, or all but the head where the model has other classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.errors import StateDictError
from labdl.models.public import convert_public
from labdl.nn.head import can_be_head
from labdl.nn.module import Module
from labdl.nn.state_dict import compare

_MOST = 6  # layers that a warning lists


def load_weights(
    model: Module,
    weights: Mapping[str, Any] | str | Path,
    *,
    title: str,
    classes: int | None = None,
    of_classes: Callable[[], Collection[str]] = tuple,
) -> list[str]:
    """Load a state dict or a file of public names into a built model; returns the paths of heads that were not loaded.

    Everything must fit, with two exceptions. Parts that the model was created without, such as the head of a model with
    ``classes=None`` or an auxiliary head, are left out. With a number of ``classes``, a linear layer or convolution that
    differs in the number of its outputs alone, which here is a multiple of the classes (of the classes and a background),
    keeps its random values, and a warning says so; and so do other parameters whose shape depends on the number of classes,
    as in the heads of detectors, whose names ``of_classes`` gives. A head with `initial_biases` gets those again.

    Raises StateDictError that lists what does not fit; the model is then unchanged.
    """
    try:
        values = convert_public(model, weights).result()
    except StateDictError as error:
        raise StateDictError(f"{title}: {error}") from None
    own = model.get_parameters()
    report = compare(model, values)
    parts = {name.partition("/")[0] for name in own}
    idle = {name for name in report.unexpected_keys if name.partition("/")[0] not in parts}
    heads = _heads_of_other_classes(model, values, report.mismatched, classes)
    if classes is not None and report.mismatched.keys() - {n for n in values if n.rpartition("/")[0] in heads}:
        names = report.mismatched.keys() & set(of_classes())
        paths = {
            name.rpartition("/")[0]: name for name in sorted(names, reverse=True)
        }  # the kernel of a layer, not its bias
        own_sizes = {path: (values[name].shape[-1], own[name].standard_shape[-1]) for path, name in paths.items()}
        heads = {**dict(reversed(own_sizes.items())), **heads}
    used_names = {name for name in values if name not in idle and name.rpartition("/")[0] not in heads}
    problems = report.missing_keys or used_names - own.keys() or used_names & report.mismatched.keys()
    if problems or not heads:
        model.load_state_dict({name: value for name, value in values.items() if name not in idle})
        return []
    model.load_state_dict({name: values[name] for name in used_names}, strict=False)
    _restart_biases(model, heads)
    sizes = ", ".join(
        f"{path} ({before} outputs there, {now} here)" for path, (before, now) in [*heads.items()][:_MOST]
    )
    sizes += f" and {len(heads) - _MOST} more" if len(heads) > _MOST else ""
    warnings.warn(
        f"all but the head is loaded from {title}: {sizes} keeps random values, as classes={classes} asks for",
        stacklevel=3,
    )
    return list(heads)


def _restart_biases(model: Module, heads: Collection[str]) -> None:
    """Give the layers of these paths the biases with which their head begins a training."""
    head = getattr(model, "head", None)
    if hasattr(head, "initial_biases"):
        biases = {f"head/{name}": value for name, value in head.initial_biases().items()}
        biases = {name: value for name, value in biases.items() if name.rpartition("/")[0] in heads}
        model.load_state_dict(biases, strict=False)


def _heads_of_other_classes(
    model: Module, values: Mapping[str, np.ndarray], mismatched: Mapping[str, str], classes: int | None
) -> dict[str, tuple[int, int]]:
    """Layers that differ from the weights in the number of outputs alone: its number in the weights and in the model."""
    heads: dict[str, tuple[int, int]] = {}
    if classes is None:
        return heads
    parameters = model.get_parameters()
    for name in mismatched:
        path = name.rpartition("/")[0]
        there, here = values[name].shape, parameters[name].standard_shape
        if _is_other_count(there, here, classes) and can_be_head(model.get_module(path)):
            heads[path] = there[-1], here[-1]
    # of a head, each parameter has the axis of the classes
    return {path: sizes for path, sizes in heads.items() if _differs_in_all(path, parameters, mismatched)}


def _is_other_count(there: tuple[int, ...], here: tuple[int, ...], classes: int) -> bool:
    """Whether two shapes differ in the last axis alone, here a multiple of the classes, or of these and a background."""
    if not here or len(there) != len(here) or there[:-1] != here[:-1] or there[-1] == here[-1]:
        return False
    return here[-1] % classes == 0 or here[-1] % (classes + 1) == 0


def _differs_in_all(path: str, parameters: Mapping[str, Any], mismatched: Mapping[str, str]) -> bool:
    return all(name in mismatched for name in parameters if name.rpartition("/")[0] == path)
