"""Functions that translate arguments of other frameworks' layers to settings of LabDL's.

The first line of a docstring stands in the documentation. A value without an equivalent raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labdl.interop.names.entry import IGNORED, THEN

Settings = dict[str, Any]

# arguments of a transformer layer that the frameworks have in common
TRANSFORMER_LAYER: dict[str, Any] = {
    "d_model": IGNORED,
    "nhead": "heads",
    "dim_feedforward": "feed_forward",
    "dropout": "rate",
    "layer_norm_eps": "epsilon",
}


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
        try:
            return {name: tuple(map(float, value)) if isinstance(value, list | tuple) else float(value)}
        except (TypeError, ValueError):
            return {name: value}  # the layer refuses it

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


def spatial_pairs(rank: int) -> Callable[..., Settings]:
    """A rule for padding before and after each of ``rank`` axes, which PyTorch lists from the last axis to the first."""

    def convert(padding: Any) -> Settings:
        if isinstance(padding, int):
            return {"padding": (padding,) * rank}
        if len(padding) != 2 * rank:
            raise ValueError(f"one number, or a pair for each axis, which are {2 * rank} numbers")
        pairs = [tuple(padding[at : at + 2]) for at in range(0, 2 * rank, 2)]
        return {"padding": tuple(reversed(pairs))}

    convert.__doc__ = "`padding` has a number or a pair for each axis, the first axis first"
    return convert


def whole_strides(rank: int, kernel_size: Any, stride: Any, dilation: Any = 1) -> Settings:
    """Settings of a transposed convolution without padding whose output has at least ``stride`` elements for each input."""
    sizes = zip(*(per_axis(value, rank) for value in (kernel_size, stride, dilation)), strict=True)
    gaps = tuple(max(0, s - ((k - 1) * d + 1)) for k, s, d in sizes)
    return {"output_padding": gaps[0] if len(set(gaps)) == 1 else gaps} if any(gaps) else {}


def per_axis(value: Any, rank: int) -> tuple[Any, ...]:
    """A value for each axis, from one or from a list."""
    return tuple(value) if isinstance(value, list | tuple) else (value,) * rank


def size_or_scale(size: Any, scale: Any) -> Settings:
    """`size`, or `scale`"""
    if (size is None) == (scale is None):
        raise ValueError("give one of both")
    return {"scale": _floats(scale)} if size is None else {"size": size}


def _floats(value: Any) -> float | tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, list | tuple) else float(value)


def resize_mode(mode: str) -> Settings:
    """`mode`; "nearest-exact" is "nearest_exact\""""
    return {"mode": mode.replace("-", "_")}


def mode_without_cubic(mode: str) -> Settings:
    """`mode`; "bicubic" is refused"""
    if mode == "bicubic":
        raise ValueError(
            'the kernel of LabDL\'s is another one, with the coefficient -0.75: use "bilinear", or nn.Upsample'
        )
    return resize_mode(mode)


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
