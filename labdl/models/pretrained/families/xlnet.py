"""XLNet as a language model, without the second stream of its training."""

from __future__ import annotations

from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.text.xlnet import XLNet, XLNetConfig
from labdl.nn.module import Module
from labdl.spec import Spec


def _read(config: Config) -> Settings:
    size = config.get("d_head")
    return {} if size is None else {"head_size": size}


def _inputs(model: Module) -> tuple[Spec | None, ...]:
    """Tokens and their mask, which is the fourth input."""
    return Spec((None, None), "int64"), None, None, Spec((None, None), "int64")


register(
    Family(
        "xlnet",
        {
            "XLNetLMHeadModel": Head(
                lambda settings: XLNet(XLNetConfig(two_streams=False, **settings)), "text generation"
            )
        },
        {
            "vocab_size": "vocabulary",
            "d_model": "features",
            "n_layer": "layers",
            "n_head": "heads",
            "d_inner": "feed_forward",
            "dropout": "rate",
            "layer_norm_eps": "epsilon",
        },
        {"dropout": 0.1, "layer_norm_eps": 1e-12},
        fixed={
            "ff_activation": ("gelu",),
            "attn_type": ("bi",),
            "clamp_len": (-1,),
            "untie_r": (True,),
            "same_length": (False,),
            "bi_data": (False,),
        },
        # of memories, which a call gives itself, and of heads
        ignored=(
            *("mem_len", "reuse_len", "use_mems_eval", "use_mems_train", "start_n_top", "end_n_top"),
            *("summary_activation", "summary_last_dropout", "summary_type", "summary_use_proj"),
        ),
        read=_read,
        read_keys=("d_head",),
        inputs=_inputs,
        base="transformer.",
        padding_side="left",
        sentencepiece=True,
    )
)
