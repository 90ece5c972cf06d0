"""Causal language models: the next token of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labdl.data import transforms as T
from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.data.text import SentencePiece, TokenBlocks, Tokenizer, join_tokens
from labdl.errors import ConfigError
from labdl.models import zoo
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks import text_models
from labdl.tasks.language_model_trainer import LanguageModelTrainer
from labdl.tasks.task import Task, task
from labdl.train.metrics import Perplexity

_ENDS = ("<|endoftext|>", "</s>", "[SEP]")  # of texts, in tokenizers without a config that names it


@task
class TextGeneration(Task):
    """Causal language modeling: texts one after the other, cut into blocks of ``size`` tokens without padding.

    `labdl.data.TextFolder`, `labdl.data.TextDataset` and their like; labels are not read. Behind each text is the token of
    its end. ``tokenizer`` is for a model without one; by default one is trained on the texts. Trained with the cross entropy of
    the next token, evaluated by perplexity. Source: transformers' run_clm (Radford et al., 2019).
    """

    name = "text generation"
    inputs = ("text",)
    metrics = (Perplexity(),)
    postprocess, trains_head = None, False
    trainer = LanguageModelTrainer

    def __init__(self, tokenizer: Tokenizer | SentencePiece | None = None):
        self.tokenizer = tokenizer

    def count_classes(self, dataset: Dataset) -> int:
        return 0

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        if not text_models.is_pretrained_name(name):
            return zoo.create(name, weights=weights, backend=backend)
        if weights is not None:
            raise ConfigError(f"{name} has weights of its own: leave weights= out")
        return text_models.load_for_task(name, self.name, backend)

    def accepts(self, dataset: Dataset) -> bool:
        return text_models.has_texts(dataset)

    def check_output(self, model: Module, output: Any, classes: int | None) -> None:
        if not isinstance(output, Spec) or output.ndim != 3:
            received = output.shape if isinstance(output, Spec) else f"{len(output)} outputs"
            raise ConfigError(
                f"{self.name} wants a model that gives (N, tokens, vocabulary), {type(model).__name__} gives {received}"
            )

    def check(self, model: Module, dataset: Dataset) -> None:
        text_models.check_texts(self.name, model, dataset)

    def pipeline_of(self, model: Module, size: int | Sequence[int] | None) -> Pipeline:
        tokenizer = self.tokenizer or text_models.tokenizer_of(model)
        if tokenizer is not None:
            text_models.check_vocabulary(model, tokenizer)
        length = text_models.length_of(model, size)
        return Pipeline([T.Tokenize(tokenizer, vocab_size=text_models.trained_size(model), max_length=length)])

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        parts = pipeline.split_samples(opened)
        pipeline.fit(parts[0])
        tokenize: Any = pipeline.transforms[0]
        end = _end_of_text(model, tokenize.model)
        blocks = []
        for part in parts:
            ids = join_tokens(part, tokenize.model, separator=end, key=part.inputs[0])
            if len(ids) <= tokenize.max_length:
                raise ConfigError(
                    f"{part!r} has {len(ids):,} tokens, fewer than a block of {tokenize.max_length} and the next one: give "
                    "more texts, or a smaller size="
                )
            blocks.append(TokenBlocks(ids, tokenize.max_length))
        return blocks[0], blocks[1]

    def prepare_model(
        self, model: Module, dataset: Dataset, classes: int | None, backend: str | None, seed: int
    ) -> None:
        if model.unbuilt:
            length = model.preprocessing.transforms[0].max_length
            model.build(Spec((None, length), "int64"), backend=backend, seed=seed)
        self.check_output(model, model.output_specs, None)


def _end_of_text(model: Module, tokenizer: Any) -> int | None:
    """The number of the token behind a text, None where the tokenizer has none."""
    contents = model.__dict__.get("pretrained")
    number = None if contents is None else contents.config.get("eos_token_id")
    if isinstance(number, list):
        number = number[0] if number else None
    if isinstance(number, int) and 0 <= number < tokenizer.vocab_size:
        return number
    if not isinstance(tokenizer, Tokenizer):
        return None
    known = (tokenizer.model.token_to_id(token) for token in _ENDS)
    return next((number for number in known if number is not None), None)
