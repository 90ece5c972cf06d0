"""Mixed precision in training: the dtype of the forward pass, and dynamic loss scaling for float16."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labdl import dispatch, ops
from labdl.errors import StateDictError
from labdl.ops.precision.mixed import PRECISIONS, autocast, enable
from labdl.train.data_adapter import map_structure

START, LARGEST = 2.0**16, 2.0**120  # beyond that the scale itself would overflow in float32
GROWTH_INTERVAL = 2000
LEAST, MOST_SKIPPED = 1.0, 20


@dataclass
class LossScaler:
    """A dynamic loss scale, with the rules of ``torch.amp.GradScaler``.

    The scale starts at 2¹⁶. A step with a gradient that is not finite is skipped and halves the scale; 2000 finite steps in a
    row double it. Below a scale of 1, or after 20 skipped steps in a row, no smaller scale will help: see `is_useless`.
    """

    scale: float = START
    good: int = 0  # finite steps in a row
    skipped: int = 0
    skipped_in_a_row: int = field(default=0, compare=False)

    def update(self, finite: bool) -> None:
        """Adapt the scale after a step; ``finite`` says whether all gradients were finite."""
        if not finite:
            self.scale, self.good, self.skipped = self.scale / 2, 0, self.skipped + 1
            self.skipped_in_a_row += 1
            return
        self.good, self.skipped_in_a_row = self.good + 1, 0
        if self.good == GROWTH_INTERVAL:
            self.scale, self.good = min(self.scale * 2, LARGEST), 0

    @property
    def is_useless(self) -> bool:
        """True if the gradients themselves are not finite, and not their product with the scale."""
        return self.scale < LEAST or self.skipped_in_a_row >= MOST_SKIPPED

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


def describe_skips(name: str, scaler: LossScaler) -> str:
    """The message for gradients that loss scaling does not help."""
    return (
        f"the gradient of {name} has NaN or infinity in {scaler.skipped_in_a_row} steps in a row, the last with a loss scale "
        f"of {scaler.scale * 2:g}, though the loss is finite: no update was made in them. Look for an operator with an "
        "infinite slope, such as sqrt at 0; where gradients exceed the range of float16, divide the loss or "
        "use precision='bfloat16'"
    )


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
