"""Classification of the words of texts, such as named entities and parts of speech."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.parts import Text
from labdl.data.pipeline import Pipeline
from labdl.data.text import Tokenizer
from labdl.errors import ConfigError, DataError
from labdl.nn.module import Module
from labdl.tasks.padded_texts import IGNORED, pad_encoding, pad_row
from labdl.tasks.task import task
from labdl.tasks.text_task import TextTask
from labdl.train.metrics import EntityF1


@task
class TokenClassification(TextTask):
    """Classification of the words of texts: `labdl.data.TaggedTextDataset`, or samples with a list of words and one of tags.

    The words of a text are joined by spaces and become tokens; the first token of each word has its tag, all others, special
    tokens and padding have -100, which the loss ignores. Words behind ``size`` tokens are cut off. Trained with cross entropy,
    evaluated by accuracy of words and by F1 of entities. Source: transformers' run_ner (Devlin et al., 2019, section 5.3).
    """

    name = "token classification"
    inputs = ("tokens",)
    postprocess = None
    classifies_texts = False

    def check(self, model: Module, dataset: Dataset) -> None:
        words, tags = (*dataset.inputs, ""), (*dataset.targets, "")
        sample = dataset[0] if len(dataset) else {}
        values = [sample.get(key) if isinstance(sample, dict) else None for key in (words[0], tags[0])]
        if len(dataset.inputs) != 1 or not isinstance(values[0], list) or not isinstance(values[1], list | np.ndarray):
            raise ConfigError(
                f"{self.name} wants samples with a list of words and a list of tags, such as those of "
                f"labdl.data.TaggedTextDataset, {dataset!r} has {', '.join(dataset.inputs) or 'no named inputs'}"
            )

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        parts = pipeline.split_samples(opened)
        encode: Any = pipeline.transforms[0]
        texts = []
        for part in parts:
            join = functools.partial(join_words, words=part.inputs[0], tags=part.targets[0])
            texts.append(part.map(join))
        encode.key, encode.entries = "text", tuple(name for name in encode.entries if name != "types")
        tokenizer = self.fit_tokenizer(pipeline, texts[0])
        align = functools.partial(encode_tags, tokenizer=tokenizer, length=encode.length, entries=encode.entries)
        pairs = [part.map(align) for part in texts]
        for part in pairs:
            part.inputs = part.targets = ()  # samples are pairs
        return pairs[0], pairs[1]

    def metrics_of(self, model: Module, metrics: Any) -> Any:
        return ("accuracy", EntityF1(names=tuple(model.class_names or ()))) if metrics is None else metrics


def join_words(sample: Mapping[str, Any], *, words: str, tags: str) -> dict[str, Any]:
    """The text of a list of words with the tag and the last character of each: ``text``, ``tags`` and ``ends``."""
    own, numbers = list(sample[words]), np.asarray(sample[tags], "int64")
    if len(own) != len(numbers):
        raise DataError(f"the text has {len(own)} words and {len(numbers)} tags: each word wants its tag")
    ends = np.cumsum([len(word) + 1 for word in own]) if own else np.zeros(0, "int64")
    return {"text": Text(" ".join(own)), "tags": numbers, "ends": ends}


def encode_tags(
    sample: Mapping[str, Any], *, tokenizer: Tokenizer, length: int, entries: Sequence[str]
) -> tuple[Any, np.ndarray]:
    """The inputs of a model and the tag of each token (length,), -100 at all but the first of each word."""
    text = sample["text"]
    if not text.strip():
        raise DataError("the text is empty: it wants at least one word")
    encoding = tokenizer.encoding(text, max_length=length)
    tags = np.full(len(encoding.ids), IGNORED, "int64")
    own = np.flatnonzero((encoding.parts == 0) & (encoding.offsets[:, 1] > encoding.offsets[:, 0]))
    # a byte-level token may begin with the space before its word
    word_of = np.searchsorted(sample["ends"], encoding.offsets[own, 1] - 1, "right")
    first = np.flatnonzero(np.diff(word_of, prepend=-1))
    tags[own[first]] = sample["tags"][word_of[first]]
    return pad_encoding(encoding, length, tokenizer.padding, entries), pad_row(tags, length, IGNORED)
