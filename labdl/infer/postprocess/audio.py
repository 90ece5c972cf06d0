"""Post-processors of audio models: transcripts and events."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt

from labdl.errors import ModelError
from labdl.infer.postprocess.base import (
    PostProcessor,
    Share,
    array_of,
    postprocessor,
    probabilities,
    sigmoid,
    single_array,
)
from labdl.infer.postprocess.classification import check_names
from labdl.infer.postprocess.ctc_alignment import align_labels
from labdl.infer.postprocess.vocabulary import Vocabulary, check_vocabulary, decode_tokens, texts_or_tokens
from labdl.ops import ctc_beam_search_decode
from labdl.ops.neural.ctc_decoding import CtcHypothesis
from labdl.settings import INNER, Amount
from labdl.train.metrics.outputs import log_probabilities

Seconds = Annotated[float, Gt(0)]


@dataclass(frozen=True, eq=False)
class Transcript:
    """Recognized tokens (k), their start times (k), their text, and the log-probability of the path."""

    tokens: np.ndarray
    times: np.ndarray
    text: str | None
    score: float


@postprocessor
class SpeechRecognition(PostProcessor):
    """CTC decoding: the most probable symbol of each frame, without repeats and blanks, or a beam search.

    With a ``beam_size`` above 1 so many beginnings of the transcript are kept after each frame, and the score adds up the
    alignments of the best one (see `labdl.ops.ctc_beam_search_decode`); its times are those of its most probable alignment.
    Logits or log-probabilities (frames, symbols), probabilities with ``from_logits=False``; optionally with the number of
    valid frames as a second output. ``vocabulary`` is a list of symbols, which are concatenated, with ``delimiter`` for a
    space between words; or a function token numbers -> text. ``hop`` is the time between frames.
    Source: Graves et al., Connectionist Temporal Classification, 2006, best path decoding; Hannun et al., First-pass large
    vocabulary continuous speech recognition using bi-directional recurrent DNNs, 2014, for the beam search.
    """

    blank: Annotated[int, Ge(0)] = 0
    vocabulary: Vocabulary = dataclasses.field(default=None, metadata=INNER)
    delimiter: str | None = None
    hop: Seconds = 1.0
    beam_size: Annotated[int, Ge(1)] = 1
    from_logits: bool | None = None

    def check(self) -> None:
        check_vocabulary(self, self.vocabulary)

    def __call__(self, output) -> Transcript:
        length = None
        if isinstance(output, tuple) and len(output) == 2:
            output, length = output[0], int(array_of(output[1]).item())
        scores = single_array(self, output, "scores (frames, symbols)", 2)[:length]
        if self.blank >= scores.shape[1]:
            raise ModelError(f"SpeechRecognition: the output has {scores.shape[1]} symbols, no blank {self.blank}")
        if self.beam_size > 1:
            return self._search(log_probabilities(scores, self.from_logits is not False))
        path = scores.argmax(1)
        begins = np.flatnonzero(np.diff(path, prepend=-1) != 0)
        begins = begins[path[begins] != self.blank]
        tokens = path[begins]
        score = float(log_probabilities(scores, self.from_logits is not False).max(1).sum()) if scores.size else 0.0
        return Transcript(tokens, begins * self.hop, self.text_of(tokens), score)

    def _search(self, logs: np.ndarray) -> Transcript:
        """The transcript of log-probabilities (frames, symbols) by beam search, an empty one where none has a probability."""
        hypotheses = ctc_beam_search_decode(logs[:, None], beam_width=self.beam_size, blank=self.blank)[0]
        best = hypotheses[0] if hypotheses else CtcHypothesis([], 0.0 if not len(logs) else -np.inf)
        tokens = np.array(best.labels, "int64")
        begins = align_labels(logs, tokens, self.blank)
        return Transcript(tokens, begins * self.hop, self.text_of(tokens), best.log_probability)

    def text_of(self, tokens: np.ndarray) -> str | None:
        """The text of symbols (k), None without a vocabulary."""
        text = decode_tokens(self, self.vocabulary, tokens)
        if text is None or not self.delimiter:
            return text
        return " ".join(text.replace(self.delimiter, " ").split())

    def for_metrics(self, results) -> list[Any]:
        """Texts, or lists of tokens without a vocabulary, for `WordErrorRate` and `CharacterErrorRate`."""
        return texts_or_tokens(results)


@dataclass(frozen=True, eq=False)
class Events:
    """Detected events: starts (k), ends (k), class numbers (k), mean probabilities (k), and names."""

    starts: np.ndarray
    ends: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)


@postprocessor
class EventTagging(PostProcessor):
    """Sound event detection: segments of frames above a threshold.

    Logits (frames, classes), probabilities with ``from_logits=False``; a frame is ``hop`` seconds long. For each class,
    gaps up to ``longest_gap`` are closed first, then events shorter than ``shortest`` are removed. Events are sorted by
    their starts.
    """

    threshold: Share = 0.5
    hop: Seconds = 1.0
    longest_gap: Amount = 0.0
    shortest: Amount = 0.0
    from_logits: bool | None = None
    names: tuple[str, ...] | None = None

    def __call__(self, output) -> Events:
        scores = single_array(self, output, "scores (frames, classes)", 2)
        shares = probabilities(sigmoid, scores, self.from_logits)
        names = check_names(self, self.names, shares.shape[1])
        found = sorted((*ends, kind) for kind in range(shares.shape[1]) for ends in self._segments(shares[:, kind]))
        begins, ends, labels = np.array(found, "int64").reshape(-1, 3).T
        means = np.array([shares[begin:end, kind].mean() for begin, end, kind in found])
        return Events(begins * self.hop, ends * self.hop, labels, means, names and tuple(names[i] for i in labels))

    def _segments(self, shares: np.ndarray) -> list[tuple[int, int]]:
        """Start and end (exclusive) frames of the events of a class."""
        edges = np.diff((shares > self.threshold).astype("int8"), prepend=0, append=0)
        begins, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
        if not len(begins):
            return []
        # tolerance for rounding: 3 * 0.1 is slightly more than 0.3
        apart = (begins[1:] - ends[:-1]) * self.hop > self.longest_gap * (1 + 1e-9)
        begins, ends = begins[np.append(True, apart)], ends[np.append(apart, True)]
        long = (ends - begins) * self.hop >= self.shortest * (1 - 1e-9)
        return list(zip(begins[long].tolist(), ends[long].tolist(), strict=True))
