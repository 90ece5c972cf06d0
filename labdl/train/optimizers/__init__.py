"""Optimisers: what each means is written once, who computes it is the backend (R4.4)."""

from labdl.train.optimizers.adam import Adam, Adamax, AdamW, NAdam, RAdam
from labdl.train.optimizers.adaptive import FTRL, Adadelta, Adafactor, Adagrad, RMSprop
from labdl.train.optimizers.base import OPTIMIZERS, Named, Optimizer, optimizer
from labdl.train.optimizers.bound import BoundOptimizer
from labdl.train.optimizers.descent import ASGD, SGD, Lion, Rprop
from labdl.train.optimizers.layerwise import LAMB, LARS

__all__ = ["ASGD", "FTRL", "LAMB", "LARS", "OPTIMIZERS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax",
           "BoundOptimizer", "Lion", "NAdam", "Named", "Optimizer", "RAdam", "RMSprop", "Rprop", "optimizer"]  # fmt: skip
