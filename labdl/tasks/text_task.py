"""Base class of the tasks on texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from labdl.data import transforms as T
from labdl.data.dataset import Dataset
from labdl.data.pipeline import Pipeline
from labdl.data.text import SentencePiece, Tokenizer
from labdl.errors import ConfigError, DataError
from labdl.models import zoo
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks import text_models
from labdl.tasks.task import Task
from labdl.tasks.text_trainer import TextTrainer

_OPTIONAL = {"mask": "bool", "types": "int64"}  # arguments of a forward that are given if it has them


class TextTask(Task):
    """Training of encoders of texts, whose ``preprocessing`` makes tokens, a mask and segments of a text or a pair.

    Samples are cut off or padded to ``size`` tokens; the padding that a whole batch has is cut off again (see `TextTrainer`).
    ``tokenizer`` is for a model without one; by default one is trained on the texts.
    """

    inputs = ("text",)
    trainer = TextTrainer
    head: ClassVar[str] = ""  # the task of the heads of pretrained models, by default the name
    architecture: ClassVar[str] = ""  # how the name of the head ends, where several have the task
    most_texts: ClassVar[int] = 2  # of a sample
    classifies_texts: ClassVar[bool] = True  # rather than each token of them
    usual_length: ClassVar[int] = text_models.USUAL_LENGTH  # in tokens

    def __init__(self, tokenizer: Tokenizer | SentencePiece | None = None):
        self.tokenizer = tokenizer

    def read(self, sample: Any, model: Module) -> str:
        if not isinstance(sample, str):
            raise DataError(f"{self.name} wants a text, received {type(sample).__name__}")
        return sample

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        count = {"classes": classes} if classes else {}
        if not text_models.is_pretrained_name(name):
            return zoo.create(name, weights=weights, backend=backend, **count)
        if weights is not None:
            raise ConfigError(f"{name} has weights of its own: leave weights= out")
        return text_models.load_for_task(name, self.head or self.name, backend, ending=self.architecture, **count)

    def accepts(self, dataset: Dataset) -> bool:
        if self.inputs != ("text",):
            return super().accepts(dataset)
        texts = text_models.has_texts(dataset) and len(dataset.inputs) <= self.most_texts
        return texts and set(self.targets) <= set(dataset.targets)

    def check(self, model: Module, dataset: Dataset) -> None:
        text_models.check_texts(self.name, model, dataset)
        if len(dataset.inputs) > self.most_texts:
            number = {1: "one text", 2: "one text or two"}[self.most_texts]
            raise ConfigError(f"{self.name} wants {number}, {dataset!r} has {', '.join(dataset.inputs)}")

    def pipeline_of(self, model: Module, size: int | Sequence[int] | None) -> Pipeline:
        tokenizer = self.tokenizer or text_models.tokenizer_of(model)
        if tokenizer is not None:
            text_models.check_vocabulary(model, tokenizer)
        names = [argument.name for argument in model._arguments()[1:] if argument.name in _OPTIONAL]
        entries = ("tokens", *(name for name in names if name != "types" or text_models.has_segments(model)))
        length = text_models.length_of(model, size, self.usual_length)
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

    def fit_tokenizer(self, pipeline: Pipeline, dataset: Dataset) -> Tokenizer:
        """The tokenizer of a pipeline, trained on the data set if there was none. Raises ConfigError for one without places."""
        pipeline.fit(dataset)
        encode: Any = pipeline.transforms[0]
        if not isinstance(encode.model, Tokenizer):
            raise ConfigError(
                f"{self.name} wants a tokenizer of the library tokenizers, which tells the places of tokens"
            )
        return encode.model

    def prepare_model(
        self, model: Module, dataset: Dataset, classes: int | None, backend: str | None, seed: int
    ) -> None:
        encode: Any = model.preprocessing.transforms[0]
        optional_inputs = {name: Spec((None, None), _OPTIONAL[name]) for name in encode.entries[1:]}
        first = (model._input_specs or (None,))[0]
        steps = encode.length if model.unbuilt or first is None else first.shape[1]
        if optional_inputs:  # the length of a batch with a mask is that of its longest text
            steps = None
        model.build(Spec((None, steps), "int64"), backend=backend or model.backend, seed=seed, **optional_inputs)
        if dataset.classes and classes in (None, len(dataset.classes)):
            model.class_names = tuple(map(str, dataset.classes))
        self.check_output(model, model.output_specs, self.count_classes(dataset) if classes is None else classes)

    def check_output(self, model: Module, output: Any, classes: int | None) -> None:
        axes = 2 if self.classifies_texts else 3
        if not isinstance(output, Spec) or output.ndim != axes or classes not in (None, output.shape[-1]):
            count = "classes" if classes is None else classes
            form = f"(N, {count})" if axes == 2 else f"(N, tokens, {count})"
            received = output.shape if isinstance(output, Spec) else f"{len(output)} outputs"
            raise ConfigError(
                f"{self.name} wants a model that gives {form}, one number for each class, {type(model).__name__} gives "
                f"{received}: model.replace_head({count}) changes the number"
            )
