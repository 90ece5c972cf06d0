"""T5 and T5 v1.1."""

from __future__ import annotations

from labdl.models.pretrained.families.activations import activation
from labdl.models.pretrained.family import Config, Family, Head, Settings, register, source_and_target
from labdl.models.text.t5 import T5

_KEYS = ("feed_forward_proj", "dense_act_fn", "is_gated_act", "tie_word_embeddings", "scale_decoder_outputs")


def _read(config: Config) -> Settings:
    """The feed-forward blocks, of "gated-gelu" the approximate GELU; and the head, which old files scale where it is tied."""
    blocks = str(config.get("feed_forward_proj", "relu"))
    name = "gelu_new" if blocks == "gated-gelu" else blocks.removeprefix("gated-")
    tied = config.get("tie_word_embeddings", True) is not False
    return {
        "activation": activation(name, "feed_forward_proj"),
        "gated": blocks.startswith("gated-"),
        "tied": tied,
        "scale_output": config.get("scale_decoder_outputs", tied) is not False,
    }


register(
    Family(
        "t5",
        {"T5ForConditionalGeneration": Head(lambda settings: T5(**settings), "text to text")},
        {
            "vocab_size": "vocabulary",
            "d_model": "features",
            "d_kv": "head_size",
            "d_ff": "feed_forward",
            "num_layers": "layers",
            "num_decoder_layers": "decoder_layers",
            "num_heads": "heads",
            "relative_attention_num_buckets": "buckets",
            "relative_attention_max_distance": "max_distance",
            "dropout_rate": "rate",
            "layer_norm_epsilon": "epsilon",
        },
        {
            "num_decoder_layers": None,
            "relative_attention_num_buckets": 32,
            "relative_attention_max_distance": 128,
            "dropout_rate": 0.1,
            "layer_norm_epsilon": 1e-6,
        },
        ignored=("n_positions",),  # of the training
        read=_read,
        read_keys=_KEYS,
        inputs=source_and_target,
        sentencepiece=True,
    )
)
