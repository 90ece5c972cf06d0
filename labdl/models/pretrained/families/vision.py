"""ViT and DeiT for classes of images, whose files name the layers otherwise than torchvision and timm."""

from __future__ import annotations

from collections.abc import Callable

from labdl.errors import ConfigError
from labdl.interop import public_weights
from labdl.interop.public_weights import PublicNames
from labdl.interop.weights.mapping import convert
from labdl.models.pretrained.families.labels import class_count
from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.vision.deit import DeiT
from labdl.models.vision.vit import VisionTransformer
from labdl.nn.module import Module
from labdl.spec import Spec


def _names(base: str, heads: dict[str, str], tokens: dict[str, str]) -> Callable[[Module], PublicNames]:
    block, ours = f"{base}.encoder.layer.{{}}", "encoder/blocks/{}"
    table = PublicNames(
        (
            public_weights.Group(
                *(
                    public_weights.plain(f"{base}.embeddings.{theirs}", f"{here}/token:0")
                    for theirs, here in tokens.items()
                ),
                [
                    convert(
                        "positions/embeddings:0",
                        f"{base}.embeddings.position_embeddings",
                        lambda a: a[None],
                        lambda a: a[0],
                    )
                ],
                public_weights.convolution(f"{base}.embeddings.patch_embeddings.projection", "patches/projection"),
                public_weights.norm(f"{base}.layernorm", "encoder/norm"),
                needed=True,
            ),
            public_weights.Group(
                public_weights.norm(f"{block}.layernorm_before", f"{ours}/attention_norm"),
                *(
                    public_weights.linear(f"{block}.attention.attention.{part}", f"{ours}/attention/{part}")
                    for part in ("query", "key", "value")
                ),
                public_weights.linear(f"{block}.attention.output.dense", f"{ours}/attention/projection"),
                public_weights.norm(f"{block}.layernorm_after", f"{ours}/mlp_norm"),
                public_weights.linear(f"{block}.intermediate.dense", f"{ours}/mlp/expand"),
                public_weights.linear(f"{block}.output.dense", f"{ours}/mlp/contract"),
                needed=True,
            ),
            *(public_weights.Group(public_weights.linear(theirs, here)) for theirs, here in heads.items()),
        )
    )
    return lambda model: table


def _read(config: Config) -> Settings:
    for key in ("image_size", "patch_size"):
        if isinstance(config.get(key), list | dict):
            raise ConfigError(f"config.json: {key} wants one number, for squares, received {config[key]!r:.80}")
    return {"classes": class_count(config)}


def _inputs(model: Module) -> tuple[Spec, ...]:
    height, width = model.image_size  # type: ignore[attr-defined]
    return (Spec((None, 3, height, width)),)


VIT_KEYS = {
    "image_size": "image_size",
    "patch_size": "patch_size",
    "hidden_size": "features",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "intermediate_size": "feed_forward",
    "layer_norm_eps": "epsilon",
    "hidden_dropout_prob": "rate",
}
VIT_DEFAULTS = {"image_size": 224, "patch_size": 16, "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.0}
_FIXED = {"hidden_act": ("gelu",), "qkv_bias": (True,), "num_channels": (3,), "tie_word_embeddings": (True, False)}
VIT_IGNORED = ("attention_probs_dropout_prob", "encoder_stride", "pooler_act", "pooler_output_size")

register(
    Family(
        "vit",
        {
            "ViTForImageClassification": Head(
                lambda settings: VisionTransformer(**settings),
                "image classification",
                _names("vit", {"classifier": "head"}, {"cls_token": "class_token"}),
            )
        },
        VIT_KEYS,
        VIT_DEFAULTS,
        fixed=_FIXED,
        ignored=VIT_IGNORED,
        read=_read,
        inputs=_inputs,
    )
)
register(
    Family(
        "deit",
        {
            "DeiTForImageClassificationWithTeacher": Head(
                lambda settings: DeiT(distilled=True, **settings),
                "image classification",
                _names(
                    "deit",
                    {"cls_classifier": "head", "distillation_classifier": "distillation_head"},
                    {"cls_token": "class_token", "distillation_token": "distillation_token"},
                ),
            )
        },
        VIT_KEYS,
        VIT_DEFAULTS,
        fixed=_FIXED,
        ignored=VIT_IGNORED,
        read=_read,
        inputs=_inputs,
    )
)
