"""Layers as annotated classes: registration, checking of hyper-parameters, and the schema that everything else reads (D6)."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.ops.operator import OPERATORS, Operator, Sample

LAYERS: dict[str, type[Module]] = {}  # by type, the name that a layer has in files and graphs
_NAMESPACE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*)?")


@dataclasses.dataclass(frozen=True)
class Port:
    """A named input of a layer."""

    name: str
    variadic: bool = False
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Example:
    """Hyper-parameters and inputs with which docs and tests try a layer."""

    params: dict[str, Any]
    inputs: tuple[Sample, ...]


def layer(
    example: dict[str, Any] | None = None,
    *inputs: Sample,
    outputs: tuple[str, ...] = ("output",),
    category: str | None = None,
    namespace: str | None = None,
):
    """Register a layer: its annotated fields become hyper-parameters, the palette's form and the columns of the file.

    ``example`` and ``inputs`` are what docs and tests try it with. Its place in the palette is the name of the file it
    is written in, unless ``category`` says otherwise. In files a layer of the package acme is called "acme.Scale", one of a
    notebook or a script "Scale"; ``namespace`` gives it another first word, or "" none. Raises ConfigError for a name that
    another class has.
    """

    def register(cls: type[Module]) -> type[Module]:
        cls = dataclasses.dataclass(eq=False, repr=False)(cls)
        made = cls.__init__

        @functools.wraps(made)
        def __init__(self, *args, **kwargs):  # noqa: N807
            made(self, *_listed(args), **{k: _listed(v) for k, v in kwargs.items()})
            _check(self)

        cls.__init__ = __init__
        cls._describe = _describe  # type: ignore[method-assign]
        own = cls.__module__.startswith("labdl.nn.")
        cls.layer_category = category or (cls.__module__.rsplit(".", 1)[-1] if own else "custom")  # type: ignore[attr-defined]
        cls.layer_outputs = outputs  # type: ignore[attr-defined]
        cls.layer_example = Example(example or {}, inputs)  # type: ignore[attr-defined]
        cls.layer_type = _free_type(cls, namespace)  # type: ignore[attr-defined]
        LAYERS[cls.layer_type] = cls  # type: ignore[attr-defined]
        return cls

    return register


def _free_type(cls: type[Module], namespace: str | None) -> str:
    home = re.sub(r"\W", "_", cls.__module__.partition(".")[0], flags=re.ASCII)
    space = ("" if home in ("labdl", "__main__") else home) if namespace is None else namespace
    if not _NAMESPACE.fullmatch(space) or space.partition(".")[0] == "ops":  # what "ops." begins is an operator
        raise ConfigError(
            f'{cls.__name__} cannot have the namespace {space!r}: write @nn.layer(..., namespace="mine") with a word '
            "of letters, digits and _, which is not ops"
        )
    name = f"{space}.{cls.__name__}" if space else cls.__name__
    other = LAYERS.get(name)
    if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ConfigError(
            f"files know the layer {other.__qualname__} of {other.__module__} as {name!r} already: give this one another "
            'name, or a namespace with @nn.layer(..., namespace="mine")'
        )
    return name


def is_layer(module: Module) -> bool:
    """Whether a module is a registered layer, and not of a class that only inherits from one."""
    return LAYERS.get(getattr(type(module), "layer_type", "")) is type(module)


def unknown(kind: str) -> str:
    """What to say of a type that is not registered."""
    space, _, word = kind.rpartition(".")
    if space == "ops":
        return f"layer type {kind!r} is unknown: there is no operator {word}, so upgrade labdl or check the spelling"
    namesakes = [name for name, cls in LAYERS.items() if cls.__name__ == word]
    if namesakes:
        return (f"layer type {kind!r} is unknown, though there is {namesakes[0]!r}: to use that class, register it with "
                f"@nn.layer(..., namespace={space!r})")  # fmt: skip
    if space:
        return f"layer type {kind!r} is unknown: import the module of {space} that defines the class {word} first"
    return (f"layer type {kind!r} is unknown: define its class with @nn.layer or import the module that does, or check the "
            "spelling")  # fmt: skip


def _listed(value):
    """Lists, as JSON has them, to tuples."""
    return tuple(map(_listed, value)) if isinstance(value, list | tuple) else value


def fields(cls: type[Module]) -> dict[str, dataclasses.Field]:
    return {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]


def params_of(module: Module) -> dict[str, Any]:
    """Hyper-parameters of a registered layer that differ from their defaults."""
    return {name: getattr(module, name) for name, f in fields(type(module)).items()
            if f.default is dataclasses.MISSING or getattr(module, name) != f.default}  # fmt: skip


def _describe(self) -> str:
    return ", ".join(f"{k}={v!r}" for k, v in params_of(self).items())


@functools.cache
def _adapter(cls: type[Module]):
    import pydantic  # here, because importing it takes longer than everything else in labdl

    # a class defined in a notebook cell has no module to look names up in, so resolve its annotations by hand
    hints = typing.get_type_hints(cls, include_extras=True)
    chosen: dict[str, Any] = {
        name: (hints[name], ... if f.default is dataclasses.MISSING else f.default) for name, f in fields(cls).items()
    }
    config = pydantic.ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
    return pydantic.create_model(cls.__name__, __config__=config, **chosen)


def _check(module: Module) -> None:
    import pydantic

    cls = type(module)
    try:
        _adapter(cls)(**{name: getattr(module, name) for name in fields(cls)})
    except pydantic.ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        cause = error.errors()[0].get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):  # a type that checks itself says what is wrong
            raise ConfigError(f"{cls.__name__}: {name}: {cause}") from None
        hint = typing.get_type_hints(cls, include_extras=True)[name]
        raise ConfigError(
            f"{cls.__name__}: {name} wants {describe(hint)}, received {getattr(module, name)!r}"
        ) from None


def describe(annotation) -> str:
    """An annotation in words: ``"same", "valid", an integer or a list of 2 integers``."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        bounds = [f"{word} {getattr(m, key)}" for m in args[1:] for key, word in
                  (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below")) if hasattr(m, key)]  # fmt: skip
        return f"{describe(args[0])} {' and '.join(bounds)}".strip()
    if origin in (typing.Union, types.UnionType):
        *first, last = (describe(a) for a in args)
        return f"{', '.join(first)} or {last}"
    if origin is Literal:
        return ", ".join(f'"{a}"' for a in args)
    if origin is tuple:
        kind = "numbers" if float in args else "integers"
        return f"a list of {kind}" if args[-1] is Ellipsis or get_origin(args[0]) else f"a list of {len(args)} {kind}"
    return {int: "an integer", float: "a number", bool: "true or false", str: "a text", type(None): "nothing"}.get(
        annotation, getattr(annotation, "__name__", str(annotation))
    )


def input_ports(cls: type[Module]) -> list[Port]:
    """Inputs of a layer from its forward's signature; a ``*xs`` parameter takes any number of edges."""
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


def _described(doc: str) -> str:
    """A docstring as text of any width: the lines of a paragraph are one, code is not marked."""
    paragraphs = re.split(r"\n\s*\n", doc.replace("``", ""))
    return "\n\n".join(p if re.search(r"\n\s", p) else p.replace("\n", " ") for p in paragraphs)


def layer_schema(cls: type[Module]) -> dict[str, Any]:
    """What the palette, the inspector's form and the file know of a layer; ``initial`` fills what has no default."""
    doc = inspect.getdoc(cls) or ""
    form = _adapter(cls).model_json_schema(mode="validation")
    return {
        "type": cls.layer_type,  # type: ignore[attr-defined]
        "label": cls.__name__,
        "category": cls.layer_category,  # type: ignore[attr-defined]
        "summary": doc.partition("\n")[0],
        "description": _described(doc),
        "palette": True,
        "inputs": [dataclasses.asdict(p) for p in input_ports(cls)],
        "outputs": [{"name": name} for name in cls.layer_outputs],  # type: ignore[attr-defined]
        "initial": {name: cls.layer_example.params[name] for name in form.get("required", [])},  # type: ignore[attr-defined]
        "schema": {"type": "object", "properties": form.get("properties", {}), "required": form.get("required", [])},
    }


def operator_ports(entry: Operator) -> list[Port]:
    """Inputs of an operator: its tensors, of which the first must be there."""
    parameters = list(entry.signature.parameters)
    return [Port(name, variadic, optional=name != parameters[0]) for name, variadic in entry.inputs.items()]


def operator_schema(entry: Operator) -> dict[str, Any]:
    """The same for an operator that a traced model uses directly; it is drawn, but not offered in the palette."""
    doc = inspect.getdoc(entry.body) or ""
    properties = {p.name: {"title": p.name, **({} if p.default in (p.empty, None) else {"default": p.default})}
                  for p in entry.signature.parameters.values()}  # fmt: skip
    return {
        "type": f"ops.{entry.name}", "label": entry.name, "category": "operators", "palette": False,
        "summary": doc.partition("\n")[0], "description": _described(doc),
        "inputs": [dataclasses.asdict(p) for p in operator_ports(entry)], "outputs": [{"name": "output"}], "initial": {},
        "schema": {"type": "object", "properties": properties, "required": []},
    }  # fmt: skip


def operator_schemas() -> list[dict[str, Any]]:
    return [operator_schema(entry) for entry in OPERATORS.values()]
