"""The methods of a trainer that a subclass may override."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labdl.nn.signature import call_as_built
from labdl.train.evaluation import split_batch
from labdl.train.phases import Phase

if TYPE_CHECKING:
    from labdl.train.context import TrainContext
    from labdl.train.optimizers import BoundOptimizer


class OverridableMethods:
    """The parts of a training step as methods, which a subclass of `labdl.Trainer` may override."""

    context: TrainContext

    def preprocess(self, batch: Any) -> tuple[Any, Any]:
        """Inputs and targets of a batch of the data set, as NumPy arrays, or tuples and dictionaries of them."""
        return batch if type(batch) is tuple and len(batch) == 2 else split_batch(batch, self.context.model)

    def forward(self, x):
        """Output of the model for a batch of inputs, as tensors; a tuple is passed to a model of several inputs."""
        return call_as_built(self.context.model, *(x if type(x) is tuple else (x,)))

    def loss(self, output, target):
        """The scalar loss, or a dictionary of losses by name, whose sum is minimized."""
        return self.context.loss_function(output, target)

    def backward(self, gradients: dict[str, Any]) -> dict[str, Any]:
        """Transform the gradients of the loss before the update: tensors by standard name, or None."""
        return gradients

    def update(self, gradients: dict[str, Any], optimizer: BoundOptimizer) -> None:
        """Update the parameters in place, from gradients by standard name; like `backward` it may be compiled."""
        optimizer.update([gradients.get(name) for name in optimizer.names])

    def postprocess(self, output):
        """Transform the output of the model, as NumPy arrays, for metrics; None in training leaves them to the validation."""
        return output

    def phases(self) -> list[Phase]:
        """The phases of a step in order; by default one, with the loss of the model and all parameters."""
        return [Phase("", self.loss_and_output)]

    def loss_and_output(self, x, y) -> tuple[Any, Any]:
        """Forward and loss of a batch of tensors."""
        output = self.forward(x)
        return self.loss(output, y), output
