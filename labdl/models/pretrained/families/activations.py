"""Names of activations in a config.json, and those of LabDL."""

from __future__ import annotations

from labdl.errors import ConfigError

# "gelu" is the exact one everywhere but in the first GPT, whose file reads it for itself
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
    "quick_gelu": "quick_gelu",
}


def activation(value: object, key: str) -> str:
    """LabDL's name of an activation. Raises ConfigError naming the key of one that LabDL does not have."""
    if not isinstance(value, str) or value not in ACTIVATIONS:
        raise ConfigError(f"config.json: {key} wants one of {', '.join(ACTIVATIONS)}, received {value!r:.80}")
    return ACTIVATIONS[value]
