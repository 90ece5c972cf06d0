"""The arguments of a model's call: their names, places and defaults, and a call with the inputs that it was built with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from labdl import dispatch
from labdl.errors import ArgumentError, ModelError
from labdl.spec import Spec, as_spec

if TYPE_CHECKING:
    from labdl.nn.module import Module

_NO_DEFAULT = inspect.Parameter.empty


@dataclass(frozen=True)
class Argument:
    """One argument of a forward; ``by_name`` is one that has no place."""

    name: str
    default: Any = _NO_DEFAULT
    by_name: bool = False

    @property
    def optional(self) -> bool:
        return self.default is not _NO_DEFAULT


def refuse_settings(cls: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NoReturn:
    """Raise ArgumentError for what a class without an ``__init__`` is given, which Python would ignore."""
    names = ", ".join(kwargs) if kwargs else "size"
    raise ArgumentError(
        f"{cls.__name__} has no __init__ and takes no arguments, received {names if kwargs else repr(args):.80}: write "
        f"`def __init__(self, {names:.80}): ...` in the class, or put the decorator @labdl.nn.layer before it, which makes "
        "annotated attributes its settings"
    )


def arguments_of(module: Module) -> list[Argument]:
    """The arguments of a module's forward, in order; those of ``*inputs`` have no names and are left out."""
    kinds = inspect.Parameter
    return [
        Argument(p.name, p.default, p.kind is kinds.KEYWORD_ONLY)
        for p in list(inspect.signature(type(module).forward).parameters.values())[1:]
        if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    ]


def place_inputs(
    module: Module, given: Sequence[Any], named: Mapping[str, Any]
) -> tuple[tuple[Spec | None, ...], dict[str, Any]]:
    """The inputs of a build by place, None for an omitted one, and what can only be given by name.

    ``given`` and the values of ``named`` are Specs, shapes, or objects with a shape and a dtype. A named value that is none of
    these, such as True, is a setting of the forward.
    """
    for value in given:
        if isinstance(value, int | float) and not isinstance(value, bool):
            shape = ", ".join(["None", *(str(v) for v in given if v is not None)])
            raise ModelError(
                f"build wants the shape of each input, received the number {value}: write build(({shape}))"
            )
    placed = [None if value is None else as_spec(value) for value in given]
    rest = {name: _spec_or_setting(value) for name, value in named.items()}
    places = [a for a in module._arguments() if not a.by_name]
    for name in [a.name for a in places[: len(placed)] if a.name in rest]:
        raise ModelError(f"{type(module).__name__} is given {name!r} twice, by place and by name: give it once")
    last = max((at for at, a in enumerate(places) if isinstance(rest.get(a.name), Spec)), default=-1)
    for argument in places[len(placed) : last + 1]:
        value = rest.get(argument.name, argument.default)
        if value is not None and not isinstance(value, Spec):
            break  # its default, or a setting, cannot be written as an omitted place: the others stay named
        rest.pop(argument.name, None)
        placed.append(value)
    return tuple(placed), rest


def _spec_or_setting(value: Any) -> Any:
    is_shape = isinstance(value, list | tuple) and None in value
    return as_spec(value) if is_shape or (hasattr(value, "shape") and hasattr(value, "dtype")) else value


def refuse_nested(module: Module, inputs: Sequence[Any]) -> None:
    """Raise ModelError for inputs in a list or a tuple, as other frameworks pass several tensors or states."""
    for value in inputs:
        if type(value) in (list, tuple) and any(isinstance(v, Spec) or dispatch.owner_of_type(type(v)) for v in value):
            names = [a.name for a in arguments_of(module) if not a.by_name]
            kind, given = type(module).__name__, type(value).__name__
            if len(names) == 1:
                raise ModelError(
                    f"{kind} takes one tensor, received a {given} of {len(value)}: give it one of them, as in "
                    f"`output, *states = lstm(x)` and `linear(output)` in the forward of a Module; nn.Sequential passes on "
                    f"all that a layer returns"
                )
            call = f"layer({', '.join(names)})" if names else "layer(x, y)"
            raise ModelError(
                f"{kind} takes each tensor as an input of its own, received a {given} of {len(value)}: call it as {call}"
            )


def check_setup(module: Module, inputs: Sequence[Spec | None], named: Mapping[str, Spec]) -> None:
    """Raise ModelError for a `setup` that does not take the Specs of the inputs."""
    signature = inspect.signature(module.setup)
    try:
        signature.bind(*inputs, **named)
    except TypeError:
        raise ModelError(
            f"{type(module).__name__}.setup{signature} does not take the Specs of {len(inputs) + len(named)} inputs: write "
            f"`def setup(self, *inputs)`, or `def setup(self)` where no shape is needed"
        ) from None


def input_names(module: Module, count: int) -> list[str]:
    """Names of the first ``count`` inputs by place; those of ``*inputs`` are x, input_1 and so on."""
    names = [a.name for a in module._arguments() if not a.by_name][:count]
    return names + [f"input_{at}" if at else "x" for at in range(len(names), count)]


def given_inputs(module: Module) -> list[tuple[str, Spec]]:
    """Names and Specs of the inputs that a model was built with, without the omitted ones: those that data are needed for."""
    names = input_names(module, len(module.input_specs))
    placed = [(name, spec) for name, spec in zip(names, module.input_specs, strict=True) if spec is not None]
    return placed + [(name, value) for name, value in module._input_options.items() if isinstance(value, Spec)]


def call_as_built(module: Module, *values):
    """Call a model with a value for each of its `given_inputs`: omitted inputs and settings are those of the build.

    Any other number of values is passed on as it is.
    """
    inputs, options = arguments_as_built(module, values)
    return module(*inputs, **options)


def arguments_as_built(module: Module, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `call_as_built`, by place and by name."""
    placed, named = module._input_specs, module._input_options
    if placed is None or not (named or None in placed) or len(values) != len(given_inputs(module)):
        return tuple(values), {}
    rest = iter(values)
    inputs = [None if spec is None else next(rest) for spec in placed]
    return tuple(inputs), {name: next(rest) if isinstance(v, Spec) else v for name, v in named.items()}
