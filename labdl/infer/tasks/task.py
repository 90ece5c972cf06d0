"""A task of the zoo at inference, and the registry of them: reading a sample, and the post-processor of the outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labdl.errors import ConfigError
from labdl.nn.module import Module

Step = Callable[[Any], Any]

TASKS: dict[str, Task] = {}


@dataclass(frozen=True)
class Task:
    """The steps of inference that the models of a task share.

    ``prepare`` gives the steps from a sample as users have it (a file name, an array, a picture) to the model's inputs,
    around those of the weights; ``postprocess`` the post-processor, or steps, for a model that is built, with settings of
    the post-processor. ``batch_size`` is 1 where samples keep sizes of their own.
    """

    prepare: Callable[[Sequence[Step], Module], Sequence[Step]]
    postprocess: Callable[[Module, Mapping[str, Any]], Any]
    batch_size: int = 32


def register_task(name: str, task: Task) -> Task:
    """Register the inference of a task of the zoo, under the name that its models have. Raises ConfigError for a second one."""
    if name in TASKS:
        raise ConfigError(f"inference for {name!r} is registered already")
    TASKS[name] = task
    return task
