"""Signatures as `help()` and completion show them: plain types in place of aliases with bounds."""

from __future__ import annotations

import re
import sys
import types
import typing
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

Kind = TypeVar("Kind", bound=type)
_LONGEST = 6  # choices of a Literal that a signature lists
_WORD = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*(?![\w'\"])")


def show_plain_types(cls: Kind) -> Kind:
    """Write the aliases in the annotations of a dataclass's ``__init__`` as the types they stand for.

    ``Count`` becomes ``int``. The fields keep their annotations, by which values are checked.
    """
    spaces = [vars(sys.modules[base.__module__]) for base in cls.__mro__ if base.__module__ in sys.modules]
    init: Any = cls.__init__
    for name, text in init.__annotations__.items():
        if isinstance(text, str):
            if "Annotated[" in text:  # bounds of one field
                text = _resolve(cls, name, text)
            init.__annotations__[name] = _WORD.sub(lambda match: _plain_text(match[0], spaces), text)
    return cls


def _resolve(cls: type, name: str, text: str) -> str:
    try:
        return _text(typing.get_type_hints(cls, include_extras=True)[name])
    except NameError:  # of a class in a function
        return text


def _plain_text(word: str, spaces: list[dict[str, Any]]) -> str:
    value = next((space[word] for space in spaces if word in space), None)
    if get_origin(value) in (Annotated, Literal, typing.Union, types.UnionType):
        return _text(value)
    return word


def _text(annotation: Any) -> str:
    if isinstance(annotation, typing.ForwardRef):
        return annotation.__forward_arg__
    if isinstance(annotation, list):  # the arguments of a Callable
        return f"[{', '.join(map(_text, annotation))}]"
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _text(args[0])
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(_text(arg) for arg in args))
    if origin is Literal:
        if len(args) > _LONGEST and all(isinstance(arg, str) for arg in args):
            return "str"
        return f"Literal[{', '.join(map(repr, args))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join('...' if arg is Ellipsis else _text(arg) for arg in args)}]"
    return {type(None): "None"}.get(annotation, getattr(annotation, "__name__", str(annotation)))
