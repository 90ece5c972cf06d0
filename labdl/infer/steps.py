"""The steps before a model: functions of a sample, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError


def list_steps(preprocess: Any) -> list[Callable[[Any], Any]]:
    """The functions of ``preprocess``: None, one of them, a sequence, or a pipeline, of which the evaluation is taken.

    Raises ConfigError for what cannot be called.
    """
    if isinstance(preprocess, Pipeline):
        preprocess = preprocess.evaluation()
    steps = [] if preprocess is None else list(preprocess) if isinstance(preprocess, list | tuple) else [preprocess]
    for step in steps:
        if not callable(step):
            raise ConfigError(f"preprocess wants a function of a sample, or a sequence of them, received {step!r:.80}")
    return steps
