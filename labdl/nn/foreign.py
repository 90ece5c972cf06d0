"""Layers and losses under their names in other frameworks."""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from labdl.errors import ConfigError, suggest_name
from labdl.interop import names
from labdl.interop.names import Reading
from labdl.interop.names.entry import Entry, Step, parse_signature
from labdl.nn.containers import Sequential
from labdl.nn.module import Module


class ForeignLayer:
    """A layer under its name in another framework: a call with that framework's arguments creates LabDL's layer.

    It is no class of its own: ``isinstance``, ``issubclass`` and annotations stand for LabDL's layer, and files store that.
    """

    def __init__(self, name: str, readings: tuple[Reading, ...]):
        self.__name__ = self.__qualname__ = name
        self.__module__ = "labdl.nn"
        self.__doc__ = "\n".join(map(describe, readings))
        self.__signature__ = parse_signature(readings[0].entry.signature)
        self.readings = readings

    def __call__(self, *args, **kwargs) -> Module:
        """LabDL's layer. Raises ConfigError for arguments that no framework takes, or that two understand differently."""
        found: dict[str, tuple[Reading, Module]] = {}
        errors: list[ConfigError] = []
        for reading in self.readings:
            try:
                module = create(reading, args, kwargs)
            except ConfigError as error:
                errors.append(error)
            else:
                found.setdefault(repr(module), (reading, module))
        if not found:
            raise ConfigError("; ".join(map(str, errors)))
        if len(found) > 1:
            meanings = " and ".join(f"nn.{text} as {reading}" for text, (reading, _) in found.items())
            raise ConfigError(f"nn.{self.__name__} with these arguments is {meanings}: write which one you mean")
        return next(module for _, module in found.values())

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._own())

    def __subclasscheck__(self, cls: type) -> bool:
        return issubclass(cls, self._own())

    def __or__(self, other: Any) -> Any:
        return functools.reduce(operator.or_, (*self._own(), other))

    def __ror__(self, other: Any) -> Any:
        return functools.reduce(operator.or_, (other, *self._own()))

    def _own(self) -> tuple[type[Module], ...]:
        """LabDL's layers that the name stands for."""
        ours = dict.fromkeys(reading.entry.ours for reading in self.readings if reading.entry.ours)
        return tuple(getattr(_namespace(), name) for name in ours)

    def __mro_entries__(self, bases: tuple) -> tuple:
        wanted = " or ".join(dict.fromkeys(f"nn.{reading.entry.ours}" for reading in self.readings))
        raise TypeError(f"nn.{self.__name__} is a name for {wanted}: inherit from that, whose arguments may differ")

    def __reduce__(self):
        return find, (self.__name__,)

    def __repr__(self) -> str:
        return f"<labdl.nn.{self.__name__}: {self.__doc__}>"


def _namespace() -> Any:
    return sys.modules["labdl.nn"]


@functools.cache
def find(name: str) -> ForeignLayer:
    """The layer of a foreign name. Raises AttributeError, which names LabDL's layer and the difference, for another one."""
    readings = names.readings(name)
    equal = tuple(reading for reading in readings if reading.entry.equal)
    if equal:
        return ForeignLayer(name, equal)
    raise AttributeError(unknown_name_message(name, readings))


def unknown_name_message(name: str, readings: tuple[Reading, ...] = ()) -> str:
    """Why a name is none of `labdl.nn`: how LabDL's layer differs, or names like it."""
    if readings:
        return f"labdl.nn has no {name}. " + " ".join(map(describe, readings))
    known = [*_namespace().__all__, *(word for each in names.FRAMEWORKS for word in names.classes(each))]
    return f"labdl.nn has no {name!r}{suggest_name(name, known)}"


def describe(reading: Reading) -> str:
    """A sentence: what a class of another framework is in LabDL."""
    ours, differs = reading.entry.ours, reading.entry.difference
    if not ours:
        return f"There is none for {reading}: {differs}." if differs else f"{reading} is a layer of LabDL."
    return f"{reading} is nn.{ours}" + (f", which differs: {differs}." if differs else ".")


def check_order(kind: str, names: Sequence[str], args: tuple, kwargs: dict[str, Any]) -> None:
    """Raise ConfigError where positional arguments of LabDL's layer mean something else in PyTorch's class of the same name.

    ``names`` are LabDL's settings in order. ``nn.Conv2d(3, 16, 3)`` would be 3 filters of size 16.
    """
    theirs = other_meaning(kind, names, args, kwargs)
    if theirs is not None:
        ours = ", ".join(f"{name}={value!r}" for name, value in (*zip(names, args, strict=False), *kwargs.items()))
        raise ConfigError(
            f"nn.{kind}({_show_call(args, kwargs)}): this is nn.{kind}({ours}), but {theirs}; write the one that you mean, "
            "with the names of the arguments"
        )


def other_meaning(kind: str, names: Sequence[str], args: tuple, kwargs: Mapping[str, Any] | None = None) -> str | None:
    """How PyTorch's class of the same name understands these arguments, if otherwise than LabDL's layer."""
    own = dict(zip(names, args, strict=False))
    for reading in _readings_of_torch(kind):
        if not reading.entry.equal:
            return f"{reading} takes other arguments" if reading.entry.other_order and len(args) > 1 else None
        shared = kwargs if kwargs and reading.entry.argument_names(args, kwargs) else {}  # others are LabDL's own
        try:
            meant = reading.entry.translate(args, shared)[0][1]
            _build((kind, meant))
        except ConfigError:  # PyTorch's class does not take them
            return None
        if all(meant.get(name) == value for name, value in own.items()):
            return None
        return f"{reading} with these arguments is {_write((kind, meant), reading.entry, args, shared)}"
    return None


def explain_arguments(kind: str, args: tuple, kwargs: Mapping[str, Any], *, refusals: bool) -> str:
    """The call in LabDL for arguments of another framework's class of the same name; "" if there is none.

    PyTorch's meaning stands alone, as in `names.readings`. ``refusals`` are reasons why a class's arguments have no equivalent.
    """
    found: dict[str, Reading] = {}
    refused: list[str] = []
    for framework in names.FRAMEWORKS:
        entry = names.classes(framework).get(kind)
        if entry is None or entry.ours != kind:
            continue
        reading = Reading(framework, kind, entry)
        try:
            text = _explain(reading, args, kwargs)
        except ConfigError as error:
            refused.append(str(error))
            continue
        if text:
            found.setdefault(text, reading)
            if framework == names.FOLLOWED:
                break
    told = [f"{reading} with these arguments is {text}" for text, reading in found.items()]
    return "; ".join(told or refused[: int(refusals)])


def _explain(reading: Reading, args: tuple, kwargs: Mapping[str, Any]) -> str | None:
    """A call of a class as that of LabDL's layer of the same name; None if the class does not take the arguments.

    Raises ConfigError for arguments without an equivalent.
    """
    kind, entry = reading.entry.ours, reading.entry
    if entry.equal:
        if entry.argument_names(args, kwargs) is None:
            return None
        create(reading, args, dict(kwargs))
        return " and ".join(_write(step, entry, args, kwargs) for step in entry.translate(args, kwargs))
    if not entry.rules.keys() & kwargs.keys() and not (entry.other_order and len(args) > 1):
        return None
    settings = entry.rename(kwargs)
    if args or not settings.keys() <= _defaults(kind).keys():
        raise ConfigError(describe(reading).removesuffix("."))
    return f"{_call(kind, settings)}, which differs: {entry.differs}"


def _write(step: Step, entry: Entry, args: tuple, kwargs: Mapping[str, Any]) -> str:
    """A step of the translation of a call as source, without defaults that the call does not give."""
    kind, settings = step
    told = {rule for rule in map(entry.rule, entry.argument_names(args, kwargs) or ()) if isinstance(rule, str)}
    defaults = _defaults(kind)
    kept = [n for n in defaults if n in settings and (n in told or settings[n] != defaults[n])]
    return _call(kind, {name: settings[name] for name in kept})


def _call(kind: str, settings: Mapping[str, Any]) -> str:
    return f"nn.{kind}({_show_call((), settings)})"


def _show_call(args: tuple, kwargs: Mapping[str, Any]) -> str:
    return ", ".join([*(f"{value!r:.200}" for value in args), *(f"{n}={value!r:.200}" for n, value in kwargs.items())])


def _defaults(kind: str) -> dict[str, Any]:
    return {f.name: f.default for f in dataclasses.fields(getattr(_namespace(), kind)) if f.init}


def _readings_of_torch(kind: str) -> list[Reading]:
    """PyTorch's class with the name of a layer of LabDL, if there is one."""
    return [
        reading
        for reading in names.readings(kind)
        if reading.framework == names.FOLLOWED and reading.entry.ours == kind
    ]


def create(reading: Reading, args: tuple, kwargs: dict[str, Any]) -> Module:
    """LabDL's layer for a call of a class of another framework; several, one after the other, become a Sequential.

    Raises ConfigError.
    """
    try:
        modules = [_build(step) for step in reading.entry.translate(args, kwargs)]
    except ConfigError as error:
        raise ConfigError(f"{reading}: {error}") from error
    return modules[0] if len(modules) == 1 else Sequential(*modules)


def _build(step: Step) -> Module:
    kind, settings = step
    return getattr(_namespace(), kind)(**settings)
