"""Functions that translate arguments of other frameworks' layers to settings of LabDL's.

The first line of a docstring stands in the documentation. A value without an equivalent raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labdl.interop.names.entry import THEN

Settings = dict[str, Any]


def complement(momentum: float) -> Settings:
    """`momentum` is 1 - momentum"""
    return {"momentum": round(1 - momentum, 12)}


def required_axis(dim: int | None) -> Settings:
    """`axis`; None is refused"""
    if dim is None:
        raise ValueError("give the axis")
    return {"axis": dim}


def numbers(name: str) -> Callable[..., Settings]:
    """A rule for a setting of one number or several, which may come as an array."""

    def convert(value: Any) -> Settings:
        value = value.tolist() if hasattr(value, "tolist") else value
        if value is None:
            return {}
        return {name: tuple(map(float, value)) if isinstance(value, list | tuple) else float(value)}

    convert.__doc__ = f"`{name}`, as numbers"
    return convert


def equal_sizes(name: str) -> Callable[..., Settings]:
    """A rule for a setting of one size, or one for each axis: equal ones become one."""

    def convert(value: Any) -> Settings:
        sizes = tuple(value) if isinstance(value, list | tuple) else value
        return {name: sizes[0] if isinstance(sizes, tuple) and len(set(sizes)) == 1 else sizes}

    convert.__doc__ = f"`{name}`"
    return convert


def slopes(count: int) -> Settings:
    """`shared` is true for one slope"""
    return {"shared": count == 1}


def slope_value(value: float) -> Settings:
    """`slope_init` is "constant(value)\""""
    return {"slope_init": f"constant({float(value)!r})"}


def last_axes(shape: Any) -> Settings:
    """`axes` is the number of sizes"""
    return {"axes": 1 if isinstance(shape, int) else len(shape)}


def one_last_axis(shape: Any) -> Settings:
    """One size; more are refused"""
    if not isinstance(shape, int) and len(shape) != 1:
        raise ValueError("nn.RMSNorm normalizes one axis, the last")
    return {}


def spatial_pairs(padding: Any) -> Settings:
    """`padding` is a pair for each axis, the first axis first"""
    if isinstance(padding, int):
        return {"padding": padding}
    if len(padding) % 2:
        raise ValueError("a pair of numbers for each axis")
    pairs = [tuple(padding[at : at + 2]) for at in range(0, len(padding), 2)]
    return {"padding": tuple(reversed(pairs))}


def size_or_scale(size: Any, scale: Any) -> Settings:
    """`size`, or `scale`"""
    if (size is None) == (scale is None):
        raise ValueError("give one of both")
    return {"scale": _floats(scale)} if size is None else {"size": size}


def _floats(value: Any) -> float | tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, list | tuple) else float(value)


def corners(align: bool | None) -> Settings:
    """`align_corners`; None is false"""
    return {"align_corners": bool(align)}


def activation_layers(name: Any, table: dict[str, tuple[str, Settings]]) -> Settings:
    """The layers of an activation by name; None is none."""
    if name is None or name == "linear":
        return {}
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"the activations are {', '.join(sorted(table))}")
    return {THEN: [table[name]]}
