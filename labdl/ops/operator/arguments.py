"""Arguments of a call that some framework does not take, as those that all take: NumPy's, and of several dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.ops.operator import definition
from labdl.ops.operator.inference import is_plain_list
from labdl.spec import FLOATS, Spec

if TYPE_CHECKING:
    from labdl.ops.operator.definition import Operator


def convert_numpy(entry: Operator, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments with NumPy numbers as Python's, arrays as tensors of the call's backend, or lists where options are.

    None if there is nothing to convert, as in calls with arrays alone. Frameworks accept some of these, each of them others.
    """
    if not any(map(_has_numpy, (*args, *kwargs.values()))):
        return None
    owner = dispatch.owner(*args, *kwargs.values())
    if owner.name == "numpy":
        return None
    tensor = getattr(owner, "tensor", None)
    bound = entry.signature.bind_partial(*args, **kwargs)
    changed = False

    def convert(value: Any, operand: bool) -> Any:
        nonlocal changed
        if isinstance(value, np.generic):
            changed = True
            return value.item()
        if isinstance(value, np.ndarray):
            if not operand:
                changed = True
                return _as_tuple(value.tolist())
            if tensor is None:  # shape inference and traces take arrays
                return value
            changed = True
            return tensor(value)
        if isinstance(value, list | tuple) and _has_numpy(value):
            return type(value)([convert(v, operand) for v in value])
        return value

    for name, value in bound.arguments.items():
        bound.arguments[name] = (
            {key: convert(v, False) for key, v in value.items()}
            if isinstance(value, dict)
            else convert(value, name in entry.roles or name == "index")
        )
    return (bound.args, bound.kwargs) if changed else None


def promote_operands(
    entry: Operator, args: Sequence[Any], kwargs: dict[str, Any], result: Any
) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments with floating-point operands in the dtype of the result, a Spec; None if they have it.

    Also None for a call that updates variables, which would be copied.
    """
    bound = entry.signature.bind_partial(*args, **kwargs)
    if bound.arguments.get("training") or not isinstance(result, Spec) or result.dtype not in FLOATS:
        return None
    owner = dispatch.owner(*args, *kwargs.values())
    if owner.name == "numpy" or hasattr(owner, "implementation"):
        return None
    common, other = result.dtype, set(FLOATS) - {result.dtype}
    changed = False

    def convert(value: Any) -> Any:
        nonlocal changed
        if isinstance(value, list | tuple):
            return type(value)(map(convert, value))
        if dispatch.owner_of_type(type(value)) is not owner or owner.spec_of(value).dtype not in other:
            return value
        changed = True
        return definition.OPERATORS["astype"].function(value, common)

    for name, value in bound.arguments.items():
        if "free" in entry.roles.get(name, ()):
            bound.arguments[name] = convert(value)
    return (bound.args, bound.kwargs) if changed else None


def _has_numpy(value: Any) -> bool:
    return isinstance(value, np.generic | np.ndarray) or (
        isinstance(value, list | tuple) and any(map(_has_numpy, value))
    )


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def refuse_lists(entry: Operator, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise TypeError for a list of numbers where one tensor is wanted: frameworks would read it in different dtypes."""
    if not any(isinstance(v, list | tuple) for v in (*args, *kwargs.values())):
        return
    try:
        arguments = entry.signature.bind(*args, **kwargs).arguments
    except TypeError:  # the call itself raises it
        return
    for name, many in entry.inputs.items():
        value = arguments.get(name)
        if not isinstance(value, list | tuple) or name == "index":
            continue
        for item in value if many else ():
            if isinstance(item, list | tuple) and is_plain_list(list(_flat(item))):
                raise TypeError(f"{entry.name} wants tensors, received the list {item!r:.60}: write labdl.tensor(…)")
        if not many and is_plain_list(list(_flat(value))):
            raise TypeError(
                f"{entry.name} wants a tensor for {name}, received the list {value!r:.60}: write labdl.tensor(…)"
            )


def _flat(value: Any):
    for v in value:
        if isinstance(v, list | tuple):
            yield from _flat(v)
        else:
            yield v
