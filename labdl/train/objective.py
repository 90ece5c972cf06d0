"""What a framework differentiates: a flat function of tensors, made of one that takes batches and gives outputs as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labdl import dispatch, ops
from labdl.errors import ModelError
from labdl.ops.infix import neutral
from labdl.ops.mixed import PRECISIONS, computing, enable
from labdl.train.batches import Structure, flattened, mapped, rebuilt

_NESTED = (tuple, list, dict, type(None))


class Objective:
    """The loss of a batch, its parts, and the tensors of the output, from the tensors of inputs and targets.

    ``function(x, y)`` gives a loss, or a dictionary of losses that are added, alone or with an output: (loss, output). What
    stands where in the result is known after the first call. ``scaled``: one more tensor comes last, by which the loss is
    multiplied to be differentiated; the loss itself comes behind it.
    """

    def __init__(self, function: Callable, structure: Structure, precision: str | None = None, scaled: bool = False):
        self.function, self.structure, self.precision = function, structure, precision
        self.parts: tuple[str, ...] = ()  # names of the losses
        self.outputs: Structure = None
        self.leaves, self.spare = 1, False
        if precision is not None:
            enable()  # a compiler would read that too
        self.run = neutral(self._scaled if scaled else self._run)

    @property
    def simple(self) -> bool:
        """Whether there is a loss and one output, nothing else."""
        return self.outputs is None and not self.parts

    def _run(self, *tensors):
        x, y = tensors if self.structure is None else rebuilt(self.structure, iter(tensors))
        found = self.function(x, y) if self.precision is None else self._mixed(x, y)
        loss, output = found if type(found) is tuple and len(found) == 2 else (found, None)
        if type(loss) is dict or type(output) in _NESTED:
            return self._spread(loss, output)
        return loss, output

    def _scaled(self, *tensors):
        loss, *others = self._run(*tensors[:-1])
        return (ops.multiply(loss, tensors[-1]), loss, *others)

    def _mixed(self, x, y):
        """In mixed precision, loss and output in float32."""
        with computing(self.precision):
            found = self.function(x, y)
        return mapped(_single, found)

    def _spread(self, loss, output) -> tuple:
        if isinstance(loss, Mapping) and not loss:
            raise ModelError("the loss is an empty dictionary: give it the losses by name")
        parts = dict(loss) if isinstance(loss, Mapping) else {}
        total = loss
        for n, part in enumerate(parts.values()):
            total = part if n == 0 else ops.add(total, part)
        leaves, structure = flattened(output)
        self.parts, self.outputs, self.leaves = tuple(parts), structure, len(leaves)
        self.spare = not parts and not leaves  # MindSpore differentiates no function that gives nothing but a loss
        return (total, *parts.values(), *leaves, *([total] * self.spare))

    # -- the result

    def read(self, result: tuple) -> tuple[dict[str, Any], Any, list[Any]]:
        """The losses by name as tensors, the output, and what came behind them."""
        left: Iterator = iter(result)
        values = {"loss": next(left), **{f"loss_{name}": next(left) for name in self.parts}}
        output = rebuilt(self.outputs, iter([next(left) for _ in range(self.leaves)]))
        return values, output, list(left)[self.spare :]


def _single(tensor):
    return ops.astype(tensor, "float32") if dispatch.spec_of(tensor).dtype in PRECISIONS else tensor
