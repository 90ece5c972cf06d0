"""Searches of a transducer: at each step of a sound the most probable symbols until "next step", or several hypotheses."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ConfigError
from labdl.graph.lowering.compilable import Compilable
from labdl.models.sound.rnnt import RNNT
from labdl.nn.eval_mode import eval_mode
from labdl.ops.infix import neutral
from labdl.train.metrics.outputs import log_probabilities
from labdl.train.run.locks import compute_lock
from labdl.train.run.shutdown import active_runs

_WINDOW = 32  # steps that are joined at once


class Path(NamedTuple):
    """Symbols (k) without blanks, the step (k) at which each was written, and the log-probability of the path."""

    symbols: np.ndarray
    steps: np.ndarray
    score: float


def search_transducer(
    model: RNNT, frames: np.ndarray, *, blank: int = 0, symbols_per_step: int = 10, beam_size: int = 1
) -> Path:
    """The most probable symbols of the frames (steps, bins) of one sound.

    Zeros are put behind the frames as the right context of the last ones; see `search_encodings` for the other arguments.
    Raises ConfigError for a model that is not built, and for a blank that it does not have.
    """
    model._need_build()
    right = model.transcriber.emformer.right * model.reduction
    padded = np.concatenate([frames, np.zeros((right, frames.shape[1]), frames.dtype)]).astype("float32")
    functions = _Functions(model)
    encodings = functions.array(functions.run(model.transcriber, functions.native.tensor(padded[None])))[0]
    return _search(functions, encodings, blank, symbols_per_step, beam_size)


def search_encodings(
    model: RNNT, encodings: np.ndarray, *, blank: int = 0, symbols_per_step: int = 10, beam_size: int = 1
) -> Path:
    """The most probable symbols of one sound, whose encodings (steps, features) are the output of ``model.transcriber``.

    ``blank`` is the symbol for "next step", as in `nn.RNNTLoss`; after ``symbols_per_step`` symbols the next step comes
    anyway. With a ``beam_size`` of 1 each symbol is the most probable one after those before it, and the score is that of
    this path; otherwise so many hypotheses are kept after each step, and their scores add up the paths that write the same
    symbols; the steps are those of the most probable of these. Raises ConfigError for a blank that the model does not have.

    Source: Graves, Sequence Transduction with Recurrent Neural Networks, 2012, section 2.6; torchaudio.models.RNNTBeamSearch.
    """
    model._need_build()
    return _search(_Functions(model), encodings, blank, symbols_per_step, beam_size)


def _search(functions: _Functions, encodings: np.ndarray, blank: int, symbols_per_step: int, beam_size: int) -> Path:
    size: int = functions.model.joiner.out_features  # type: ignore[assignment]
    if not 0 <= blank < size:
        raise ConfigError(f"blank wants a symbol of the model, 0 to {size - 1}, received {blank}")
    for name, value in (("symbols_per_step", symbols_per_step), ("beam_size", beam_size)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"{name} wants a whole number above 0, received {value!r:.40}")
    search = _greedy_search if beam_size == 1 else functools.partial(_beam_search, beam_size=beam_size)
    return search(functions, encodings, blank, symbols_per_step)


def _greedy_search(functions: _Functions, encodings: np.ndarray, blank: int, symbols_per_step: int) -> Path:
    # a window reaches beyond the end
    windows = np.pad(encodings, ((0, _WINDOW), (0, 0)))[None]
    written, states = functions.start(blank)
    symbols: list[int] = []
    steps: list[int] = []
    score, at, count = 0.0, 0, len(encodings)
    while at < count:
        logs = functions.join(windows[:, at : at + _WINDOW], written)[0, : count - at, 0]
        best = logs.argmax(1)
        if steps and steps.count(at) >= symbols_per_step:
            best[0] = blank
        ahead = int(next(iter(np.flatnonzero(best != blank)), len(best)))
        score += float(logs[:ahead, blank].sum())
        at += ahead
        if ahead == len(best):
            continue
        symbols.append(int(best[ahead]))
        steps.append(at)
        score += float(logs[ahead, best[ahead]])
        written, states = functions.write(symbols[-1:], states)
    return Path(np.array(symbols, "int64"), np.array(steps, "int64"), score)


class _Hypothesis(NamedTuple):
    """Symbols, the step of each in the most probable path, the log-probabilities of all paths and of this one."""

    symbols: tuple[int, ...]
    steps: tuple[int, ...]
    score: float
    best: float

    def merge(self, other: _Hypothesis | None) -> _Hypothesis:
        """The sum of this one and one with the same symbols."""
        if other is None:
            return self
        steps, best = max((self.steps, self.best), (other.steps, other.best), key=lambda pair: pair[1])
        return _Hypothesis(self.symbols, steps, float(np.logaddexp(self.score, other.score)), best)


def _beam_search(
    functions: _Functions, encodings: np.ndarray, blank: int, symbols_per_step: int, *, beam_size: int
) -> Path:
    """Step by step: hypotheses write symbols until "next step", and those that arrive there with the same symbols are one."""
    first, states = functions.start(blank)
    # what the predictor gives behind the symbols of a hypothesis: features (1, features) and states
    memory: dict[tuple[int, ...], tuple[Any, tuple]] = {(): (first, states)}
    beam = [_Hypothesis((), (), 0.0, 0.0)]
    for step, encoding in enumerate(encodings):
        active, candidates = beam, {}
        for count in range(symbols_per_step + 1):
            features = np.concatenate([functions.array(memory[each.symbols][0]) for each in active])
            same_step = np.repeat(encoding[None, None], len(active), 0)
            logs = functions.join(same_step, functions.native.tensor(features))[:, 0, 0]
            for each, row in zip(active, logs, strict=True):
                extended = each._replace(score=each.score + float(row[blank]), best=each.best + float(row[blank]))
                candidates[each.symbols] = extended.merge(candidates.get(each.symbols))
            if count == symbols_per_step:
                break
            active = _extend(active, logs, blank, step, beam_size, least=_least_score(candidates, beam_size))
            if not active:
                break
            _remember(functions, memory, active)
        beam = sorted(candidates.values(), key=lambda each: -each.score)[:beam_size]
        memory = {each.symbols: memory[each.symbols] for each in beam}
    best = beam[0]
    return Path(np.array(best.symbols, "int64"), np.array(best.steps, "int64"), best.score)


def _least_score(candidates: dict[tuple[int, ...], _Hypothesis], beam_size: int) -> float:
    """The score below which no hypothesis is kept: that of the last one of a full beam."""
    scores = sorted((each.score for each in candidates.values()), reverse=True)
    return scores[beam_size - 1] if len(scores) >= beam_size else -np.inf


def _extend(
    writing: list[_Hypothesis], logs: np.ndarray, blank: int, step: int, beam_size: int, *, least: float
) -> list[_Hypothesis]:
    """The most probable hypotheses of one symbol more, above the ``least`` score."""
    scores = np.array([each.score for each in writing])[:, None] + logs
    scores[:, blank] = -np.inf
    order = np.argsort(-scores, axis=None, kind="stable")[:beam_size]
    extended = []
    for row, symbol in zip(*np.unravel_index(order, scores.shape), strict=True):
        if scores[row, symbol] <= least:
            break
        each, own = writing[row], float(logs[row, symbol])
        symbols, steps = (*each.symbols, int(symbol)), (*each.steps, step)
        extended.append(_Hypothesis(symbols, steps, each.score + own, each.best + own))
    return extended


def _remember(functions: _Functions, memory: dict, hypotheses: list[_Hypothesis]) -> None:
    """Compute what the predictor gives behind the symbols of hypotheses."""
    for each in hypotheses:
        if each.symbols not in memory:
            memory[each.symbols] = functions.write(each.symbols[-1:], memory[each.symbols[:-1]][1])


class _Functions:
    """The functions of a transducer in evaluation mode, each prepared once."""

    def __init__(self, model: RNNT):
        self.model, self.native, self.modules = model, dispatch.get(model.backend), list(model.modules())
        self.functions: dict[str, Callable] = {}

    def start(self, blank: int) -> tuple[Any, Any]:
        """Features (1, features) and states of the predictor before the first symbol."""
        predictor = self.model.predictor
        empty = np.zeros((1, predictor.hidden_size), "float32")
        return self.write([blank], [self.native.tensor(empty) for _ in range(2 * len(predictor.cells))])

    def write(self, symbols: Sequence[int], states: Any) -> tuple[Any, Any]:
        """Features (N, features) of the predictor behind one more symbol each (N,), and the new states."""
        return self.run(self.model.predictor.step, self.native.tensor(np.array(symbols, "int64")), *states)

    def join(self, encodings: np.ndarray, written: Any) -> np.ndarray:
        """Log-probabilities (N, steps, 1, symbols) of encodings (N, steps, features) and features (N, features)."""
        tensor = self.native.tensor(np.ascontiguousarray(encodings))
        return log_probabilities(self.array(self.run(self._join, tensor, written)).astype("float64"), True)

    def _join(self, encodings: Any, written: Any) -> Any:
        return self.model.join(encodings, ops.expand_dims(written, 1))

    def run(self, function: Callable, *inputs: Any) -> Any:
        key = getattr(function, "__qualname__", type(function).__name__)
        if key not in self.functions:
            computed = Compilable(neutral(function), [self.model], self.native)
            self.functions[key] = self.native.evaluate_function(computed, compiled=False)
        together = getattr(self.native, "concurrent", False) and not active_runs
        with nullcontext() if together else compute_lock, eval_mode(self.modules):
            return self.functions[key](*inputs)

    def array(self, tensor: Any) -> np.ndarray:
        return np.asarray(self.native.to_numpy(tensor))
