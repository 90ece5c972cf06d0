"""The function that a framework differentiates: from the tensors of a batch to its loss and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labdl import ops
from labdl.errors import ConfigError, ModelError
from labdl.ops.infix import neutral
from labdl.train.data_adapter import Structure, flatten, unflatten
from labdl.train.precision import in_mixed_precision

_NESTED = (tuple, list, dict, type(None))


class Objective:
    """Function of flat tensors: the loss of a batch, its parts, and the outputs, from the inputs and targets.

    ``function(x, y)`` returns a loss or a dictionary of losses, which are added, optionally with an output: (loss, output).
    ``weights`` multiply the losses by name in their sum. The layout of the flat result is known after the first call. With
    ``scaled``, the last argument is a factor of the loss: the scaled loss comes first in the result, the loss itself second.
    """

    def __init__(
        self,
        function: Callable,
        structure: Structure,
        precision: str | None = None,
        scaled: bool = False,
        name: str = "",
        weights: Mapping[str, float] | None = None,
    ):
        self.function = function if precision is None else in_mixed_precision(function, precision)
        self.structure, self.name, self.checked, self.weights = structure, name, False, weights
        self.parts: tuple[str, ...] = ()  # names of the losses
        self.outputs: Structure = None
        self.leaves, self.duplicates_loss = 1, False
        self.run = neutral(self._run_scaled if scaled else self._run)

    @property
    def simple(self) -> bool:
        """True if the result is a loss and one output."""
        return self.outputs is None and not self.parts

    def _run(self, *tensors):
        x, y = tensors if self.structure is None else unflatten(self.structure, iter(tensors))
        result = self.function(x, y)
        loss, output = result if type(result) is tuple and len(result) == 2 else (result, None)
        if not self.checked:
            self._check(loss)
        if type(loss) is dict or type(output) in _NESTED:
            return self._flatten(loss, output)
        return loss, output

    def _check(self, loss) -> None:
        """Raise ConfigError for a loss that is not one number."""
        for name, part in loss.items() if isinstance(loss, Mapping) else [("", loss)]:
            title = " ".join(filter(None, (self.name, name and repr(name))))
            shape = getattr(part, "shape", None)
            if shape is None:
                raise ConfigError(
                    f"the loss {title} gave {part!r:.80}, training wants a tensor of one number: compute it from the output "
                    "and the target"
                )
            if len(shape):
                raise ConfigError(
                    f"the loss {title} gave values of shape {tuple(shape)}, training wants one number for a batch: return "
                    "their mean, such as ops.mean(losses)"
                )
        if self.weights is not None:
            names = [*loss] if isinstance(loss, Mapping) else []
            unknown = [name for name in self.weights if name not in names]
            if unknown or not names:
                raise ConfigError(
                    f"loss_weights has {', '.join(self.weights)}, the losses are {', '.join(names) or 'one without a name'}"
                )
        self.checked = True

    def _run_scaled(self, *tensors):
        loss, *others = self._run(*tensors[:-1])
        return (ops.multiply(loss, tensors[-1]), loss, *others)

    def _flatten(self, loss, output) -> tuple:
        if isinstance(loss, Mapping) and not loss:
            raise ModelError("the loss is an empty dictionary: return the losses by name")
        parts = dict(loss) if isinstance(loss, Mapping) else {}
        total = loss
        for n, (name, part) in enumerate(parts.items()):
            weight = 1.0 if self.weights is None else self.weights.get(name, 1.0)
            part = part if weight == 1.0 else ops.multiply(part, weight)
            total = part if n == 0 else ops.add(total, part)
        leaves, structure = flatten(output)
        self.parts, self.outputs, self.leaves = tuple(parts), structure, len(leaves)
        # MindSpore cannot differentiate a function that returns only a loss
        self.duplicates_loss = not parts and not leaves
        return (total, *parts.values(), *leaves, *([total] * self.duplicates_loss))

    # -- the result

    def read(self, result: tuple) -> tuple[dict[str, Any], Any, list[Any]]:
        """Split a result into the losses by name, the output, and other tensors."""
        remaining: Iterator = iter(result)
        values = {"loss": next(remaining), **{f"loss_{name}": next(remaining) for name in self.parts}}
        output = unflatten(self.outputs, iter([next(remaining) for _ in range(self.leaves)]))
        return values, output, list(remaining)[self.duplicates_loss :]
