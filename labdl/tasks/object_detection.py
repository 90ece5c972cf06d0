"""Detection of objects: a box and a class for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from labdl.tasks.detector_task import DetectorTask
from labdl.tasks.task import task
from labdl.train.metrics import MeanAveragePrecision


@task
class ObjectDetection(DetectorTask):
    """Detection of objects: `labdl.data.CocoDetection`, `VOCDetection` and `YOLODetection`, or samples of one's own.

    A sample is a dictionary of "image", "boxes" (objects, 4), corners in pixels or `labdl.data.BoundingBoxes`, and "labels"
    (objects), class numbers from 0 on; a picture may have no object. Trained with the loss of the detector's family, half of
    the pictures mirrored; evaluated by COCO's mean average precision. Pictures get the size as the family does: stretched
    (SSD), with gray margins (YOLO), or with zeros to a square of the longest side (Faster R-CNN, RetinaNet). Source: Lin et
    al., 2014 (the metric).
    """

    name = "object detection"
    metrics = (MeanAveragePrecision(),)
    postprocess: ClassVar[Mapping[str, Any]] = {"name": "detection"}
