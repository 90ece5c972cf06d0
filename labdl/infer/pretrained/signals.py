"""Prompts of models that write texts, checked before the generation: texts, sounds and pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labdl.data.parts import Audio
from labdl.errors import DataError
from labdl.generation.decoder import reads_signals
from labdl.infer.pretrained.texts import check_text
from labdl.nn.module import Module
from labdl.tasks.samples import read_sound


def check_prompt(model: Module) -> Callable[[Any], Any]:
    """A function that returns a prompt of the model as `labdl.generate` takes it, and refuses an empty text and silence."""
    if not reads_signals(model):
        return lambda sample: check_text(sample) if isinstance(sample, str) else sample
    processor = getattr(model.__dict__.get("pretrained"), "processor", {})
    if "feature_extractor_type" not in processor or "image_processor_type" in processor:
        return lambda sample: sample
    rate = processor.get("sampling_rate", 16000)
    return lambda sample: read_speech(sample, rate)


def read_speech(sample: Any, sample_rate: int) -> Audio:
    """A sound as `labdl.tasks.samples.read_sound` reads it. Raises DataError also for silence, such as a single sample."""
    sound = read_sound(sample, sample_rate)
    wave = np.asarray(sound)
    if wave.min() == wave.max():
        count = wave.shape[-1]
        raise DataError(
            f"the sound is silent: its {count} samples are all equal" if count > 1 else "the sound has one sample alone"
        )
    return sound
