"""Classes of a sample from the scores of a classifier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl.errors import ModelError
from labdl.infer.postprocess.processor import (
    PostProcessor,
    Share,
    best,
    postprocessor,
    probabilities,
    sigmoid,
    single,
    softmax,
)


@dataclass(frozen=True, eq=False)
class Classes:
    """Class numbers (k) and their probabilities (k), the most probable first; ``names`` beside them where they are known."""

    labels: np.ndarray
    probabilities: np.ndarray
    names: tuple[str, ...] | None = None

    @property
    def label(self) -> int | str | None:
        """The most probable class, by name where that is known; None where there is none."""
        return None if not self.labels.size else self.names[0] if self.names else int(self.labels[0])


@postprocessor
class Classification(PostProcessor):
    """Most probable classes of a sample, or all labels above a threshold.

    Logits (classes), probabilities with ``from_logits=False``; one output is that of "yes", class 1, which counts as chosen
    above ``threshold``. ``multilabel=True`` takes each class for a question of its own and gives those whose probability is
    above ``threshold``. At most ``top_k`` are given, None for all; of equal ones the earlier. ``names`` are those of the
    classes. Raises ModelError where outputs and names differ in number.
    """

    top_k: Annotated[int, Ge(1)] | None = None
    names: tuple[str, ...] | None = None
    multilabel: bool = False
    threshold: Share = 0.5
    from_logits: bool = True

    def __call__(self, output) -> Classes:
        scores = single(self, output, "scores (classes)", 0, 1).reshape(-1)
        binary = len(scores) == 1 and not self.multilabel
        shares = probabilities(sigmoid if self.multilabel or binary else softmax, scores, self.from_logits)
        if binary:
            shares = np.concatenate([1 - shares, shares])
        names = named(self, self.names, len(shares))
        if binary:
            yes = int(shares[1] > self.threshold)
            order = np.array([yes, 1 - yes])[: self.top_k]
        else:
            order = best(shares, self.top_k or len(shares))
        if self.multilabel:
            order = order[shares[order] > self.threshold]
        return Classes(order, shares[order], names and tuple(names[i] for i in order))

    @property
    def score_threshold(self) -> float:
        """The threshold for outputs as they come."""
        if not self.from_logits:
            return self.threshold
        if self.threshold in (0, 1):
            return math.copysign(math.inf, self.threshold - 0.5)
        return math.log(self.threshold / (1 - self.threshold))


def named(
    asked: PostProcessor, names: tuple[str, ...] | None, count: int, what: str = "classes"
) -> tuple[str, ...] | None:
    """The names of classes. Raises ModelError unless there are as many as classes."""
    if names is not None and len(names) != count:
        raise ModelError(f"{type(asked).__name__} has {len(names)} names, the output has {count} {what}: give each a name, "
                         "or leave names out")  # fmt: skip
    return names
