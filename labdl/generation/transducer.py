"""Greedy search of a transducer: at each step of the sound the most probable symbols, until "next step"."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from labdl import dispatch, ops
from labdl.errors import ConfigError
from labdl.generation.scores import log_softmax
from labdl.graph.lowering.compilable import Compilable
from labdl.models.sound.rnnt import RNNT
from labdl.nn.eval_mode import eval_mode
from labdl.ops.infix import neutral
from labdl.train.run.locks import compute_lock
from labdl.train.run.shutdown import active_runs

_WINDOW = 32  # steps that are joined at once


class Path(NamedTuple):
    """Symbols (k) without blanks, the step (k) at which each was written, and the log-probability of the path."""

    symbols: np.ndarray
    steps: np.ndarray
    score: float


def search_transducer(model: RNNT, frames: np.ndarray, *, blank: int = 0, symbols_per_step: int = 10) -> Path:
    """The most probable symbol at each step of the frames (steps, bins) of one sound, given those before it.

    ``blank`` is the symbol for "next step", as in `nn.RNNTLoss`; after ``symbols_per_step`` symbols the next step comes
    anyway. Zeros are put behind the frames as the right context of the last ones. Raises ConfigError for a model that is not
    built, and for a blank that it does not have.

    Source: Graves, Sequence Transduction with Recurrent Neural Networks, 2012, section 2.6, with one hypothesis.
    """
    model._need_build()
    right = model.transcriber.emformer.right * model.reduction
    size: int = model.joiner.out_features  # type: ignore[assignment]
    if not 0 <= blank < size:
        raise ConfigError(f"blank wants a symbol of the model, 0 to {size - 1}, received {blank}")
    native: Any = dispatch.get(model.backend)
    search = _Search(model, native)
    padded = np.concatenate([frames, np.zeros((right, frames.shape[1]), frames.dtype)]).astype("float32")
    encodings = search.array(search.run(model.transcriber, native.tensor(padded[None])))
    # a window reaches beyond the end
    windows = np.pad(encodings, ((0, 0), (0, _WINDOW), (0, 0)))
    empty = np.zeros((1, model.predictor.hidden_size), "float32")
    states = [native.tensor(empty) for _ in range(2 * len(model.predictor.cells))]
    written, states = search.run(model.predictor.step, native.tensor(np.array([blank], "int64")), *states)
    symbols: list[int] = []
    steps: list[int] = []
    score, at, count = 0.0, 0, encodings.shape[1]
    while at < count:
        window = native.tensor(np.ascontiguousarray(windows[:, at : at + _WINDOW]))
        logits = search.array(search.run(search.join, window, written))[0, : count - at, 0]
        logs = log_softmax(logits.astype("float64"))
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
        written, states = search.run(model.predictor.step, native.tensor(np.array(symbols[-1:], "int64")), *states)
    return Path(np.array(symbols, "int64"), np.array(steps, "int64"), score)


class _Search:
    """The functions of a transducer in evaluation mode, each prepared once."""

    def __init__(self, model: RNNT, native: Any):
        self.model, self.native, self.modules = model, native, list(model.modules())
        self.functions: dict[str, Callable] = {}

    def join(self, encoding: Any, written: Any) -> Any:
        return self.model.join(encoding, ops.expand_dims(written, 1))

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
