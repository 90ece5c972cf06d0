"""BERT, RoBERTa and DistilBERT with their heads."""

from __future__ import annotations

from labdl.models.pretrained.families.activations import activation
from labdl.models.pretrained.families.labels import class_count
from labdl.models.pretrained.family import Config, Family, Head, Settings, register
from labdl.models.text import bert_tasks as tasks
from labdl.models.text.bert import Bert, BertConfig, BertForPreTraining, BertForSequenceClassification


def _read(config: Config) -> Settings:
    return {
        "activation": activation(config.get("hidden_act", "gelu"), "hidden_act"),
        "classes": class_count(config),
    }


def _config(settings: Settings, offset: int = 0) -> BertConfig:
    values = {name: value for name, value in settings.items() if name != "classes"}
    if offset:  # the rows before that of position 0 are in the config's number
        values |= {"positions": values["positions"] - offset, "position_offset": offset}
    return BertConfig(**values)


def _task_heads(name: str, kind: tasks.Kind, offset: int = 0) -> dict[str, Head]:
    """The heads over an encoder without a pooler, under the name of a family's classes."""

    def head(create, task: str, *keys: str) -> Head:
        return Head(lambda s: create(_config(s, offset), *(s[key] for key in keys), kind=kind), task)

    return {
        f"{name}ForMaskedLM": head(tasks.EncoderForMaskedWords, "masked words"),
        f"{name}ForTokenClassification": head(tasks.EncoderForTokenClassification, "token classification", "classes"),
        f"{name}ForQuestionAnswering": head(tasks.EncoderForQuestionAnswering, "question answering"),
        f"{name}ForSequenceClassification": head(
            tasks.EncoderForSequenceClassification, "text classification", "classes"
        ),
    }


_KEYS = {
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
}
_DEFAULTS = {
    "type_vocab_size": 2,
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "layer_norm_eps": 1e-12,
}

register(
    Family(
        "bert",
        {
            "BertModel": Head(lambda s: Bert(_config(s)), "text encoding"),
            "BertForPreTraining": Head(lambda s: BertForPreTraining(_config(s)), "masked words"),
            **_task_heads("Bert", "bert"),
            "BertForSequenceClassification": Head(
                lambda s: BertForSequenceClassification(_config(s), s["classes"]), "text classification"
            ),
        },
        _KEYS,
        _DEFAULTS,
        fixed={"position_embedding_type": ("absolute",)},
        # of BERT's first files
        ignored=(
            *("pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head"),
            "pooler_type",
        ),
        read=_read,
        read_keys=("hidden_act",),
        base="bert.",
        other_heads=("cls.", "classifier.", "qa_outputs.", "bert.pooler."),
    )
)
register(
    Family(
        "roberta",
        _task_heads("Roberta", "roberta", offset=2),
        _KEYS,
        _DEFAULTS,
        # positions begin behind the number of the token of padding, which is 1 in published models
        fixed={"position_embedding_type": ("absolute",), "pad_token_id": (1,)},
        read=_read,
        read_keys=("hidden_act",),
        base="roberta.",
        other_heads=("lm_head.", "classifier.", "qa_outputs.", "roberta.pooler."),
    )
)


def _read_distilbert(config: Config) -> Settings:
    return {
        "activation": activation(config.get("activation", "gelu"), "activation"),
        "types": 0,
        "classes": class_count(config),
    }


register(
    Family(
        "distilbert",
        _task_heads("DistilBert", "distilbert"),
        {
            "vocab_size": "vocabulary",
            "dim": "features",
            "n_layers": "layers",
            "n_heads": "heads",
            "hidden_dim": "feed_forward",
            "max_position_embeddings": "positions",
            "dropout": "rate",
            "attention_dropout": "attention_rate",
        },
        {"dropout": 0.1, "attention_dropout": 0.1},
        fixed={"sinusoidal_pos_embds": (False, True)},  # the table is in the files either way
        ignored=("tie_weights_",),
        read=_read_distilbert,
        read_keys=("activation",),
        base="distilbert.",
        other_heads=("vocab_", "pre_classifier.", "classifier.", "qa_outputs."),
    )
)
