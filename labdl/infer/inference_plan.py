"""The plan of an inference with a model of the zoo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labdl.infer.generator import Writer
from labdl.nn.module import Module


@dataclass(frozen=True)
class InferencePlan:
    """The arguments of an `Inference` with a model of the zoo."""

    model: Module
    preprocess: list[Callable[[Any], Any]]
    postprocess: Any
    batch_size: int
    compiled: bool | None = None
    collate: Callable[[Any], Any] | None = None
    generate: Mapping[str, Any] | Writer | None = None
