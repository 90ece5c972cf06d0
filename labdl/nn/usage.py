"""Modules that a model holds but its forward does not use, such as a new head under another name than the old one.

A module counts as used when the forward has called it, or a part of it, during shape inference. It may be used when code of
the model that holds it, or of a model around that, mentions its name: in a branch for training or for an optional input, in
another method. Only the others are reported.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labdl.nn.module import Module

# code with one of these names may reach any module
_ANY = frozenset(
    ("getattr", "vars", "_modules", "__dict__", "modules", "named_modules", "get_modules", "get_module", "attrgetter")
)


def report_idle_modules(model: Module) -> None:
    """Warn about each module that is not used; called at build, after shape inference and before modules are marked built."""
    for path, name, owner in _idle_modules(model, "", frozenset(), set()):
        child, home = owner._modules[name], path or type(model).__name__
        meant = _suggestion(owner, name)
        advice = f"did you mean {meant!r}?" if meant else "call it in forward, or remove it"
        warnings.warn(
            f"{home.replace('/', '.')}.{name}, a {type(child).__name__}, has no effect and is not saved, because the "
            f"forward does not use it: {advice}",
            stacklevel=2,
        )


def _idle_modules(
    module: Module, path: str, around: frozenset[str], seen: set[int]
) -> Iterator[tuple[str, str, Module]]:
    """Path of the owner, name and owner of each unused module; ``around`` are the names in code of the models around."""
    if id(module) in seen:
        return
    seen.add(id(module))
    names = around | _names_in_code(module)
    for name, child in module._modules.items():
        if _in_use(child):
            yield from _idle_modules(child, f"{path}/{name}" if path else name, names, seen)
        elif name not in names and not names & _ANY and not child._ready and not _is_loss(child):
            yield path, name, module


def _in_use(module: Module) -> bool:
    return any(part._set_up or part._parameters for part in module.modules())


def _is_loss(module: Module) -> bool:
    """Whether a module is a loss, which the training function calls."""
    return getattr(module, "layer_task", None) is not None


def _suggestion(owner: Module, name: str) -> str | None:
    """A used module with a similar name, or else the last one of the same class."""
    used = [other for other, module in owner._modules.items() if other != name and _in_use(module)]
    alike = [other for other in used if type(owner._modules[other]) is type(owner._modules[name])]
    near = difflib.get_close_matches(name, used, n=1)
    return near[0] if near else alike[-1] if alike else None


# -- names in code


def _names_in_code(module: Module) -> frozenset[str]:
    """Names that the code of a module mentions, except those that its ``__init__`` sets."""
    own = [value for value in vars(module).values() if callable(value) and not hasattr(value, "_modules")]
    return frozenset().union(_names_in_class(type(module)), *(_names(value, set()) for value in own))


@functools.cache
def _names_in_class(cls: type[Module]) -> frozenset[str]:
    seen: set[int] = set()
    return frozenset(
        name
        for base in cls.__mro__
        if base is not object and base.__module__ != "labdl.nn.module"
        for word, value in vars(base).items()
        for name in (_names_of_init(value) if word == "__init__" else _names(value, seen))
    )


def _names(value: Any, seen: set[int]) -> set[str]:
    """The names in the code of a function, and of functions of the same file that it calls or holds."""
    if id(value) in seen:
        return set()
    seen.add(id(value))
    if isinstance(value, property):
        return set().union(*(_names(f, seen) for f in (value.fget, value.fset) if f is not None))
    function = inspect.unwrap(_function_of(value)) if callable(_function_of(value)) else None
    if not isinstance(function, types.FunctionType):
        return set()
    found = _names_in(function.__code__)
    near: list[Any] = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    near += [function.__globals__[name] for name in found & function.__globals__.keys()]
    for other in near:
        other = _function_of(other)
        if isinstance(other, types.FunctionType) and other.__module__ == function.__module__:
            found |= _names(other, seen)
    return found


def _function_of(value: Any) -> Any:
    """The function in a method, a partial, a cached property and so on."""
    for attribute in ("__func__", "func"):
        if isinstance(inner := getattr(value, attribute, None), types.FunctionType):
            return inner
    return value


def _names_of_init(init: Any) -> set[str]:
    """Names in functions that ``__init__`` defines; its own are of the modules that it creates."""
    if not isinstance(init := inspect.unwrap(init), types.FunctionType):
        return set()
    return set().union(*(_names_in(code) for code in _inner_codes(init.__code__)))


def _names_in(code: types.CodeType) -> set[str]:
    return set(code.co_names).union(*(_names_in(inner) for inner in _inner_codes(code)))


def _inner_codes(code: types.CodeType) -> Iterable[types.CodeType]:
    return (value for value in code.co_consts if isinstance(value, types.CodeType))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
