"""BERT with its heads."""

from __future__ import annotations

from labdl.models.pretrained.families.activations import activation
from labdl.models.pretrained.families.labels import class_count
from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.text.bert import Bert, BertConfig, BertForPreTraining, BertForSequenceClassification


def _read(config: Config) -> Settings:
    return {
        "activation": activation(config.get("hidden_act", "gelu"), "hidden_act"),
        "classes": class_count(config),
    }


def _config(settings: Settings) -> BertConfig:
    return BertConfig(**{name: value for name, value in settings.items() if name != "classes"})


register(
    Family(
        "bert",
        {
            "BertModel": Head(lambda s: Bert(_config(s)), "text encoding"),
            "BertForPreTraining": Head(lambda s: BertForPreTraining(_config(s)), "masked words"),
            "BertForSequenceClassification": Head(
                lambda s: BertForSequenceClassification(_config(s), s["classes"]), "text classification"
            ),
        },
        {
            "vocab_size": "vocabulary",
            "hidden_size": "features",
            "num_hidden_layers": "layers",
            "num_attention_heads": "heads",
            "intermediate_size": "feed_forward",
            "max_position_embeddings": "positions",
            "type_vocab_size": "types",
            "hidden_dropout_prob": "rate",
            "attention_probs_dropout_prob": "attention_rate",
            "layer_norm_eps": "epsilon",
        },
        {
            "type_vocab_size": 2,
            "hidden_dropout_prob": 0.1,
            "attention_probs_dropout_prob": 0.1,
            "layer_norm_eps": 1e-12,
        },
        fixed={"position_embedding_type": ("absolute",)},
        # of BERT's first files
        ignored=(
            *("pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head"),
            "pooler_type",
        ),
        read=_read,
        read_keys=("hidden_act",),
        base="bert.",
        other_heads=("cls.", "classifier.", "qa_outputs."),
    )
)
