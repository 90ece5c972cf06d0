"""Dynamic scaling of the loss: small gradients in float16 do not vanish, and updates with infinite ones are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labdl.errors import StateDictError

START, LARGEST = 2.0**16, 2.0**120  # beyond that the scale itself would overflow in float32
GROWTH_INTERVAL = 2000


@dataclass
class LossScaler:
    """By what the loss is multiplied before its gradients are taken, with the rules of ``torch.amp.GradScaler``.

    It begins with 2¹⁶; a step with a gradient that is not finite updates nothing and halves it, 2000 good steps in a row
    double it.
    """

    scale: float = START
    good: int = 0  # steps in a row
    skipped: int = 0

    def update(self, finite: bool) -> None:
        """Take a step into account, whose gradients were all finite or not."""
        if not finite:
            self.scale, self.good, self.skipped = self.scale / 2, 0, self.skipped + 1
            return
        self.good += 1
        if self.good == GROWTH_INTERVAL:
            self.scale, self.good = min(self.scale * 2, LARGEST), 0

    def state_dict(self) -> dict[str, Any]:
        return {"scale": self.scale, "good": self.good, "skipped": self.skipped}

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Go on from a state. Raises StateDictError for what is none."""
        try:
            scale, good, skipped = float(values["scale"]), int(values["good"]), int(values["skipped"])
        except (KeyError, TypeError, ValueError) as error:
            raise StateDictError(f"the state of the loss scale wants scale, good and skipped: {error}") from None
        if not 0 < scale <= LARGEST or not 0 <= good < GROWTH_INTERVAL or skipped < 0:
            raise StateDictError(f"the state of the loss scale is out of range: {dict(values)!r}")
        self.scale, self.good, self.skipped = scale, good, skipped
