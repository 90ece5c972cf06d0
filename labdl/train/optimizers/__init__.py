"""Optimizers: settings and update rules, defined once for all backends."""

from labdl.train.optimizers.adam import Adam, Adamax, AdamW, NAdam, RAdam
from labdl.train.optimizers.adaptive import FTRL, Adadelta, Adafactor, Adagrad, RMSprop
from labdl.train.optimizers.base import OPTIMIZERS, NamedOptimizer, Optimizer, optimizer
from labdl.train.optimizers.bound_optimizer import BoundOptimizer
from labdl.train.optimizers.layerwise import LAMB, LARS
from labdl.train.optimizers.sgd import ASGD, SGD, Lion, Rprop

__all__ = [
    "ASGD",
    "FTRL",
    "LAMB",
    "LARS",
    "OPTIMIZERS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "BoundOptimizer",
    "Lion",
    "NAdam",
    "NamedOptimizer",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "optimizer",
]
