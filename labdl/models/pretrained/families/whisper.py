"""Whisper."""

from __future__ import annotations

from labdl.errors import ConfigError
from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.sound.whisper import Whisper
from labdl.nn.module import Module
from labdl.spec import Spec

_SIZES = {"attention_heads": "heads", "ffn_dim": "feed_forward"}


def _read(config: Config) -> Settings:
    """The sizes that encoder and decoder share; only the numbers of their layers may differ."""
    values: Settings = {}
    for key, setting in _SIZES.items():
        first, second = (config.get(f"{stack}_{key}") for stack in ("encoder", "decoder"))
        if first != second or first is None:
            raise ConfigError(
                f"config.json: whisper wants equal encoder_{key} and decoder_{key}, received {first!r:.40} and {second!r:.40}"
            )
        values[setting] = first
    return values


def _inputs(model: Module) -> tuple[Spec, ...]:
    return Spec((None, model.bins, None)), Spec((None, None), "int64")  # type: ignore[attr-defined]


register(
    Family(
        "whisper",
        {"WhisperForConditionalGeneration": Head(lambda settings: Whisper(**settings), "speech recognition")},
        {
            "vocab_size": "vocabulary",
            "d_model": "features",
            "encoder_layers": "layers",
            "decoder_layers": "decoder_layers",
            "num_mel_bins": "bins",
            "max_target_positions": "positions",
            "dropout": "rate",
        },
        {"num_mel_bins": 80, "max_target_positions": 448, "dropout": 0.0},
        fixed={"activation_function": ("gelu",), "scale_embedding": (False,)},
        # of the training, of timestamps and of heads
        ignored=(
            *("activation_dropout", "attention_dropout", "num_hidden_layers", "max_source_positions"),
            *("apply_spec_augment", "mask_feature_length", "mask_feature_min_masks", "mask_feature_prob"),
            *("mask_time_length", "mask_time_min_masks", "mask_time_prob", "median_filter_width"),
            *("classifier_proj_size", "use_weighted_layer_sum"),
        ),
        read=_read,
        read_keys=tuple(f"{stack}_{key}" for stack in ("encoder", "decoder") for key in _SIZES),
        inputs=_inputs,
    )
)
