"""Questions and the texts that answer them, in windows of one length; answers of the windows as answers of the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.text import Tokenizer
from labdl.data.text.tokenizer import Encoding
from labdl.errors import DataError
from labdl.tasks.padded_texts import pad_encoding


@dataclass(frozen=True)
class Window:
    """A part of the text of a question: its tokens, the number of the question, and the first and last token of the answer.

    Both are 0, the token in front of all, where the part has no answer.
    """

    encoding: Encoding
    question: int
    span: tuple[int, int]


def encode_windows(tokenizer: Tokenizer, question: Any, context: Any, *, length: int, stride: int) -> list[Encoding]:
    """The windows of a question and its text. Raises DataError for an empty one, and a question that leaves no room."""
    for name, part in (("question", question), ("text", context)):
        if not isinstance(part, str) or not part.strip():
            raise DataError(f"the {name} is empty: it wants at least one word, received {part!r:.60}")
    return tokenizer.windows(question.strip(), context, max_length=length, stride=stride)


def find_span(encoding: Encoding, start: int, end: int) -> tuple[int, int]:
    """The first and the last token of some characters of the second text; (0, 0) if they are not all there."""
    own = np.flatnonzero(encoding.parts == 1)
    if not own.size or encoding.offsets[own[0], 0] > start or encoding.offsets[own[-1], 1] < end:
        return 0, 0
    inside = own[(encoding.offsets[own, 1] > start) & (encoding.offsets[own, 0] < end)]
    return (int(inside[0]), int(inside[-1])) if inside.size else (0, 0)


class QuestionWindows(Dataset):
    """Windows of the samples of a data set as pairs: the inputs of a model, and the span of the answer (2,).

    All samples are read once, when it is created. ``references`` are the answers of each question.
    """

    def __init__(
        self,
        source: Dataset,
        tokenizer: Tokenizer,
        *,
        length: int,
        stride: int,
        entries: Sequence[str],
    ):
        self.name, self.length, self.entries, self.padding = source.name, length, tuple(entries), tokenizer.padding
        self.windows: list[Window] = []
        self.contexts: list[str] = []
        self.references: list[list[str]] = []
        keys, target = source.inputs, source.targets[0] if source.targets else ""
        for at in range(len(source)):
            sample = source[at]
            question, context = str(sample[keys[0]]), str(sample[keys[1]])
            texts, starts = _read_references(sample.get(target), context, at)
            self.contexts.append(context)
            self.references.append(texts)
            for encoding in encode_windows(tokenizer, question, context, length=length, stride=stride):
                span = find_span(encoding, starts[0], starts[0] + len(texts[0])) if texts else (0, 0)
                self.windows.append(Window(encoding, at, span))

    def __len__(self) -> int:
        return len(self.windows)

    def read(self, index: int, epoch: int = 0) -> tuple[Any, np.ndarray]:
        window = self.windows[index]
        return pad_encoding(window.encoding, self.length, self.padding, self.entries), np.array(window.span, "int64")


def _read_references(answers: Any, context: str, at: int) -> tuple[list[str], list[int]]:
    if not isinstance(answers, Mapping) or not {"text", "answer_start"} <= set(answers):
        raise DataError(
            f'sample {at:,} wants answers {{"text": [...], "answer_start": [...]}} as SQuAD has them, received {answers!r:.60}'
        )
    texts, starts = [str(text) for text in answers["text"]], [int(start) for start in answers["answer_start"]]
    for text, start in zip(texts, starts, strict=True):
        if context[start : start + len(text)] != text or not text:
            raise DataError(f"the answer {text!r:.60} of sample {at:,} is not at the character {start} of its text")
    return texts, starts


# -- answers of several windows


@dataclass(frozen=True)
class Answer:
    """A part of a text, its characters and the sum of its logits; "no answer" has no characters and an empty text."""

    text: str
    characters: tuple[int, int]
    score: float
    tokens: tuple[int, int] = (-1, -1)


def best_spans(
    context: str,
    windows: Sequence[Encoding],
    logits: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    top_k: int = 1,
    max_length: int = 30,
    allow_no_answer: bool = False,
) -> list[Answer]:
    """The answers with the largest sums of start and end logits in all windows of a text, each span once.

    With ``allow_no_answer`` "no answer" has the least sum of the first token in a window. Source: postprocess_qa_predictions
    of transformers' run_qa.
    """
    best: dict[tuple[int, int], Answer] = {}
    none = np.inf
    for encoding, (starts, ends) in zip(windows, logits, strict=True):
        none = min(none, float(starts[0]) + float(ends[0]))
        own = np.flatnonzero(encoding.parts == 1)
        if not own.size:
            continue
        low, high = int(own[0]), int(own[-1]) + 1
        last = np.arange(low, high)[:, None] + np.arange(min(max_length, high - low))
        sums = np.where(
            last < high, starts[low:high, None].astype("float64") + ends[np.minimum(last, high - 1)], -np.inf
        )
        for place in np.argsort(-sums, axis=None, kind="stable")[: top_k + 5].tolist():
            row, column = divmod(place, sums.shape[1])
            if not np.isfinite(sums[row, column]):
                break
            span = int(encoding.offsets[low + row, 0]), int(encoding.offsets[last[row, column], 1])
            answer = Answer(context[slice(*span)], span, float(sums[row, column]), (low + row, int(last[row, column])))
            if span not in best or best[span].score < answer.score:
                best[span] = answer
    answers = list(best.values())
    if allow_no_answer and np.isfinite(none):
        answers.append(Answer("", (0, 0), none))
    return sorted(answers, key=lambda answer: -answer.score)[:top_k]
