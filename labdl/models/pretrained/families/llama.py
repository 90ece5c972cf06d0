"""Llama and Qwen2, and models of other names with Llama's config."""

from __future__ import annotations

from labdl.errors import ConfigError
from labdl.models.pretrained.families.rotary import KEYS, rotary_settings
from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.text.llama import Llama

_KEYS = {
    "vocab_size": "vocabulary",
    "hidden_size": "features",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "num_key_value_heads": "key_heads",
    "head_dim": "head_size",
    "intermediate_size": "feed_forward",
    "rms_norm_eps": "epsilon",
    "tie_word_embeddings": "tied",
}
_DEFAULTS = {"num_key_value_heads": None, "head_dim": None, "rms_norm_eps": 1e-6, "tie_word_embeddings": False}


def _read_rotary(config: Config) -> Settings:
    rotary = rotary_settings(config)
    if rotary["part"] != 1.0:
        raise ConfigError(
            f"config.json: partial_rotary_factor={rotary['part']} is not computed for {config.get('model_type')}, only 1.0"
        )
    return {"rotary_base": rotary["base"], "rotary_scaling": rotary["scaling"]}


register(
    Family(
        "llama",
        {"LlamaForCausalLM": Head(lambda settings: Llama(**settings), "text generation")},
        _KEYS,
        _DEFAULTS,
        fixed={"hidden_act": ("silu",), "attention_bias": (False,), "mlp_bias": (False,)},
        ignored=("max_position_embeddings", "attention_dropout"),
        read=_read_rotary,
        read_keys=KEYS,
        base="model.",
        padding_side="left",
        sentencepiece=True,
    )
)
register(
    Family(
        "qwen2",
        {"Qwen2ForCausalLM": Head(lambda settings: Llama(query_bias=True, **settings), "text generation")},
        _KEYS,
        _DEFAULTS,
        fixed={"hidden_act": ("silu",), "use_sliding_window": (False,)},
        # of the sliding window, which is off
        ignored=(
            *("max_position_embeddings", "attention_dropout", "sliding_window", "max_window_layers", "layer_types"),
            "use_mrope",
        ),
        read=_read_rotary,
        read_keys=KEYS,
        base="model.",
        padding_side="left",
    )
)
