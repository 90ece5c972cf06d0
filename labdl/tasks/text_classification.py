"""Classification of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labdl.data import transforms as T
from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.data.text import SentencePiece, Tokenizer
from labdl.errors import ConfigError, DataError
from labdl.models import zoo
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks import text_models
from labdl.tasks.task import Task, task
from labdl.train.metrics import F1

_OPTIONAL = {"mask": "bool", "types": "int64"}  # arguments of a forward that are given if it has them


@task
class TextClassification(Task):
    """Classification of texts, or of pairs: `labdl.data.TextFolder`, and `labdl.data.TextDataset` with labels.

    Texts become the tokens of the model's tokenizer, cut off or padded to ``size`` of them, with a mask of the padding if the
    model takes a ``mask``, and the segments of a pair if it takes ``types``. ``tokenizer`` is for a model without one; by
    default one is trained on the texts. Trained with cross entropy, evaluated by accuracy and macro F1. Source:
    transformers' run_glue (Devlin et al., 2019).
    """

    name = "text classification"
    inputs = ("text",)
    targets = ("label",)
    metrics = ("accuracy", F1())

    def __init__(self, tokenizer: Tokenizer | SentencePiece | None = None):
        self.tokenizer = tokenizer

    def read(self, sample: Any, model: Module) -> str:
        if not isinstance(sample, str):
            raise DataError(f"{self.name} wants a text, received {type(sample).__name__}")
        return sample

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        if not text_models.is_pretrained_name(name):
            return zoo.create(name, classes=classes, weights=weights, backend=backend)
        if weights is not None:
            raise ConfigError(f"{name} has weights of its own: leave weights= out")
        return text_models.load_for_task(name, self.name, backend, classes=classes)

    def accepts(self, dataset: Dataset) -> bool:
        return text_models.has_texts(dataset) and set(self.targets) <= set(dataset.targets)

    def check_output(self, model: Module, output: Any, classes: int | None) -> None:
        if not isinstance(output, Spec) or output.ndim != 2 or classes not in (None, output.shape[1]):
            found = output.shape if isinstance(output, Spec) else f"{len(output)} outputs"
            count = "classes" if classes is None else classes
            raise ConfigError(
                f"{self.name} wants a model that gives (N, {count}), one number for each class, {type(model).__name__} gives "
                f"{found}: model.replace_head({count}) changes the number"
            )

    def check(self, model: Module, dataset: Dataset) -> None:
        text_models.check_texts(self.name, model, dataset)
        if len(dataset.inputs) > 2:
            raise ConfigError(f"{self.name} wants one text or two, {dataset!r} has {', '.join(dataset.inputs)}")

    def pipeline_of(self, model: Module, size: int | Sequence[int] | None) -> Pipeline:
        tokenizer = self.tokenizer or text_models.tokenizer_of(model)
        if tokenizer is not None:
            text_models.check_vocabulary(model, tokenizer)
        entries = ("tokens", *(argument.name for argument in model._arguments()[1:] if argument.name in _OPTIONAL))
        length = text_models.length_of(model, size)
        return Pipeline(
            [T.EncodeText(tokenizer, vocab_size=text_models.trained_size(model), length=length, entries=entries)]
        )

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        first = pipeline.split_samples(opened)[0]
        encode: Any = pipeline.transforms[0]
        encode.key, encode.pair = first.inputs[0], first.inputs[1] if len(first.inputs) > 1 else None
        if encode.pair is None:  # types would be 0 everywhere, as the model has them without
            encode.entries = tuple(name for name in encode.entries if name != "types")
        pipeline.fit(first)
        return pipeline.split_dataset(opened)

    def prepare_model(
        self, model: Module, dataset: Dataset, classes: int | None, backend: str | None, seed: int
    ) -> None:
        encode: Any = model.preprocessing.transforms[0]
        named = {name: Spec((None, None), _OPTIONAL[name]) for name in encode.entries[1:]}
        first = (model._input_specs or (None,))[0]
        steps = encode.length if model.unbuilt or first is None else first.shape[1]
        model.build(Spec((None, steps), "int64"), backend=backend or model.backend, seed=seed, **named)
        self.check_output(model, model.output_specs, self.count_classes(dataset) if classes is None else classes)
