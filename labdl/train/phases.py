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
    """A loss, the parameters that learn from it, and their optimizer.

    ``function(x, y)`` of a batch as tensors gives the loss, a dictionary of losses by name, which count alike, or
    (loss, output), where metrics read the output. Write it with `labdl.ops`: it may be compiled.
    ``parameters`` is a pattern of standard names such as "generator/*", or several; ``optimizer`` is a name or settings, the
    trainer's own when left out. The phases of a batch run in order, each with the parameters that those before it have updated.
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
    """The phases of a trainer. Raises ConfigError for anything else, and for names that are missing or not unique."""
    found = list(phases) if isinstance(phases, list | tuple) else []
    if not found or not all(isinstance(phase, Phase) for phase in found):
        raise ConfigError(f"phases wants a list of labdl.train.Phase(name, function, ...), received {phases!r}")
    names = [phase.name for phase in found]
    if len(found) > 1 and (len(set(names)) < len(names) or "" in names):
        raise ConfigError(f"phases want a name each, received {', '.join(map(repr, names))}")
    return found
