"""Values of a model's parameters by standard name: `Module.state_dict` and `Module.load_state_dict`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.errors import StateDictError
from labdl.interop.key_map import Keys, rename_keys
from labdl.nn.parameter import Parameter

if TYPE_CHECKING:
    from labdl.nn.module import Module

_MOST = 20  # entries of a list in a message


@dataclass(frozen=True)
class LoadReport:
    """Result of `Module.load_state_dict`, by the standard names of the model.

    ``loaded`` are the parameters that were set. ``missing_keys`` are those without a value, ``unexpected_keys`` values without
    a parameter, and ``mismatched`` says of the values that do not fit their parameter why not; these three are empty unless
    strict=False. As in PyTorch, ``missing, unexpected = model.load_state_dict(...)`` works.
    """

    loaded: list[str]
    missing_keys: list[str]
    unexpected_keys: list[str]
    mismatched: dict[str, str]

    def __iter__(self) -> Iterator[list[str]]:
        return iter((self.missing_keys, self.unexpected_keys))

    def __str__(self) -> str:
        lines = [f"{len(self.loaded)} parameters set"]
        for what, names in (("missing", self.missing_keys), ("unexpected", self.unexpected_keys)):
            lines += [f"{what}: {_some(names)}"] if names else []
        lines += [f"{name} {why}" for name, why in self.mismatched.items()]
        return "\n".join(lines)

    __repr__ = __str__


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def state_dict(model: Module) -> dict[str, np.ndarray]:
    """See `Module.state_dict`."""
    return {
        path: p.to_standard(dispatch.owner(p.value).to_numpy(p.value).copy()) for path, p in model.named_parameters()
    }


def load_state_dict(
    model: Module, values: Mapping[str, Any], names: str, strict: bool, prefix: str, keys: Keys | None
) -> LoadReport:
    """See `Module.load_state_dict`."""
    named = rename_keys(values, prefix, keys)
    arrays = {key: to_array(key, value) for key, value in named.items() if fnmatchcase(key, names)}
    report = compare(model, arrays, names)
    chosen = fitting(model, arrays, names, strict)
    for key, parameter in chosen.items():
        array = parameter.from_standard(arrays[key]).astype(parameter.array_dtype, copy=False)
        dispatch.owner(parameter.value).assign(parameter.value, array)
    if report.mismatched:
        kept = [f"{name} {why}" for name, why in report.mismatched.items()]
        warnings.warn(
            f"{len(kept)} parameters of {type(model).__name__} keep their values: {_some(kept)}", stacklevel=3
        )
    return report


def to_array(name: str, value: Any) -> np.ndarray:
    """A value of a state dict as an array: an array, a number, or a tensor of a framework on any device."""
    owner = None if isinstance(value, np.ndarray) else dispatch.owner_of_type(type(value))
    array = np.asarray(value if owner is None else owner.to_numpy(value))
    if array.dtype == object:
        raise StateDictError(f"{name} is of the type {type(value).__name__}, not an array")
    return array


def compare(model: Module, given: Mapping[str, Any], names: str = "*") -> LoadReport:
    """Match arrays, or Specs, to the parameters whose name fits a pattern."""
    own = {key: p for key, p in model.named_parameters() if fnmatchcase(key, names)}
    wrong = {key: why for key, p in own.items() if key in given and (why := _misfit(given[key], p))}
    return LoadReport(
        [key for key in own if key in given and key not in wrong],
        [key for key in own if key not in given],
        [key for key in given if key not in own],
        wrong,
    )


def fitting(model: Module, given: Mapping[str, Any], names: str = "*", strict: bool = True) -> dict[str, Parameter]:
    """Parameters that arrays, or Specs, are for. Raises StateDictError, with ``strict`` for anything that does not match."""
    report = compare(model, given, names)
    problems = []
    if strict:
        problems = [f"missing {key}" for key in report.missing_keys]
        problems += [f"unexpected {key}" for key in report.unexpected_keys]
        problems += [f"{key} {why}" for key, why in report.mismatched.items()]
    if not report.loaded and not problems and (names != "*" or given):
        problems = [f"{key} {why}" for key, why in report.mismatched.items()]
        problems.append(f"there is nothing to set: no parameter named as in the values matches {names!r}")
    if problems:
        more = f"; and {len(problems) - _MOST} more" if len(problems) > _MOST else ""
        advice = _advice(report)
        raise StateDictError(
            f"parameters do not match {type(model).__name__}: {'; '.join(problems[:_MOST])}{more}{advice}"
        )
    own = model.get_parameters()
    return {key: own[key] for key in report.loaded}


def _misfit(given: Any, parameter: Parameter) -> str:
    if given.shape != parameter.standard_shape:
        return f"has shape {given.shape}, the model wants {parameter.standard_shape}"
    return "" if parameter.takes(given.dtype) else f"holds {given.dtype}, the model wants {parameter.dtype}"


def _advice(report: LoadReport) -> str:
    """A sentence of advice where the names differ as a whole."""
    missing, unexpected = report.missing_keys, report.unexpected_keys
    if not missing or not unexpected:
        return ""
    ends = [key[: -len(missing[0])] for key in unexpected if key.endswith(missing[0])]
    if ends and sum(key.startswith(ends[0]) for key in unexpected) == len(unexpected):
        return f". The given keys begin with {ends[0]!r}: load_state_dict(values, prefix={ends[0]!r}) removes it"
    starts = [key[: -len(unexpected[0])] for key in missing if key.endswith(unexpected[0])]
    if starts and all(key.startswith(starts[0]) for key in missing):
        return f". The model's names begin with {starts[0]!r}: load_state_dict(values, keys={{'*': '{starts[0]}*'}}) adds it"
    if not any(key.endswith(":0") for key in unexpected):
        return (
            ". The given keys are not names of LabDL: labdl.load_checkpoint(model, file) reads a framework's checkpoint, "
            "labdl.models.load_public(model, values) public names"
        )
    return ""
