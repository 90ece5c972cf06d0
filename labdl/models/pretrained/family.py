"""Families of pretrained models: what the keys of a config.json mean for a class of the zoo, for each model_type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from labdl.errors import ConfigError, suggest_name
from labdl.interop.public_weights import PublicNames
from labdl.nn.module import Module
from labdl.spec import Spec

Config = Mapping[str, Any]
Settings = dict[str, Any]
Inputs = Callable[[Module], tuple[Spec | None, ...]]

FAMILIES: dict[str, Family] = {}


@dataclass(frozen=True)
class Head:
    """An architecture of a family, such as BertForMaskedLM: the function that creates it of the settings of a config.

    ``task`` is what its outputs are for, as in the zoo; ``names`` are the names of its weights, by default those of its class.
    """

    create: Callable[[Settings], Module]
    task: str
    names: Callable[[Module], PublicNames] | None = None


@dataclass(frozen=True)
class Family:
    """A table from the keys of a config.json to settings.

    ``settings`` names the setting of a key, ``defaults`` the values of those keys that a config may leave out, ``fixed`` the
    values of a key that the class computes with, ``ignored`` keys that change no output. ``read`` gives further settings of
    keys that mean something together; it may raise ConfigError. ``base`` is the beginning of the names that heads add to the
    weights of the bare model, such as "bert.".
    """

    model_type: str
    heads: Mapping[str, Head]
    settings: Mapping[str, str]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Collection[Any]] = field(default_factory=dict)
    ignored: Collection[str] = ()
    read: Callable[[Config], Settings] | None = None
    read_keys: Collection[str] = ()  # the keys that `read` reads
    inputs: Inputs = lambda model: (Spec((None, None), "int64"),)
    base: str = ""
    other_heads: Collection[str] = ()  # beginnings of names of heads whose weights may be left out
    padding_side: str = "right"  # of prompts in the tokenizer's files
    sentencepiece: bool = False  # whether a .model alone gives the tokenizer's numbers
    optional: Collection[str] = ()  # standard names of parameters that keep their initial values where files lack them


def source_and_target(model: Module) -> tuple[Spec, ...]:
    """The inputs of an encoder and a decoder of texts."""
    return Spec((None, None), "int64"), Spec((None, None), "int64")


def register(family: Family) -> Family:
    """Add a family to those that `from_pretrained` reads. Raises ConfigError for a model_type that another one has."""
    if family.model_type in FAMILIES:
        raise ConfigError(f"there is a family of the model_type {family.model_type!r} already")
    FAMILIES[family.model_type] = family
    return family


def find(config: Config) -> Family:
    """The family of a config. Raises ConfigError naming the model_type that is unknown."""
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise ConfigError("config.json has no model_type: LabDL knows a family of models by it")
    if kind not in FAMILIES:
        raise ConfigError(
            f"config.json has model_type {kind!r:.80}, which LabDL does not have{suggest_name(kind, FAMILIES)}: it has "
            f"{', '.join(sorted(FAMILIES))}"
        )
    return FAMILIES[kind]


# keys that say nothing about the forward pass of any family: files, training, labels, numbers of tokens, generation
IGNORED = frozenset(
    [
        "model_type",
        "architectures",
        "transformers_version",
        "dtype",
        "torch_dtype",
        "_name_or_path",
        "_commit_hash",
        "auto_map",
        "tokenizer_class",
        "use_cache",
        "initializer_range",
        "initializer_factor",
        "init_std",
        "gradient_checkpointing",
        "id2label",
        "label2id",
        "num_labels",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "sep_token_id",
        "cls_token_id",
        "mask_token_id",
        "unk_token_id",
        "decoder_start_token_id",
        "forced_bos_token_id",
        "forced_eos_token_id",
        "task_specific_params",
        "finetuning_task",
        "problem_type",
        "prefix",
        "is_encoder_decoder",
        "output_past",
        "return_dict",
        "output_hidden_states",
        "output_attentions",
        "model_max_length",
        "classifier_dropout",
        "classif_dropout",
        "qa_dropout",
        "seq_classif_dropout",
        "summary_first_dropout",
        "encoder_layerdrop",
        "decoder_layerdrop",
        "layerdrop",
        "attention_dropout_prob",
        "pretraining_tp",
        "directionality",
        "language",
    ]
)
# of the generation, which old files have among the others
GENERATION = frozenset(
    [
        "max_length",
        "min_length",
        "max_new_tokens",
        "min_new_tokens",
        "do_sample",
        "early_stopping",
        "num_beams",
        "num_beam_groups",
        "temperature",
        "top_k",
        "top_p",
        "typical_p",
        "repetition_penalty",
        "length_penalty",
        "no_repeat_ngram_size",
        "encoder_no_repeat_ngram_size",
        "bad_words_ids",
        "num_return_sequences",
        "diversity_penalty",
        "suppress_tokens",
        "begin_suppress_tokens",
        "eos_token_id",
        "pad_token_id",
        "bos_token_id",
        "decoder_start_token_id",
        "forced_bos_token_id",
        "forced_eos_token_id",
        "renormalize_logits",
        "remove_invalid_values",
        "exponential_decay_length_penalty",
        "output_scores",
        "return_dict_in_generate",
    ]
)


_FIXED = {
    "is_decoder": (False,),
    "add_cross_attention": (False,),
    "pruned_heads": ({}, None),
    "tie_word_embeddings": (True,),
    "quantization_config": (None,),
}


def read_settings(family: Family, config: Config, ignore: Collection[str] = ()) -> Settings:
    """The settings that a config gives. Raises ConfigError naming a key that the family does not have, or its value."""
    values: Settings = {}
    fixed = {**_FIXED, **family.fixed}
    for key, value in config.items():
        if key in ignore or key in family.read_keys:
            continue
        if key in family.settings:
            if value is not None:
                values[family.settings[key]] = value
        elif key in fixed:
            if value not in fixed[key]:
                allowed = " or ".join(repr(each) for each in fixed[key])
                raise ConfigError(
                    f"config.json: {family.model_type} has {key}={value!r:.80}, LabDL computes it with {allowed} only"
                )
        elif key not in IGNORED and key not in GENERATION and key not in family.ignored and value not in (None, False):
            raise ConfigError(
                f"config.json: {family.model_type} has the key {key!r:.80} with {value!r:.80}, which LabDL does not know: if "
                f"it changes no output, give ignore=[{key!r:.80}]"
            )
    for key, setting in family.settings.items():
        if key not in config and key not in family.defaults:
            raise ConfigError(f"config.json has no {key}, which {family.model_type} needs")
        if config.get(key) is None and family.defaults.get(key) is not None:
            values[setting] = family.defaults[key]
    return values | (family.read(config) if family.read else {})


def find_head(family: Family, config: Config, architecture: str | None = None) -> tuple[str, Head]:
    """The architecture of a config, or the one that is asked for. Raises ConfigError naming one that LabDL does not have."""
    architectures = config.get("architectures")
    name = architecture or (
        architectures[0] if isinstance(architectures, list) and architectures else next(iter(family.heads))
    )
    if name not in family.heads:
        raise ConfigError(
            f"{family.model_type} has the architecture {name!r:.80}, which LabDL does not have: it has "
            f"{', '.join(family.heads)}, one of which architecture= chooses"
        )
    return name, family.heads[name]
