"""Tensors in nested tuples, lists and dictionaries: conversion, comparison, and their Specs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labdl import dispatch
from labdl.ops.math.comparison import where
from labdl.spec import Spec, show

_DTYPES = {bool: "bool", int: "int64", float: "float32", complex: "complex64"}  # of Python's numbers


def leaves(value) -> list:
    """All tensors in a structure, in order; None holds none."""
    return [*_leaves(value)]


def _leaves(value) -> Iterator:
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif value is not None:
        yield value


def map_leaves(function: Callable, value, *others) -> Any:
    """The structure with ``function(leaf, *leaves of others)`` in place of each leaf; the structures are equal."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: map_leaves(function, each, *(o[key] for o in others)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        found = [map_leaves(function, *each) for each in zip(value, *others, strict=True)]
        return type(value)(*found) if hasattr(value, "_fields") else type(value)(found)
    return function(value, *others)


def pick(values: list | tuple, structure) -> Any:
    """The values in place of the leaves of a structure."""
    each = iter(values)
    return map_leaves(lambda _: next(each), structure)


def owner_of(*values) -> Any:
    """The backend or interpreter of the tensors in structures; that of NumPy if there is none."""
    return dispatch.owner([leaf for leaf in leaves(values) if type(leaf) not in _DTYPES])


def to_tensors(value, owner, who: str):
    """The structure with numbers as tensors of ``owner``. Raises TypeError for what is no tensor."""

    def convert(leaf):
        if isinstance(leaf, bool | int | float | complex | np.ndarray | np.generic):
            return _to_tensor(leaf, owner)
        if isinstance(leaf, str) or dispatch.owner_of_type(type(leaf)) is None:
            raise TypeError(f"{who} wants tensors, numbers and None, in tuples, lists or dicts, received {leaf!r:.60}")
        return leaf

    return map_leaves(convert, value)


def _to_tensor(leaf, owner):
    compiler = getattr(owner, "control_flow", None)
    if compiler is not None and type(leaf) in _DTYPES:
        return compiler.number(leaf, _DTYPES[type(leaf)])
    array = np.asarray(leaf, _DTYPES.get(type(leaf)))
    if owner.name == "numpy":
        return array
    return owner.tensor(array) if hasattr(owner, "tensor") else dispatch.spec_of(array)


def specs_of(value):
    """The structure with Specs in place of tensors."""
    return map_leaves(dispatch.spec_of, value)


def check_equal(first, second, who: str, a: str, b: str) -> None:
    """Raise TypeError unless two structures of tensors have equal structures, shapes and data types."""
    if not _is_equal(first, second):
        raise TypeError(
            f"{who}: {a} and {b} must have equal shapes and data types, received {_show(first)} and {_show(second)}"
        )


def merge(first, second):
    """The Specs of two structures that are equal, each size known if either knows it."""

    def both(a, b) -> Spec:
        a, b = dispatch.spec_of(a), dispatch.spec_of(b)
        return a.with_shape([n if n is not None else m for n, m in zip(a.shape, b.shape, strict=True)])

    return map_leaves(both, first, second)


def either(pred, first, second, owner):
    """One of two equal structures in shape inference; what an interpreter notes about its Specs passes through `where`."""
    return merge(first, second) if owner.name == "spec" else map_leaves(lambda a, b: where(pred, a, b), first, second)


def _is_equal(first, second) -> bool:
    if isinstance(first, dict):
        same = isinstance(second, dict) and first.keys() == second.keys()
        return same and all(_is_equal(value, second[key]) for key, value in first.items())
    if isinstance(first, list | tuple):
        same = isinstance(second, list | tuple) and len(first) == len(second)
        return same and all(map(_is_equal, first, second))
    if first is None or second is None or isinstance(second, list | tuple | dict):
        return first is second
    a, b = dispatch.spec_of(first), dispatch.spec_of(second)
    return (
        a.dtype == b.dtype
        and len(a.shape) == len(b.shape)
        and all(n == m or n is None or m is None for n, m in zip(a.shape, b.shape, strict=True))
    )


def _show(value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_show(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_show, value)) + ("," if len(value) == 1 else "") + ")"
    if value is None:
        return "None"
    spec = dispatch.spec_of(value)
    return f"{show(spec.shape)} {spec.dtype}"
