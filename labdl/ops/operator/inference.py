"""Shape inference of operators, and the checks of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labdl import dispatch
from labdl.ops.operator.options import check_option
from labdl.spec import INTEGERS, Spec, as_spec, promote

if TYPE_CHECKING:
    from labdl.ops.operator.definition import Operator


def infer(entry: Operator, args: Sequence[Any], kwargs: dict[str, Any]):
    """The Spec of the result (several in a tuple). Raises TypeError or ValueError for invalid arguments."""
    args, kwargs = tuple(map(to_spec, args)), {k: to_spec(v) for k, v in kwargs.items()}
    arguments = entry.signature.bind(*args, **kwargs).arguments
    for name, domain in entry.options.items():
        if name in arguments and not _is_default(entry, name, arguments[name]):
            check_option(entry.name, name, arguments[name], domain)
    _check_operands(entry, arguments)
    common = promoted_dtype(entry, arguments)
    for name, value in arguments.items():
        roles = entry.roles.get(name, set())
        for spec in specs_in(value) if roles else ():
            dtype = common if common and "free" in roles else spec.dtype
            _check_dtype(entry, name, dtype, roles)
    try:
        return (entry.rule or entry.body)(*args, **kwargs)
    except AttributeError as error:
        names = [
            n for n, value in arguments.items() if n in entry.roles and value is not None and not list(specs_in(value))
        ]
        if not names:
            raise
        raise TypeError(f"{entry.name} wants a tensor for {names[0]}, received {arguments[names[0]]!r:.60}") from error


def promoted_dtype(entry: Operator, arguments: dict[str, Any]) -> str | None:
    """The dtype to which the operands of a call are promoted, None for an operator that does not promote."""
    if not getattr(entry.rule, "promotes", False):
        return None
    operands = []
    for name, value in arguments.items():
        if "free" in entry.roles.get(name, ()):
            numbers = isinstance(value, bool | int | float | complex)
            operands += [value] if numbers else [s.dtype for s in specs_in(value)]
    return promote(*operands)


def _is_default(entry: Operator, name: str, value) -> bool:
    return value is entry.signature.parameters[name].default


def _check_operands(entry: Operator, arguments: dict[str, Any]) -> None:
    texts = any(s.dtype == "string" for value in arguments.values() for s in specs_in(value))
    for name, value in arguments.items():
        if "free" not in entry.roles.get(name, ()):
            continue
        leaves = list(_leaves(value))
        for item in value if isinstance(value, list | tuple) and entry.inputs[name] else ():
            if isinstance(item, list | tuple) and is_plain_list(list(_leaves(item))):
                raise TypeError(f"{entry.name} wants tensors, received the list {item!r:.60}: write labdl.tensor(…)")
        if isinstance(value, list | tuple) and not entry.inputs[name] and name != "index" and is_plain_list(leaves):
            raise TypeError(
                f"{entry.name} wants a tensor for {name}, received the list {value!r:.60}: write labdl.tensor(…)"
            )
        for leaf in leaves:
            absent = leaf is None and (value is not None or entry.signature.parameters[name].default is None)
            number = isinstance(leaf, Spec | bool | int | float | complex | dict)
            if not (absent or number or (texts and isinstance(leaf, str))):
                raise TypeError(f"{entry.name} wants a tensor for {name}, received {leaf!r:.60}")


def is_plain_list(leaves: Sequence[Any]) -> bool:
    """True for the elements of a list of numbers, which frameworks would read in different dtypes."""
    return bool(leaves) and all(isinstance(v, bool | int | float | complex | np.generic) for v in leaves)


def _check_dtype(entry: Operator, parameter: str, dtype: str, roles: set[str]) -> None:
    if "free" in roles and dtype in entry.takes:
        return
    if (dtype == "bool" and "bool" in roles) or (dtype in INTEGERS and roles - {"free", "bool"}):
        return
    wanted = entry.takes if "free" in roles else ("bool",) * ("bool" in roles) + INTEGERS * (roles != {"bool"})
    raise TypeError(
        f"{entry.name} wants {parameter} of dtype {', '.join(wanted)}, received {dtype}: convert with ops.astype"
    )


def to_spec(value):
    """Tensors as Specs; numbers (NumPy scalars become Python's), strings and options unchanged."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Spec | str | int | float | complex | bool | type(None)):
        return value
    if isinstance(value, list | tuple):
        return type(value)(map(to_spec, value))
    owner = dispatch.owner_of_type(type(value))
    if owner is not None:
        return owner.spec_of(value)
    return as_spec(value) if isinstance(value, np.ndarray) else value


def specs_in(value) -> Iterator[Spec]:
    """All Specs in nested lists and tuples."""
    return (v for v in _leaves(value) if isinstance(v, Spec))


def _leaves(value) -> Iterator:
    for v in value if isinstance(value, list | tuple) else (value,):
        if isinstance(v, list | tuple):
            yield from _leaves(v)
        else:
            yield v


class SpecBackend:
    """Shape inference as a backend whose tensors are Specs. ``only_shapes``: the values of constants have no effect."""

    name = "spec"
    precedence = 3
    only_shapes = True

    def implementation(self, entry: Operator) -> Callable:
        return lambda *args, **kwargs: entry.infer(args, kwargs)

    def spec_of(self, value: Spec) -> Spec:
        return value


dispatch.claim(Spec, SpecBackend())
