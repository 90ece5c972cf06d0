"""Modules that hold other modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from labdl.errors import ConfigError
from labdl.nn.build import mark_unbuilt
from labdl.nn.module import Module


def _check_module(container: Module, module) -> Module:
    if not isinstance(module, Module):
        raise ConfigError(f"{type(container).__name__} holds modules, received {type(module).__name__}")
    return module


class _ModuleSequence(Module):
    """Children under the names "0", "1", …, which follow their positions when the list changes."""

    def __init__(self, *modules: Module):
        self.extend(modules)

    def _replace_all(self, modules: Iterable[Module]) -> None:
        modules = [_check_module(self, m) for m in modules]
        for name in list(self._modules):
            delattr(self, name)
        for at, module in enumerate(modules):
            setattr(self, str(at), module)
        mark_unbuilt(self)

    def append(self, module: Module) -> None:
        setattr(self, str(len(self._modules)), _check_module(self, module))

    def extend(self, modules: Iterable[Module]) -> None:
        for module in modules:
            self.append(module)

    def __iadd__(self, modules: Iterable[Module]):
        self.extend(list(modules))
        return self

    def insert(self, index: int, module: Module) -> None:
        modules = list(self)
        modules.insert(index, module)
        self._replace_all(modules)

    def pop(self, index: int = -1) -> Module:
        """Remove a module, by default the last one, and return it."""
        module = self[index]
        del self[index]
        return module

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index):
        found = list(self._modules.values())[index]
        return type(self)(*found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, module: Module) -> None:
        modules = list(self)
        modules[index] = module
        self._replace_all(modules)

    def __delitem__(self, index) -> None:
        modules = list(self)
        del modules[index]
        self._replace_all(modules)


class Sequential(_ModuleSequence):
    """Modules one after the other: the output of each is the input of the next. A list of them may be given, as in Keras."""

    def __init__(self, *modules: Module | Iterable[Module]):
        listed = modules[0] if len(modules) == 1 and isinstance(modules[0], list | tuple) else modules
        super().__init__(*listed)  # type: ignore[arg-type]

    def forward(self, x):
        for module in self._modules.values():
            x = module(x)
        return x


class ModuleList(_ModuleSequence):
    """A list of modules whose parameters belong to the model; use it where a plain list would hide them."""

    def __init__(self, modules: Iterable[Module] = ()):
        super().__init__(*modules)

    def __getitem__(self, index):
        found = list(self._modules.values())[index]
        return ModuleList(found) if isinstance(index, slice) else found


class ModuleDict(Module):
    """Modules by name whose parameters belong to the model; use it where a plain dictionary would hide them."""

    def __init__(self, modules: Mapping[str, Module] | None = None):
        for name, module in (modules or {}).items():
            self[name] = module

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        if not isinstance(name, str) or not name.replace("_", "").isalnum():
            raise ConfigError(f"a name of a ModuleDict has letters, digits and _, received {name!r}")
        if hasattr(ModuleDict, name):
            raise ConfigError(
                f"a ModuleDict cannot hold {name!r}, because it has something of that name: choose another name"
            )
        setattr(self, name, _check_module(self, module))

    def __delitem__(self, name: str) -> None:
        if name not in self._modules:
            raise KeyError(name)
        delattr(self, name)

    def __contains__(self, name) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()
