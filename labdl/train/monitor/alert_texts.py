"""Texts of the alerts of a training: templates with places %1, %2 …, which dashboards translate."""

from __future__ import annotations

import re
from dataclasses import dataclass

TEXTS = {
    "rise": (
        "The training loss has risen to %1 and stays there; its best was %2 at step %3. A smaller learning rate, a warm-up "
        "or clip_norm=1.0 may help."
    ),
    "explosion": (
        "The training loss grew from %1 to %2 within %3 steps: the training diverges. A much smaller learning rate may "
        "help, or inputs and targets of a smaller scale."
    ),
    "validation_explosion": (
        "The validation loss is %1 after %2 steps, far above the first training loss of %3. A much smaller learning rate may "
        "help, or validation data of the same scale as the training data."
    ),
    "no_progress": (
        "The training loss has not fallen since the start: it was %1 and is %2 after %3 steps, with a learning rate of %4. "
        "A rate that is too low or far too high, frozen layers, or a loss that does not depend on the model may be the "
        "cause; a model that was trained before may have nothing left to learn."
    ),
    "chance_level": (
        "The training loss stays at %1, the level of a model that gives the same answer for every sample (%2 for "
        "these %3 classes): so far it has learned no more than how often each class occurs. Check that the targets "
        "belong to the inputs, the scale of the inputs, the activation of the last layer, and the learning rate (%4)."
    ),
    "overfitting": (
        "The validation loss has risen from %1 around epoch %2 to %3 while the training loss fell to %4: the model "
        "memorizes its training data. Early stopping, more data, augmentation, dropout or weight decay may help."
    ),
    "plateau": (
        "The training loss has not improved over the last %1 epochs: it stays at %2. Another learning rate or a schedule, "
        "a larger model or other inputs may help; or the training has converged."
    ),
    "validation_plateau": (
        "The validation loss has not improved over the last %1 epochs: it stays at %2. Another learning rate or a "
        "schedule, a larger model or other inputs may help; or the training has converged."
    ),
    "starvation": (
        "%1 % of the time of the last %2 s was spent waiting for data. Caching decoded samples in memory or in an .npz, "
        "cheaper transformations, faster storage or prefetching may help."
    ),
    "not_finite": (
        "No longer finite after epoch %2: %1. Try a smaller learning rate, or check the samples and the divisions in the "
        "metric."
    ),
    "error_after_rise": "%1; the loss had been rising before: a smaller learning rate may help",
}


@dataclass(frozen=True)
class AlertText:
    """A template of `TEXTS` and the values of its places; `str` fills them in."""

    template: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return re.sub(r"%(\d)", lambda place: self.values[int(place[1]) - 1], self.template)


def alert_text(name: str, *values: float | str) -> AlertText:
    """The text of this name in `TEXTS`; floats are written with four digits."""
    return AlertText(TEXTS[name], tuple(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values))
