"""Training steps of frameworks that record gradients while they compute and store them in the variables.

PyTorch and PaddlePaddle share this step; it imports no framework.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from labdl.backends.protocol.optimizers import BoundOptimizer
from labdl.backends.protocol.types import Gradients, Update, Variable


@dataclass(frozen=True)
class EagerTraining:
    """The functions of `labdl.backends.protocol.training`, from those that differ between such frameworks.

    Eager by default: on CPUs the compilers of both frameworks make training steps slower.
    """

    tensor: type
    """The type of the framework's tensors."""

    no_grad: Callable[[], AbstractContextManager]
    """A context without recording, for updates."""

    inference: Callable[[], AbstractContextManager]
    """A context without recording, for evaluation."""

    clear_gradients: Callable[[Sequence[Variable]], None]

    compile: Callable[[Callable, bool], Callable]
    """``compile(function, training)``: the function compiled, or itself if it cannot be compiled."""

    backward: Callable[[Any], None] = operator.methodcaller("backward")
    """Computes the gradients of a scalar tensor."""

    def gradient_function(
        self, objective: Callable[..., tuple], optimizer: BoundOptimizer, compiled: bool | None = None
    ):
        """See `labdl.backends.protocol.training.Training`."""
        objective = self.compile(objective, True) if compiled else objective
        clear, backward, detach, tensor = self.clear_gradients, self.backward, _detach, self.tensor

        def run(*batch):
            variables = optimizer.variables
            clear(variables)
            result = objective(*batch)
            backward(result[0])
            return detach(result, tensor), [v.grad for v in variables]

        return run

    def train_function(
        self,
        objective: Callable[..., tuple],
        optimizer: BoundOptimizer,
        compiled: bool | None = None,
        update: Update | None = None,
        timed: Callable[[Update], Update] | None = None,
    ):
        """See `labdl.backends.protocol.training.Training`."""
        gradients = self.gradient_function(objective, optimizer, compiled)
        # looked up at each call: it changes when other variables are trained
        apply: Update = update or (lambda found: optimizer.update(found))
        apply = apply if timed is None else timed(apply)

        def step(*batch):
            result, found = gradients(*batch)
            optimizer.advance()
            with self.no_grad():
                more = apply(found)
            return (*result, *(more or ()))

        return step

    def update_function(self, optimizer: BoundOptimizer, update: Update, compiled: bool | None = None):
        """See `labdl.backends.protocol.training.Training`."""

        def apply(gradients: Gradients):
            optimizer.advance()
            with self.no_grad():
                return update(gradients)

        return apply

    def evaluate_function(self, forward: Callable[..., Any], compiled: bool | None = None):
        """See `labdl.backends.protocol.training.Evaluation`."""
        forward = self.compile(forward, False) if compiled else forward

        def evaluate(*inputs):
            with self.inference():
                return forward(*inputs)

        return evaluate


def _detach(value, tensor: type):
    """Detach results in nested tuples, lists and dicts."""
    if isinstance(value, tensor):
        return value.detach()
    if isinstance(value, list | tuple):
        values = [_detach(v, tensor) for v in value]
        return type(value)(*values) if hasattr(value, "_fields") else type(value)(values)
    if isinstance(value, dict):
        return {key: _detach(v, tensor) for key, v in value.items()}
    return value
