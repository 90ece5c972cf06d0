"""The head of YOLOv5 and YOLOv7: offsets to anchors, boxes of given sizes in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl import nn, ops
from labdl.interop import public_weights
from labdl.models.vision.cells import STRIDES, only_raw
from labdl.nn.parameter import Buffer

# widths and heights in pixels, clusters of the boxes of COCO, for the maps at strides 8, 16 and 32
ANCHORS = (
    ((10, 13), (16, 30), (33, 23)),
    ((30, 61), (62, 45), (59, 119)),
    ((116, 90), (156, 198), (373, 326)),
)
YOLOV7_ANCHORS = (
    ((12, 16), (19, 36), (40, 28)),
    ((36, 75), (76, 55), (72, 146)),
    ((142, 110), (192, 243), (459, 401)),
)
Anchors = Sequence[Sequence[tuple[float, float]]]


class AnchorHead(nn.Module):
    """Boxes, objectness and classes of each anchor in each cell of three maps, by a 1 x 1 convolution for each map.

    It gives the raw maps (N, anchors, H, W, 5 + classes), and in evaluation also all of them decoded, in a row (N, sum of
    anchors * H * W, 5 + classes): center and size in pixels, objectness, classes. With s the sigmoid of a raw value, the
    center is (2 s - 0.5 + cell) * stride and the size (2 s)² * anchor. ``anchors`` (maps, anchors, 2) in pixels are saved
    with the model.
    """

    def __init__(self, classes: int, anchors: Anchors = ANCHORS, strides: Sequence[int] = STRIDES):
        sizes = np.array(anchors, "float32")
        self.convolutions = nn.ModuleList(
            [nn.Conv2d(sizes.shape[1] * (5 + classes), kernel_size=1) for _ in range(len(sizes))]
        )
        self.sides = tuple(tuple((float(w), float(h)) for w, h in of_map) for of_map in sizes)
        self.anchors = Buffer(sizes.shape, f"constant({sizes.tolist()})")
        self.strides = tuple(strides)

    def forward(self, *maps):
        count = self.anchors.shape[1]
        raw = []
        for convolution, x in zip(self.convolutions, maps, strict=True):
            y = convolution(x)
            y = ops.reshape_with([y], ((0, 0), count, y.shape[1] // count, (0, 2), (0, 3)))
            raw.append(ops.permute_dims(y, (0, 1, 3, 4, 2)))
        if only_raw(self, maps[0]):
            return tuple(raw)
        anchors: Any = self.anchors
        boxes = [self._decode(y, anchors[at], self.strides[at]) for at, y in enumerate(raw)]
        return *raw, ops.concat(boxes, axis=1)

    def initial_biases(self) -> dict[str, np.ndarray]:
        """Biases before a training, by name: few anchors have an object (Lin et al., 2017, 3.3, as in YOLOv5)."""
        values = {}
        for at, (convolution, stride) in enumerate(zip(self.convolutions, self.strides, strict=True)):
            count = len(self.sides[at])
            last: Any = convolution
            rows = np.zeros((count, last.bias.shape[0] // count), "float32")
            rows[:, 4] = np.log(8 / (640 / stride) ** 2)
            rows[:, 5:] = np.log(0.6 / (rows.shape[1] - 5 - 0.99999)) if rows.shape[1] > 6 else 0.0
            values[f"convolutions/{at}/bias:0"] = rows.reshape(-1)
        return values

    def _decode(self, raw, anchors, stride: int):
        """A raw map (N, anchors, H, W, 5 + classes) as rows (N, anchors * H * W, 5 + classes)."""
        shares = ops.sigmoid(raw)
        one = ops.ones_like(raw[:1, :1, :, :, :1])
        cells = ops.concat([ops.cumulative_sum(one, axis=3), ops.cumulative_sum(one, axis=2)], axis=-1) - 1.0
        centers = (shares[..., :2] * 2.0 - 0.5 + cells) * float(stride)
        sizes = ops.square(shares[..., 2:4] * 2.0) * ops.reshape(anchors, (1, -1, 1, 1, 2))
        return ops.flatten(ops.concat([centers, sizes, shares[..., 4:]], axis=-1), 1, 3)


def anchor_head_names(public: str, ours: str, strides: Sequence[int] = STRIDES) -> list[public_weights.Group]:
    """Names of an `AnchorHead`; the published anchors are in cells."""
    pixels = np.array(strides, "float32")[:, None, None]
    anchors = public_weights.combine(
        [f"{public}.anchors"], f"{ours}/anchors:0", lambda a: a * pixels, lambda a: [a / pixels]
    )
    return [
        public_weights.Group(public_weights.convolution(f"{public}.m.{{}}", f"{ours}/convolutions/{{}}"), needed=True),
        public_weights.Group(anchors),
    ]
