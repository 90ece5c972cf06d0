"""Modules that hold other modules."""

from __future__ import annotations

from collections.abc import Iterator

from labdl.errors import ConfigError
from labdl.nn.module import Module


class _Listed(Module):
    """Children under the names "0", "1", …"""

    def __init__(self, *modules: Module):
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> None:
        if not isinstance(module, Module):
            raise ConfigError(f"{type(self).__name__} holds modules, received {type(module).__name__}")
        setattr(self, str(len(self._modules)), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: int) -> Module:
        return list(self._modules.values())[index]


class Sequential(_Listed):
    """Modules one after the other: the output of each is the input of the next."""

    def forward(self, x):
        for module in self._modules.values():
            x = module(x)
        return x


class ModuleList(_Listed):
    """A list of modules whose parameters belong to the model; use it where a plain list would hide them."""

    def __init__(self, modules=()):
        super().__init__(*modules)
