"""Inference: pre-processing, the model in evaluation mode, and post-processing, for one sample, many, or a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

import numpy as np

from labdl.data.conversion import as_array, is_table
from labdl.data.pipeline import Pipeline as DataPipeline
from labdl.errors import ConfigError, ModelError
from labdl.graph.graph import Graph
from labdl.infer.data_adapter import batch_samples, is_dataset, iterate_columns, stack
from labdl.infer.generator import Generator, Writer
from labdl.infer.pipeline import Pipeline
from labdl.infer.postprocess.base import PostProcessor
from labdl.infer.predict import Predictor, as_model, input_count, split_batch
from labdl.infer.prepared_sample import Batch, PreparedSample
from labdl.infer.steps import list_steps
from labdl.nn.module import Module
from labdl.nn.output_kind import OutputKind, output_kind
from labdl.nn.signature import call_as_built
from labdl.ops.infix import neutral

_LABELS = ("label", "labels", "target")  # entries of a sample that are no inputs


class Inference:
    """Inference pipeline of a model: pre-processing, the model, and post-processing.

    ``model`` is a Module, a Graph, or the path of a saved model. ``preprocess`` is a function sample -> array (a tuple of
    arrays for a model of several inputs, or a `PreparedSample`), or a sequence of functions applied in order; by default the
    `preprocessing` of the model, such as one that was saved with it, without the transforms of the training. Of a result that
    is a dictionary the model takes the entries that the last transform names, else all but labels.
    ``postprocess`` is a name such as "classification", an object such as ``Detection(threshold=0.3)``, a function
    output -> result, or a sequence of them; by default results are the outputs. A classification without ``names`` has the
    `class_names` of the model, which are known after a training with text labels, and takes its outputs as probabilities if
    the model ends in a sigmoid or softmax, else as logits. ``backend`` is the backend on which a
    saved or unbuilt model is built, or to which a built one is moved; ``compiled=None`` is the backend's default.
    ``collate`` makes the arrays of a batch of the inputs of its samples, a list of tuples; by default they are stacked.
    ``generate`` are settings of `labdl.generate`, ``{}`` for its defaults: the model then continues or answers what the
    pre-processing returns, and results are of `labdl.generation.Generation`; or an object that makes the results by itself,
    with ``check(settings)`` and a call (prepared samples, settings).

    Keyword arguments of a call are settings of the post-processor: ``inference.infer_one(image, threshold=0.3)``. The model
    is in evaluation mode while it computes, and its mode is restored; several threads may call concurrently. Subclasses
    may override `preprocess`, `forward` and `postprocess` (T/AII 008-2023, 6.2.3.3).

    Raises ConfigError for an unknown or invalid setting, FileNotFoundError and FileFormatError for files.
    """

    def __init__(
        self,
        model: Module | Graph | str | Path,
        *,
        preprocess: Callable[[Any], Any] | Sequence[Callable[[Any], Any]] | None = None,
        postprocess: str | Mapping[str, Any] | PostProcessor | Callable[[Any], Any] | Sequence[Any] | None = None,
        backend: str | None = None,
        batch_size: int = 32,
        compiled: bool | str | None = None,
        collate: Callable[[Sequence[tuple[Any, ...]]], tuple[np.ndarray, ...]] | None = None,
        generate: Mapping[str, Any] | Writer | None = None,
    ):
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ConfigError(f"batch_size wants an integer at least 1, received {batch_size!r}")
        self.model = as_model(model, backend)
        self.batch_size = batch_size
        self._collate = _stack_columns if collate is None else collate
        self.preprocessing = list_steps(self._saved_preprocessing() if preprocess is None else preprocess)
        own = type(self).forward is Inference.forward
        self.outputs: OutputKind = output_kind(self.model if own else None)
        self.postprocessing = Pipeline(postprocess, self.model.class_names, self.outputs)
        self._engine = Predictor(
            self.model, backend=backend, compiled=compiled, function=None if own else neutral(self.forward)
        )
        self.generator = (
            Generator(self.model, generate, compiled=compiled) if isinstance(generate, Mapping) else generate
        )

    @classmethod
    def of(
        cls,
        model: str | Path | Module,
        weights: Any = None,
        *,
        preprocess: Any = None,
        postprocess: Any = None,
        size: tuple[int, int] | None = None,
        backend: str | None = None,
        batch_size: int | None = None,
        compiled: bool | str | None = None,
        progress: bool = True,
        **settings: Any,
    ) -> Self:
        """Inference with a model by name: ``Inference.of("resnet50").infer_one("cat.jpg").label``.

        ``model`` is the name of a model of the zoo, or of a model of the Hub or the path of its folder, as
        `labdl.models.from_pretrained` takes them::

            reader = Inference.of("distilbert/distilbert-base-cased-distilled-squad", backend="paddle")
            reader.infer_one(("Who turned the boat?", "The wind turned the boat.")).text
            Inference.of("openai/whisper-tiny").infer_one("speech.wav", max_new_tokens=100).text

        Samples of models of the Hub are texts, pairs of texts, and of question answering a question and the text that has
        the answer; sounds and pictures where the model reads these. Results are `Classes`, `TokenClasses`, `AnswerSpans`,
        `Tokens` for the words in the place of masks, and a `labdl.generation.Generation` of models that write texts, whose
        ``settings`` are those of `labdl.generate`; one that reads silence, an empty text, one of unknown tokens alone or one
        longer than its positions raises DataError. ``settings`` are also those of `from_pretrained`, such as
        ``architecture``. A recognizer of speech that was trained here (`ConformerCTC`, `RNNT`) is given as a Module, with
        ``preprocess=`` the transforms of its training, and ``vocabulary=``, ``sample_rate=16000``, ``blank=0``: sounds become
        a `Transcript`.

        Samples of the zoo are names of files, arrays (height, width[, channels]) of uint8 or floating-point numbers from 0
        to 1, or Pillow pictures; of a model for clips, videos and arrays (frames, height, width, 3) of uint8. Results are
        those of the model's task: `Classes` with names and probabilities, the `Mask` in the size of the picture, the
        `Detections` of a detector and the `Instances` of a model of masks in the pixels of the picture.

        A model of the zoo has the ``weights`` of `labdl.models.create`, by default its first set; a detector, trained or
        not, and a model of `from_pretrained` may also be a Module, a detector the path of one that `labdl.save` wrote.
        ``settings`` are those of the model that is named, and of the post-processor, such as ``top_k=3`` or
        ``threshold=0.5``. ``preprocess`` is needed for weights that are in no table: the name of a set with the same
        pre-processing ("torchvision/IMAGENET1K_V1"), a `labdl.models.weights.PicturePreprocessing`, or functions. ``size``
        is that of a detector's input where the model leaves it open: height and width, or, of detectors on a feature
        pyramid, the shorter side and the longest that the other one may be. ``postprocess`` takes the place of that of the
        task; the other arguments are those of `Inference`.

        Raises what `labdl.models.create` raises, and ConfigError where the pre-processing or the task is not known.
        """
        from labdl.infer.zoo_inference import plan_inference  # imported lazily: it needs the zoo

        plan = plan_inference(
            model, weights, preprocess, size=size, backend=backend, progress=progress, settings=settings
        )
        return cls(
            plan.model,
            preprocess=plan.preprocess,
            postprocess=plan.postprocess if postprocess is None else postprocess,
            backend=backend,
            batch_size=batch_size or plan.batch_size,
            compiled=plan.compiled if compiled is None else compiled,
            collate=plan.collate,
            generate=plan.generate,
        )

    # -- overridable steps

    def preprocess(self, sample: Any) -> Any:
        """Pre-process a sample into model inputs: an array, a tuple of arrays, or a `PreparedSample` of these."""
        for function in self.preprocessing:
            if isinstance(sample, PreparedSample):
                inner = function(sample.inputs)
                more = inner if isinstance(inner, PreparedSample) else PreparedSample(inner)
                sample = PreparedSample(more.inputs, {**sample.settings, **more.settings})
            else:
                sample = function(sample)
        return sample

    def forward(self, *inputs):
        """Outputs of the model for a batch, as tensors of its backend."""
        return call_as_built(self.model, *inputs)

    def postprocess(self, output: Any, settings: Mapping[str, Any]) -> Any:
        """The result for the outputs of one sample: an array, or a tuple of arrays."""
        return self.postprocessing(output, settings)

    # -- inference

    def infer_one(self, sample: Any, **settings) -> Any:
        """Infer the result for one sample (T/AII 008-2023, table B.13); ``settings`` are the post-processor's for this call."""
        self.check_settings(settings)
        return self._infer_samples([sample], settings)[0]

    def infer(self, samples: Iterable[Any], **settings) -> list[Any]:
        """Infer the results for samples, in order (table B.14), in batches; `stream` lists the accepted types of samples."""
        return list(self.stream(samples, **settings))

    def stream(self, samples: Iterable[Any], **settings) -> Iterator[Any]:
        """Iterate over the results; each batch is read when its first result is requested.

        ``samples`` is any iterable of samples: a list, an infinite generator, an array (N, ...), a frame of pandas, a
        data set, or a loader such as `labdl.data.Loader`. Inputs are converted to the dtype of the model. Targets after
        the model's inputs in data sets and loaders are ignored. Unknown settings raise ConfigError at once, not with the
        first result.
        """
        self.check_settings(settings)
        return self._stream(samples, settings)

    def _stream(self, samples: Iterable[Any], settings: Mapping[str, Any]) -> Iterator[Any]:
        if is_table(samples):
            samples = as_array(samples, "the samples")
        if isinstance(samples, np.ndarray):
            for at in range(0, len(samples), self.batch_size):
                yield from self.infer_columns((samples[at : at + self.batch_size],), settings)
        elif is_dataset(samples):
            for columns in iterate_columns(samples, self.batch_size):
                yield from self.infer_columns(columns[: self.input_count], settings)
        else:
            for batch in batch_samples(samples, self.batch_size):
                yield from self._infer_samples(batch, settings)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for settings of a call that neither the post-processing nor the generation has."""
        if self.generator is None:
            return self.postprocessing.check(settings)
        own = {name: value for name, value in settings.items() if name in self.postprocessing.names}
        self.postprocessing.check(own)
        self.generator.check({name: value for name, value in settings.items() if name not in own})

    def infer_columns(self, columns: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
        """The results for a batch, of an array or a list of samples for each input."""
        if self.generator is not None:
            return self._infer_samples(list(columns[0]), settings)
        return self._results(self.prepare_batch(columns), settings)

    def _infer_samples(self, samples: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
        if self.generator is None:
            return self._results(self._stack_samples(samples), settings)
        own = {name: value for name, value in settings.items() if name in self.postprocessing.names}
        rest = {name: value for name, value in settings.items() if name not in own}
        texts = self.generator([self.preprocess(sample) for sample in samples], rest)
        return [self.postprocess(text, own) for text in texts]

    def _results(self, batch: Batch, settings: Mapping[str, Any]) -> list[Any]:
        return self.read(self._engine.arrays(batch.inputs), batch, settings)

    # -- steps for one batch, also used by the evaluator

    @property
    def input_count(self) -> int:
        """Number of arrays of a data set that are inputs; the others are targets."""
        return 1 if self.generator is not None else input_count(self.model)

    @property
    def native(self):
        """The backend that computes."""
        return self._engine.native

    def prepare_batch(self, columns: Sequence[Any]) -> Batch:
        """Prepare a batch from an array or a list of samples for each input."""
        if not self.preprocessing and type(self).preprocess is Inference.preprocess:
            return Batch(tuple(map(stack, columns)))
        return self._stack_samples(list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True)))

    def compute(self, batch: Batch) -> AbstractContextManager[Any]:
        """Context manager that gives the outputs of the model for a batch, as tensors of its backend."""
        return self._engine.tensors(batch.inputs)

    def read(self, outputs: Any, batch: Batch, settings: Mapping[str, Any]) -> list[Any]:
        """Post-process the outputs of a batch, as NumPy arrays, into the result of each sample."""
        samples = split_batch(outputs, len(batch.inputs[0]))
        if not self.postprocessing.steps and type(self).postprocess is Inference.postprocess:
            return samples
        return [
            self.postprocess(output, {**batch.settings[at], **settings} if batch.settings else settings)
            for at, output in enumerate(samples)
        ]

    def _saved_preprocessing(self) -> Any:
        own = self.model.preprocessing
        return own if own is None else (own if isinstance(own, DataPipeline) else DataPipeline(own)).evaluation()

    def _choose_inputs(self, sample: Mapping[str, Any]) -> tuple[Any, ...]:
        """The inputs of the model in a dictionary."""
        last = self.preprocessing[-1] if self.preprocessing else None
        stages = list(last) if isinstance(last, DataPipeline) else [last]
        names = next((outputs for stage in reversed(stages) if (outputs := getattr(stage, "outputs", ()))), ())
        names = names or [name for name in sample if name not in _LABELS]
        if len(names) != self.input_count or not all(name in sample for name in names):
            raise ModelError(
                f"the model wants {self.input_count} inputs, the prepared sample has the entries "
                f"{', '.join(map(str, sample))}: let preprocess return a tuple of the inputs"
            )
        return tuple([sample[name] for name in names])

    def _stack_samples(self, samples: Sequence[Any]) -> Batch:
        rows, own, known = [], [], self.postprocessing.names
        for sample in samples:
            made = self.preprocess(sample)
            more = made.settings if isinstance(made, PreparedSample) else {}
            made = made.inputs if isinstance(made, PreparedSample) else made
            made = self._choose_inputs(made) if isinstance(made, Mapping) else made
            own.append({name: value for name, value in more.items() if name in known})
            rows.append(made if isinstance(made, tuple) else (made,))
        if len({len(row) for row in rows}) > 1:
            raise ModelError("the samples of a batch have different numbers of inputs: give as many for each")
        return Batch(self._collate(rows), own if any(own) else [])


def _stack_columns(rows: Sequence[tuple[Any, ...]]) -> tuple[np.ndarray, ...]:
    return tuple(map(stack, zip(*rows, strict=True)))
