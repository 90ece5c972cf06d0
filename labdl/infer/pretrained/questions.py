"""Answers to questions about texts of any length, which are read in windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labdl.errors import ConfigError, DataError, ModelError, suggest_name
from labdl.infer.postprocess.question_answering import WindowLogits
from labdl.infer.predict import Predictor
from labdl.infer.pretrained.texts import TextEncoder, check_text
from labdl.nn.module import Module
from labdl.tasks.question_windows import encode_windows

_LENGTH, _STRIDE, _BATCH = 384, 128, 32  # tokens of a window, in common with the next one, and windows side by side
_SETTINGS = ("max_seq_len", "doc_stride")


class QuestionReader:
    """Logits of all windows of the texts of questions: a step of an inference that takes pairs (question, text).

    ``max_seq_len`` is the number of tokens of a window, by default that of the training, or 384 or the positions of the model,
    and ``doc_stride`` how many of them neighbors have in common, by default a third, as 128 of 384. As
    transformers.QuestionAnsweringPipeline.
    """

    def __init__(self, model: Module, texts: TextEncoder, settings: Mapping[str, Any]):
        self.texts, self.settings = texts, dict(settings)
        self._engine = Predictor(model)
        self.check({})

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for a setting of a call that does not exist, or a value out of range."""
        for name, value in {**self.settings, **settings}.items():
            if name not in _SETTINGS:
                raise ConfigError(
                    f"question answering has no setting {name!r:.80}{suggest_name(name, list(_SETTINGS))}"
                )
            if not isinstance(value, int) or isinstance(value, bool) or value < (name == "max_seq_len"):
                raise ConfigError(f"{name} wants a number of tokens, received {value!r:.60}")
        limit, size = self.texts.limit, self._sizes(settings)[0]
        if limit is not None and size > limit:
            raise ConfigError(f"max_seq_len={size} is more than the {limit} positions of the model")

    def _sizes(self, settings: Mapping[str, Any]) -> tuple[int, int]:
        together = {**self.settings, **settings}
        usual = self.texts.length or min(_LENGTH, self.texts.limit or _LENGTH)
        size = together.get("max_seq_len", usual)
        return size, together.get("doc_stride", min(_STRIDE, size // 3))

    def __call__(self, samples: Sequence[Any], settings: Mapping[str, Any]) -> list[WindowLogits]:
        """The logits of the windows of each sample."""
        size, stride = self._sizes(settings)
        windows = [
            encode_windows(self.texts.tokenizer, question, text, length=size, stride=stride)
            for question, text in samples
        ]
        rows = [self.texts.inputs(encoding) for own in windows for encoding in own]
        logits: list[Any] = []
        for at in range(0, len(rows), _BATCH):
            output = self._engine.arrays(self.texts.collate(rows[at : at + _BATCH]))
            if not isinstance(output, tuple | list) or len(output) != 2:
                raise ModelError("question answering wants logits of starts and of ends, (N, tokens) each")
            logits += list(zip(*output, strict=True))
        results, at = [], 0
        for (_, text), own in zip(samples, windows, strict=True):
            results.append(WindowLogits(text, tuple(own), tuple(logits[at : at + len(own)])))
            at += len(own)
        return results


def prepare_question(sample: Any) -> tuple[str, str]:
    """A question and the text that answers it, of a pair or a dictionary with ``question`` and ``context``."""
    if isinstance(sample, Mapping) and {"question", "context"} <= set(sample):
        sample = sample["question"], sample["context"]
    if not isinstance(sample, list | tuple) or len(sample) != 2:
        raise DataError(
            'question answering wants a pair (question, text), or {"question": …, "context": …}, received '
            f"{sample!r:.80}"
        )
    return check_text(sample[0]), check_text(sample[1])
