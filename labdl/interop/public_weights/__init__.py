"""Conversion between the parameters of public implementations and LabDL's standard names and shapes.

`layers` has the names of single layers, from which `names` makes the table of a model; `from_public` and `to_public` convert in
both directions.
"""

from labdl.interop.public_weights.layers import (
    batch_norm,
    combine,
    convolution,
    embedding,
    gru,
    gru_cell,
    linear,
    linears,
    lstm,
    lstm_cell,
    norm,
    packed_attention,
    plain,
    rnn,
    rnn_cell,
    transposed_convolution,
    weight_norm,
)
from labdl.interop.public_weights.names import Conversion, Group, PublicNames, from_public, inside, to_public
from labdl.interop.weights.mapping import WeightMapping

__all__ = [
    "Conversion",
    "Group",
    "PublicNames",
    "WeightMapping",
    "batch_norm",
    "combine",
    "convolution",
    "embedding",
    "from_public",
    "gru",
    "gru_cell",
    "inside",
    "linear",
    "linears",
    "lstm",
    "lstm_cell",
    "norm",
    "packed_attention",
    "plain",
    "rnn",
    "rnn_cell",
    "to_public",
    "transposed_convolution",
    "weight_norm",
]
