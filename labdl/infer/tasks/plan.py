"""The plan of an inference with a model of the zoo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labdl.infer.tasks.task import Step
from labdl.nn.module import Module


@dataclass(frozen=True)
class InferencePlan:
    """The arguments of an `Inference` with a model of the zoo."""

    model: Module
    preprocess: list[Step]
    postprocess: Any
    batch_size: int
    compiled: bool | None = None
