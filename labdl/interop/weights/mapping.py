"""Mappings between the parameters of a layer of LabDL and those of a framework's layer, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np


class WeightMapping(NamedTuple):
    """Parameters of LabDL and the corresponding arrays of a framework: names, and conversion in both directions.

    In the tables of layers names are relative to the layer, with "/" as separator, and axes in the operators' order; in the
    tables of `labdl.interop.public_weights` both are standard. ``aliases`` are further names of the same arrays in the
    framework, ``earlier`` their names in its earlier releases, which are read and not written. A ``direct`` mapping is one to
    one and differs at most in the order of the axes (``axes``). One with ``any_shape`` accepts an array of any shape with as
    many elements; ``layers`` are the types of layers that it is for, where another type would take the same shapes. One
    without an ``own`` parameter is for arrays of the framework's files that LabDL does not use; they may be missing.
    """

    own: tuple[str, ...]
    native: tuple[str, ...]
    to_native: Callable[..., Sequence[np.ndarray]]
    from_native: Callable[..., Sequence[np.ndarray]]
    aliases: tuple[str, ...] = ()
    axes: tuple[int, ...] | None = None
    direct: bool = False
    any_shape: bool = False
    earlier: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()


class PartMapping(NamedTuple):
    """A child of a layer with another name in the framework."""

    own: str
    native: str


def join(*words: str) -> str:
    """Join the parts of a path that are not empty."""
    return "/".join(filter(None, words))


def rename(own: str, native: str | None = None, aliases: str = "") -> WeightMapping:
    """One parameter under another name."""
    other = (aliases,) if aliases else ()
    return WeightMapping(
        (own,), (own if native is None else native,), lambda a: (a,), lambda a: (a,), other, direct=True
    )


def transpose(own: str, native: str, axes: tuple[int, ...], aliases: str = "") -> WeightMapping:
    """One parameter, whose axes in the framework are ``array.transpose(axes)``."""
    back = tuple(int(i) for i in np.argsort(axes))
    other = (aliases,) if aliases else ()
    return WeightMapping(
        (own,), (native,), lambda a: (a.transpose(axes),), lambda a: (a.transpose(back),), other, axes, True
    )


def convert(
    own: str, native: str, to_native: Callable, from_native: Callable, any_shape: bool = False
) -> WeightMapping:
    """One parameter with a conversion."""
    return WeightMapping((own,), (native,), lambda a: (to_native(a),), lambda a: (from_native(a),), any_shape=any_shape)


def split_bias(own: str, native: tuple[str, str], aliases: tuple[str, ...] = ()) -> WeightMapping:
    """One bias, which is split into a sum of two in the framework. Those of 16 bits are added, and stay, in more."""
    return WeightMapping((own,), native, lambda a: (a, np.zeros(a.shape, a.dtype)), lambda a, b: (_sum(a, b),), aliases)


def _sum(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return one.astype("float32") + other.astype("float32") if one.dtype.itemsize < 4 else one + other


def concatenate(own: tuple[str, ...], native: str) -> WeightMapping:
    """Several parameters, transposed and concatenated in one array."""
    count = len(own)
    return WeightMapping(
        own,
        (native,),
        lambda *parts: (np.concatenate([p.T for p in parts]),),
        lambda a: [p.T for p in np.split(a, count)],
    )


def constant(native: str, value: float, shape: tuple[int, ...], dtype: str = "float32") -> WeightMapping:
    """An array of one value, which LabDL does not use."""
    return WeightMapping((), (native,), lambda: (np.full(shape, value, dtype),), lambda *_: ())


WEIGHT = rename("kernel", "weight"), rename("bias")
SCALE = rename("gamma", "weight"), rename("beta", "bias")
SEPARABLE = (
    rename("depthwise_kernel", "depthwise/weight"),
    rename("pointwise_kernel", "pointwise/weight"),
    rename("bias", "pointwise/bias"),
)


def directions(branch) -> Iterator[tuple[int, bool, str]]:
    """Number, direction and suffix of the parameters' names of each layer of a recurrent layer."""
    at = 0
    while "kernel" + (middle := f"_{at}" if at else "") in branch.parameters:
        yield at, False, middle
        if f"kernel{middle}_reverse" in branch.parameters:
            yield at, True, f"{middle}_reverse"
        at += 1


def recurrent_direction(two_biases: bool, own: str, native: str, aliases: str = "") -> list[WeightMapping]:
    """One direction of a recurrent layer with gates on the first axis and two biases, which LabDL adds unless it has two.

    ``own`` is the suffix of LabDL's names; ``native`` and ``aliases`` have {} in place of weight_ih and so on.
    """
    names = [native.format(word) for word in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    others = (
        [aliases.format(word) for word in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")] if aliases else [""] * 4
    )
    found = [
        transpose(f"{own_name}{own}", names[at], (1, 0), others[at])
        for at, own_name in enumerate(("kernel", "recurrent_kernel"))
    ]
    if two_biases:
        return [*found, rename(f"bias{own}", names[2], others[2]), rename(f"recurrent_bias{own}", names[3], others[3])]
    return [*found, split_bias(f"bias{own}", (names[2], names[3]), tuple(filter(None, others[2:])))]


def recurrent(branch) -> list[WeightMapping]:
    """Parameters as torch.nn.LSTM has them: weight_ih_l0, weight_hh_l0_reverse and so on."""
    return [
        mapping
        for at, reverse, own in directions(branch)
        for mapping in recurrent_direction(has_two_biases(branch), own, f"{{}}_l{at}" + "_reverse" * reverse)
    ]


def cell(branch) -> list[WeightMapping]:
    """Parameters as torch.nn.LSTMCell has them."""
    return recurrent_direction(has_two_biases(branch), "", "{}")


def has_two_biases(branch) -> bool:
    """Whether a recurrent layer or cell keeps the bias of its hidden state apart, as GRU does."""
    return "recurrent_bias" in branch.parameters


def packed_attention(branch) -> list[WeightMapping | PartMapping]:
    """Parameters as torch.nn.MultiheadAttention has them, which has heads of one size, and all biases or none."""
    parts = {name: branch.parts[name] for name in ("query", "key", "value", "projection")}
    kernels = {name: part.parameters["kernel"].shape for name, part in parts.items() if name != "projection"}
    features = kernels["query"][0]
    # one array of biases for the three, and either all have one or none
    if any(shape[1] != features for shape in kernels.values()) or len({len(p.parameters) for p in parts.values()}) > 1:
        return []
    end: list[WeightMapping | PartMapping] = [
        concatenate(tuple(f"{name}/bias" for name in kernels), "in_proj_bias"),
        PartMapping("projection", "out_proj"),
    ]
    if all(shape[0] == features for shape in kernels.values()):
        return [concatenate(tuple(f"{name}/kernel" for name in kernels), "in_proj_weight"), *end]
    return [*(transpose(f"{name}/kernel", f"{name[0]}_proj_weight", (1, 0)) for name in kernels), *end]


def blocks(cross: str, first: str, second: str) -> dict[str, tuple[PartMapping, ...]]:
    """Children of transformer layers; names of the cross-attention and of both linear layers differ."""
    ends = PartMapping("mlp/expand", first), PartMapping("mlp/contract", second)
    stack = PartMapping("blocks", "layers"), PartMapping("norm", "norm")
    return {
        "TransformerEncoderLayer": (
            PartMapping("attention", "self_attn"),
            *ends,
            PartMapping("attention_norm", "norm1"),
            PartMapping("mlp_norm", "norm2"),
        ),
        "TransformerDecoderLayer": (
            PartMapping("attention", "self_attn"),
            PartMapping("cross_attention", cross),
            *ends,
            PartMapping("attention_norm", "norm1"),
            PartMapping("cross_norm", "norm2"),
            PartMapping("mlp_norm", "norm3"),
        ),
        "TransformerEncoder": stack,
        "TransformerDecoder": stack,
    }


def by_rank(kind: str, mappings: Callable[[int], tuple[WeightMapping, ...]]) -> dict[str, tuple[WeightMapping, ...]]:
    """Entries of ``kind`` for one, two and three spatial axes."""
    return {f"{kind}{rank}d": mappings(rank) for rank in (1, 2, 3)}
