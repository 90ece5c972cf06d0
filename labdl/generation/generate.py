"""`labdl.generate`: texts that continue a prompt, or answer it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.errors import ConfigError, DataError
from labdl.generation.decoder import (
    Decoder,
    caches_keys,
    check_model,
    is_encoder_decoder,
    position_limit,
    reads_signals,
)
from labdl.generation.search import Hypothesis, Source, repeat_source, search_beams, search_step_by_step
from labdl.generation.settings import GenerationSettings, merge_settings
from labdl.generation.signals import first_tokens, read_signals
from labdl.nn.index_limits import check_indices, index_limits
from labdl.nn.module import Module

_DEFAULT_TOKENS = 20  # as in the public library


@dataclass(frozen=True, eq=False)
class Generation:
    """A generated text: its ``tokens`` without the prompt, and ``text``, None without a tokenizer.

    ``tokens`` (count) have at their end the token that ended the text, if one did. ``score`` is that of a beam.
    """

    tokens: np.ndarray
    text: str | None = None
    score: float | None = None

    def __str__(self) -> str:
        return str(self.tokens.tolist()) if self.text is None else self.text


@dataclass(frozen=True)
class Piece:
    """One token of a stream: the ``row`` of its prompt, its number, and the text that it adds, "" without a tokenizer."""

    row: int
    token: int
    text: str


def generate(
    model: Module,
    prompt: Any,
    *,
    mask: Any = None,
    tokenizer: Any = None,
    stop: str | Sequence[str] = (),
    stream: bool | Callable[[Piece], None] = False,
    seed: int | None = None,
    use_cache: bool | None = None,
    compiled: bool | str | None = None,
    decoder_input_ids: Any = None,
    language: str | None = None,
    task: str | None = None,
    **settings: Any,
) -> Generation | list[Generation]:
    """Generate text with a model that predicts the next token: one of `from_pretrained`, of the zoo, or any other.

    ``prompt`` is a text or the numbers of its tokens (steps), or a list of several, of any lengths; numbers (N, steps) with a
    ``mask`` (N, steps) are padded on either side. A model with an encoder reads the prompt there. Returns a `Generation`, or a
    list of them for several prompts or ``num_return_sequences``::

        model = labdl.models.from_pretrained("openai-community/gpt2", backend="paddle")
        print(labdl.generate(model, "The river turned", max_new_tokens=40))
        labdl.generate(model, "The river turned", do_sample=True, top_p=0.9, seed=1, stream=True)

    Of a model that reads pictures (TrOCR) or sounds (Whisper), ``prompt`` is a picture or a sound, or a list of them: a name of
    a file, an array, a Pillow picture, a `labdl.data.Audio`; an array of floating-point numbers with an axis of samples is the
    encoder's input itself. ``decoder_input_ids`` are the first tokens of its texts, (steps) or (N, steps), which are not part
    of the result; by default the start token, and of a Whisper of many languages ``language`` ("en"), which it detects
    by itself if that is None, and ``task``, "transcribe" or "translate" (to English)::

        print(labdl.generate(labdl.models.from_pretrained("openai/whisper-tiny"), "speech.wav", max_new_tokens=100))

    ``settings`` are those of `labdl.generation.GenerationSettings` over those of the model's folder: ``max_new_tokens`` (20),
    ``num_beams`` with ``length_penalty`` and ``early_stopping``, ``do_sample`` with ``temperature``, ``top_k`` and ``top_p``,
    ``repetition_penalty``, ``no_repeat_ngram_size``, ``min_new_tokens``, ``eos_token_id`` and others. ``stop`` are words before
    which a text ends. ``stream=True`` prints the text as it comes, a function receives each `Piece`. ``seed`` is that of
    sampling. ``tokenizer`` is one of `labdl.data.text`, by default that of the model's folder.

    Keys and values of earlier tokens are kept where the model's class allows it (``caches_keys``); ``use_cache=False`` computes
    the whole text for each token. Caches and prompts have sizes of multiples of 32, so that a compiled backend compiles once;
    ``compiled=None`` is the backend's default.

    Raises ConfigError for a setting, DataError for an empty prompt, for numbers beyond the vocabulary and for more tokens than
    the model has positions. Source: transformers.GenerationMixin.generate.
    """
    check_model(model)
    folder = model.__dict__.get("pretrained")
    tokenizer = getattr(folder, "tokenizer", None) if tokenizer is None else tokenizer
    if tokenizer is not None and not (hasattr(tokenizer, "encode") and hasattr(tokenizer, "decode")):
        raise ConfigError(f"tokenizer wants one of labdl.data.text, received {tokenizer!r:.80}")
    options = merge_settings(getattr(folder, "generation", {}), settings)
    signals = reads_signals(model)
    if not signals and any(value is not None for value in (decoder_input_ids, language, task)):
        raise ConfigError("decoder_input_ids, language and task are for models that read pictures or sounds")
    words = (stop,) if isinstance(stop, str) else tuple(stop)
    if not all(isinstance(word, str) and word for word in words):
        raise ConfigError(f"stop wants words, received {stop!r:.80}")
    if (words or stream is True) and tokenizer is None:
        raise ConfigError("stop and stream=True want a tokenizer: give tokenizer=")
    if options.num_beams > 1 and (words or stream):
        raise ConfigError("beams have no stream and no stop words: a text may still change; give num_beams=1")
    source: Source = None
    if signals:
        if mask is not None:
            raise ConfigError("mask is for prompts of tokens, not for pictures and sounds")
        inputs, single = read_signals(model, prompt)
        saved = getattr(folder, "generation", {})
        starts = first_tokens(
            model, inputs, options.decoder_start_token_id, decoder_input_ids, saved, language=language, task=task
        )
        _check_numbers(model, starts, place=1)
        source = inputs, None
    else:
        prompts, single = _read_prompts(prompt, mask, tokenizer)
        _check_numbers(model, prompts)
        starts = prompts
        if is_encoder_decoder(model):
            starts, source = _decoder_starts(model, prompts, options)
    steps, options = _count_steps(starts, options)
    if options.do_sample and options.num_return_sequences > 1:
        starts = [start for start in starts for _ in range(options.num_return_sequences)]
        source = repeat_source(source, options.num_return_sequences)
    longest = max(map(len, starts)) + steps - 1  # the last token is not read again
    cached = caches_keys(model) if use_cache is None else use_cache
    if cached and not caches_keys(model):
        raise ConfigError(
            f"{type(model).__name__} does not say that it can keep keys (caches_keys): give use_cache=False"
        )
    decoder = Decoder(model, longest, cached=cached, compiled=compiled)
    if options.num_beams > 1:
        groups = search_beams(decoder, starts, source, options, steps)
        results = [_result(hypothesis, options, tokenizer, ()) for group in groups for hypothesis in group]
    else:
        results = _search(decoder, starts, source, options, steps, tokenizer, words, stream, seed)
    return results[0] if single and len(results) == 1 else results


def _search(decoder, starts, source, chosen, steps, tokenizer, words, stream, seed) -> list[Generation]:
    """Texts token by token, given to ``stream`` as they come."""
    texts = _Texts(len(starts), tokenizer, chosen.ends)
    stream_of_tokens = search_step_by_step(
        decoder,
        starts,
        source,
        chosen,
        steps,
        np.random.default_rng(seed),
        lambda row, tokens: any(word in texts.whole(tokens) for word in words),
    )
    new: list[list[int]] = [[] for _ in starts]
    for row, token in stream_of_tokens:
        new[row].append(token)
        if stream:
            piece = Piece(row, token, texts.add(row, new[row]))
            stream(piece) if callable(stream) else _print_piece(piece)
    return [_result(Hypothesis(np.array(tokens, "int64")), chosen, tokenizer, words) for tokens in new]


class _Texts:
    """Texts of rows whose tokens come one by one."""

    def __init__(self, rows: int, tokenizer: Any, ends: Sequence[int]):
        self.tokenizer, self.ends, self.given = tokenizer, ends, [""] * rows

    def whole(self, tokens: Sequence[int]) -> str:
        return "" if self.tokenizer is None else decode_text(self.tokenizer, tokens, self.ends)

    def add(self, row: int, tokens: Sequence[int]) -> str:
        """The text that the last token adds; nothing while a character is incomplete."""
        text, before = self.whole(tokens), self.given[row]
        if text.endswith("\ufffd") or not text.startswith(before):
            return ""
        self.given[row] = text
        return text[len(before) :]


def decode_text(tokenizer: Any, tokens: Sequence[int], ends: Sequence[int] = ()) -> str:
    """The text of generated tokens, without the token that ends it; numbers beyond the tokenizer's are left out."""
    size = tokenizer.vocab_size
    return tokenizer.decode([int(t) for t in tokens if t not in ends and t < size])


def _print_piece(piece: Piece) -> None:
    sys.stdout.write(piece.text)
    sys.stdout.flush()


def _result(hypothesis: Hypothesis, chosen: GenerationSettings, tokenizer: Any, words: Sequence[str]) -> Generation:
    text = None
    if tokenizer is not None:
        text = decode_text(tokenizer, hypothesis.tokens.tolist(), chosen.ends)
        for word in words:
            text = text.partition(word)[0]
    return Generation(hypothesis.tokens, text, hypothesis.score)


def _read_prompts(prompt: Any, mask: Any, tokenizer: Any) -> tuple[list[np.ndarray], bool]:
    """The tokens of each prompt, without padding, and whether there is one alone. Raises DataError and ConfigError."""
    if not isinstance(prompt, str | list | tuple | np.ndarray):
        raise DataError(
            f"generate wants a prompt as text, numbers of tokens, or a list of them, received {prompt!r:.80}"
        )
    single = isinstance(prompt, str) or (len(prompt) > 0 and np.ndim(prompt[0]) == 0 and not isinstance(prompt[0], str))
    rows = [prompt] if single else list(prompt)
    if not rows:
        raise DataError("generate wants a prompt, received an empty list")
    if mask is not None:
        masks = [mask] if single else list(mask)
        if len(masks) != len(rows):
            raise DataError(f"mask has {len(masks)} rows, prompt has {len(rows)}")
        for row, keep in zip(rows, masks, strict=True):
            if isinstance(row, str) or np.shape(row) != np.shape(keep):
                raise DataError(f"a mask {np.shape(keep)} is for the numbers of as many tokens, received {row!r:.80}")
        rows = [np.asarray(row)[np.asarray(keep).astype(bool)] for row, keep in zip(rows, masks, strict=True)]
    if any(isinstance(row, str) for row in rows) and tokenizer is None:
        raise ConfigError("a prompt that is text wants a tokenizer: give tokenizer=, or the numbers of its tokens")
    tokens = [
        np.asarray(tokenizer.encode(row, add_special_tokens=True) if isinstance(row, str) else row) for row in rows
    ]
    for at, row in enumerate(tokens):
        if row.ndim != 1 or (row.dtype.kind not in "iu" and row.size):
            raise DataError(
                f"prompt {at} wants text or the numbers of tokens (steps), received {row.dtype} {row.shape}"
            )
        if not row.size:
            raise DataError(f"prompt {at} is empty: give at least one token")
    return [row.astype("int64") for row in tokens], single


def _check_numbers(model: Module, prompts: Sequence[np.ndarray], place: int = 0) -> None:
    """Raise OutOfRangeError for numbers that the table of tokens behind the model's input ``place`` does not have."""
    limits = index_limits(model)
    limits = {0: limits[place]} if place in limits else {}
    for prompt in prompts:
        check_indices((prompt[None],), limits)


def _decoder_starts(model: Module, prompts: Sequence[np.ndarray], chosen: GenerationSettings):
    """The first tokens of the decoder, and the padded source with its mask."""
    start = chosen.decoder_start_token_id
    if start is None:
        raise ConfigError("a model with a decoder beside its encoder wants decoder_start_token_id=")
    width, limit = max(map(len, prompts)), position_limit(model, "source")
    if limit is not None and width > limit:
        raise DataError(f"the model has {limit} positions, a prompt has {width} tokens: shorten it")
    ids = np.full((len(prompts), width), max(chosen.pad_token_id or 0, 0), "int64")
    mask = np.zeros(ids.shape, "int64")
    for at, prompt in enumerate(prompts):
        ids[at, : len(prompt)], mask[at, : len(prompt)] = prompt, 1
    return [np.array([start], "int64")] * len(prompts), (ids, mask)


def _count_steps(starts: Sequence[np.ndarray], chosen: GenerationSettings) -> tuple[int, GenerationSettings]:
    """The largest number of new tokens, and the settings with limits of the whole length as those of new tokens."""
    import dataclasses

    longest = max(map(len, starts))
    steps = chosen.max_new_tokens
    if steps is None:
        steps = _DEFAULT_TOKENS if chosen.max_length is None else chosen.max_length - longest
        if steps < 1:
            raise DataError(f"max_length={chosen.max_length} is not more than the {longest} tokens of the prompt")
    least = max(chosen.min_new_tokens, chosen.min_length - longest)
    return steps, dataclasses.replace(chosen, min_new_tokens=max(least, 0))
