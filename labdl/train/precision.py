"""Mixed precision in training: the dtype of the forward pass, and dynamic loss scaling for float16."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labdl import dispatch, ops
from labdl.errors import StateDictError
from labdl.ops.precision.mixed import PRECISIONS, autocast, enable
from labdl.train.data_adapter import map_structure

START, LARGEST = 2.0**16, 2.0**120  # beyond that the scale itself would overflow in float32
GROWTH_INTERVAL = 2000


@dataclass
class LossScaler:
    """A dynamic loss scale, with the rules of ``torch.amp.GradScaler``.

    The scale starts at 2¹⁶. A step with a gradient that is not finite is skipped and halves the scale; 2000 finite steps in a
    row double it.
    """

    scale: float = START
    good: int = 0  # finite steps in a row
    skipped: int = 0

    def update(self, finite: bool) -> None:
        """Adapt the scale after a step; ``finite`` says whether all gradients were finite."""
        if not finite:
            self.scale, self.good, self.skipped = self.scale / 2, 0, self.skipped + 1
            return
        self.good += 1
        if self.good == GROWTH_INTERVAL:
            self.scale, self.good = min(self.scale * 2, LARGEST), 0

    def state_dict(self) -> dict[str, Any]:
        return {"scale": self.scale, "good": self.good, "skipped": self.skipped}

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Restore a state. Raises StateDictError for an invalid one."""
        try:
            scale, good, skipped = float(values["scale"]), int(values["good"]), int(values["skipped"])
        except (KeyError, TypeError, ValueError) as error:
            raise StateDictError(f"the state of the loss scale wants scale, good and skipped: {error}") from None
        if not 0 < scale <= LARGEST or not 0 <= good < GROWTH_INTERVAL or skipped < 0:
            raise StateDictError(f"the state of the loss scale is out of range: {dict(values)!r}")
        self.scale, self.good, self.skipped = scale, good, skipped


def in_mixed_precision(function: Callable[[Any, Any], Any], precision: str) -> Callable[[Any, Any], Any]:
    """Wrap the function of a batch to run in mixed precision; its loss and output are float32."""
    enable()  # here, because it cannot run inside a compiled function

    def run(x, y):
        with autocast(precision):
            result = function(x, y)
        return map_structure(_to_float32, result)

    return run


def _to_float32(tensor):
    return ops.astype(tensor, "float32") if dispatch.spec_of(tensor).dtype in PRECISIONS else tensor
