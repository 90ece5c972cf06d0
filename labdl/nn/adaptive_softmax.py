"""Classification of many classes with rare ones in clusters."""

from __future__ import annotations

import itertools
from typing import Annotated

from annotated_types import Gt, MinLen

from labdl import dispatch, ops
from labdl.nn.containers import ModuleList, Sequential
from labdl.nn.linear import Linear, resolve_size
from labdl.nn.module import Module
from labdl.nn.schema import layer
from labdl.nn.types import Count
from labdl.ops.operator import floats, ints
from labdl.spec import show


@layer(
    {"classes": 10, "cutoffs": (3, 6), "div_value": 2.0},
    floats(4, 8),
    ints(4, high=10),
    outputs=("output", "loss"),
    category="linear",
)
class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probability of the target among many classes, the rare ones in clusters of smaller layers (Grave et al., 2017).

    x (N, features) and target (N,) to the log-probabilities (N,) of the targets, and their negative mean as the loss. Classes
    are numbered from frequent to rare; those from each of the ``cutoffs`` to the next are a cluster, whose layer has
    features / ``div_value`` ** number inner features, and those before the first are in the head with one for each cluster.
    `log_prob` gives the log-probabilities of all classes, `predict` the most probable one.
    Semantics: torch.nn.AdaptiveLogSoftmaxWithLoss.
    """

    classes: Count
    cutoffs: Annotated[tuple[Count, ...], MinLen(1)]
    div_value: Annotated[float, Gt(0)] = 4.0
    head_bias: bool = False
    in_features: Count | None = None

    def setup(self, x, target=None):
        ends = (*self.cutoffs, self.classes)
        if any(a >= b for a, b in itertools.pairwise(ends)):
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss wants cutoffs in ascending order below classes={self.classes}, received "
                f"{self.cutoffs}"
            )
        if x.ndim != 2:
            raise ValueError(f"AdaptiveLogSoftmaxWithLoss wants (N, features), received {show(x.shape)}")
        size = resolve_size("AdaptiveLogSoftmaxWithLoss", "in_features", self.in_features, x.shape[-1])
        inner = [int(size // self.div_value ** (at + 1)) for at in range(len(self.cutoffs))]
        if min(inner) < 1:
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss: {size} features divided by div_value={self.div_value} for each of "
                f"{len(inner)} clusters leave none: use a smaller div_value or fewer cutoffs"
            )
        self.head = Linear(self.cutoffs[0] + len(self.cutoffs), use_bias=self.head_bias)
        self.tail = ModuleList(
            Sequential(Linear(width, use_bias=False), Linear(last - first, use_bias=False))
            for width, first, last in zip(inner, ends, ends[1:], strict=False)
        )

    def forward(self, x, target):
        losses = ops.nll_loss(self._log_probabilities(x), target, reduction="none")
        return ops.negative(losses), ops.mean(losses)

    def _log_probabilities(self, x):
        head, first = ops.log_softmax(self.head(x), axis=-1), self.cutoffs[0]
        parts = [ops.getitem(head, (slice(None), slice(0, first)))]
        for at, cluster in enumerate(self.tail):
            share = ops.getitem(head, (slice(None), slice(first + at, first + at + 1)))
            parts.append(ops.add(ops.log_softmax(cluster(x), axis=-1), share))
        return ops.concat(parts, axis=-1)

    def log_prob(self, x):
        """Log-probabilities (N, classes) of features (N, features). Raises ModelError before build."""
        self._need_build()
        return self._log_probabilities(self._as_tensor(x))

    def predict(self, x):
        """The most probable class (N,) of features (N, features). Raises ModelError before build."""
        return ops.argmax(self.log_prob(x), axis=-1)

    def _as_tensor(self, x):
        backend = dispatch.get(self.backend)
        return x if isinstance(x, backend.tensor_types()) else backend.tensor(x)
