"""Learning rate schedules."""

from labdl.train.schedules.base import SCHEDULES, Plan, Schedule, schedule
from labdl.train.schedules.composite import Chain, Lambda, LinearWarmup, ReduceOnPlateau, Sequential
from labdl.train.schedules.cyclic import CosineRestarts, Cyclic, OneCycle
from labdl.train.schedules.decay import (
    Constant,
    CosineDecay,
    ExponentialDecay,
    InverseSquareRoot,
    Linear,
    MultiStep,
    Noam,
    PolynomialDecay,
    StepDecay,
    WarmupCosine,
)

__all__ = [
    "SCHEDULES",
    "Chain",
    "Constant",
    "CosineDecay",
    "CosineRestarts",
    "Cyclic",
    "ExponentialDecay",
    "InverseSquareRoot",
    "Lambda",
    "Linear",
    "LinearWarmup",
    "MultiStep",
    "Noam",
    "OneCycle",
    "Plan",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "Schedule",
    "Sequential",
    "StepDecay",
    "WarmupCosine",
    "schedule",
]
