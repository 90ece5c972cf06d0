"""How parameters of a layer of LabDL become those of a framework's layer, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np


class Link(NamedTuple):
    """Parameters of a layer of LabDL, in the operators' order of axes, and what they are in the framework's layer.

    Names are relative to the layer, with "/" between parts. ``also`` are names under which the framework has the same
    arrays once more. A ``direct`` link is of one with one, which differ in the order of their axes at most (``axes``).
    A ``loose`` one takes an array of any shape with as many elements. Without an ``own`` parameter it is something that the
    framework's files hold and LabDL does without; it may be missing.
    """

    own: tuple[str, ...]
    native: tuple[str, ...]
    encode: Callable[..., Sequence[np.ndarray]]
    decode: Callable[..., Sequence[np.ndarray]]
    also: tuple[str, ...] = ()
    axes: tuple[int, ...] | None = None
    direct: bool = False
    loose: bool = False


class Part(NamedTuple):
    """A part of a layer, which has another name in the framework."""

    own: str
    native: str


def joined(*words: str) -> str:
    return "/".join(filter(None, words))


def same(own: str, native: str | None = None, also: str = "") -> Link:
    """One parameter under another name."""
    other = (also,) if also else ()
    return Link((own,), (own if native is None else native,), lambda a: (a,), lambda a: (a,), other, direct=True)


def turned(own: str, native: str, axes: tuple[int, ...], also: str = "") -> Link:
    """One parameter, whose axes lie in the framework as ``array.transpose(axes)``."""
    back = tuple(int(i) for i in np.argsort(axes))
    other = (also,) if also else ()
    return Link((own,), (native,), lambda a: (a.transpose(axes),), lambda a: (a.transpose(back),), other, axes, True)


def formed(own: str, native: str, encode: Callable, decode: Callable, loose: bool = False) -> Link:
    """One parameter in another form."""
    return Link((own,), (native,), lambda a: (encode(a),), lambda a: (decode(a),), loose=loose)


def split_bias(own: str, native: tuple[str, str], also: tuple[str, ...] = ()) -> Link:
    """One bias, which is the sum of two in the framework."""
    return Link((own,), native, lambda a: (a, np.zeros(a.shape, a.dtype)), lambda a, b: (a + b,), also)


def packed(own: tuple[str, ...], native: str) -> Link:
    """Several parameters with their axes turned round, one after the other in one array."""
    count = len(own)
    return Link(own, (native,), lambda *parts: (np.concatenate([p.T for p in parts]),),
                lambda a: [p.T for p in np.split(a, count)])  # fmt: skip


def filled(native: str, value: float, shape: tuple[int, ...], dtype: str = "float32") -> Link:
    """An array of one value, which LabDL does without."""
    return Link((), (native,), lambda: (np.full(shape, value, dtype),), lambda *_: ())


WEIGHT = same("kernel", "weight"), same("bias")
SCALE = same("gamma", "weight"), same("beta", "bias")
SEPARABLE = (same("depthwise_kernel", "depthwise/weight"), same("pointwise_kernel", "pointwise/weight"),
             same("bias", "pointwise/bias"))  # fmt: skip


def directions(branch) -> Iterator[tuple[int, bool, str]]:
    """Of a recurrent layer each layer's number, whether it reads backwards, and the end of its parameters' names."""
    at = 0
    while "kernel" + (middle := f"_{at}" if at else "") in branch.parameters:
        yield at, False, middle
        if f"kernel{middle}_reverse" in branch.parameters:
            yield at, True, f"{middle}_reverse"
        at += 1


def stepped(branch, own: str, native: str, also: str = "") -> list[Link]:
    """One direction of a recurrent layer whose gates lie on the first axis and whose biases are two.

    ``own`` ends LabDL's names; ``native`` and ``also`` have {} where weight_ih and the like stand.
    """
    names = [native.format(word) for word in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    others = [also.format(word) for word in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")] if also else [""] * 4
    found = [turned(f"{own_name}{own}", names[at], (1, 0), others[at])
             for at, own_name in enumerate(("kernel", "recurrent_kernel"))]  # fmt: skip
    if f"recurrent_bias{own}" in branch.parameters:
        return [*found, same(f"bias{own}", names[2], others[2]), same(f"recurrent_bias{own}", names[3], others[3])]
    return [*found, split_bias(f"bias{own}", (names[2], names[3]), tuple(filter(None, others[2:])))]


def recurrent(branch) -> list[Link]:
    """Parameters as torch.nn.LSTM has them: weight_ih_l0, weight_hh_l0_reverse and so on."""
    return [link for at, reverse, own in directions(branch)
            for link in stepped(branch, own, f"{{}}_l{at}" + "_reverse" * reverse)]  # fmt: skip


def cell(branch) -> list[Link]:
    """Parameters as torch.nn.LSTMCell has them."""
    return stepped(branch, "", "{}")


def packed_attention(branch) -> list[Link | Part]:
    """Parameters as torch.nn.MultiheadAttention has them; one with heads of other sizes it cannot be."""
    kernels = {name: branch.parts[name].parameters["kernel"].shape for name in ("query", "key", "value")}
    features = kernels["query"][0]
    if any(shape[1] != features for shape in kernels.values()):
        return []
    end: list[Link | Part] = [
        packed(tuple(f"{name}/bias" for name in kernels), "in_proj_bias"),
        Part("projection", "out_proj"),
    ]
    if all(shape[0] == features for shape in kernels.values()):
        return [packed(tuple(f"{name}/kernel" for name in kernels), "in_proj_weight"), *end]
    return [*(turned(f"{name}/kernel", f"{name[0]}_proj_weight", (1, 0)) for name in kernels), *end]


def blocks(cross: str, first: str, second: str) -> dict[str, tuple[Part, ...]]:
    """Parts of transformers; the names of the attention to a context and of both linear layers differ."""
    ends = Part("mlp/expand", first), Part("mlp/contract", second)
    stack = Part("blocks", "layers"), Part("norm", "norm")
    return {
        "TransformerEncoderLayer": (Part("attention", "self_attn"), *ends, Part("attention_norm", "norm1"),
                                    Part("mlp_norm", "norm2")),
        "TransformerDecoderLayer": (Part("attention", "self_attn"), Part("cross_attention", cross), *ends,
                                    Part("attention_norm", "norm1"), Part("cross_norm", "norm2"),
                                    Part("mlp_norm", "norm3")),
        "TransformerEncoder": stack,
        "TransformerDecoder": stack,
    }  # fmt: skip


def by_rank(kind: str, links: Callable[[int], tuple[Link, ...]]) -> dict[str, tuple[Link, ...]]:
    """Lines for ``kind`` over one, two and three spatial axes."""
    return {f"{kind}{rank}d": links(rank) for rank in (1, 2, 3)}
