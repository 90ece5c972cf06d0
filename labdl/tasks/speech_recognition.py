"""Recognition of speech: sounds to characters."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from labdl.data import transforms as T
from labdl.data.dataset import Dataset
from labdl.data.loader import Loader
from labdl.data.pipeline import Pipeline
from labdl.data.reading import Errors
from labdl.data.samplers.batch import BucketSampler
from labdl.errors import ConfigError
from labdl.models import zoo
from labdl.models.sound.conformer import Conformer, ConformerCTC
from labdl.models.sound.recognizers import frames_of_step, is_recognizer
from labdl.models.sound.rnnt import RNNT
from labdl.nn.module import Module
from labdl.spec import Spec
from labdl.tasks import speech_samples
from labdl.tasks.speech_trainer import SpeechTrainer, TransducerTrainer, ctc, rnnt
from labdl.tasks.task import Task, task
from labdl.train import losses
from labdl.train.metrics import CharacterErrorRate, WordErrorRate
from labdl.train.options import TrainerOptions
from labdl.train.trainer import Trainer

_RATE, _BINS = 16000, 80
_BUILT_FRAMES, _BUILT_SYMBOLS = 128, 9  # of the sample that a transducer is built for; others may have any number


@task
class SpeechRecognition(Task):
    """Recognition of speech by CTC or a transducer: sounds with transcripts, in characters.

    `labdl.data.ManifestDataset` with a column of texts, known sets such as LibriSpeech, and `labdl.data.AudioFolder`, whose
    folders are the words. ``vocabulary`` are the characters, by default those of the transcripts, or those of the model's
    ``class_names``, which are the blank and the characters of its training; ``sample_rate`` is in Hz. Sounds become
    ``size`` log mel bins (80 by default) each 10 ms, normalized over the sound, and in training masked by SpecAugment; batches
    are of similar lengths. An encoder of the zoo such as "conformer_small" gets a head for CTC; a transducer is trained with
    its own loss. Evaluated by the word and the character error rate of the greedy search. Sources: Gulati et al., Conformer
    (2020); Graves, Sequence Transduction with Recurrent Neural Networks (2012); Park et al., SpecAugment (2019).
    """

    name = "speech recognition"
    inputs = ("audio",)
    metrics = (WordErrorRate(), CharacterErrorRate())
    postprocess = None
    batch_size = 1

    def __init__(self, vocabulary: Sequence[str] | None = None, sample_rate: int = _RATE):
        if not isinstance(sample_rate, int) or isinstance(sample_rate, bool) or sample_rate < 1000:
            raise ConfigError(f"sample_rate wants a whole number of at least 1000 Hz, received {sample_rate!r:.40}")
        self.symbols = None if vocabulary is None else speech_samples.check_symbols(vocabulary)
        self.sample_rate = sample_rate

    def count_classes(self, dataset: Dataset) -> int:
        """The number of symbols: the blank and the characters."""
        return len(self.symbols or speech_samples.find_symbols(dataset))

    def create_model(self, name: str, classes: int, weights: Any, backend: str | None) -> Module:
        entry = zoo.find(name)
        if "vocabulary" in entry.schema()["properties"]:
            return zoo.create(name, vocabulary=classes, weights=weights, backend=backend)
        model = zoo.create(name, weights=weights, backend=backend)
        return ConformerCTC(model, classes) if isinstance(model, Conformer) else model

    def check(self, model: Module, dataset: Dataset) -> None:
        if not is_recognizer(model):
            raise ConfigError(
                f"{self.name} wants a ConformerCTC or an RNNT of labdl.models.sound, or the name of one such as "
                f"conformer_small and emformer_rnnt_base, received {type(model).__name__}"
            )
        speech_samples.target_name(dataset)

    def pipeline_of(self, model: Module, size: int | Sequence[int] | None) -> Pipeline:
        first = (model._input_specs or (None,))[0]
        bins = _BINS if first is None or first.shape[2] is None else first.shape[2]
        if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
            raise ConfigError(f"size of a recognizer is its number of mel bins, received {size!r:.60}")
        if size is not None and first is not None and size != bins:
            raise ConfigError(f"the model takes {bins} mel bins, received size={size}: leave size out")
        window, hop = round(0.025 * self.sample_rate), round(0.01 * self.sample_rate)
        points = 1 << (window - 1).bit_length()
        transforms = [
            T.LogMelSpectrogram(
                sample_rate=self.sample_rate,
                n_fft=points,
                win_length=window,
                hop_length=hop,
                n_mels=size or bins,
                log="natural",
                amin=1e-6,
            ),
            # a window beyond any sound: its whole mean and deviation
            T.SlidingWindowCMN(cmn_window=1 << 20, center=True, norm_vars=True),
            T.SpecAugment(freq_mask_param=(size or bins) // 5, max_share=0.1, iid_masks=False),
        ]
        return Pipeline(transforms, phases=["always", "always", "training"])

    def prepare_datasets(
        self, model: Module, opened: Dataset | Mapping[str, Dataset], pipeline: Pipeline, classes: int | None
    ) -> tuple[Dataset, Dataset]:
        first = opened["training"] if isinstance(opened, Mapping) else opened
        symbols = self.symbols or model.class_names or speech_samples.find_symbols(first)
        model.class_names = tuple(symbols)
        parts = opened if isinstance(opened, Mapping) else {"": opened}
        parts = {name: self._read(part, symbols) for name, part in parts.items()}
        split = pipeline.split_dataset(parts if isinstance(opened, Mapping) else parts[""])
        bins: Any = pipeline.transforms[0]
        reduction, least = frames_of_step(model)
        finish = functools.partial(
            speech_samples.finish_utterance,
            bins=bins.n_mels,
            least=least,
            reduction=reduction,
            ctc=isinstance(model, ConformerCTC),
        )
        train, validation = (part.map(finish) for part in split)
        for part in (train, validation):
            part.inputs = part.targets = ()  # `SpeechTrainer.preprocess` takes the dictionaries
        return train, validation

    def _read(self, dataset: Dataset, symbols: Sequence[str]) -> Dataset:
        target = speech_samples.target_name(dataset)
        read = functools.partial(
            speech_samples.read_utterance,
            target=target,
            classes=dataset.classes if target == "label" else None,
            symbols=symbols,
            sample_rate=self.sample_rate,
        )
        return dataset.map(read)

    def prepare_model(
        self, model: Module, dataset: Dataset, classes: int | None, backend: str | None, seed: int
    ) -> None:
        if model.unbuilt:
            bins = model.preprocessing.transforms[0].n_mels
            transducer = isinstance(model, RNNT)
            inputs = (Spec((None, _BUILT_FRAMES if transducer else None, bins)),)
            inputs += (Spec((None, _BUILT_SYMBOLS), "int64"),) if transducer else ()
            model.build(*inputs, Spec((None,), "int64"), backend=backend, seed=seed)
        part = model.joiner if isinstance(model, RNNT) else model.head  # type: ignore[attr-defined]
        if part.out_features != len(model.class_names or ()):
            raise ConfigError(
                f"{type(model).__name__} has {part.out_features} symbols, the transcripts have "
                f"{len(model.class_names or ())} with the blank: create the model for as many, or give its characters, "
                "task=labdl.tasks.SpeechRecognition(vocabulary=…)"
            )

    def loss_of(self, model: Module) -> Any:
        return rnnt if isinstance(model, RNNT) else ctc

    def metrics_of(self, model: Module, metrics: Any) -> Any:
        named_metrics = losses.metrics(self.metrics if metrics is None else metrics)
        return [
            replace(one, vocabulary=model.class_names)  # type: ignore[type-var]
            if any(field.name == "vocabulary" for field in fields(one)) and one.vocabulary is None  # type: ignore
            else one
            for one in named_metrics.values()
        ]

    def trainer_of(self, model: Module) -> type[Trainer]:
        return TransducerTrainer if isinstance(model, RNNT) else SpeechTrainer

    def create_loaders(
        self,
        train: Dataset,
        validation: Dataset,
        errors: Errors,
        seed: int,
        options: TrainerOptions,
        *,
        group_by_length: bool = True,
    ) -> tuple[Any, Any]:
        """Loaders of batches of similar lengths, in the training in random order."""
        size, shuffle = options.get("batch_size", 32), options.get("shuffle", True)
        drop_last, accumulates = options.get("drop_last", False), options.get("accumulate", 1) > 1
        loader_options: dict[str, Any] = {"errors": errors, "pad": 0}
        lengths = [speech_samples.durations_of(part, lenient=errors != "raise") for part in (train, validation)]
        by_length = BucketSampler(lengths[1], size, shuffle=False)
        if not shuffle or accumulates:  # which wants batches of one size
            batches = Loader(train, size, shuffle, seed, drop_last, **loader_options)
        else:
            buckets = BucketSampler(lengths[0], size, seed=seed, drop_last=drop_last)
            batches = Loader(train, size, batch_sampler=buckets, **loader_options)
        return batches, Loader(validation, size, batch_sampler=by_length, **loader_options)
