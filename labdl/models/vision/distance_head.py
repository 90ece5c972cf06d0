"""The head of YOLOv8: distributions of the distances from each cell to the sides of its box, without anchors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models.vision.cells import STRIDES, Cells, boxes_from_distances, only_raw
from labdl.models.vision.csp import convolution, convolution_names
from labdl.nn.parameter import Parameter

_BINS = 16


class ExpectedDistance(nn.Module):
    """The mean of the distribution of each distance: logits (N, 4 * bins, cells) to distances (N, 4, cells).

    ``bins``, the distances 0, 1, 2 … that the probabilities weigh, are a parameter that is not trained, as published. Source:
    distribution focal loss, Li et al., 2020 (https://arxiv.org/abs/2006.04388).
    """

    def __init__(self, bins: int = _BINS):
        self.bins = Parameter((bins,), f"constant({[*range(bins)]})", trainable=False)

    def forward(self, logits):
        bins = self.bins.shape[0]
        shares = ops.softmax(ops.reshape_with([logits], ((0, 0), 4, bins, (0, 2))), axis=2)
        return ops.sum(shares * ops.reshape(self.bins, (1, 1, bins, 1)), axis=2)


class DistanceHead(nn.Module):
    """Boxes and classes of each cell of three maps, by two branches of convolutions for each.

    ``channels`` are those of the maps. It gives, over all cells of the maps in a row, the logits of the distances (N, 64,
    cells) and of the classes (N, classes, cells), and in evaluation also the boxes (N, 4, cells) as center and size in pixels
    and the probabilities of the classes (N, classes, cells).
    """

    def __init__(self, classes: int, channels: Sequence[int], strides: Sequence[int] = STRIDES):
        for_boxes = max(16, channels[0] // 4, 4 * _BINS)
        for_classes = max(channels[0], min(classes, 100))
        self.boxes = nn.ModuleList([_branch(for_boxes, 4 * _BINS) for _ in channels])
        self.classes = nn.ModuleList([_branch(for_classes, classes) for _ in channels])
        self.cells = Cells(strides)
        self.distance = ExpectedDistance()

    def forward(self, *maps):
        logits, scores = (
            ops.concat([ops.flatten(branch(x), 2) for branch, x in zip(branches, maps, strict=True)], axis=2)
            for branches in (self.boxes, self.classes)
        )
        if only_raw(self, maps[0]):
            return logits, scores
        return logits, scores, boxes_from_distances(self.distance(logits), *self.cells(*maps)), ops.sigmoid(scores)

    def initial_biases(self) -> dict[str, np.ndarray]:
        """Biases before a training, by name: few cells have an object, and first distances are alike (Jocher et al., 2023)."""
        values = {}
        for at, stride in enumerate(self.cells.strides):
            branch: Any = self.classes[at]
            count = branch[2].bias.shape[0]
            values[f"classes/{at}/2/bias:0"] = np.full(count, np.log(5 / count / (640 / stride) ** 2), "float32")
            values[f"boxes/{at}/2/bias:0"] = np.ones(4 * _BINS, "float32")
        return values


def _branch(inner: int, channels: int) -> nn.Sequential:
    return nn.Sequential(convolution(inner, 3), convolution(inner, 3), nn.Conv2d(channels, kernel_size=1))


def distance_head_names(public: str, ours: str) -> list[public_weights.Group]:
    """Names of a `DistanceHead`: ``cv2`` are the boxes, ``cv3`` the classes, ``dfl`` the bins."""
    branches = []
    for part, branch in (("cv2", "boxes"), ("cv3", "classes")):
        there, here = f"{public}.{part}.{{}}", f"{ours}/{branch}/{{}}"
        branches += convolution_names(f"{there}.0", f"{here}/0")
        branches += convolution_names(f"{there}.1", f"{here}/1")
        branches += public_weights.convolution(f"{there}.2", f"{here}/2")
    bins = public_weights.combine(
        [f"{public}.dfl.conv.weight"],
        f"{ours}/distance/bins:0",
        lambda a: a.reshape(-1),
        lambda a: [a.reshape(1, -1, 1, 1)],
    )
    return [public_weights.Group(branches, needed=True), public_weights.Group(bins, needed=True)]
