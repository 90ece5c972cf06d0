"""Losses of detectors, with the assignment of objects to anchors or cells: what `Trainer` takes as ``loss``.

Outputs are those of a detector in training, targets the objects of each image (N, objects, 5): x1, y1, x2, y2 in pixels and the
class, as for `labdl.train.metrics.MeanAveragePrecision`. Rows of class -1 pad images with fewer objects; objects without
an area do not count.
"""

from labdl.models.vision.detection_losses.anchor_grid import YOLOv5Loss, YOLOv7Loss
from labdl.models.vision.detection_losses.anchors import RetinaNetLoss, SSDLoss
from labdl.models.vision.detection_losses.regions import FasterRCNNLoss, MaskRCNNLoss
from labdl.models.vision.detection_losses.task_aligned import TaskAlignedLoss
from labdl.models.vision.detection_losses.varifocal import YOLOv6Loss

__all__ = [
    "FasterRCNNLoss",
    "MaskRCNNLoss",
    "RetinaNetLoss",
    "SSDLoss",
    "TaskAlignedLoss",
    "YOLOv5Loss",
    "YOLOv6Loss",
    "YOLOv7Loss",
]
