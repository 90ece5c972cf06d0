"""Keras's names and layouts (keras.layers 3), and the structure of its layers.

The mappings of a layer are in the order in which Keras numbers its variables. Where Keras has no equivalent layer, names and
axes are LabDL's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from labdl.interop.names import classes
from labdl.interop.weights.mapping import WeightMapping, by_rank, convert, directions, join, rename, transpose

LIST = "_operations"  # attribute of the layers of Keras's Sequential and functional models
_LISTS = ("ModuleList", "ModuleDict")  # plain lists and dictionaries in Keras


def _last(rank: int) -> tuple[int, ...]:
    """(out, in, window...) as (window..., in, out), and a transposed one's (in, out, window...) as (window..., out, in)."""
    return (*range(2, 2 + rank), 1, 0)


def _window(rank: int) -> tuple[WeightMapping, ...]:
    return transpose("kernel", "kernel", _last(rank)), rename("bias")


def _conv_recurrent(branch) -> list[WeightMapping]:
    axes = _last(len(branch.parameters["kernel"].shape) - 2)
    return [*(transpose(name, name, axes) for name in ("kernel", "recurrent_kernel")), rename("bias")]


def _per_channel(own: str, native: str, multiplier: int) -> WeightMapping:
    """(channels * multiplier, 1, window...) as (window..., channels, multiplier)."""

    def to_native(a):
        window = a.shape[2:]
        return np.moveaxis(a.reshape(a.shape[0] // multiplier, multiplier, *window), (0, 1), (-2, -1))

    def from_native(a):
        return np.moveaxis(a, (-2, -1), (0, 1)).reshape(a.shape[-2] * a.shape[-1], 1, *a.shape[:-2])

    return convert(own, native, to_native, from_native)


def _depthwise(branch) -> list[WeightMapping]:
    return [_per_channel("kernel", "kernel", branch.settings.multiplier), rename("bias")]


def _separable(branch) -> list[WeightMapping]:
    rank = len(branch.parameters["pointwise_kernel"].shape) - 2
    return [
        _per_channel("depthwise_kernel", "depthwise_kernel", branch.settings.multiplier),
        transpose("pointwise_kernel", "pointwise_kernel", _last(rank)),
        rename("bias"),
    ]


def _slope(branch) -> list[WeightMapping]:
    """The slopes are on the last axis of a sample and shared over the others."""
    ones = (1,) * (branch.settings.input_axes - 2)
    return [convert("slope", "alpha", lambda a: a.reshape(*ones, -1), lambda a: a.reshape(-1), any_shape=True)]


def _swap_gates(a):
    """Gates reset, update, new of the last axis as update, reset, new, and back."""
    reset, update, new = np.split(a, 3, axis=-1)
    return np.concatenate([update, reset, new], axis=-1)


def _step(kind: str, own: str, native: str) -> list[WeightMapping]:
    names = [(f"{name}{own}", join(native, name)) for name in ("kernel", "recurrent_kernel")]
    if not kind.startswith("GRU"):
        return [*(rename(*pair) for pair in names), rename(f"bias{own}", join(native, "bias"))]
    # with reset_after (the default), both biases are the rows of one array
    both = WeightMapping(
        (f"bias{own}", f"recurrent_bias{own}"),
        (join(native, "bias"),),
        lambda a, b: (np.stack([_swap_gates(a), _swap_gates(b)]),),
        lambda a: (_swap_gates(a[0]), _swap_gates(a[1])),
    )
    return [*(convert(*pair, _swap_gates, _swap_gates) for pair in names), both]


def _recurrent(branch) -> list[WeightMapping]:
    """Several layers become a Sequential, two directions a Bidirectional."""
    found = list(directions(branch))
    many, both = found[-1][0] > 0, any(reverse for _, reverse, _ in found)
    mappings = []
    for at, reverse, own in found:
        direction = "backward_layer" if reverse else "forward_layer"
        mappings += _step(branch.kind, own, join(str(at) if many else "", direction if both else "", "cell"))
    return mappings


def _cell(branch) -> list[WeightMapping]:
    return _step(branch.kind, "", "")


def _attention(branch) -> list[WeightMapping]:
    heads, shared = branch.settings.heads, branch.settings.key_heads or branch.settings.heads
    found = []
    for name, count in (("query", heads), ("key", shared), ("value", shared)):
        found.append(_heads(f"{name}/kernel", f"{name}_dense/kernel", count))
        found.append(_heads(f"{name}/bias", f"{name}_dense/bias", count))
    out = convert(
        "projection/kernel",
        "output_dense/kernel",
        lambda a: a.reshape(heads, -1, a.shape[-1]),
        lambda a: a.reshape(-1, a.shape[-1]),
    )
    return [*found, out, rename("projection/bias", "output_dense/bias")]


def _heads(own: str, native: str, count: int) -> WeightMapping:
    """(..., heads * size) as (..., heads, size)."""
    return convert(own, native, lambda a: a.reshape(*a.shape[:-1], count, -1), lambda a: a.reshape(*a.shape[:-2], -1))


_SCALE = rename("gamma"), rename("beta")

LAYERS = {
    "Linear": (rename("kernel"), rename("bias")),
    **by_rank("Conv", _window),
    **by_rank("ConvTranspose", _window),
    **dict.fromkeys(("DepthwiseConv1d", "DepthwiseConv2d"), _depthwise),
    **dict.fromkeys(("SeparableConv1d", "SeparableConv2d"), _separable),
    **dict.fromkeys(("LayerNorm", "GroupNorm", "InstanceNorm"), _SCALE),
    **dict.fromkeys(
        ("BatchNorm", "SyncBatchNorm", "FrozenBatchNorm"), (*_SCALE, rename("moving_mean"), rename("moving_variance"))
    ),
    "RMSNorm": (rename("gamma", "scale"),),
    "PReLU": _slope,
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _recurrent),
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell"), _cell),
    **dict.fromkeys(("ConvLSTM", "ConvLSTMCell"), _conv_recurrent),
    "MultiHeadAttention": _attention,
}


# the first Keras class that is a layer of LabDL
_CLASSES = {entry.ours: name for name, entry in reversed([*classes("tensorflow").items()]) if entry.ours in LAYERS}
_CLASSES |= dict.fromkeys(("SyncBatchNorm", "FrozenBatchNorm"), "BatchNormalization")
_CLASSES["InstanceNorm"] = "GroupNormalization"  # with as many groups as channels


class KerasLayer(NamedTuple):
    """A layer in Keras: its class ("" if it is irrelevant, None for a list), variables and children.

    ``ordered`` is true if the children are in the order of creation, by which Keras numbers them; a graph only has the order
    of execution. Otherwise, children that differ only by number are ``ambiguous``.
    """

    kind: str | None
    values: list[str]  # full names, in the order of Keras's numbers
    parts: dict[str, KerasLayer]
    shapes: list[tuple[int, ...]]
    ordered: bool = True

    def all_shapes(self) -> list[tuple[int, ...]]:
        return [*self.shapes, *(shape for part in self.parts.values() for shape in part.all_shapes())]

    @property
    def ambiguous(self) -> set[str]:
        """Relative paths of children that cannot be distinguished from others."""
        if self.ordered:
            return set()
        entries = [(name, "", part) for name, part in self.parts.items() if part.kind is not None]
        entries += [
            (f"{name}/{item}", name if listed.ordered else "", part)
            for name, listed in self.parts.items()
            if listed.kind is None
            for item, part in listed.parts.items()
        ]
        return {
            path
            for path, home, part in entries
            for other, place, like in entries
            if path != other
            and not (home and home == place)
            and part.kind_and_shapes() == like.kind_and_shapes()
            and part.all_shapes()
        }

    def kind_and_shapes(self):
        return self.kind, self.all_shapes()


def keras_layer(branch, path: str = "") -> KerasLayer:
    """The Keras layer of a model's variables, with its children."""
    from labdl.interop.weights import layer_mapping  # a parent package of this module

    here = layer_mapping(LAYERS, branch)
    counted = bool(branch.parts) and all(name.isdigit() for name in branch.parts)
    ordered = counted or (branch.settings is not None and branch.kind != "GraphModule")
    found = KerasLayer(_class(branch), [], {}, [p.shape for p in branch.parameters.values()], ordered)
    for mapping in here.mappings:
        for name in mapping.native:
            *words, _ = name.split("/")
            at = found
            for word in words:
                at = at.parts.setdefault(word, KerasLayer(_inner(branch) if word.isdigit() else "", [], {}, []))
            at.values.append(join(path, name))
    # in a graph, a tensor of a module is a layer whose parameter has an empty name
    alone = {name: part.parameters[""] for name, (_, part) in here.parts.items() if "" in part.parameters}
    found.values.extend(join(path, name) for name in sorted(alone, key=lambda n: not alone[n].learnable))
    for name in sorted(here.parts, key=int) if counted else here.parts:
        if name not in alone:
            found.parts[name] = keras_layer(here.parts[name][1], join(path, name))
    return found


def ambiguous(group: KerasLayer, path: str = "") -> list[str]:
    """Full paths of all layers whose Keras number is unknown."""
    found = [join(path, name) for name in sorted(group.ambiguous)]
    for name, part in group.parts.items():
        found += ambiguous(part, join(path, name))
    return found


def _class(branch) -> str | None:
    if branch.kind in ("", *_LISTS):
        return None  # a graph has no class of modules that are never called, such as lists
    if branch.kind in ("RNN", "GRU", "LSTM"):
        return "Sequential" if list(directions(branch))[-1][0] else _inner(branch)
    if branch.kind == "MultiHeadAttention" and branch.settings.key_heads not in (None, branch.settings.heads):
        return "GroupedQueryAttention"
    return _CLASSES.get(branch.kind) or branch.kind


def _inner(branch) -> str:
    return "Bidirectional" if branch.settings.bidirectional else _CLASSES[branch.kind]


def file_word(kind: str) -> str:
    """Keras's name for a layer of this class in a file: BatchNormalization is batch_normalization."""
    word = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub("([a-z])([A-Z])", r"\1_\2", word).lower()


def file_paths(group: KerasLayer) -> list[tuple[list[str], KerasLayer]]:
    """The children of a layer, each with its possible paths in a file of weights, the simplest first.

    Keras stores a child under its attribute's name or, in a Sequential, in a list and in a Model whose attribute comes after
    "layers" in the alphabet, under its class name, numbered from the second of that class.
    """
    found: list[tuple[list[str], KerasLayer]] = []
    used: dict[str, int] = {}
    hidden = group.ambiguous
    for name, part in group.parts.items():
        if part.kind is None:
            inside: dict[str, int] = {}
            for item, layer in part.parts.items():
                path, word = f"{name}/{item}", _numbered_word(layer, inside)
                ways = [f"{name}/{word}", f"{name}/layers/{word}"] if item not in part.ambiguous else []
                whole = f"layers/{_numbered_word(layer, used)}"
                found.append(([path, *ways, *([] if path in hidden else [whole])], layer))
        elif part.kind == "":
            found.append(([name, f"_{name}"], part))
        else:
            whole = f"layers/{_numbered_word(part, used)}"
            found.append(([name, *([] if name in hidden else [whole])], part))
    return found


def _numbered_word(group: KerasLayer, used: dict[str, int]) -> str:
    word = file_word(group.kind or "")
    used[word] = used.get(word, -1) + 1
    return f"{word}_{used[word]}" if used[word] else word
