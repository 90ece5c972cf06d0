"""Random operators with the shape and dtype of a tensor."""

import numpy as np

from labdl.ops import rules
from labdl.ops.operator import case, floats, operator
from labdl.ops.random.state import generator


@operator(
    rules.random_uniform_like,
    case(floats(3, 4)),
    case(floats(3, 4), low=-1.0, high=2.0),
    differentiable=False,
    random=True,
    checked=True,
)
def random_uniform_like(x, low=0.0, high=1.0):
    """Uniform random numbers in the shape and dtype of ``x``."""
    return generator().uniform(low, high, np.shape(x))


@operator(
    rules.elementwise,
    case(floats(3, 4)),
    case(floats(3, 4), mean=1.0, std=0.5),
    differentiable=False,
    random=True,
    checked=True,
)
def random_normal_like(x, mean=0.0, std=1.0):
    """Normally distributed random numbers in the shape and dtype of ``x``."""
    return generator().normal(mean, std, np.shape(x))
