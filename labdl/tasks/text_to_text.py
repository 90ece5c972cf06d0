"""Texts of texts: translation, summarization and other tasks of encoder-decoders."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np

from labdl.data import transforms as T
from labdl.data.dataset import Dataset
from labdl.data.loader import Loader
from labdl.data.parts import Text
from labdl.data.pipeline import Pipeline
from labdl.data.text import MarianTokenizer
from labdl.errors import ConfigError, DataError
from labdl.models.pretrained import PretrainedFolder
from labdl.nn.eval_mode import eval_mode
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks import text_models
from labdl.tasks.language_model_trainer import LanguageModelTrainer
from labdl.tasks.padded_texts import IGNORED, pad_row
from labdl.tasks.task import Task, task
from labdl.tasks.text_trainer import cut_padding
from labdl.train.metrics import BLEU, Metric, Perplexity, Rouge1, Rouge2, RougeL

_GENERATED = 16  # texts that are generated side by side in a validation


class TextPairs(Dataset):
    """Pairs of texts as source (length,), input of the decoder (length,) and mask of the source, and target (length,).

    The decoder's input is the target one token later, behind the token that begins it (teacher forcing); the target is -100
    behind its end.
    """

    def __init__(self, source: Dataset, encode: Any, keys: tuple[str, str], prefix: str):
        self.source, self.encode, self.keys, self.prefix = source, encode, keys, prefix
        self.name = source.name

    def __len__(self) -> int:
        return len(self.source)

    def texts(self, index: int) -> tuple[str, str]:
        """The source, with its prefix, and the target of a sample. Raises DataError for an empty one."""
        sample = self.source[index]
        texts = [sample[key] for key in self.keys]
        for key, text in zip(self.keys, texts, strict=True):
            if not isinstance(text, str) or not text.strip():
                raise DataError(f"{key} of sample {index:,} is empty: it wants at least one word")
        return f"{self.prefix}{texts[0]}", str(texts[1])

    def read(self, index: int, epoch: int = 0) -> tuple[Any, Any]:
        return self.encode(*self.texts(index))

    @property
    def limits(self) -> dict[str, int]:
        """The settings of `labdl.generate` for texts as long as targets."""
        return {"max_new_tokens": self.encode.keywords["length"]}


def encode_pair(
    source: str, target: str, *, tokenizer: Any, start: int, ending: Sequence[int] | None, length: int, padding: int
) -> tuple[Any, np.ndarray]:
    """The inputs and the target of a sample of `TextPairs`; ``ending`` is behind a target, by default that of the tokenizer."""
    ids = tokenizer.encode(source, add_special_tokens=True, max_length=length)
    reader = tokenizer.target if isinstance(tokenizer, MarianTokenizer) else tokenizer
    if ending is None:
        words = list(reader.encode(target, add_special_tokens=True, max_length=length))
    else:
        words = [*reader.encode(target, add_special_tokens=False, max_length=length - len(ending)), *ending]
    inputs = pad_row(ids, length, padding), pad_row([start, *words[:-1]], length, padding), np.arange(length) < len(ids)
    return inputs, pad_row(words, length, IGNORED)


class TextToTextTrainer(LanguageModelTrainer):
    """Trains an encoder-decoder with source, decoder's input and mask of the source, and the target as class numbers.

    Of a batch, the padding that all texts have is cut off, of sources and of targets. A validation generates the texts of its
    sources, with the settings of the model's folder, and compares them with the targets by the ``text_metrics``.
    """

    text_metrics: ClassVar[Sequence[Metric]] = ()
    _seen = 0  # samples of the validation

    def preprocess(self, batch: Any) -> tuple[Any, Any]:
        x, y = super().preprocess(batch)
        if not isinstance(x, tuple) or len(x) != 3:
            return x, y
        source, mask = cut_padding(x[2], x[0], x[2])
        target, y = cut_padding(y != IGNORED, x[1], y)
        return (source, target, mask), y

    def postprocess(self, output: Any) -> Any:
        self._seen += len(output)
        return super().postprocess(output)

    def evaluate(
        self, dataset: Any, y: Any = None, *, batch_size: int = 256, averaged: bool = False
    ) -> dict[str, float]:
        # logits of a vocabulary take much memory
        size = min(batch_size, self.settings.batch_size or batch_size)
        self._seen = 0
        values = super().evaluate(dataset, y, batch_size=size, averaged=averaged)
        pairs = _pairs_of(dataset)
        if pairs is None or not self.text_metrics:
            return values
        with self.average_parameters() if averaged else nullcontext():
            return values | self._score(pairs, min(self._seen, len(pairs)))

    def _score(self, pairs: TextPairs, count: int) -> dict[str, float]:
        from labdl.generation import generate  # above this package; wanted when a validation runs

        texts = [pairs.texts(at) for at in range(count)]
        answers: list[str] = []
        with eval_mode(list(self.model.modules())):
            for at in range(0, count, _GENERATED):
                some = [source for source, _ in texts[at : at + _GENERATED]]
                results: Any = generate(self.model, some, compiled=self.compiled, **pairs.limits)
                answers += [each.text for each in results]
        references = [[target] for _, target in texts]
        return {type(metric).name: float(metric.fresh()(answers, references)) for metric in self.text_metrics}


def _pairs_of(dataset: Any) -> TextPairs | None:
    inner = dataset.dataset if isinstance(dataset, Loader) else dataset
    inner = inner if isinstance(inner, TextPairs) else getattr(inner, "source", None)
    return inner if isinstance(inner, TextPairs) else None


class SequenceTask(Task):
    """Base class of the tasks that train pretrained encoder-decoders on pairs of texts.

    Sources and targets are cut off at ``size`` tokens; a batch has the lengths of its longest ones. ``prefix`` is put in front
    of each source, such as "summarize: " for T5; at inference it is a part of the text.
    """

    inputs = ("source",)
    metrics = (Perplexity(),)
    postprocess, trains_head = None, False
    trainer = TextToTextTrainer

    def __init__(self, prefix: str = ""):
        if not isinstance(prefix, str):
            raise ConfigError(f"prefix wants a text in front of each source, received {prefix!r:.60}")
        self.prefix = prefix

    def count_classes(self, dataset: Dataset) -> int:
        return 0

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        if not text_models.is_pretrained_name(name):
            raise ConfigError(
                f"{self.name} wants a model with its tokenizer: a folder, or a name on the Hub such as google-t5/t5-small, "
                f"received {name!r:.60}"
            )
        if weights is not None:
            raise ConfigError(f"{name} has weights of its own: leave weights= out")
        return text_models.load_encoder_decoder(name, self.name, backend)

    def accepts(self, dataset: Dataset) -> bool:
        return len(_texts_of(dataset)) == 2

    def check(self, model: Module, dataset: Dataset) -> None:
        from labdl.generation.decoder import is_encoder_decoder, reads_signals  # above this package

        if not is_encoder_decoder(model) or text_models.tokenizer_of(model) is None or reads_signals(model):
            raise ConfigError(
                f"{self.name} wants an encoder-decoder of labdl.models.from_pretrained with its tokenizer, such as T5, BART or "
                f"Marian, received {type(model).__name__}"
            )
        _text_keys(self.name, dataset)

    def pipeline_of(self, model: Module, size: int | Sequence[int] | None) -> Pipeline:
        text_models.check_vocabulary(model, text_models.tokenizer_of(model))  # type: ignore[arg-type]
        return Pipeline([T.Truncate(text_models.length_of(model, size))])

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        truncate: Any = pipeline.transforms[0]
        encode = pair_encoder(model, truncate.max_seq_len)
        train, validation = (
            TextPairs(part, encode, _text_keys(self.name, part), self.prefix) for part in pipeline.split_samples(opened)
        )
        return train, validation

    def prepare_model(
        self, model: Module, dataset: Dataset, classes: int | None, backend: str | None, seed: int
    ) -> None:
        tokens = Spec((None, None), "int64")
        model.build(tokens, tokens, backend=backend or model.backend, seed=seed, source_mask=Spec((None, None), "bool"))
        model.preprocessing = None  # `labdl.generate` has the tokenizer


def _texts_of(dataset: Dataset) -> list[str]:
    """The entries of samples that are texts."""
    sample = dataset[0] if len(dataset) else {}
    names = dict.fromkeys((*dataset.inputs, *dataset.targets))
    return [name for name in names if isinstance(sample, dict) and isinstance(sample.get(name), Text | str)]


def _text_keys(task: str, dataset: Dataset) -> tuple[str, str]:
    """The entries of source and target in samples."""
    texts = _texts_of(dataset)
    if len(texts) != 2:
        names = dict.fromkeys((*dataset.inputs, *dataset.targets))
        raise ConfigError(
            f"{task} wants samples with two texts, such as those of labdl.data.ParallelTextDataset, or of "
            f'TextDataset(file, text=("article", "summary")), {dataset!r} has {", ".join(names) or "no named inputs"}'
        )
    return texts[0], texts[1]


def pair_encoder(model: Module, length: int) -> functools.partial:
    """`encode_pair` for a model of `from_pretrained`. Raises ConfigError for a model whose first token is not known."""
    folder: PretrainedFolder = model.__dict__["pretrained"]
    values = {**folder.config, **folder.generation}
    start, end = values.get("decoder_start_token_id"), values.get("eos_token_id")
    if not isinstance(start, int):
        raise ConfigError(
            "the folder of the model has no decoder_start_token_id: set model.pretrained.generation"
            '["decoder_start_token_id"], of mBART the number of the target language'
        )
    tokenizer: Any = folder.tokenizer
    # a target of mBART ends with its language, which is also the decoder's first token
    ending = (end, start) if folder.family.model_type == "mbart" else None
    return functools.partial(
        encode_pair, tokenizer=tokenizer, start=start, ending=ending, length=length, padding=tokenizer.padding
    )


@task
class TextToText(SequenceTask):
    """Texts of texts with an encoder-decoder such as T5, BART or Marian: `labdl.data.ParallelTextDataset` and its like.

    Trained with the cross entropy of the next token of the target (teacher forcing), ``loss=nn.CrossEntropyLoss(
    label_smoothing=0.1)`` for a smoothed one, evaluated by perplexity. Source: transformers' run_seq2seq (Raffel et al., 2020).
    """

    name = "text to text"


class TranslationTrainer(TextToTextTrainer):
    """Trains a translation, whose validation has the BLEU of generated texts."""

    text_metrics = (BLEU(),)


@task
class Translation(SequenceTask):
    """Translation with an encoder-decoder such as Marian, mBART or T5: as `TextToText`, evaluated by perplexity and BLEU.

    The texts of the validation are generated with the settings of the model's folder. Source: transformers' run_translation.
    """

    name = "translation"
    trainer = TranslationTrainer


class SummarizationTrainer(TextToTextTrainer):
    """Trains a summarization, whose validation has ROUGE-1, 2 and L of generated texts."""

    text_metrics = (Rouge1(), Rouge2(), RougeL())


@task
class Summarization(SequenceTask):
    """Summaries with an encoder-decoder such as BART or T5: as `TextToText`, evaluated by perplexity and ROUGE.

    The texts of the validation are generated with the settings of the model's folder. Source: transformers'
    run_summarization (Lewis et al., 2020).
    """

    name = "summarization"
    trainer = SummarizationTrainer
