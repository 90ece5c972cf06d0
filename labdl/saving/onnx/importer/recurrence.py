"""ONNX readers of recurrent nodes; layers where the file has their weights."""

from __future__ import annotations

import numpy as np

from labdl import nn
from labdl.errors import FileFormatError
from labdl.saving.onnx.importer.known_values import KnownValue
from labdl.saving.onnx.importer.neural import are_weights, key, layer_path, with_size
from labdl.saving.onnx.importer.registry import reads
from labdl.saving.onnx.importer.unrolled_recurrence import unroll
from labdl.spec import Spec

# positions of LabDL's gates among ONNX's: input, forget, candidate, output; reset, update, new
_KINDS = {
    "LSTM": ("lstm", nn.LSTM, (0, 2, 3, 1), 2),
    "GRU": ("gru", nn.GRU, (1, 0, 2), 1),
    "RNN": ("rnn", nn.RNN, (0,), 1),
}
_ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


def _gates(array: np.ndarray, order) -> np.ndarray:
    """Reorder the gates on the first axis to LabDL's order."""
    return np.concatenate([np.split(array, len(order))[g] for g in order])


def _weights(kind: str, order, kernel, recurrent_kernel, bias, at: int) -> dict[str, np.ndarray]:
    """The weights of one direction under LabDL's names."""
    size = recurrent_kernel.shape[-1]
    biases = np.zeros(2 * len(order) * size, kernel.dtype) if bias is None else bias.array[at]
    own, recurrent = (_gates(half, order) for half in np.split(biases, 2))
    found = {
        "kernel": np.ascontiguousarray(_gates(kernel.array[at], order).T),
        "recurrent_kernel": np.ascontiguousarray(_gates(recurrent_kernel.array[at], order).T),
    }
    return found | ({"bias": own, "recurrent_bias": recurrent} if kind == "GRU" else {"bias": own + recurrent})


def _options(r, node, kind: str, directions: int) -> dict:
    """Options of a node, such as the activation. Raises FileFormatError for unsupported attributes."""
    a = node.attributes
    wanted = a.get("activations", _ACTIVATIONS[kind] * directions)
    simple = wanted[: len(_ACTIVATIONS[kind])]
    same = wanted == simple * directions and (simple == _ACTIVATIONS[kind] or (kind, simple) == ("RNN", ["Relu"]))
    if not same or a.get("clip") or a.get("input_forget") or a.get("layout"):
        raise r.refuse(node, "has activations, a clip, coupled gates or a layout that LabDL's networks do not have")
    if kind == "GRU" and not a.get("linear_before_reset"):
        raise r.refuse(
            node, "resets before the recurrent product, and LabDL's GRU resets after it (linear_before_reset)"
        )
    return {"activation": simple[0].lower()} if kind == "RNN" else {}


def recurrent(r, node, x, kernel, recurrent_kernel, bias=None, lengths=None, hidden=None, cell=None, peepholes=None):
    kind = node.kind
    name, cls, order, count = _KINDS[kind]
    direction = node.attributes.get("direction", "forward")
    directions = kernel.shape[0]
    try:
        if peepholes is not None or not are_weights(r, kernel, recurrent_kernel, bias) or not isinstance(x, Spec):
            raise r.refuse(node, "has peepholes, or weights that are not in the file")
        options = _options(r, node, kind, directions)
    except FileFormatError as refusal:
        states = [hidden, cell][:count]
        return unroll(r, node, refusal, x, kernel, recurrent_kernel, bias, lengths, states, peepholes)
    size, x = recurrent_kernel.shape[-1], with_size(r, x, -1, kernel.shape[-1])
    parts = [_weights(kind, order, kernel, recurrent_kernel, bias, at) for at in range(directions)]
    lengths = None if lengths is None else r.call("astype", lengths, "int64")
    x = r.call("permute_dims", x, (1, 0, 2))
    states = [hidden, cell][:count]
    if direction == "reverse":
        given = [None if s is None else r.call("squeeze", s, 0) for s in states]
        weights = [KnownValue(array, f"{layer_path(node, kernel)}/{word}") for word, array in parts[0].items()]
        outputs, *last = r.call(name, x, *weights, *given, lengths=lengths, reverse=True, **options)
        last = [r.call("expand_dims", s, 0) for s in last]
    else:
        values = {
            f"{word}{'_reverse' if at else ''}": array for at, part in enumerate(parts) for word, array in part.items()
        }
        outputs, *last = r.layer(
            key(node, kernel, recurrent_kernel, bias),
            layer_path(node, kernel),
            lambda: cls(size, bidirectional=direction == "bidirectional", **options),
            values,
            x,
            lengths,
            *states,
        )
    if directions == 1:
        return [r.call("permute_dims", r.call("expand_dims", outputs, 1), (2, 1, 0, 3)), *last]
    halves = r.call("stack", list(r.call("split", outputs, directions, axis=-1)), axis=0)
    return [r.call("permute_dims", halves, (2, 0, 1, 3)), *last]


reads(*_KINDS)(recurrent)
