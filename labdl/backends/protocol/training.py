"""Steps of training and evaluation, eager or compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from labdl.backends.protocol.optimizers import BoundOptimizer
from labdl.backends.protocol.types import Gradients, Tensor, Update


class Evaluation(Protocol):
    """Forward computation without gradients."""

    def evaluate_function(self, forward: Callable[..., Any], compiled: Any = None) -> Callable[..., Any]:
        """``forward`` without gradients, compiled if ``compiled``; None leaves the choice to the backend.

        What is compiled is a `labdl.graph.lowering.compilable.Compilable`: a compiler that cannot read Python that dispatches
        takes its flat form, one that can has it prepared.
        """
        ...


class Training(Protocol):
    """Training steps. ``compiled`` is True, False, None for the backend's choice, or a compiler's name ("xla")."""

    def gradient_function(
        self, objective: Callable[..., tuple], optimizer: BoundOptimizer, compiled: Any = None
    ) -> Callable[..., tuple[Sequence[Tensor], Gradients]]:
        """A function ``(*batch)`` that returns the objective's tuple, the loss first, and the gradients of the loss.

        The gradients are dense, in the order of ``optimizer.variables``, None where there is none.
        """
        ...

    def train_function(
        self,
        objective: Callable[..., tuple],
        optimizer: BoundOptimizer,
        compiled: Any = None,
        update: Update | None = None,
        timed: Callable[[Update], Update] | None = None,
    ) -> Callable[..., tuple]:
        """A step ``(*batch)`` that updates the variables in place and returns the objective's tuple, the loss first.

        Behind it stands the tuple that ``update(gradients)`` returned, if any. ``update`` is the optimizer's own unless one
        is given, which runs inside the step and may use `labdl.ops` only. ``timed(update)`` may replace an update that is
        not compiled with the rest, to measure it.
        """
        ...

    def update_function(self, optimizer: BoundOptimizer, update: Update, compiled: Any = None) -> Update:
        """A step from gradients that were computed before, accumulated or scaled; returns what ``update`` returns."""
        ...
