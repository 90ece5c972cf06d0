"""Public names of single layers, as PyTorch's implementations have them: ``public`` and ``ours`` are the paths of the layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from labdl.interop.weights.mapping import (
    WeightMapping,
    concatenate,
    constant,
    recurrent_direction,
    rename,
    transpose,
)

# types of layers that would take the arrays of another type, and the function for their names
KINDS = {
    "Linear": "linear",
    **{f"{kind}Conv{rank}d": "convolution" for rank in (1, 2, 3) for kind in ("", "Depthwise")},
    **{f"ConvTranspose{rank}d": "transposed_convolution" for rank in (1, 2, 3)},
    "LSTM": "lstm",
    "GRU": "gru",
    "RNN": "rnn",
}


def plain(public: str, ours: str) -> list[WeightMapping]:
    """A parameter in the same shape."""
    return [rename(ours, public)]


def linear(public: str, ours: str, use_bias: bool = True) -> list[WeightMapping]:
    """A linear layer, whose public weight is (out, in)."""
    kernel = transpose(f"{ours}/kernel:0", f"{public}.weight", (1, 0))._replace(layers=("Linear",))
    return [kernel, *plain(f"{public}.bias", f"{ours}/bias:0")] if use_bias else [kernel]


def linears(public: Sequence[str], ours: str, use_bias: bool = True, sizes: Sequence[int] | None = None):
    """Several public linear layers of the same input that are one here, such as query, key and value.

    ``sizes`` are their outputs, equal by default.
    """
    ends = None if sizes is None else np.cumsum(sizes)[:-1].tolist()

    def split(a: np.ndarray):
        return np.split(a, len(public) if ends is None else ends, axis=-1)

    found = [
        combine(
            [f"{each}.weight" for each in public],
            f"{ours}/kernel:0",
            lambda *parts: np.concatenate([part.T for part in parts], axis=-1),
            lambda a: [part.T for part in split(a)],
        )
    ]
    if use_bias:
        biases = [f"{each}.bias" for each in public]
        found.append(combine(biases, f"{ours}/bias:0", lambda *parts: np.concatenate(parts), split))
    return [mapping for part in found for mapping in part]


def combine(
    public: Sequence[str],
    ours: str,
    from_public: Callable[..., np.ndarray],
    to_public: Callable[[np.ndarray], Sequence[np.ndarray]],
) -> list[WeightMapping]:
    """Several public arrays that are one parameter here: ``from_public(*arrays)`` computes it, ``to_public`` the arrays."""
    return [WeightMapping((ours,), tuple(public), to_public, lambda *arrays: (from_public(*arrays),))]


def convolution(public: str, ours: str, use_bias: bool = True, *, axes: int = 2) -> list[WeightMapping]:
    """A convolution over so many axes, with groups or without, whose public weight is (out, in / groups, *window)."""
    kernel = transpose(f"{ours}/kernel:0", f"{public}.weight", (axes + 1, axes, *range(axes)))
    kernel = kernel._replace(layers=(f"Conv{axes}d", f"DepthwiseConv{axes}d"))
    return [kernel, *plain(f"{public}.bias", f"{ours}/bias:0")] if use_bias else [kernel]


def transposed_convolution(public: str, ours: str, use_bias: bool = True, *, axes: int = 2) -> list[WeightMapping]:
    """A transposed convolution over so many axes, whose public weight is (in, out / groups, *window)."""
    kernel = transpose(f"{ours}/kernel:0", f"{public}.weight", (axes, axes + 1, *range(axes)))
    kernel = kernel._replace(layers=(f"ConvTranspose{axes}d",))
    return [kernel, *plain(f"{public}.bias", f"{ours}/bias:0")] if use_bias else [kernel]


def embedding(public: str, ours: str) -> list[WeightMapping]:
    """A table of vectors: Embedding, EmbeddingBag or PositionEmbedding."""
    return plain(f"{public}.weight", f"{ours}/embeddings:0")


def norm(public: str, ours: str, use_bias: bool = True) -> list[WeightMapping]:
    """A normalization with a scale and an offset, or a scale alone."""
    scale = plain(f"{public}.weight", f"{ours}/gamma:0")
    return [*scale, *plain(f"{public}.bias", f"{ours}/beta:0")] if use_bias else scale


def batch_norm(public: str, ours: str, affine: bool = True) -> list[WeightMapping]:
    """A batch normalization with its running statistics, or a frozen one; the number of batches is not used."""
    return [
        *(norm(public, ours) if affine else ()),
        rename(f"{ours}/moving_mean:0", f"{public}.running_mean"),
        rename(f"{ours}/moving_variance:0", f"{public}.running_var"),
        constant(f"{public}.num_batches_tracked", 0, (), "int64"),
    ]


def packed_attention(
    public: str, ours: str, *, packed: str = "in_proj_", projection: str = "out_proj"
) -> list[WeightMapping]:
    """torch.nn.MultiheadAttention, which has query, key and value in one matrix (3 * features, features).

    timm calls it ``packed="qkv."`` and the layer after it ``projection="proj"``.
    """
    parts = ("query", "key", "value")
    return [
        concatenate(tuple(f"{ours}/{part}/kernel:0" for part in parts), f"{public}.{packed}weight"),
        concatenate(tuple(f"{ours}/{part}/bias:0" for part in parts), f"{public}.{packed}bias"),
        *linear(f"{public}.{projection}", f"{ours}/projection"),
    ]


def lstm(public: str, ours: str, *, layers: int = 1, bidirectional: bool = False) -> list[WeightMapping]:
    """torch.nn.LSTM, whose two biases are one here: their sum, and on the way back that sum and zeros."""
    return _recurrent("LSTM", public, ours, layers, bidirectional)


def rnn(public: str, ours: str, *, layers: int = 1, bidirectional: bool = False) -> list[WeightMapping]:
    """torch.nn.RNN; biases as in `lstm`."""
    return _recurrent("RNN", public, ours, layers, bidirectional)


def gru(public: str, ours: str, *, layers: int = 1, bidirectional: bool = False) -> list[WeightMapping]:
    """torch.nn.GRU, with its two biases."""
    return _recurrent("GRU", public, ours, layers, bidirectional)


def lstm_cell(public: str, ours: str) -> list[WeightMapping]:
    """torch.nn.LSTMCell; biases as in `lstm`."""
    return _inside(public, ours, recurrent_direction(False, "", "{}"))


def rnn_cell(public: str, ours: str) -> list[WeightMapping]:
    """torch.nn.RNNCell; biases as in `lstm`."""
    return _inside(public, ours, recurrent_direction(False, "", "{}"))


def gru_cell(public: str, ours: str) -> list[WeightMapping]:
    """torch.nn.GRUCell, with its two biases."""
    return _inside(public, ours, recurrent_direction(True, "", "{}"))


def weight_norm(mappings: Iterable[WeightMapping], *, axis: int | None = 0, parametrized: bool = False):
    """The mappings of a layer whose public weight is normalized: ``weight_norm(linear("fc", "head"))``.

    torch.nn.utils.weight_norm and torch.nn.utils.parametrizations.weight_norm keep a magnitude g and a direction v of
    each weight; here it is one kernel, g * v / |v|, with norms over all axes of the public weight but ``axis`` (over all
    where it is None). Both spellings are read; the way back gives ``weight_g`` and ``weight_v``, or, if ``parametrized``, the
    names of the parametrization.
    """
    found = []
    for mapping in mappings:
        name, *more = mapping.native
        if more or not name.endswith(".weight"):
            found.append(mapping)
            continue
        home = name.removesuffix("weight")
        names = (f"{home}weight_g", f"{home}weight_v")
        others = (f"{home}parametrizations.weight.original0", f"{home}parametrizations.weight.original1")
        native, aliases = (others, names) if parametrized else (names, others)
        found.append(
            mapping._replace(
                native=native,
                aliases=aliases,
                axes=None,
                direct=False,
                to_native=lambda a, plain=mapping: _magnitude_and_direction(plain.to_native(a)[0], axis),
                from_native=lambda g, v, plain=mapping: plain.from_native(g * (v / _norms(v, axis))),
            )
        )
    return found


def _norms(weight: np.ndarray, axis: int | None) -> np.ndarray:
    others = tuple(at for at in range(weight.ndim) if axis is None or at != axis % weight.ndim)
    norms = np.sqrt(np.sum(np.square(weight.astype("float64")), axis=others, keepdims=axis is not None))
    return np.where(norms == 0, 1.0, norms).astype(weight.dtype)


def _magnitude_and_direction(weight: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    others = tuple(at for at in range(weight.ndim) if axis is None or at != axis % weight.ndim)
    squares = np.sum(np.square(weight.astype("float64")), axis=others, keepdims=axis is not None)
    return np.sqrt(squares).astype(weight.dtype), weight


def _recurrent(kind: str, public: str, ours: str, layers: int, bidirectional: bool) -> list[WeightMapping]:
    found: list[WeightMapping] = []
    for at in range(layers):
        for reverse in ("", "_reverse")[: 1 + bidirectional]:
            own = (f"_{at}" if at else "") + reverse
            found += _inside(public, ours, recurrent_direction(kind == "GRU", own, f"{{}}_l{at}{reverse}"), kind)
    return found


def _inside(public: str, ours: str, mappings: Iterable[WeightMapping], kind: str = "") -> list[WeightMapping]:
    """Mappings of a layer's relative names at the paths of the layer."""
    return [
        mapping._replace(
            own=tuple(f"{ours}/{name}:0" for name in mapping.own),
            native=tuple(f"{public}.{name}" for name in mapping.native),
            layers=(kind,) if kind else (),
        )
        for mapping in mappings
    ]
