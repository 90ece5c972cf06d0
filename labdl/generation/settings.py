"""Settings of a generation, with the names and defaults of the public library."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labdl.errors import ConfigError, suggest_name

# keys of a generation_config.json that change no token, or values with which they change none
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "typical_p": (1.0,),
    "num_beam_groups": (1,),
    "diversity_penalty": (0.0,),
    "encoder_no_repeat_ngram_size": (0,),
    "exponential_decay_length_penalty": (),
    "renormalize_logits": (False,),
}
_WITHOUT_EFFECT = (
    *("transformers_version", "_from_model_config", "use_cache", "output_scores", "return_dict_in_generate"),
    *("remove_invalid_values", "bos_token_id", "prefix", "cache_implementation", "output_attentions"),
    "output_hidden_states",
    # of Whisper: the first tokens, see labdl.generation.signals, and timestamps, which are not written
    *(
        "lang_to_id",
        "task_to_id",
        "is_multilingual",
        "no_timestamps_token_id",
        "forced_decoder_ids",
        "prev_sot_token_id",
    ),
    *("alignment_heads", "max_initial_timestamp_index", "median_filter_width"),
)


@dataclass(frozen=True)
class GenerationSettings:
    """Settings of `labdl.generate`; numbers of tokens are None, one, or several for ``eos_token_id``."""

    max_new_tokens: int | None = None
    max_length: int | None = None
    min_new_tokens: int = 0
    min_length: int = 0
    do_sample: bool = False
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    num_beams: int = 1
    num_return_sequences: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | str = False
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    bad_words_ids: Sequence[Sequence[int]] = ()
    suppress_tokens: Sequence[int] = ()
    begin_suppress_tokens: Sequence[int] = ()
    eos_token_id: int | Sequence[int] | None = None
    pad_token_id: int | None = None
    decoder_start_token_id: int | None = None
    forced_bos_token_id: int | None = None
    forced_eos_token_id: int | Sequence[int] | None = None

    def __post_init__(self):
        for name, least in (
            ("max_new_tokens", 1),
            ("max_length", 1),
            ("min_new_tokens", 0),
            ("min_length", 0),
            ("top_k", 0),
            ("num_beams", 1),
            ("num_return_sequences", 1),
            ("no_repeat_ngram_size", 0),
        ):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole and least <= value < 1 << 31) and not (value is None and name in _MAY_BE_NONE):
                raise ConfigError(f"{name} wants an integer at least {least}, received {value!r:.80}")
        for name in ("temperature", "top_p", "repetition_penalty", "length_penalty"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ConfigError(f"{name} wants a number, received {value!r:.80}")
            if value <= 0 and name != "length_penalty":
                raise ConfigError(f"{name} wants a number above 0, received {value!r:.80}")
        if self.top_p > 1:
            raise ConfigError(f"top_p wants a number of at most 1, received {self.top_p}")
        if self.early_stopping not in (True, False, "never"):
            raise ConfigError(f'early_stopping wants True, False or "never", received {self.early_stopping!r:.80}')
        if self.num_beams > 1 and self.do_sample:
            raise ConfigError("beams are not sampled: give num_beams=1 with do_sample=True, or do_sample=False")
        if self.num_beams > 1 and self.num_return_sequences > self.num_beams:
            raise ConfigError(
                f"num_return_sequences={self.num_return_sequences} wants num_beams of at least as many, received "
                f"{self.num_beams}"
            )
        if self.num_beams == 1 and self.num_return_sequences > 1 and not self.do_sample:
            raise ConfigError("num_return_sequences above 1 wants do_sample=True, or as many num_beams")

        for name in _TOKENS:
            if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in _flat(getattr(self, name))):
                raise ConfigError(f"{name} wants numbers of tokens, received {getattr(self, name)!r:.80}")

    def check_vocabulary(self, size: int) -> None:
        """Raise ConfigError naming a token that is not among so many."""
        for name in _TOKENS:
            if large := [number for number in _flat(getattr(self, name)) if number >= size]:
                raise ConfigError(f"{name} has the token {large[0]}, the model has 0 to {size - 1}")

    @property
    def ends(self) -> tuple[int, ...]:
        """The tokens that end a text."""
        return _numbers(self.eos_token_id)

    @property
    def forced_ends(self) -> tuple[int, ...]:
        """The tokens one of which is the last one, if the text has not ended before."""
        return _numbers(self.forced_eos_token_id)


_TOKENS = (
    *("eos_token_id", "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id"),
    *("bad_words_ids", "suppress_tokens", "begin_suppress_tokens"),
)
_MAY_BE_NONE = ("max_new_tokens", "max_length", "top_k")
SETTING_NAMES = {field.name for field in dataclasses.fields(GenerationSettings)}


def merge_settings(saved: Mapping[str, Any], given: Mapping[str, Any]) -> GenerationSettings:
    """Settings of a model's folder under those of a call. Raises ConfigError naming one that LabDL does not have."""
    for name in given:
        if name not in SETTING_NAMES:
            raise ConfigError(f"generate has no setting {name!r:.80}{suggest_name(name, SETTING_NAMES)}")
    values = {}
    for name, value in saved.items():
        if name in SETTING_NAMES:
            values[name] = value
        elif name not in _WITHOUT_EFFECT and value is not None and value not in _NEUTRAL.get(name, (False,)):
            raise ConfigError(
                f"generation_config.json has {name}={value!r:.80}, which LabDL does not compute: take it out of "
                "model.pretrained.generation"
            )
    for name in ("bad_words_ids", "suppress_tokens", "begin_suppress_tokens"):
        if values.get(name, ()) is None:
            del values[name]
    if given.get("max_new_tokens") is not None:
        values.pop("max_length", None)
    return GenerationSettings(**values | dict(given))


def _numbers(value: int | Sequence[int] | None) -> tuple[int, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else tuple(value)


def _flat(value: Any) -> list[Any]:
    """The numbers in a number, or in lists of them."""
    if isinstance(value, list | tuple):
        return [number for part in value for number in _flat(part)]
    return [] if value is None else [value]
