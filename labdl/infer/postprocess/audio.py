"""Transcripts and events from the frames of an audio model."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt

from labdl.errors import ModelError
from labdl.infer.postprocess.classification import named
from labdl.infer.postprocess.processor import (
    PostProcessor,
    Share,
    array_of,
    postprocessor,
    probabilities,
    sigmoid,
    single,
)
from labdl.infer.postprocess.vocabulary import Vocabulary, check_vocabulary, spelt, texts_or_tokens
from labdl.train.metrics.decisions import log_probabilities
from labdl.train.settings import INNER, Amount

Seconds = Annotated[float, Gt(0)]


@dataclass(frozen=True, eq=False)
class Transcript:
    """What was said: token numbers (k), the time at which each begins (k), their text, and the log-probability of the path."""

    tokens: np.ndarray
    times: np.ndarray
    text: str | None
    score: float


@postprocessor
class SpeechRecognition(PostProcessor):
    """The most probable symbol of each frame, repeats merged and blanks left out: greedy CTC decoding.

    Logits or log-probabilities (frames, symbols), probabilities with ``from_logits=False``; or these with the number of
    frames that count as a second output. ``vocabulary`` makes the text: a list of symbols, joined as they are, in which
    ``delimiter`` stands for a blank between words; or a function token numbers -> text. ``hop`` is the time from one frame to
    the next. Source: Graves et al., Connectionist Temporal Classification, 2006, best path decoding.
    """

    blank: Annotated[int, Ge(0)] = 0
    vocabulary: Vocabulary = dataclasses.field(default=None, metadata=INNER)
    delimiter: str | None = None
    hop: Seconds = 1.0
    from_logits: bool = True

    def check(self) -> None:
        check_vocabulary(self, self.vocabulary)

    def __call__(self, output) -> Transcript:
        length = None
        if isinstance(output, tuple) and len(output) == 2:
            output, length = output[0], int(array_of(output[1]).item())
        scores = single(self, output, "scores (frames, symbols)", 2)[:length]
        if self.blank >= scores.shape[1]:
            raise ModelError(f"SpeechRecognition: the output has {scores.shape[1]} symbols, and no blank {self.blank}")
        path = scores.argmax(1)
        begins = np.flatnonzero(np.diff(path, prepend=-1) != 0)
        begins = begins[path[begins] != self.blank]
        tokens = path[begins]
        score = float(log_probabilities(scores, self.from_logits).max(1).sum()) if scores.size else 0.0
        text = spelt(self, self.vocabulary, tokens)
        if text is not None and self.delimiter:
            text = " ".join(text.replace(self.delimiter, " ").split())
        return Transcript(tokens, begins * self.hop, text, score)

    def for_metrics(self, results) -> list[Any]:
        """Texts, or lists of tokens without a vocabulary, for `WordErrorRate` and `CharacterErrorRate`."""
        return texts_or_tokens(results)


@dataclass(frozen=True, eq=False)
class Events:
    """What was heard from when to when: starts (k), ends (k), class numbers (k), mean probabilities (k), and names."""

    starts: np.ndarray
    ends: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)


@postprocessor
class EventTagging(PostProcessor):
    """Stretches of time in which an event sounds: frames above a threshold.

    Logits (frames, classes), probabilities with ``from_logits=False``; a frame is ``hop`` seconds long. Of each class, pauses
    up to ``longest_gap`` are bridged first, then events shorter than ``shortest`` are dropped. Events come in the order of
    their starts.
    """

    threshold: Share = 0.5
    hop: Seconds = 1.0
    longest_gap: Amount = 0.0
    shortest: Amount = 0.0
    from_logits: bool = True
    names: tuple[str, ...] | None = None

    def __call__(self, output) -> Events:
        scores = single(self, output, "scores (frames, classes)", 2)
        shares = probabilities(sigmoid, scores, self.from_logits)
        names = named(self, self.names, shares.shape[1])
        found = sorted((*ends, kind) for kind in range(shares.shape[1]) for ends in self._stretches(shares[:, kind]))
        begins, ends, labels = np.array(found, "int64").reshape(-1, 3).T
        means = np.array([shares[begin:end, kind].mean() for begin, end, kind in found])
        return Events(begins * self.hop, ends * self.hop, labels, means, names and tuple(names[i] for i in labels))

    def _stretches(self, shares: np.ndarray) -> list[tuple[int, int]]:
        """The first frame of each event of a class, and the first one after it."""
        edges = np.diff((shares > self.threshold).astype("int8"), prepend=0, append=0)
        begins, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        if not len(begins):
            return []
        # 0.3 seconds are three frames of 0.1, though the product is a little more
        apart = (begins[1:] - ends[:-1]) * self.hop > self.longest_gap * (1 + 1e-9)
        begins, ends = begins[np.append(True, apart)], ends[np.append(apart, True)]
        long = (ends - begins) * self.hop >= self.shortest * (1 - 1e-9)
        return list(zip(begins[long].tolist(), ends[long].tolist(), strict=True))
