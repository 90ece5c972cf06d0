"""TrOCR, a vision-encoder-decoder model of a ViT or DeiT and a text decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labdl.errors import ConfigError
from labdl.models.pretrained.families.activations import activation
from labdl.models.pretrained.families.vision import VIT_DEFAULTS, VIT_IGNORED, VIT_KEYS
from labdl.models.pretrained.family import Config, Family, Head, Settings, read_settings, register
from labdl.models.vision.trocr import ImageEncoder, TrOCR
from labdl.nn.module import Module
from labdl.spec import Spec

_ENCODER = Family(
    "vit",
    {},
    {**{key: setting for key, setting in VIT_KEYS.items() if setting != "rate"}, "qkv_bias": "bias"},
    {**VIT_DEFAULTS, "qkv_bias": True},
    fixed={"hidden_act": ("gelu",), "num_channels": (3,), "hidden_dropout_prob": (0.0,)},
    ignored=VIT_IGNORED,
)
_DECODER = Family(
    "trocr",
    {},
    {
        "vocab_size": "vocabulary",
        "d_model": "features",
        "decoder_layers": "layers",
        "decoder_attention_heads": "heads",
        "decoder_ffn_dim": "feed_forward",
        "max_position_embeddings": "positions",
        "scale_embedding": "scale_embedding",
        "dropout": "rate",
    },
    {"max_position_embeddings": 512, "scale_embedding": False, "dropout": 0.1},
    fixed={
        "is_decoder": (True,),
        "add_cross_attention": (True,),
        "layernorm_embedding": (True,),
        "use_learned_position_embeddings": (True,),
    },
    ignored=("activation_dropout", "attention_dropout", "num_hidden_layers"),
    read=lambda config: {
        "activation": activation(config.get("activation_function", "gelu"), "activation_function"),
        "tied": config.get("tie_word_embeddings", True) is not False,
    },
    read_keys=("activation_function", "tie_word_embeddings", "cross_attention_hidden_size"),
)


def _part(config: Config, name: str) -> Mapping[str, Any]:
    part = config.get(name)
    if not isinstance(part, Mapping):
        raise ConfigError(f"config.json wants the settings of the {name}, received {part!r:.80}")
    return part


def _read(config: Config) -> Settings:
    encoder, decoder = _part(config, "encoder"), _part(config, "decoder")
    for name, part, kinds in (("encoder", encoder, ("vit", "deit")), ("decoder", decoder, ("trocr",))):
        if part.get("model_type") not in kinds:
            raise ConfigError(
                f"config.json: the {name} is a {part.get('model_type')!r:.80}, LabDL has {' and '.join(kinds)} here"
            )
    image = {**read_settings(_ENCODER, encoder), "distilled": encoder["model_type"] == "deit"}
    return {"encoder": image, **read_settings(_DECODER, decoder)}


def _create(settings: Settings) -> TrOCR:
    return TrOCR(ImageEncoder(**settings["encoder"]), **{k: v for k, v in settings.items() if k != "encoder"})


def _inputs(model: Module) -> tuple[Spec, ...]:
    size = model.encoder.image_size  # type: ignore[attr-defined]
    return Spec((None, 3, size, size)), Spec((None, None), "int64")


register(
    Family(
        "vision-encoder-decoder",
        {"VisionEncoderDecoderModel": Head(_create, "character recognition")},
        {},
        fixed={"tie_word_embeddings": (False, True)},
        read=_read,
        read_keys=("encoder", "decoder"),
        inputs=_inputs,
    )
)
