"""Annex B.7: operations on data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labdl import ops
from labdl.errors import ConfigError
from labdl.standard import validation


@dataclass(frozen=True)
class DataOperator:
    """An operation on parts of a sample or a batch, named by ``on``; created by `construct_operator`."""

    function: Callable | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    on: tuple[str, ...] = ("inputs",)

    def __call__(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Apply the operation to its parts of the data."""
        result = dict(data)
        for key in self.on if self.function else ():
            if key not in result:
                raise ConfigError(f"the operator works on {key!r}, the data have {', '.join(result) or 'nothing'}")
            result[key] = self.function(result[key], **self.settings)  # type: ignore[misc]
        return result


def construct_operator(op_config: Mapping[str, Any] | None = None) -> DataOperator:
    """An operation on data (B.7.1, table B.17).

    ``op_config`` has the ``name`` of an operator of `labdl.ops` or a function, the keys ``on`` of the data that
    it applies to (default: "inputs"), and the settings of the operator: ``{"name": "clip", "min": 0.0, "max": 1.0}``. Without
    it, the operation is the identity. Raises ConfigError for a name or a setting that does not exist.
    """
    if op_config is None:
        return DataOperator()
    config = validation.read(op_config, "op_config", needed=("name",))
    name, on = config.pop("name"), config.pop("on", "inputs")
    keys = (on,) if isinstance(on, str) else tuple(on)
    if callable(name):
        return DataOperator(name, config, keys)
    if name not in ops.OPERATORS:
        raise ConfigError(
            f"op_config: name wants an operator of labdl.ops such as 'clip', or a function, received {name!r}"
        )
    own = list(ops.OPERATORS[name].signature.parameters.values())[1:]
    unknown = [key for key in config if key not in [p.name for p in own]]
    missing = [p.name for p in own if p.default is p.empty and p.name not in config]
    if unknown or missing:
        raise ConfigError(
            f"op_config: {name} has the settings {', '.join(p.name for p in own) or '(none)'}, "
            f"{f'received {unknown[0]!r}' if unknown else f'{missing[0]} is missing'}"
        )
    function = getattr(ops, name)
    places = [config.pop(p.name) for p in own if p.kind is p.POSITIONAL_ONLY]
    return DataOperator((lambda x, **named: function(x, *places, **named)) if places else function, config, keys)


def operate(operator: DataOperator, indata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Apply an operation to data such as ``{"inputs": …, "targets": …}``; ``indata`` is not changed (B.7.2, table B.18)."""
    validation.check_instance(operator, DataOperator, "operate", "construct_operator")
    return operator({} if indata is None else validation.read(indata, "indata"))
