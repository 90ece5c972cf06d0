"""Optimisers as settings: what they mean is the same everywhere, who computes them is the backend (R4.4)."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from labdl.errors import ConfigError


@dataclasses.dataclass
class Optimizer:
    """Settings of an optimiser; `Trainer` hands them to the backend of the model."""

    kind: ClassVar[str]
    learning_rate: float = 1e-3

    def __post_init__(self):
        for name, value in self.settings().items():
            if isinstance(value, bool):
                continue
            if not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
                raise ConfigError(f"{type(self).__name__}: {name} wants a number of 0 or more, received {value!r}")
            if name in ("momentum", "beta_1", "beta_2") and value >= 1:
                raise ConfigError(f"{type(self).__name__}: {name} must be below 1, received {value!r}")
        if getattr(self, "nesterov", False) and not getattr(self, "momentum", 0):
            raise ConfigError(f"{type(self).__name__}: nesterov=True wants a momentum above 0")

    def settings(self) -> dict[str, float | bool]:
        return dataclasses.asdict(self)


@dataclasses.dataclass
class SGD(Optimizer):
    """Stochastic gradient descent with momentum: v = momentum · v + g, p = p - learning_rate · v (torch.optim.SGD)."""

    kind: ClassVar[str] = "sgd"
    learning_rate: float = 1e-2
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0


@dataclasses.dataclass
class Adam(Optimizer):
    """Adam (Kingma & Ba, 2014); weight decay is added to the gradient (torch.optim.Adam)."""

    kind: ClassVar[str] = "adam"
    learning_rate: float = 1e-3
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0


@dataclasses.dataclass
class AdamW(Optimizer):
    """Adam with weight decay apart from the gradient (Loshchilov & Hutter, 2017; torch.optim.AdamW)."""

    kind: ClassVar[str] = "adamw"
    learning_rate: float = 1e-3
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01


@dataclasses.dataclass(frozen=True)
class Named:
    """An optimiser that can be asked for by name, with the settings that the name stands for."""

    cls: type[Optimizer]
    extra: tuple[tuple[str, float], ...] = ()

    def make(self, **settings) -> Optimizer:
        return self.cls(**{**dict(self.extra), **settings})

    def code(self, learning_rate: float) -> str:
        """The Python that makes it. Raises ConfigError as making it would."""
        self.make(learning_rate=learning_rate)
        given = ", ".join(f"{k}={v!r}" for k, v in (("learning_rate", learning_rate), *self.extra))
        return f"labdl.train.{self.cls.__name__}({given})"


OPTIMIZERS = {
    "adam": Named(Adam),
    "adamw": Named(AdamW),
    "sgd": Named(SGD),
    "momentum": Named(SGD, (("momentum", 0.9),)),
}


def optimizer(value: str | Optimizer) -> Optimizer:
    """Settings from a name or as given. Raises ConfigError that lists the names."""
    if isinstance(value, Optimizer):
        return value
    if value not in OPTIMIZERS:
        raise ConfigError(
            f"optimizer wants one of {', '.join(OPTIMIZERS)} or labdl.train.SGD(...) and the like, received {value!r}"
        )
    return OPTIMIZERS[value].make()
