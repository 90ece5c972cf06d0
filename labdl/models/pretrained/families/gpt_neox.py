"""GPT-J, GPT-NeoX and Pythia."""

from __future__ import annotations

from labdl.errors import ConfigError
from labdl.models.pretrained.families.activations import activation
from labdl.models.pretrained.families.rotary import KEYS, rotary_settings
from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.text.gpt_neox import GPTNeoX


def _read_neox(config: Config) -> Settings:
    rotary = rotary_settings({"rotary_pct": 0.25, **config})
    if rotary["scaling"] is not None:
        raise ConfigError("config.json: gpt_neox has rope_type='llama3', LabDL computes it with 'default' only")
    size = config.get("hidden_size", 6144) // config.get("num_attention_heads", 64)
    return {
        "rotary_base": rotary["base"],
        "rotary_size": int(size * rotary["part"]),
        "activation": activation(config.get("hidden_act", "gelu"), "hidden_act"),
    }


register(
    Family(
        "gpt_neox",
        {"GPTNeoXForCausalLM": Head(lambda settings: GPTNeoX(**settings), "text generation")},
        {
            "vocab_size": "vocabulary",
            "hidden_size": "features",
            "num_hidden_layers": "layers",
            "num_attention_heads": "heads",
            "intermediate_size": "feed_forward",
            "layer_norm_eps": "epsilon",
            "hidden_dropout": "rate",
        },
        {"layer_norm_eps": 1e-5, "hidden_dropout": 0.0},
        fixed={"use_parallel_residual": (True,), "attention_bias": (True,), "tie_word_embeddings": (False,)},
        ignored=("max_position_embeddings", "attention_dropout"),
        read=_read_neox,
        read_keys=(*KEYS, "hidden_act"),
        base="gpt_neox.",
        padding_side="left",
    )
)


def _read_gpt_j(config: Config) -> Settings:
    width = config.get("n_inner")
    return {
        "activation": activation(config.get("activation_function", "gelu_new"), "activation_function"),
        **({} if width is None else {"feed_forward": width}),
    }


register(
    Family(
        "gptj",
        {"GPTJForCausalLM": Head(lambda settings: GPTNeoX(interleaved=True, **settings), "text generation")},
        {
            "vocab_size": "vocabulary",
            "n_embd": "features",
            "n_layer": "layers",
            "n_head": "heads",
            "rotary_dim": "rotary_size",
            "layer_norm_epsilon": "epsilon",
            "resid_pdrop": "rate",
        },
        {"layer_norm_epsilon": 1e-5, "resid_pdrop": 0.0},
        fixed={"tie_word_embeddings": (False,), "rotary": (True,), "scale_attn_weights": (True,)},
        ignored=(
            *("n_positions", "n_ctx", "attn_pdrop", "embd_pdrop"),
            *("summary_activation", "summary_proj_to_labels", "summary_type", "summary_use_proj"),
        ),
        read=_read_gpt_j,
        read_keys=("activation_function", "n_inner"),
        base="transformer.",
        padding_side="left",
    )
)
