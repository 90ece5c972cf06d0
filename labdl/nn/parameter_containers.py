"""Modules that hold parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter


def _check_parameter(container: Module, value: Any) -> Parameter:
    if not isinstance(value, Parameter):
        raise ConfigError(
            f"{type(container).__name__} holds parameters, such as nn.Parameter((3, 4)), received {type(value).__name__}"
        )
    return value


class ParameterList(Module):
    """A list of parameters that belong to the model; use it where a plain list would hide them.

    Indexing gives the tensors, as an attribute does::

        self.scales = nn.ParameterList(nn.Parameter((8,), "ones") for _ in range(3))
        y = x * self.scales[0]

    Semantics: torch.nn.ParameterList, of parameters only.
    """

    def __init__(self, values: Iterable[Parameter] | None = None):
        self.extend(values or ())

    def append(self, value: Parameter) -> ParameterList:
        """Append a parameter. Returns the list."""
        setattr(self, str(len(self)), _check_parameter(self, value))
        return self

    def extend(self, values: Iterable[Parameter]) -> ParameterList:
        """Append several parameters. Returns the list."""
        for value in list(values):
            self.append(value)
        return self

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in list(self._parameters))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._slice(list(self._parameters)[index])
        return getattr(self, str(range(len(self))[index]))

    def _slice(self, names: list[str]) -> ParameterList:
        part = ParameterList(self._parameters[name] for name in names)
        for at, name in enumerate(names):
            part.__dict__[str(at)] = self.__dict__[name]  # a symbol in a trace, a tensor in a gradient
        return part

    def __iadd__(self, values: Iterable[Parameter]) -> ParameterList:
        return self.extend(values)

    def __setitem__(self, index: int, value: Parameter) -> None:
        setattr(self, str(range(len(self))[index]), _check_parameter(self, value))


class ParameterDict(Module):
    """Parameters by name that belong to the model; use it where a plain dictionary would hide them.

    Indexing gives the tensors, as an attribute does. Semantics: torch.nn.ParameterDict, of parameters only.
    """

    def __init__(self, parameters: Mapping[str, Parameter] | None = None):
        self.update(parameters or {})

    def update(self, parameters: Mapping[str, Parameter]) -> None:
        """Add parameters, or replace those of the same names."""
        for name, value in parameters.items():
            self[name] = value

    def __getitem__(self, name: str) -> Any:
        if name not in self._parameters:
            raise KeyError(name)
        return getattr(self, name)

    def __setitem__(self, name: str, value: Parameter) -> None:
        if not isinstance(name, str) or not name.replace("_", "").isalnum():
            raise ConfigError(f"a name of a ParameterDict has letters, digits and _, received {name!r}")
        if hasattr(ParameterDict, name):
            raise ConfigError(
                f"a ParameterDict cannot hold {name!r}, because it has something of that name: choose another name"
            )
        setattr(self, name, _check_parameter(self, value))

    def __delitem__(self, name: str) -> None:
        if name not in self._parameters:
            raise KeyError(name)
        delattr(self, name)

    def __contains__(self, name) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def keys(self):
        """Names of the parameters."""
        return self._parameters.keys()

    def values(self) -> list[Any]:
        """The tensors, in the order of the names."""
        return [getattr(self, name) for name in self._parameters]

    def items(self) -> list[tuple[str, Any]]:
        """Pairs of names and tensors."""
        return [(name, getattr(self, name)) for name in self._parameters]
