"""Losses as operators: one number, the mean over the batch (PyTorch's semantics)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.activation import relu, softplus
from labdl.ops.math import abs as absolute
from labdl.ops.math import square
from labdl.ops.operator import case, floats, ints, operator
from labdl.ops.reduction import mean


@operator(rules.cross_entropy, case(floats(4, 3), ints(4, high=3)), case(floats(4, 3), ints(4, high=3), label_smoothing=0.1),
          case(floats(2, 3, 5), ints(2, 3)))  # fmt: skip
def cross_entropy(logits, target, label_smoothing=0.0):
    """Mean cross-entropy of logits (..., classes), classes on the last axis, with class numbers (...).

    ``label_smoothing`` mixes the target with the uniform distribution (Szegedy et al., 2016).
    Semantics: torch.nn.functional.cross_entropy, with the classes last.
    """
    classes = logits.shape[-1]
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    picked = np.take_along_axis(logs, np.asarray(target)[..., None], axis=-1)[..., 0]
    return np.mean(-(1 - label_smoothing) * picked - label_smoothing / classes * logs.sum(-1)).astype(logits.dtype)


@operator(None, case(floats(4, 3), floats(4, 3, low=0, high=1)))
def binary_cross_entropy(logits, target):
    """Mean binary cross-entropy of logits with targets between 0 and 1 (torch's ``binary_cross_entropy_with_logits``)."""
    return mean(softplus(logits) - logits * target)


@operator(None, case(floats(4, 3), floats(4, 3)))
def mean_squared_error(prediction, target):
    """Mean of the squared differences."""
    return mean(square(prediction - target))


@operator(None, case(floats(4, 3), floats(4, 3)))
def mean_absolute_error(prediction, target):
    """Mean of the absolute differences."""
    return mean(absolute(prediction - target))


@operator(None, case(floats(4, 3), floats(4, 3)))
def huber_loss(prediction, target, delta=1.0):
    """Quadratic for differences up to ``delta``, linear beyond (Huber, 1964)."""
    gap = absolute(prediction - target)
    beyond = relu(gap - delta)
    near = gap - beyond
    return mean(0.5 * near * near + delta * beyond)
