"""BART and mBART."""

from __future__ import annotations

from labdl.errors import ConfigError
from labdl.models.pretrained.family import Config, Family, Head, Settings, register, source_and_target
from labdl.models.text.bart import Bart

_SETTINGS = {"layers": "layers", "attention_heads": "heads", "ffn_dim": "feed_forward"}
STACK_KEYS = tuple(f"{stack}_{key}" for stack in ("encoder", "decoder") for key in _SETTINGS)


def read_stacks(config: Config) -> Settings:
    """The sizes of encoder and decoder, which are equal here."""
    values: Settings = {}
    for key, setting in _SETTINGS.items():
        sizes = {config.get(f"{stack}_{key}") for stack in ("encoder", "decoder")} - {None}
        if len(sizes) > 1:
            raise ConfigError(
                f"config.json: encoder_{key} and decoder_{key} differ, which LabDL does not compute: "
                f"{config.get(f'encoder_{key}')!r:.40} and {config.get(f'decoder_{key}')!r:.40}"
            )
        values |= dict.fromkeys([setting], sizes.pop()) if sizes else {}
    return values


def _family(model_type: str, architecture: str, norm_first: bool) -> Family:
    task = "translation" if norm_first else "text generation"
    return Family(
        model_type,
        {architecture: Head(lambda settings: Bart(norm_first=norm_first, logits_bias=True, **settings), task)},
        {
            "vocab_size": "vocabulary",
            "d_model": "features",
            "max_position_embeddings": "positions",
            "scale_embedding": "scale_embedding",
            "dropout": "rate",
        },
        {"scale_embedding": False, "dropout": 0.1},
        fixed={
            "activation_function": ("gelu",),
            "normalize_before": (norm_first,),
            "add_final_layer_norm": (norm_first,),
            "normalize_embedding": (True,),
            "add_bias_logits": (False,),
            "static_position_embeddings": (False,),
            "extra_pos_embeddings": (2,),
        },
        ignored=("activation_dropout", "attention_dropout", "num_hidden_layers", "force_bos_token_to_be_generated"),
        read=read_stacks,
        read_keys=STACK_KEYS,
        inputs=source_and_target,
        optional=("logits_bias:0",),
    )


register(_family("bart", "BartForConditionalGeneration", False))
register(_family("mbart", "MBartForConditionalGeneration", True))
