"""Marian, as the OPUS-MT models have it."""

from __future__ import annotations

from labdl.errors import ConfigError
from labdl.models.pretrained.families.activations import activation
from labdl.models.pretrained.families.bart import STACK_KEYS, read_stacks
from labdl.models.pretrained.family import Config, Family, Head, Settings, register, source_and_target
from labdl.models.text.marian import Marian


def _read(config: Config) -> Settings:
    sizes = {config.get("vocab_size"), config.get("decoder_vocab_size") or config.get("vocab_size")}
    if len(sizes) > 1:
        raise ConfigError("config.json: vocab_size and decoder_vocab_size differ, which LabDL does not compute")
    return {
        "activation": activation(config.get("activation_function", "gelu"), "activation_function"),
        **read_stacks(config),
    }


register(
    Family(
        "marian",
        {"MarianMTModel": Head(lambda settings: Marian(**settings), "translation")},
        {
            "vocab_size": "vocabulary",
            "d_model": "features",
            "max_position_embeddings": "positions",
            "dropout": "rate",
        },
        {"max_position_embeddings": 1024, "dropout": 0.1},
        fixed={
            "scale_embedding": (True,),
            "static_position_embeddings": (True,),
            "share_encoder_decoder_embeddings": (True,),
            "normalize_before": (False,),
            "normalize_embedding": (False,),
            "add_final_layer_norm": (False,),
        },
        ignored=(
            "activation_dropout",
            "attention_dropout",
            "num_hidden_layers",
            "add_bias_logits",
            "extra_pos_embeddings",
        ),
        read=_read,
        read_keys=("activation_function", "decoder_vocab_size", *STACK_KEYS),
        inputs=source_and_target,
        optional=("output_bias:0",),
    )
)
