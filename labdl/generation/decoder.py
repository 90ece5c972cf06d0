"""Logits of the next token, step by step: with a cache of keys and values, or by a whole pass for each token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ConfigError, DataError
from labdl.graph.lowering.compilable import Compilable
from labdl.nn.decoding import DecodingState, decoding
from labdl.nn.eval_mode import eval_mode
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.positions import PositionEmbedding
from labdl.ops.infix import neutral
from labdl.train.run.locks import compute_lock
from labdl.train.run.shutdown import active_runs

# sizes of prompts and caches are multiples of it, so that few programs are compiled
STEP = 32


class Programs:
    """The functions of a model that a generation calls, kept for the next one: a compiled backend compiles each once a size."""

    def __init__(self) -> None:
        self.functions: dict[tuple, Callable] = {}
        self.version = -1

    @classmethod
    def of(cls, model: Module) -> Programs:
        """Those of a model; they are forgotten when a layer or a variable of any model is replaced."""
        programs = model.__dict__.get("_generation_programs")
        if not isinstance(programs, Programs) or programs.version != Parameter.changes:
            programs = model.__dict__["_generation_programs"] = cls()
            programs.version = Parameter.changes
        return programs

    def __deepcopy__(self, memo: dict) -> Programs:
        return Programs()  # those of the copied model

    def __reduce__(self):
        return Programs, ()


class Decoder:
    """The decoder of a model for a batch: `start` with prompts, then `step` with one token a row.

    ``length`` is the largest number of tokens of a row, with the prompt; ``cached`` keeps keys and values of earlier steps.
    Logits are NumPy arrays (rows, vocabulary). Raises DataError for a length beyond the model's positions.
    """

    def __init__(self, model: Module, length: int, *, cached: bool, compiled: bool | str | None = None):
        self.model, self.cached, self.compiled = model, cached, compiled
        self.native: Any = dispatch.get(model.backend)
        self.limit = position_limit(model, "target" if is_encoder_decoder(model) else "")
        if self.limit is not None and length > self.limit:
            raise DataError(
                f"the model has {self.limit} positions, prompt and new tokens are {length}: shorten the prompt, or give a "
                "smaller max_new_tokens"
            )
        self.length = _round_up(length)
        self._modules = list(model.modules())
        self._own: list[Any] = []
        self._cross: list[Any] = []
        self._context: list[Any] = []  # the encoder's output, and its mask if it has one
        self._tokens = np.zeros((0, 0), "int64")
        self._lengths = np.zeros(0, "int64")

    # -- steps

    def start(
        self, prompts: Sequence[np.ndarray], source: tuple[np.ndarray, np.ndarray | None] | None = None
    ) -> np.ndarray:
        """Logits after each prompt.

        ``source`` are the tokens (rows, keys) and the mask of an encoder's input, or pictures or sounds and None.
        """
        if source is not None:
            masks = [] if source[1] is None else [self.native.tensor(source[1])]
            model: Any = self.model
            context = self._run("encode", model.encode, self.native.tensor(source[0]), *masks)
            self._context = [context, *masks]
        self._lengths = np.array([len(prompt) for prompt in prompts], "int64")
        width = self.length if not self.cached else _round_up(int(self._lengths.max()))
        if self.limit is not None:
            width = min(width, self.limit)
        self._tokens = np.zeros((len(prompts), width), "int64")
        for row, prompt in zip(self._tokens, prompts, strict=True):
            row[: len(prompt)] = prompt
        if not self.cached:
            return self._full_pass()
        logits, own, cross = self._run("prompt", self._prompt, *self._batch(), *self._context)
        self._own, self._cross = list(own), list(cross)
        return np.array(self.native.to_numpy(logits))

    def step(self, tokens: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Logits after one more token a row; ``rows`` are the rows that this one continues, where they change places."""
        if not self.cached:
            if rows is not None:
                self._tokens, self._lengths = self._tokens[rows], self._lengths[rows]
            self._tokens[np.arange(len(tokens)), self._lengths] = tokens
            self._lengths = self._lengths + 1
            return self._full_pass()
        positions = self._lengths if rows is None else self._lengths[rows]
        self._lengths = positions + 1
        inputs = [self.native.tensor(array) for array in (tokens[:, None], positions[:, None])]
        places = [] if rows is None else [self.native.tensor(np.asarray(rows, "int64"))]
        counts = len(places), len(self._context), len(self._cross)
        run = self._step(*counts)
        logits, own = self._run(("step", counts), run, *inputs, *places, *self._context, *self._cross, *self._own)
        self._own = list(own)
        return np.array(self.native.to_numpy(logits))

    # -- functions of tensors

    def _full_pass(self) -> np.ndarray:
        logits = self._run("whole", lambda *inputs: self._last(*inputs), *self._batch(), *self._context)
        return np.array(self.native.to_numpy(logits))

    def _batch(self) -> list[Any]:
        return [self.native.tensor(self._tokens), self.native.tensor(self._lengths)]

    def _logits(self, tokens, *context):
        model: Any = self.model
        masks = {"source_mask": context[1]} if len(context) > 1 else {}
        logits = model.decode(tokens, context[0], **masks) if context else model(tokens)
        return logits[0] if isinstance(logits, tuple) else logits

    def _last(self, tokens, lengths, *context):
        """Logits (rows, vocabulary) at the last token of each row."""
        last = ops.reshape(ops.subtract(lengths, 1), (-1, 1, 1))
        return ops.squeeze(ops.take_along_axis(self._logits(tokens, *context), last, axis=1), 1)

    def _prompt(self, tokens, lengths, *context):
        with decoding(DecodingState(self.length)) as state:
            logits = self._last(tokens, lengths, *context)
        return logits, tuple(state.new_own), tuple(state.new_cross)

    def _step(self, places: int, context: int, cross: int) -> Callable:
        def run(tokens, positions, *others):
            rows, others = others[:places], others[places:]
            encoder_output, cross_keys, own = (
                others[:context],
                others[context : context + cross],
                others[context + cross :],
            )
            if rows:
                own = [ops.take(cache, rows[0], axis=0) for cache in own]
            with decoding(DecodingState(self.length, positions, own, cross_keys)) as state:
                logits = self._logits(tokens, *encoder_output)
            return ops.squeeze(logits, 1), tuple(state.new_own)

        return run

    def _run(self, kind: Any, function: Callable, *inputs):
        """Compute a function in evaluation mode, by the program of the backend for inputs of these shapes."""
        programs = Programs.of(self.model).functions
        key = (kind, self.length, self.compiled, self.cached, *(tuple(x.shape) for x in inputs[:2]))
        if key not in programs:
            computed = Compilable(neutral(function), [self.model], self.native)
            programs[key] = self.native.evaluate_function(computed, compiled=self.compiled)
        together = getattr(self.native, "concurrent", False) and not self.compiled and not active_runs
        with nullcontext() if together else compute_lock, eval_mode(self._modules):
            return programs[key](*inputs)


def is_encoder_decoder(model: Module) -> bool:
    """Whether a model has an encoder, whose output its decoder attends to."""
    return callable(getattr(model, "encode", None)) and callable(getattr(model, "decode", None))


def reads_signals(model: Module) -> bool:
    """Whether a model's encoder reads pictures or sounds: its first input is of floating-point numbers."""
    first = model.input_specs[0] if is_encoder_decoder(model) else None
    return first is not None and first.dtype.startswith(("float", "bfloat"))


def caches_keys(model: Module) -> bool:
    """Whether a model's class says that its attention and positions go by steps (``caches_keys = True``)."""
    return bool(getattr(type(model), "caches_keys", False))


def position_limit(model: Module, side: str = "") -> int | None:
    """The largest number of tokens that the model's tables of positions have, None without such tables.

    ``side`` chooses those of an encoder ("source") or decoder ("target") by their path, where there are both; those of
    an encoder that reads pictures or sounds are left out.
    """
    tables = {path: module.size for path, module in model.named_modules() if isinstance(module, PositionEmbedding)}
    if reads_signals(model):
        tables = {path: size for path, size in tables.items() if path.partition("/")[0] != "encoder"}
    own = [size for path, size in tables.items() if side in path]
    return min(own or tables.values(), default=None)


def check_model(model: Module) -> None:
    """Raise ConfigError for what is no built model."""
    if not isinstance(model, Module):
        raise ConfigError(f"generate wants a model, received {type(model).__name__}")
    model._need_build()


def _round_up(count: int) -> int:
    return count + -count % STEP
