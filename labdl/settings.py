"""Settings declared as annotated fields: their validation, JSON Schema for forms, and types of numbers."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
from annotated_types import Ge, Le

from labdl.errors import ConfigError, suggest_name

Amount = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
ANY_FLOAT = "any float"  # metadata of an annotation whose values may be NaN, such as an element of a tensor
LARGEST = 3.4028234663852886e38  # the largest number of float32
INNER: dict[str, Any] = {"form": False}  # metadata of a field that is not in forms: a function or an object


@dataclasses.dataclass(frozen=True)
class Declaration:
    """The annotated settings of a class or a function, and its title in messages.

    ``finite`` rejects infinities and NaN.
    """

    title: str
    annotations: Mapping[str, Any]
    defaults: Mapping[str, Any]  # of settings with a default
    finite: bool = False

    @functools.cached_property
    def _model(self):
        import pydantic  # imported here: it takes longer than the rest of labdl

        config = pydantic.ConfigDict(
            strict=True, extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=not self.finite
        )
        fields: dict[str, Any] = {
            name: (annotation, self.defaults.get(name, ...)) for name, annotation in self.annotations.items()
        }
        return pydantic.create_model(self.title, __config__=config, **fields)

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise ConfigError that names the first wrong setting, the accepted type and the value received."""
        import pydantic

        try:
            # settings are tuples, as in files, also where they are declared as lists
            self._model(**{k: list(v) if type(v) is tuple and k in self._lists else v for k, v in values.items()})
            for name, value in values.items():
                if _has_nan(value) and ANY_FLOAT not in getattr(self.annotations[name], "__metadata__", ()):
                    expectation = describe(self.annotations[name])
                    raise ConfigError(f"{self.title}: {name} wants {expectation}, received {value!r:.200}")
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            if name not in self.annotations:
                known = ", ".join(self.annotations) or "none"
                raise ConfigError(f"{self.title} has no setting {name!r:.80}; its settings: {known}") from None
            cause = first.get("ctx", {}).get("error")
            if isinstance(cause, ConfigError):  # a type with its own check
                raise ConfigError(f"{self.title}: {name}: {cause}") from None
            expectation = describe(self.annotations[name])
            raise ConfigError(f"{self.title}: {name} wants {expectation}, received {values.get(name)!r:.200}") from None

    def schema(self) -> dict[str, Any]:
        """The JSON Schema for forms."""
        form = self._model.model_json_schema(mode="validation")
        return {"type": "object", "properties": form.get("properties", {}), "required": form.get("required", [])}

    @functools.cached_property
    def _alternatives(self) -> dict[str, list[Any]]:
        return {name: alternatives(annotation) for name, annotation in self.annotations.items()}

    @functools.cached_property
    def _lists(self) -> set[str]:
        """The settings that are declared as lists, not as tuples."""
        origins = {name: {get_origin(v) or v for v in found} for name, found in self._alternatives.items()}
        return {name for name, found in origins.items() if list in found and tuple not in found}

    def types_of(self, name: str) -> list[Any]:
        """The alternative types of a setting; empty if it is not declared."""
        return self._alternatives.get(name, [])

    def restore_numbers(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values with integers and floats of the declared types, see `restore_numbers`."""
        return {name: restore_numbers(value, self.types_of(name)) for name, value in values.items()}


def _has_nan(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_nan, value))
    return isinstance(value, float) and value != value


def form_fields(cls: type) -> dict[str, dataclasses.Field]:
    """The settings that a form or a file can hold: all fields but functions and objects."""
    return {f.name: f for f in dataclasses.fields(cls) if f.init and f.metadata.get("form", True)}


@functools.cache
def declaration(cls: type, *, finite: bool = True) -> Declaration:
    """The settings of a dataclass, with its ``title`` if it has one, else its name."""
    # a class of a notebook cell has no module for looking up names: resolve its annotations here
    hints = typing.get_type_hints(cls, include_extras=True)
    found = form_fields(cls)
    defaults = {name: f.default for name, f in found.items() if f.default is not dataclasses.MISSING}
    title = cls.__name__ if "title" in found else getattr(cls, "title", cls.__name__)
    return Declaration(title, {name: hints[name] for name in found}, defaults, finite)


@functools.cache
def declaration_of_function(function: Callable[..., Any], title: str) -> Declaration:
    """The annotated arguments of a function as settings."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    return Declaration(title, {name: hints[name] for name in parameters}, defaults)


def plain_numbers(value: Any) -> Any:
    """A setting with Python's numbers in place of NumPy's scalars, also in lists, tuples and dictionaries."""
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (list, tuple):
        items = [plain_numbers(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return tuple(items) if isinstance(value, tuple) else items
    if type(value) is dict:
        return {key: plain_numbers(item) for key, item in value.items()}
    return value


def set_plain_numbers(settings: Any) -> None:
    """Replace NumPy's scalars among the fields of a dataclass instance, also of a frozen one."""
    for field in dataclasses.fields(settings):
        if field.init and (new := plain_numbers(old := getattr(settings, field.name))) is not old:
            object.__setattr__(settings, field.name, new)


def check(settings: Any) -> None:
    """Check the fields of a dataclass instance, and convert NumPy's scalars in them. Raises ConfigError."""
    set_plain_numbers(settings)
    cls = type(settings)
    declaration(cls).check({name: getattr(settings, name) for name in form_fields(cls)})


def create(cls: type, settings: Mapping[str, Any]) -> Any:
    """``cls(**settings)``, with numbers of the declared types. Raises ConfigError for unknown and missing settings."""
    allowed = [f.name for f in dataclasses.fields(cls) if f.init]
    for name in settings:
        if name not in allowed:
            title, hint = declaration(cls).title, suggest_name(name, allowed)
            raise ConfigError(f"{title} has the settings {', '.join(allowed)}, received {name!r}{hint}")
    missing = [
        f.name
        for f in dataclasses.fields(cls)
        if f.init
        and f.name not in settings
        and f.default is dataclasses.MISSING
        and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ConfigError(f"{cls.__name__} needs {', '.join(missing)}: write {cls.__name__}({missing[0]}=...)")
    return cls(**declaration(cls).restore_numbers(settings))


def settings_schema(cls: type) -> dict[str, Any]:
    """The JSON Schema of a class of settings; ``summary`` is the first line of the docstring."""
    return {
        "type": cls.__name__,
        "summary": (cls.__doc__ or "").partition("\n")[0],
        "schema": declaration(cls).schema(),
    }


# -- annotations


def describe(annotation: Any) -> str:
    """An annotation in words: ``"same", "valid", an integer or a list of 2 integers``."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = [
            f"{word} {getattr(m, key)}"
            for m in args[1:]
            for key, word in (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
            if hasattr(m, key)
        ]
        return f"{describe(args[0])} {' and '.join(bounds)}".strip()
    if origin in (typing.Union, types.UnionType):
        *first, last = (describe(a) for a in args)
        return f"{', '.join(first)} or {last}"
    if origin is Literal:
        return ", ".join(f'"{a}"' for a in args)
    if origin is list:
        return (
            f"a list of {'numbers' if float in alternatives(args[0]) else 'integers' if args[0] is int else 'settings'}"
        )
    if origin is tuple:
        inner = {each for a in args if a is not Ellipsis for each in alternatives(a)}
        kind = "numbers" if float in inner else "texts" if inner == {str} else "integers"
        return f"a list of {kind}" if args[-1] is Ellipsis or get_origin(args[0]) else f"a list of {len(args)} {kind}"
    return {int: "an integer", float: "a number", bool: "true or false", str: "a text", type(None): "nothing"}.get(
        annotation, getattr(annotation, "__name__", str(annotation))
    )


def alternatives(annotation: Any) -> list[Any]:
    """The types that an annotation allows, with unions opened and bounds left out."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return alternatives(args[0])
    if origin in (typing.Union, types.UnionType):
        return [inner for arg in args for inner in alternatives(arg)]
    return [annotation]


def restore_numbers(value: Any, allowed: Sequence[Any]) -> Any:
    """Restore the declared number types of a value from JSON whose writer has one number type.

    JavaScript writes 0.0 as 0, and shared documents hold 3 as 3.0. An integral number becomes a float or an integer if
    ``allowed``, the alternatives of its annotation, allow only one of them; otherwise it is unchanged.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value, allowed)
    if isinstance(value, list | tuple):
        items = [restore_numbers(item, types_at(allowed, at, len(value))) for at, item in enumerate(value)]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        inner = types_of_values(allowed)
        return {key: restore_numbers(item, inner) for key, item in value.items()}
    return value


def is_float(allowed: Sequence[Any]) -> bool:
    """True if a number of these alternative types can only be a float."""
    return float in allowed and int not in allowed and Any not in allowed


def _number(value: int | float, allowed: Sequence[Any]) -> int | float:
    if type(value) in allowed:
        return value
    for choice in allowed:
        if get_origin(choice) is Literal:
            same = [a for a in get_args(choice) if not isinstance(a, bool | str) and a == value]
            if same:
                return same[0]
    if is_float(allowed):
        try:
            return float(value)
        except OverflowError:  # reported by the check of the settings
            return value
    if (
        int in allowed
        and float not in allowed
        and Any not in allowed
        and isinstance(value, float)
        and float.is_integer(value)
    ):
        return int(value)
    return value


def types_at(allowed: Sequence[Any], at: int, length: int) -> list[Any]:
    """The alternative types of an item of a list."""
    found: list[Any] = []
    for choice in allowed:
        if get_origin(choice) not in (tuple, list):
            continue
        args = get_args(choice)
        if get_origin(choice) is list or (len(args) == 2 and args[1] is Ellipsis):
            found += alternatives(args[0])
        elif len(args) == length:
            found += alternatives(args[at])
    return found


def types_of_values(allowed: Sequence[Any]) -> list[Any]:
    """The alternative types of the values of a dictionary."""
    return [
        inner
        for choice in allowed
        if get_origin(choice) in (dict, Mapping)
        for inner in alternatives(get_args(choice)[1])
    ]
