"""Public weights of models: loading them under the names of the published implementation, and giving them out again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.errors import ConfigError, ModelError
from labdl.interop.key_map import Keys, rename_keys
from labdl.interop.public_weights import Conversion, Group, PublicNames
from labdl.models.weights.reading import read_weights
from labdl.nn.module import Module
from labdl.nn.schema import is_layer
from labdl.nn.state_dict import LoadReport, to_array

Names = PublicNames | Iterable[Group]


def load_public(
    model: Module,
    weights: Mapping[str, Any] | str | Path,
    names: Names | None = None,
    *,
    strict: bool = True,
    prefix: str = "",
    keys: Keys | None = None,
) -> LoadReport:
    """Load the state dict of a published implementation into a built model; returns the report of `Module.load_state_dict`.

    ``weights`` maps public names to arrays, or to tensors of a framework, or is the path of a file of them (.pth, .bin,
    .safetensors, .pdparams, .ckpt, .npz), in which nothing is executed and which needs no framework. ``names`` is the table
    of names, by default that of the model's class (``public_names``), which models of the zoo have;
    `labdl.interop.public_weights` has the parts of which one is made. ``strict``, ``prefix`` and ``keys`` are those of
    `Module.load_state_dict`, for the public names::

        model = labdl.models.create("resnet18").build()
        load_public(model, "training.pth", prefix="model_ema.")

    Raises ModelError for a model without a table, FileFormatError for a file that is broken or holds code in the place of
    arrays, StateDictError naming what is missing, unexpected or of another shape, and layers of another type than the table
    says; the model is then unchanged.
    """
    converted = convert_public(model, weights, names, prefix=prefix, keys=keys)
    if strict or converted.contradictions or not converted.values:
        return model.load_state_dict(converted.result())
    report = model.load_state_dict(converted.values, strict=False)
    return LoadReport(
        report.loaded, report.missing_keys, [*report.unexpected_keys, *converted.unexpected], report.mismatched
    )


def convert_public(
    model: Module,
    weights: Mapping[str, Any] | str | Path,
    names: Names | None = None,
    *,
    prefix: str = "",
    keys: Keys | None = None,
) -> Conversion:
    """The values of a state dict, or of a file, for a built model, under standard names; arguments are those of `load_public`.

    A parameter file of LabDL has the standard names already.
    """
    if not isinstance(weights, Mapping | str | Path):
        raise ConfigError(
            "weights wants a dictionary of names and arrays, or the path of a file, received "
            f"{type(weights).__name__}: take its state dict, or use labdl.load_checkpoint"
        )
    table = _table(model, names)
    model._need_build()
    table.check_layers({path: type(part).__name__ for path, part in model.named_modules() if is_layer(part)})
    if isinstance(weights, Mapping):
        weights = rename_keys(weights, prefix, keys)
    else:
        weights = read_weights(model, weights, table, prefix=prefix, keys=keys)
        own = {name for name, _ in model.named_parameters()}
        if not own.isdisjoint(weights):
            return Conversion(dict(weights), [], [], [])
    return table.convert({name: to_array(name, value) for name, value in weights.items()})


def public_state_dict(model: Module, names: Names | None = None) -> dict[str, np.ndarray]:
    """The parameters and buffers of a built model under the names and in the shapes of the published implementation.

    The reverse of `load_public`, whose ``names`` it takes. What only counts or repeats there is left out: the number of
    batches of a batch normalization, copies of tied weights. Raises ModelError for a model without a table, StateDictError
    where a parameter has no public name.
    """
    table = _table(model, names)
    table.check_layers({path: type(part).__name__ for path, part in model.named_modules() if is_layer(part)})
    return table.to_public(model.state_dict())


def _table(model: Module, names: Names | None) -> PublicNames:
    if names is None:
        names = getattr(model, "public_names", None)
    if names is None:
        raise ModelError(
            f"{type(model).__name__} has no table of public names: give names=, or the class an attribute public_names"
        )
    return names if isinstance(names, PublicNames) else PublicNames(tuple(names))
