"""Registration of layers: annotated classes, validation of their hyper-parameters, and their JSON Schema."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar, dataclass_transform, overload

from labdl.errors import ArgumentError, ConfigError, suggest_name
from labdl.nn.module import Module
from labdl.nn.setting_descriptions import add_settings, describe_settings
from labdl.ops.operator import OPERATORS, Operator, Sample
from labdl.settings import Declaration, declaration, plain_numbers
from labdl.signature import show_plain_types

Task = Literal[  # of a loss or a metric
    "classification",
    "binary classification",
    "multilabel classification",
    "regression",
    "segmentation",
    "detection",
    "keypoints",
    "restoration",
    "sequence",
    "similarity",
    "distillation",
]
Kind = TypeVar("Kind", bound=type[Module])
LAYERS: dict[str, type[Module]] = {}  # by type, the name of a layer in files and graphs
_NAMESPACE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*)?")


@dataclasses.dataclass(frozen=True)
class Port:
    """A named input of a layer."""

    name: str
    variadic: bool = False
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Example:
    """Hyper-parameters and inputs of a layer for docs and tests."""

    params: dict[str, Any]
    inputs: tuple[Sample, ...]


@overload
def layer(cls: Kind, /) -> Kind: ...


@overload
def layer(
    example: dict[str, Any] | None = None,
    *inputs: Sample,
    outputs: tuple[str, ...] = ...,
    category: str | None = None,
    namespace: str | None = None,
    task: Task | None = None,
) -> Callable[[Kind], Kind]: ...


@dataclass_transform(eq_default=False)
def layer(
    example: Any = None,
    *inputs: Sample,
    outputs: tuple[str, ...] = ("output",),
    category: str | None = None,
    namespace: str | None = None,
    task: Task | None = None,
) -> Any:
    """Register a layer: its annotated fields become hyper-parameters, the fields of its form and the columns of the file.

    ``example`` and ``inputs`` are used by docs and tests. Its category in the palette is the name of its file, unless
    ``category`` is given. In files a layer of the package acme is called "acme.Scale", one of a notebook or a script
    "Scale"; ``namespace`` replaces the package's name, "" omits it. ``task`` is that of a loss.
    ``@layer`` without parentheses is the same as ``@layer()``. Raises ConfigError for a name that another class has.
    """

    given: dict[str, Any] = {} if example is None or isinstance(example, type) else example

    def register(cls: Kind) -> Kind:
        cls = show_plain_types(dataclasses.dataclass(eq=False, repr=False)(cls))
        original_init = cls.__init__

        @functools.wraps(original_init)
        def __init__(self, *args, **kwargs):  # noqa: N807
            try:
                original_init(self, *_to_tuples(args), **{k: _to_tuples(v) for k, v in kwargs.items()})
            except TypeError:
                misfit = _misfit(cls, original_init, args, kwargs)
                if misfit is None:  # raised by a class's own __init__
                    raise
                raise ArgumentError(misfit) from None
            if args and own:
                from labdl.nn.foreign import check_order  # imported lazily: it reads the tables of names

                check_order(type(self).__name__, list(fields(type(self))), args, kwargs)
            settings = layer_declaration(type(self))  # of a class that inherits from the layer, under its own name
            values = {name: getattr(self, name) for name in settings.annotations}
            try:
                settings.check(values)
            except ConfigError as error:
                meaning = _meaning_elsewhere(cls, args, kwargs) if args else ""
                if not meaning:
                    raise
                raise ConfigError(f"{error}; {meaning}") from None
            for name, value in settings.restore_numbers(values).items():
                if value is not values[name]:
                    object.__setattr__(self, name, value)

        cls.__init__ = __init__
        cls._describe = _describe  # type: ignore[method-assign]
        cls.layer_doc = inspect.cleandoc(cls.__doc__ or "")  # type: ignore[attr-defined]
        own = _is_own(cls)
        described = describe_settings(cls.__name__, cls.layer_doc, fields(cls)) if own else {}  # type: ignore[attr-defined]
        cls.setting_descriptions = described  # type: ignore[attr-defined]
        cls.__doc__ = add_settings(cls.layer_doc, described)  # type: ignore[attr-defined]
        cls.layer_category = category or (cls.__module__.split(".")[2] if own else "custom")  # type: ignore[attr-defined]
        cls.layer_task = task or getattr(cls, "layer_task", None)  # type: ignore[attr-defined]
        cls.layer_outputs = outputs  # type: ignore[attr-defined]
        cls.layer_example = Example(given, inputs)  # type: ignore[attr-defined]
        cls.layer_type = _choose_type_name(cls, namespace)  # type: ignore[attr-defined]
        LAYERS[cls.layer_type] = cls  # type: ignore[attr-defined]
        return cls

    return register(example) if isinstance(example, type) else register


def _misfit(cls: type[Module], init: Callable, args: tuple, kwargs: dict[str, Any]) -> str | None:
    """Why arguments do not fit the settings of a layer, and what to write; None if they do."""
    try:
        inspect.signature(init).bind(None, *args, **kwargs)
    except TypeError as error:
        known, title = list(fields(cls)), f"nn.{cls.__name__}" if _is_own(cls) else cls.__name__
        unknown = next((name for name in kwargs if name not in known), None)
        twice = next((name for name in known[: len(args)] if name in kwargs), None)
        reason = f"{title}: {error}"
        if unknown is not None:
            reason = f"{title} has no argument {unknown!r}"
        elif twice is not None:
            reason = f"{title} is given {twice!r} twice, by place and by name"
        meaning = _meaning_elsewhere(cls, args, kwargs, refusals=True)
        advice = suggest_name(unknown, known) or f"; its arguments are {', '.join(known) or 'none'}"
        return f"{reason}; {meaning}" if meaning else reason + advice
    return None


def _is_own(cls: type[Module]) -> bool:
    return cls.__module__.startswith("labdl.nn.")


def _meaning_elsewhere(cls: type[Module], args: tuple, kwargs: dict[str, Any], *, refusals: bool = False) -> str:
    from labdl.nn.foreign import explain_arguments  # imported lazily: it reads the tables of names

    return explain_arguments(cls.__name__, args, kwargs, refusals=refusals) if _is_own(cls) else ""


def _choose_type_name(cls: type[Module], namespace: str | None) -> str:
    home = re.sub(r"\W", "_", cls.__module__.partition(".")[0], flags=re.ASCII)
    space = ("" if home in ("labdl", "__main__") else home) if namespace is None else namespace
    if not _NAMESPACE.fullmatch(space) or space.partition(".")[0] == "ops":  # "ops." is the prefix of operators
        raise ConfigError(
            f'{cls.__name__} cannot have the namespace {space!r}: write @nn.layer(..., namespace="mine") with a word '
            "of letters, digits and _, which is not ops"
        )
    name = f"{space}.{cls.__name__}" if space else cls.__name__
    other = LAYERS.get(name)
    if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ConfigError(
            f"the layer {other.__qualname__} of {other.__module__} is registered as {name!r} already: give this one another "
            'name, or a namespace with @nn.layer(..., namespace="mine")'
        )
    return name


def is_layer(module: Module) -> bool:
    """Whether the class of a module is itself a registered layer, not only a subclass of one."""
    return LAYERS.get(getattr(type(module), "layer_type", "")) is type(module)


def unknown_type_message(kind: str) -> str:
    """Error message for a type that is not registered."""
    space, _, word = kind.rpartition(".")
    if space == "ops":
        return f"layer type {kind!r} is unknown: there is no operator {word}, so upgrade labdl or check the spelling"
    namesakes = [name for name, cls in LAYERS.items() if cls.__name__ == word]
    if namesakes:
        return (
            f"layer type {kind!r} is unknown, though there is {namesakes[0]!r}: to use that class, register it with "
            f"@nn.layer(..., namespace={space!r})"
        )
    if space:
        return f"layer type {kind!r} is unknown: import the module of {space} that defines the class {word} first"
    return (
        f"layer type {kind!r} is unknown: define its class with @nn.layer or import the module that does, or check the "
        "spelling"
    )


def _to_tuples(value):
    """Convert lists, as in JSON, to tuples, and numbers of NumPy to Python's."""
    value = plain_numbers(value)
    return tuple(map(_to_tuples, value)) if isinstance(value, list | tuple) else value


def fields(cls: type[Module]) -> dict[str, dataclasses.Field]:
    return {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]


def params_of(module: Module) -> dict[str, Any]:
    """Hyper-parameters of a registered layer that differ from their defaults."""
    return {
        name: getattr(module, name)
        for name, f in fields(type(module)).items()
        if f.default is dataclasses.MISSING or getattr(module, name) != f.default
    }


def _describe(self) -> str:
    return ", ".join(f"{k}={v!r}" for k, v in params_of(self).items())


def layer_declaration(cls: type[Module]) -> Declaration:
    """Hyper-parameters of a registered layer with their types."""
    return declaration(cls, finite=False)


def input_ports(cls: type[Module]) -> list[Port]:
    """Input ports of a layer from its forward's signature; a ``*xs`` parameter takes any number of edges."""
    return [] if cls.is_source else list(_ports(cls.forward))


@functools.cache
def _ports(forward: Callable) -> tuple[Port, ...]:
    ports = []
    for p in list(inspect.signature(forward).parameters.values())[1:]:
        if p.kind is p.VAR_POSITIONAL:
            ports.append(Port(p.name, variadic=True))
        elif p.kind is not p.KEYWORD_ONLY:
            ports.append(Port(p.name, optional=p.default is not p.empty))
    return tuple(ports)


def _format_docstring(doc: str) -> str:
    """Docstring as text for display: one line per paragraph, without code marks."""
    paragraphs = re.split(r"\n\s*\n", doc.replace("``", ""))
    return "\n\n".join(p if re.search(r"\n\s", p) else p.replace("\n", " ") for p in paragraphs)


def layer_schema(cls: type[Module]) -> dict[str, Any]:
    """Schema of a layer for the palette, the inspector's form and the file; ``initial`` has values for required fields."""
    doc: str = cls.layer_doc  # type: ignore[attr-defined]
    form = layer_declaration(cls).schema()
    for name, text in cls.setting_descriptions.items():  # type: ignore[attr-defined]
        form["properties"][name]["description"] = text
    return {
        "type": cls.layer_type,  # type: ignore[attr-defined]
        "label": cls.__name__,
        "category": cls.layer_category,  # type: ignore[attr-defined]
        "summary": doc.partition("\n")[0],
        "description": _format_docstring(doc),
        "palette": True,
        "inputs": [dataclasses.asdict(p) for p in input_ports(cls)],
        "outputs": [{"name": name} for name in cls.layer_outputs],  # type: ignore[attr-defined]
        "initial": {name: cls.layer_example.params[name] for name in form["required"]},  # type: ignore[attr-defined]
        "schema": form,
    }


def operator_ports(entry: Operator) -> list[Port]:
    """Input ports of an operator: its tensors, of which the first is required."""
    parameters = list(entry.signature.parameters)
    return [Port(name, variadic, optional=name != parameters[0]) for name, variadic in entry.inputs.items()]


def operator_schema(entry: Operator) -> dict[str, Any]:
    """Schema of an operator that a traced model uses directly; it is displayed, but not part of the palette."""
    doc = inspect.getdoc(entry.body) or ""
    properties = {
        p.name: {"title": p.name, **({} if p.default in (p.empty, None) else {"default": p.default})}
        for p in entry.signature.parameters.values()
    }
    return {
        "type": f"ops.{entry.name}",
        "label": entry.name,
        "category": "operators",
        "palette": False,
        "summary": doc.partition("\n")[0],
        "description": _format_docstring(doc),
        "inputs": [dataclasses.asdict(p) for p in operator_ports(entry)],
        "outputs": [{"name": "output"}],
        "initial": {},
        "schema": {"type": "object", "properties": properties, "required": []},
    }


def operator_schemas() -> list[dict[str, Any]]:
    return [operator_schema(entry) for entry in OPERATORS.values()]
