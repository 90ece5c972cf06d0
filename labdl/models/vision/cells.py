"""The cells of feature maps, from which detectors without anchors measure their boxes."""

from __future__ import annotations

from collections.abc import Sequence

from labdl import nn, ops
from labdl.spec import Spec

STRIDES = (8, 16, 32)  # pixels from one cell to the next, of the maps of most detectors


class Cells(nn.Module):
    """Centers (1, 2, cells) of the cells of several maps, x and y in cells, and their strides (1, 1, cells) in pixels.

    The maps are (N, C, H, W), the finest first; their cells follow row by row.
    """

    def __init__(self, strides: Sequence[int] = STRIDES):
        self.strides = tuple(strides)

    def forward(self, *maps):
        centers, strides = [], []
        for x, stride in zip(maps, self.strides, strict=True):
            one = ops.ones_like(x[:1, :1])
            places = ops.concat([ops.cumulative_sum(one, axis=3), ops.cumulative_sum(one, axis=2)], axis=1) - 0.5
            centers.append(ops.flatten(places, 2))
            strides.append(ops.flatten(one * float(stride), 2))
        return ops.concat(centers, axis=2), ops.concat(strides, axis=2)


def boxes_from_distances(distances, centers, strides):
    """Boxes (N, 4, cells) as center and size in pixels, from distances (N, 4, cells) to left, top, right, bottom in cells."""
    first, last = centers - distances[:, :2], centers + distances[:, 2:]
    return ops.concat([(first + last) * 0.5, last - first], axis=1) * strides


def only_raw(model: nn.Module, x) -> bool:
    """Whether a detector gives its raw heads alone: in training, but not to a graph, which has one form for both modes."""
    return model.training and not isinstance(x, Spec)
