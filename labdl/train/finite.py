"""Numbers that are not finite: which data, parameter or step brought them into a training."""

from __future__ import annotations

import numpy as np

from labdl import dispatch
from labdl.errors import ModelError, UpdateError
from labdl.nn.module import Module


def explain_loss(model: Module, step: int, x: np.ndarray, y: np.ndarray) -> None:
    """The loss of a step is not finite: say whether the data, a parameter or the model itself is the cause."""
    for what, array in (("inputs", x), ("targets", y)):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ModelError(f"the loss is not finite at step {step}: the {what} of this batch have NaN or infinity")
    if step > 1:  # the first update has passed on the loss, so parameters tell nothing
        check_parameters(model, step - 1)
    raise ModelError(f"the loss is not finite at step {step}: the model's output for this batch has NaN or infinity; "
                     "look at the inputs, or try a smaller learning rate")  # fmt: skip


def check_parameters(model: Module, step: int) -> None:
    """Raise UpdateError when a parameter is not finite after the update of a step."""
    named = list(model.named_parameters())
    bad = dispatch.get(model.backend).finite([p.value for _, p in named])
    if bad is not None:
        raise UpdateError(
            f"the update of step {step} made {named[bad][0]} NaN or infinite: try a smaller learning rate"
        )
