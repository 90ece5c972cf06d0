"""Prompts of models that write texts, checked before the generation: texts, sounds and pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labdl.generation.decoder import reads_signals
from labdl.infer.pretrained.texts import check_text
from labdl.nn.module import Module
from labdl.tasks.samples import read_speech


def check_prompt(model: Module) -> Callable[[Any], Any]:
    """A function that returns a prompt of the model as `labdl.generate` takes it, and refuses an empty text and silence."""
    if not reads_signals(model):
        return lambda sample: check_text(sample) if isinstance(sample, str) else sample
    processor = getattr(model.__dict__.get("pretrained"), "processor", {})
    if "feature_extractor_type" not in processor or "image_processor_type" in processor:
        return lambda sample: sample
    rate = processor.get("sampling_rate", 16000)
    return lambda sample: read_speech(sample, rate)
