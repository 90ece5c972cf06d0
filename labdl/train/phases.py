"""Phases: what one update of a batch consists of, where it is more than one loss on all parameters."""

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
    """A loss, the parameters that learn from it, and their optimiser.

    ``function(x, y)`` of a batch as tensors gives the loss, a dictionary of losses by name, which count alike, or
    (loss, output), the output being what metrics see. It is written with `labdl.ops`, for it may be compiled.
    ``parameters`` is a pattern of standard names such as "generator/*", or several; ``optimizer`` is a name or settings, the
    trainer's own when left out. For each batch the phases come one behind the other, each with what those before have learnt.
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
            raise ConfigError(f"Phase {self.name!r}: parameters wants a pattern such as 'generator/*', or several, received "
                              f"{self.parameters!r}")  # fmt: skip
        object.__setattr__(self, "parameters", tuple(patterns))
        if self.optimizer is not None:
            object.__setattr__(self, "optimizer", find_optimizer(self.optimizer))


def checked(phases: Any) -> list[Phase]:
    """The phases of a trainer. Raises ConfigError for what is none, and for names that are not their own."""
    found = list(phases) if isinstance(phases, list | tuple) else []
    if not found or not all(isinstance(phase, Phase) for phase in found):
        raise ConfigError(f"phases wants a list of labdl.train.Phase(name, function, ...), received {phases!r}")
    names = [phase.name for phase in found]
    if len(found) > 1 and (len(set(names)) < len(names) or "" in names):
        raise ConfigError(f"phases want a name each, received {', '.join(map(repr, names))}")
    return found
