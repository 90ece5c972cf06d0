"""Anchors as corners in pixels, laid over the cells of feature maps, and the rows of a head that belong to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labdl import nn, ops

WEIGHTS = (10.0, 10.0, 5.0, 5.0)  # of offsets of boxes: one over the variances 0.1 and 0.2 of the papers
Corners = Sequence[Sequence[float]]  # of the anchors of a cell, (x1, y1, x2, y2)


class AnchorBoxes(nn.Module):
    """The anchors of all cells of several maps: an image (N, C, H, W) and the maps to corners (1, anchors, 4) in pixels.

    ``cells`` are the anchors of the first cell of each map, ``strides`` the pixels from one cell to the next; None takes
    the size of the image by that of the map, rounded down. Anchors follow map by map, row by row, those of a cell together.
    """

    def __init__(self, cells: Sequence[Corners], strides: Sequence[float] | None = None):
        self.cells = tuple(tuple(tuple(map(float, box)) for box in boxes) for boxes in cells)
        self.strides = None if strides is None else tuple(map(float, strides))

    def forward(self, image, *maps):
        return ops.concat([self.of_map(at, image, x) for at, x in enumerate(maps)], axis=1)

    def of_map(self, at: int, image, x):
        """The anchors (1, anchors, 4) of the map x, which is that of this number."""
        one = ops.ones_like(x[:1, :1])
        places = [ops.cumulative_sum(one, axis=axis) - 1.0 for axis in (3, 2)]
        if self.strides is None:
            sides = [_side(image, axis) / _side(x, axis) for axis in (3, 2)]
            places = [place * ops.floor(side) for place, side in zip(places, sides, strict=True)]
        else:
            places = [place * self.strides[at] for place in places]
        rows = ops.permute_dims(ops.flatten(ops.concat([*places, *places], axis=1), 2), (0, 2, 1))
        own = ops.tensor_like(x, np.array(self.cells[at], "float32")[None, None], "float32")
        return ops.flatten(ops.expand_dims(rows, 2) + own, 1, 2)

    @property
    def counts(self) -> tuple[int, ...]:
        """The anchors of a cell of each map."""
        return tuple(map(len, self.cells))


def cell_anchors(sides: Sequence[float], ratios: Sequence[float] = (0.5, 1.0, 2.0)) -> Corners:
    """The anchors of a cell around its corner: all sides for each ratio of height by width, with rounded corners."""
    tall = np.sqrt(np.array(ratios, "float32"))[:, None]
    across, down = (np.round(part * np.array(sides, "float32") / 2).ravel() for part in (1 / tall, tall))
    return np.stack([-across, -down, across, down], axis=1).tolist()


def _side(x, axis: int):
    """The length of an axis as a tensor (1, 1, 1, 1), also where it is not known before a model runs."""
    line = x[:1, :1, :, :1] if axis == 2 else x[:1, :1, :1]
    return ops.sum(ops.ones_like(line), axis=(2, 3), keepdims=True)


def rows_of_anchors(x, columns: int):
    """A map (N, anchors * columns, H, W) as rows (N, H * W * anchors, columns), in the order of `AnchorBoxes`."""
    split = ops.reshape_with([x], ((0, 0), -1, columns, (0, 2), (0, 3)))
    return ops.flatten(ops.permute_dims(split, (0, 3, 4, 1, 2)), 1, 3)
