"""Weights of a pretrained model: the arrays of its files, and the parameters that they are."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from labdl.errors import FileFormatError, MissingFileError, StateDictError
from labdl.interop.public_weights import PublicNames
from labdl.models.hub import WEIGHT_FILES
from labdl.models.pretrained.family import Family
from labdl.nn.module import Module


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of a folder's weights under the names in the files; nothing is executed.

    Raises MissingFileError where there are none, FileFormatError for files that are broken or hold code.
    """
    path = next((folder / name for name in WEIGHT_FILES if (folder / name).exists()), None)
    if path is None:
        raise MissingFileError(f"{folder} has no weights: put one of {', '.join(WEIGHT_FILES)} there")
    # models are below saving; this is read when from_pretrained is called
    from labdl.saving.native.file_formats import format_of
    from labdl.saving.native.formats import safetensors, shards, torch, torch_legacy

    readers = {"safetensors": safetensors.read, "torch": torch.read, "legacy": torch_legacy.read}

    def read(file: Path) -> dict[str, np.ndarray]:
        kind = format_of(file)
        if kind not in readers:
            raise FileFormatError("it is a file of another format")
        return readers[kind](file)

    try:
        return shards.read(path, read) if path.name.endswith(shards.SUFFIX) else read(path)
    except FileFormatError as error:
        raise FileFormatError(f"{path.name} cannot be read: {error}") from error.__cause__


def fit_weights(
    model: Module, weights: Mapping[str, np.ndarray], family: Family, names: PublicNames, *, new_head: bool = False
) -> dict[str, np.ndarray]:
    """The values of a model's parameters among the arrays of a file; what only other heads of the family have is left out.

    The model's shapes are known, it need not be built. With ``new_head``, parameters that the file does not have are left out,
    and a warning names them. Raises StateDictError that names missing and unexpected arrays and other shapes.
    """
    own = {name: parameter.standard_shape for name, parameter in model.named_parameters()}
    table = names.convert(_with_base(weights, family, names, own))
    values = {name: value for name, value in table.values.items() if name in own}
    missing = [name for name in own if name not in values and name not in family.optional]
    problems = [*table.contradictions, *(f"unexpected {name:.200}" for name in _unknown(table.unexpected, family))]
    if missing and not (new_head and values):
        problems += [f"missing {name}" for name in table.missing] or [f"missing {name}" for name in missing]
    problems += [
        f"{name} has shape {value.shape}, the config wants {own[name]}"
        for name, value in values.items()
        if value.shape != own[name]
    ]
    if problems:
        more = f"; and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise StateDictError(f"the weights do not fit the config: {'; '.join(problems[:20])}{more}")
    if missing:
        warnings.warn(f"not in the files, and drawn anew: {', '.join(missing[:10])}: train them", stacklevel=3)
    return values


def _unknown(unexpected: list[str], family: Family) -> list[str]:
    """Names that belong to no head of the family."""
    return [name for name in unexpected if not name.startswith(tuple(family.other_heads))]


def _with_base(
    weights: Mapping[str, np.ndarray], family: Family, names: PublicNames, own: Collection[str]
) -> dict[str, np.ndarray]:
    """Weights of a bare model under the names of one with a head, or the reverse: the spelling that fits more parameters."""
    plain = dict(weights)
    if not family.base:
        return plain
    if any(name.startswith(family.base) for name in weights):
        other = {name.removeprefix(family.base): value for name, value in weights.items()}
    else:
        other = {family.base + name: value for name, value in weights.items()}
    return max((plain, other), key=lambda each: sum(name in own for name in names.convert(each).values))
