"""Optimizers: settings and update rules, defined once for all backends."""

from labdl.train.optimizers import adam, adaptive, layerwise, matrices, sgd
from labdl.train.optimizers.adam import *
from labdl.train.optimizers.adaptive import *
from labdl.train.optimizers.base import OPTIMIZERS, NamedOptimizer, Optimizer, optimizer
from labdl.train.optimizers.bound_optimizer import BoundOptimizer
from labdl.train.optimizers.layerwise import *
from labdl.train.optimizers.matrices import *
from labdl.train.optimizers.sgd import *

__all__ = ["OPTIMIZERS", "BoundOptimizer", "NamedOptimizer", "Optimizer", "optimizer"]
__all__ += adam.__all__
__all__ += adaptive.__all__
__all__ += layerwise.__all__
__all__ += matrices.__all__
__all__ += sgd.__all__
