"""Phases of a training step: several losses, each with its own parameters and optimizer."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from labdl.errors import ConfigError
from labdl.train.optimizers import Optimizer
from labdl.train.optimizers import optimizer as find_optimizer


@dataclasses.dataclass(frozen=True)
class Phase:
    """A loss, the parameters that it updates, and their optimizer.

    ``function(x, y)`` computes from the tensors of a batch the loss, or a dictionary of losses by name, which are added; it may
    return (loss, output), with the output for metrics. Write it with `labdl.ops`: it may be compiled.
    ``parameters`` is a pattern of standard names such as "generator/*", or several; ``optimizer`` is a name or settings, by
    default the trainer's. The phases of a batch run in order, each after the updates of those before.
    """

    name: str
    function: Callable[[Any, Any], Any]
    parameters: str | tuple[str, ...] = "*"
    optimizer: str | Optimizer | None = None

    def __post_init__(self):
        if not isinstance(self.name, str) or not re.fullmatch(r"\w*", self.name):
            raise ConfigError(f"Phase: name wants letters, digits and _, received {self.name!r}")
        if not callable(self.function):
            raise ConfigError(f"Phase {self.name!r}: function wants a function (x, y), received {self.function!r}")
        patterns = (self.parameters,) if isinstance(self.parameters, str) else self.parameters
        if not isinstance(patterns, list | tuple) or not patterns or not all(isinstance(p, str) for p in patterns):
            raise ConfigError(
                f"Phase {self.name!r}: parameters wants a pattern such as 'generator/*', or several, received "
                f"{self.parameters!r}"
            )
        object.__setattr__(self, "parameters", tuple(patterns))
        if self.optimizer is not None:
            object.__setattr__(self, "optimizer", find_optimizer(self.optimizer))


def check_phases(phases: Any) -> list[Phase]:
    """Validate the phases of a trainer. Raises ConfigError for other values, and for missing or duplicate names."""
    listed = list(phases) if isinstance(phases, list | tuple) else []
    if not listed or not all(isinstance(phase, Phase) for phase in listed):
        raise ConfigError(f"phases wants a list of labdl.train.Phase(name, function, ...), received {phases!r}")
    names = [phase.name for phase in listed]
    if len(listed) > 1 and (len(set(names)) < len(names) or "" in names):
        raise ConfigError(f"several phases want a different name each, received {', '.join(map(repr, names))}")
    return listed
