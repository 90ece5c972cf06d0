"""Extractive question answering: the part of a text that answers a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labdl import ops
from labdl.data.dataset import Dataset
from labdl.data.loader import Loader
from labdl.data.pipeline import Pipeline
from labdl.data.text import SentencePiece, Tokenizer
from labdl.errors import ConfigError
from labdl.nn.module import Module
from labdl.tasks.question_windows import QuestionWindows, best_spans
from labdl.tasks.task import task
from labdl.tasks.text_task import TextTask
from labdl.tasks.text_trainer import TextTrainer
from labdl.train.metrics import SquadExactMatch, SquadF1


class QuestionAnsweringTrainer(TextTrainer):
    """Trains a model that gives logits of the first and of the last token of an answer, (N, steps) each.

    The loss is the mean of that of starts and of ends; padding is no candidate. A validation has the exact match and the F1 of
    the answers' texts, "no answer" among them where a reference is none.
    """

    _logits: list[tuple[np.ndarray, np.ndarray]] | None = None

    def loss_and_output(self, x: Any, y: Any) -> tuple[Any, Any]:
        output = self.forward(x)
        if not isinstance(output, tuple) or len(output) != 2:
            output = tuple(ops.getitem(output, (slice(None), slice(None), at)) for at in (0, 1))
        if isinstance(x, tuple):
            output = tuple(ops.where(x[1], logits, -1e9) for logits in output)
        losses = [self.loss(logits, ops.getitem(y, (slice(None), at))) for at, logits in enumerate(output)]
        return (losses[0] + losses[1]) / 2, output

    def postprocess(self, output: Any) -> Any:
        if self.model.training:
            return None
        if self._logits is not None:
            self._logits += list(zip(*output, strict=True))
        return output

    def evaluate(
        self, dataset: Any, y: Any = None, *, batch_size: int = 256, averaged: bool = False
    ) -> dict[str, float]:
        windows = _windows_of(dataset)
        self._logits = None if windows is None else []
        try:
            values = super().evaluate(dataset, y, batch_size=batch_size, averaged=averaged)
            return values if windows is None else values | evaluate_spans(windows, self._logits or [])
        finally:
            self._logits = None


def _windows_of(dataset: Any) -> QuestionWindows | None:
    """The windows below a loader or a data set of pairs; None for other data."""
    inner = dataset.dataset if isinstance(dataset, Loader) else dataset
    inner = inner if isinstance(inner, QuestionWindows) else getattr(inner, "source", None)
    return inner if isinstance(inner, QuestionWindows) else None


def evaluate_spans(windows: QuestionWindows, logits: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """Exact match and F1 of the questions whose windows all have logits, in the order of the windows."""
    by_question: dict[int, list[int]] = {}
    for at, window in enumerate(windows.windows):
        by_question.setdefault(window.question, []).append(at)
    allow_no_answer = not all(windows.references)
    answers, references = [], []
    for question, places in by_question.items():
        if places[-1] >= len(logits):
            continue
        encodings = [windows.windows[at].encoding for at in places]
        best = best_spans(
            windows.contexts[question],
            encodings,
            [logits[at] for at in places],
            allow_no_answer=allow_no_answer,
        )
        answers.append(best[0].text if best else "")
        references.append(windows.references[question])
    if not answers:
        return {}
    return {"exact_match": SquadExactMatch()(answers, references), "f1": SquadF1()(answers, references)}


@task
class QuestionAnswering(TextTask):
    """Answers to questions that are parts of a text: `labdl.data.SquadDataset`.

    A text of more than ``size`` tokens (384), with its question, becomes several windows, of which neighbors have ``stride``
    tokens in common, by default a third of ``size``. A window without the whole answer has the first token as its answer, and
    so has a question without one (SQuAD 2.0). Trained with the cross entropy of the first and the last
    token, evaluated by exact match and F1. Source: transformers' run_qa (Devlin et al., 2019, section 4.2).
    """

    name = "question answering"
    inputs = ("question", "context")
    postprocess = None
    trainer = QuestionAnsweringTrainer
    usual_length = 384

    def __init__(self, tokenizer: Tokenizer | SentencePiece | None = None, stride: int | None = None):
        super().__init__(tokenizer)
        if stride is not None and (not isinstance(stride, int) or isinstance(stride, bool) or stride < 0):
            raise ConfigError(f"stride wants a number of tokens, received {stride!r:.60}")
        self.stride = stride

    def count_classes(self, dataset: Dataset) -> int:
        return 0

    def check(self, model: Module, dataset: Dataset) -> None:
        super().check(model, dataset)
        if len(dataset.inputs) != 2 or not dataset.targets:
            raise ConfigError(
                f"{self.name} wants samples with a question, a text and answers, such as those of labdl.data.SquadDataset, "
                f"{dataset!r} has {', '.join((*dataset.inputs, *dataset.targets))}"
            )

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        parts = pipeline.split_samples(opened)
        encode: Any = pipeline.transforms[0]
        encode.key, encode.pair = parts[0].inputs
        tokenizer = self.fit_tokenizer(pipeline, parts[0])
        size = encode.length
        stride = size // 3 if self.stride is None else self.stride
        train, validation = (
            QuestionWindows(part, tokenizer, length=size, stride=stride, entries=encode.entries) for part in parts
        )
        return train, validation

    def check_output(self, model: Module, output: Any, classes: int | None) -> None:
        shapes = [spec.shape for spec in (output if isinstance(output, tuple) else (output,))]
        axes = [len(shape) for shape in shapes]
        if axes != [2, 2] and not (axes == [3] and shapes[0][-1] == 2):
            raise ConfigError(
                f"{self.name} wants a model that gives logits of starts and of ends, (N, tokens) each, {type(model).__name__} "
                f"gives {' and '.join(map(str, shapes))}"
            )
