"""The first GPT and GPT-2."""

from __future__ import annotations

from typing import Any

from labdl.errors import ConfigError
from labdl.models.pretrained.family import Config, Family, Head, register
from labdl.models.text.gpt import GPT

_KEYS = {
    "vocab_size": "vocabulary",
    "n_embd": "features",
    "n_layer": "layers",
    "n_head": "heads",
    "n_positions": "positions",
    "layer_norm_epsilon": "epsilon",
    "resid_pdrop": "rate",
}
_DEFAULTS = {"layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1}
_IGNORED = (
    "n_ctx",
    "predict_special_tokens",
    "embd_pdrop",
    "attn_pdrop",
    *("summary_activation", "summary_proj_to_labels", "summary_type", "summary_use_proj", "reorder_and_upcast_attn"),
)


def _create(norm_first: bool):
    return lambda settings: GPT(norm_first=norm_first, **settings)


def _check_width(config: Config) -> dict[str, Any]:
    """The feed-forward block of a `GPT` is four times as wide as its features."""
    width, features = config.get("n_inner"), config.get("n_embd", 768)
    if width is not None and width != 4 * features:
        raise ConfigError(f"config.json: gpt2 has n_inner={width!r:.80}, LabDL computes it with 4 * n_embd only")
    return {}


register(
    Family(
        "gpt2",
        {"GPT2LMHeadModel": Head(_create(True), "text generation")},
        _KEYS,
        _DEFAULTS,
        fixed={
            "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
            "scale_attn_weights": (True,),
            "scale_attn_by_inverse_layer_idx": (False,),
        },
        ignored=_IGNORED,
        read=_check_width,
        read_keys=("n_inner",),
        base="transformer.",
        padding_side="left",
    )
)
register(
    Family(
        "openai-gpt",
        {"OpenAIGPTLMHeadModel": Head(_create(False), "text generation")},
        _KEYS,
        _DEFAULTS,
        fixed={"afn": ("gelu",)},  # the name of the tanh approximation in this family alone
        ignored=_IGNORED,
        base="transformer.",
        padding_side="left",
    )
)
