"""Instance segmentation: a box, a class and a mask for each object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from labdl.tasks.detector_task import DetectorTask
from labdl.tasks.task import task
from labdl.train.metrics import MeanAveragePrecision


@task
class InstanceSegmentation(DetectorTask):
    """Instance segmentation: `labdl.data.CocoDetection` with ``masks=True``, YOLO's polygons, or samples of one's own.

    Samples are those of "object detection" with "masks" (objects, height, width) in the size of the picture. Trained with the
    loss of Mask R-CNN, half of the pictures mirrored; evaluated by COCO's mean average precision of the masks. Source: He et
    al., 2017.
    """

    name = "instance segmentation"
    metrics = (MeanAveragePrecision(masks=True),)
    postprocess: ClassVar[Mapping[str, Any]] = {"name": "instance_segmentation"}
    masks = True
