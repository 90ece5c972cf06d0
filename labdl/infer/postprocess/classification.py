"""Post-processor of classifiers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl.errors import ModelError
from labdl.infer.postprocess.base import (
    PostProcessor,
    Share,
    postprocessor,
    probabilities,
    sigmoid,
    single_array,
    softmax,
    top_k_indices,
)


@dataclass(frozen=True, eq=False)
class Classes:
    """Class numbers (k) and their probabilities (k), the most probable first, and their names if known."""

    labels: np.ndarray
    probabilities: np.ndarray
    names: tuple[str, ...] | None = None

    @property
    def label(self) -> int | str | None:
        """The most probable class, its name if known; None if there is no class."""
        return None if not self.labels.size else self.names[0] if self.names else int(self.labels[0])


@postprocessor
class Classification(PostProcessor):
    """Most probable classes of a sample, or all labels above a threshold.

    Logits (classes), or probabilities with ``from_logits=False``; by default what the model of an `Inference` has. A single
    output is that of the positive class 1, which is predicted above ``threshold``. ``multilabel=True`` treats classes
    independently and returns those with a probability above ``threshold``. At most ``top_k`` are returned, None for all,
    ties by index. ``names`` are those of the classes.
    Raises ModelError if the numbers of outputs and names differ.
    """

    top_k: Annotated[int, Ge(1)] | None = None
    names: tuple[str, ...] | None = None
    multilabel: bool = False
    threshold: Share = 0.5
    from_logits: bool | None = None

    def __call__(self, output) -> Classes:
        scores = single_array(self, output, "scores (classes)", 0, 1).reshape(-1)
        binary = len(scores) == 1 and not self.multilabel
        shares = probabilities(sigmoid if self.multilabel or binary else softmax, scores, self.from_logits)
        if binary:
            shares = np.concatenate([1 - shares, shares])
        names = check_names(self, self.names, len(shares))
        if binary:
            yes = int(shares[1] > self.threshold)
            order = np.array([yes, 1 - yes])[: self.top_k]
        else:
            order = top_k_indices(shares, self.top_k or len(shares))
        if self.multilabel:
            order = order[shares[order] > self.threshold]
        return Classes(order, shares[order], names and tuple(names[i] for i in order))

    @property
    def score_threshold(self) -> float:
        """The threshold in terms of the outputs."""
        if self.from_logits is False:
            return self.threshold
        if self.threshold in (0, 1):
            return math.copysign(math.inf, self.threshold - 0.5)
        return math.log(self.threshold / (1 - self.threshold))


def check_names(
    processor: PostProcessor, names: tuple[str, ...] | None, count: int, what: str = "classes"
) -> tuple[str, ...] | None:
    """Return the names of classes. Raises ModelError unless their number is that of the classes."""
    if names is not None and len(names) != count:
        raise ModelError(
            f"{type(processor).__name__} has {len(names)} names, the output has {count} {what}: give a name for each, "
            "or omit names"
        )
    return names
