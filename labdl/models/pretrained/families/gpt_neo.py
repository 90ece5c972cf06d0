"""GPT-Neo."""

from __future__ import annotations

from labdl.errors import ConfigError
from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.text.gpt_neo import GPTNeo


def _check_layers(config: Config) -> Settings:
    """Layers attend globally and locally in turn, and their feed-forward blocks are four times as wide as the features."""
    layers, count = config.get("attention_layers"), config.get("num_layers", 24)
    if layers is None:
        types = config.get("attention_types", [[["global", "local"], count // 2]])
        layers = [kind for kinds, times in types for kind in kinds * min(int(times), 1000)]
    if layers != [("global", "local")[at % 2] for at in range(min(count, 1000))]:
        raise ConfigError(
            f"config.json: gpt_neo has attention_layers={layers!r:.80}, LabDL computes it with global and local in turn only"
        )
    width, features = config.get("intermediate_size"), config.get("hidden_size", 2048)
    if width not in (None, 4 * features):
        raise ConfigError(
            f"config.json: gpt_neo has intermediate_size={width!r:.80}, LabDL computes it with 4 * hidden_size only"
        )
    return {}


register(
    Family(
        "gpt_neo",
        {"GPTNeoForCausalLM": Head(lambda settings: GPTNeo(**settings), "text generation")},
        {
            "vocab_size": "vocabulary",
            "hidden_size": "features",
            "num_layers": "layers",
            "num_heads": "heads",
            "max_position_embeddings": "positions",
            "window_size": "window",
            "layer_norm_epsilon": "epsilon",
            "resid_dropout": "rate",
        },
        {"layer_norm_epsilon": 1e-5, "resid_dropout": 0.0, "window_size": 256},
        fixed={"activation_function": ("gelu_new", "gelu_pytorch_tanh")},
        ignored=(
            *("embed_dropout", "attention_dropout"),
            *("summary_activation", "summary_proj_to_labels", "summary_type", "summary_use_proj"),
        ),
        read=_check_layers,
        read_keys=("attention_layers", "attention_types", "intermediate_size"),
        base="transformer.",
        padding_side="left",
    )
)
