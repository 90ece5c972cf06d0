"""Steps before and after recognizers of speech with CTC or a transducer: from a sound in any form to its transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from labdl.data.parts import Spectrogram
from labdl.errors import ConfigError, DataError
from labdl.infer.inference_plan import InferencePlan
from labdl.infer.postprocess.audio import SpeechRecognition, Transcript
from labdl.infer.postprocess.base import get_postprocessor
from labdl.infer.prepared_sample import PreparedSample
from labdl.infer.steps import list_steps
from labdl.models.sound.recognizers import frames_of_step
from labdl.models.sound.rnnt import RNNT
from labdl.nn.module import Module
from labdl.tasks.samples import read_speech
from labdl.tasks.transducer_search import search_transducer

_RATE = 16000


def plan_recognizer(model: Module, preprocess: Any, settings: Mapping[str, Any]) -> InferencePlan:
    """The steps before and after a `ConformerCTC` or an `RNNT`, trained with LabDL.

    ``preprocess`` are functions from a `labdl.data.Audio` to frames (steps, bins) or to a spectrogram, by default the
    `preprocessing` of the model. ``settings`` are ``sample_rate`` (that of the preprocessing, or 16000) and those of
    `SpeechRecognition`: ``vocabulary`` (a list of symbols, a function, or a tokenizer; by default the ``class_names`` of the
    model, which `labdl.fine_tune` sets), ``blank``, ``delimiter``, ``hop`` and ``beam_size``. Raises ConfigError.
    """
    rest = dict(settings)
    if model.class_names is not None:
        rest.setdefault("vocabulary", list(model.class_names))
    rate = rest.pop("sample_rate", None)
    rate = _rate_of(model.preprocessing if preprocess is None else preprocess) if rate is None else rate
    if not isinstance(rate, int) or isinstance(rate, bool) or rate < 1:
        raise ConfigError(f"sample_rate wants a whole number above 0, received {rate!r:.80}")
    vocabulary: Any = rest.get("vocabulary")
    if hasattr(vocabulary, "decode") and hasattr(vocabulary, "encode"):
        rest["vocabulary"] = vocabulary.decode
    model._need_build()
    before = _Frames(model, _steps(model, preprocess), rate)
    if isinstance(model, RNNT):
        writer = TransducerWriter(model, get_postprocessor({**rest, "name": "speech_recognition"}))
        return InferencePlan(model, [before], None, 1, generate=writer)
    after = get_postprocessor({**rest, "name": "speech_recognition"})
    # sounds differ in length, and padding would change the last step
    return InferencePlan(model, [before], [after], 1, compiled=False)


def _rate_of(preprocess: Any) -> int:
    """The sampling rate that a pipeline of transforms says."""
    transforms = getattr(preprocess, "transforms", ())
    return next((rate for one in transforms if isinstance(rate := getattr(one, "sample_rate", None), int)), _RATE)


def _steps(model: Module, preprocess: Any) -> Sequence[Callable]:
    if preprocess is None:
        preprocess = model.preprocessing
    if preprocess is None:
        raise ConfigError(
            f"the pre-processing of this {type(model).__name__} is not known: give preprocess= the transforms that it was "
            "trained with, such as labdl.data.transforms.LogMelSpectrogram(n_mels=80)"
        )
    return list_steps(preprocess)


class _Frames:
    """A sound as the frames (steps, bins) that a recognizer takes, and the time of its steps where that is known."""

    def __init__(self, model: Module, steps: Sequence[Callable], sample_rate: int):
        self.steps, self.rate = steps, sample_rate
        spec: Any = model.input_specs[0]
        self.bins = spec.shape[-1]
        self.reduction, self.least = frames_of_step(model)

    def __call__(self, sample: Any) -> PreparedSample:
        value: Any = read_speech(sample, self.rate)
        for step in self.steps:
            value = step(value)
        settings = {}
        if isinstance(value, Spectrogram):
            if value.sample_rate and value.hop_length:
                settings["hop"] = self.reduction * value.hop_length / value.sample_rate
            frames = np.asarray(value)[0].T
        else:
            frames = np.asarray(value)
        if frames.ndim != 2 or frames.shape[1] != (self.bins or frames.shape[1]) or not len(frames):
            raise DataError(
                f"the model wants frames (steps, {self.bins}), preprocess gives an array of the shape {frames.shape}"
            )
        if len(frames) < self.least:
            raise DataError(f"the sound has {len(frames)} frames, the model wants at least {self.least}")
        return PreparedSample(np.ascontiguousarray(frames, "float32"), settings)


class TransducerWriter:
    """The transcript of each sound by the search of a transducer, with the settings of `SpeechRecognition`."""

    def __init__(self, model: RNNT, settings: Any):
        self.model, self.settings = model, settings

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ConfigError for a setting that `SpeechRecognition` does not have, or a value out of range."""
        self.settings.replace(settings)

    def __call__(self, samples: Sequence[PreparedSample], settings: Mapping[str, Any]) -> list[Transcript]:
        """The transcripts of frames (steps, bins)."""
        return [self._transcribe(sample, settings) for sample in samples]

    def _transcribe(self, sample: PreparedSample, settings: Mapping[str, Any]) -> Transcript:
        own: SpeechRecognition = self.settings.replace({**sample.settings, **settings})
        path = search_transducer(self.model, sample.inputs, blank=own.blank, beam_size=own.beam_size)
        return Transcript(path.symbols, path.steps * own.hop, own.text_of(path.symbols), path.score)
