"""Prompts of models whose encoder reads pictures or sounds, and the first tokens of their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl import ops
from labdl.errors import ConfigError, DataError
from labdl.generation.decoder import Decoder
from labdl.nn.module import Module
from labdl.tasks.processors import create_processor

_SPEECH_TASKS = ("transcribe", "translate")


def read_signals(model: Module, prompt: Any) -> tuple[np.ndarray, bool]:
    """The encoder's input (N, ...), float32, of a picture or a sound or several, and whether there is one alone.

    An array of floating-point numbers with an axis of samples, such as (N, bins, frames), is the input itself. Raises DataError
    for what is neither, and ConfigError where the model's folder has no preprocessor_config.json.
    """
    spec: Any = model.input_specs[0]
    listed = isinstance(prompt, list | tuple)
    if listed and not prompt:
        raise DataError("generate wants a picture or a sound, received an empty list")
    single = not listed or (isinstance(prompt[0], int | float) and not isinstance(prompt[0], bool))
    if len(getattr(prompt, "shape", ())) == len(spec.shape):
        array = ops.to_numpy(prompt)
        if array.dtype.kind == "f":
            return _check_inputs(spec, array.astype("float32")), False
        prompt, single = list(array), False
    settings = getattr(model.__dict__.get("pretrained"), "processor", None)
    if not settings:
        raise ConfigError(
            f"the steps from a picture or a sound to the input of {type(model).__name__} are not known: it has no "
            f"preprocessor_config.json; give an array of the shape {spec.shape} of floating-point numbers"
        )
    process = create_processor(settings)
    samples = [np.asarray(prompt) if listed else prompt] if single else list(prompt)
    return _check_inputs(spec, np.stack([process(sample) for sample in samples])), single


def _check_inputs(spec: Any, array: np.ndarray) -> np.ndarray:
    fits = all(want is None or size == want for size, want in zip(array.shape, spec.shape, strict=True))
    if not fits or not array.size:
        raise DataError(f"the encoder wants an input of the shape {spec.shape}, received {array.shape}")
    if not np.isfinite(array).all():
        raise DataError("the encoder's input has values that are no numbers (NaN or infinite)")
    return array


def first_tokens(
    model: Module,
    signals: np.ndarray,
    start: int | None,
    given: Any,
    saved: Mapping[str, Any],
    *,
    language: str | None,
    task: str | None,
) -> list[np.ndarray]:
    """The tokens with which the decoder begins, for each row: those that are ``given``, else the start token.

    A Whisper of many languages goes on with the tokens of the ``language``, which it detects by itself if that is None, and of
    the ``task``; ``saved`` are the settings of its folder, which have the numbers of these tokens. Raises ConfigError.
    """
    if given is not None:
        if language is not None or task is not None:
            raise ConfigError("decoder_input_ids are all first tokens: leave language and task out")
        return _given_tokens(given, len(signals))
    if start is None:
        raise ConfigError("a model with a decoder beside its encoder wants decoder_start_token_id=")
    languages, tasks = (saved.get(name) or {} for name in ("lang_to_id", "task_to_id"))
    if (language is not None or task is not None) and not languages:
        raise ConfigError("this model has no tokens of languages and tasks (lang_to_id in its generation_config.json)")
    rows = [[start] for _ in signals]
    if languages:
        numbers = _table(languages, "lang_to_id"), _table(tasks, "task_to_id")
        number = _choose(numbers[1], task or "transcribe", "task", _SPEECH_TASKS)
        if language is None:
            spoken = _detect_languages(model, signals, start, list(numbers[0].values()))
        else:
            spoken = [_choose(numbers[0], f"<|{language}|>", "language", numbers[0])] * len(rows)
        rows = [[*row, each, number] for row, each in zip(rows, spoken, strict=True)]
    quiet = saved.get("no_timestamps_token_id")
    if isinstance(quiet, int):
        rows = [[*row, quiet] for row in rows]
    return [np.array(row, "int64") for row in rows]


def _given_tokens(given: Any, count: int) -> list[np.ndarray]:
    array = np.asarray(given)
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.dtype.kind not in "iu" or not array.size or len(array) not in (1, count):
        raise DataError(
            f"decoder_input_ids wants numbers of tokens (steps), or ({count}, steps), received {array.dtype} {array.shape}"
        )
    return list(np.broadcast_to(array.astype("int64"), (count, array.shape[1])))


def _table(value: Any, name: str) -> dict[str, int]:
    if not isinstance(value, Mapping) or not all(isinstance(number, int) for number in value.values()):
        raise ConfigError(f"generation_config.json: {name} wants a table of numbers of tokens, received {value!r:.80}")
    return dict(value)


def _choose(table: Mapping[str, int], key: str, name: str, known: Sequence[str] | Mapping[str, int]) -> int:
    if key not in table:
        choices = ", ".join(each.strip("<|>") for each in list(known)[:12])
        raise ConfigError(f"{name} wants one of the model's ({choices} …), received {key.strip('<|>')!r:.40}")
    return table[key]


def _detect_languages(model: Module, signals: np.ndarray, start: int, numbers: Sequence[int]) -> list[int]:
    """The most probable token of a language behind the start token, for each sound."""
    decoder = Decoder(model, 1, cached=False)
    logits = decoder.start([np.array([start], "int64")] * len(signals), (signals, None))
    if any(not 0 <= number < logits.shape[1] for number in numbers):
        raise ConfigError(f"generation_config.json: lang_to_id has numbers beyond the {logits.shape[1]} of the model")
    return np.array(numbers)[logits[:, list(numbers)].argmax(-1)].tolist()
