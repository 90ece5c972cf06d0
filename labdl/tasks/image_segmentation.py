"""Segmentation of pictures: a class for each pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from labdl import nn
from labdl.data import transforms as T
from labdl.data.pipeline import Pipeline
from labdl.data.vision.color_statistics import IMAGENET_MEAN, IMAGENET_STD
from labdl.tasks.task import Task, join_phases, task
from labdl.train.metrics import MeanIoU, PixelAccuracy

_BORDER = 255  # of objects in the masks of Pascal VOC: pixels that count neither way


@task
class ImageSegmentation(Task):
    """Semantic segmentation: `labdl.data.SegmentationFolder` and its like, masks (height, width) of class numbers.

    Trained with cross entropy on random parts of the pictures, half of them mirrored; evaluated on whole pictures of the size
    of the model's input. Pixels of class 255 are ignored. Source: torchvision's references/segmentation (Long et al., 2015).
    """

    name = "image segmentation"
    targets = ("mask",)
    loss = nn.CrossEntropyLoss(axis=1, ignore_index=_BORDER)
    metrics = (MeanIoU(axis=1, ignore_index=_BORDER), PixelAccuracy(axis=1, ignore_index=_BORDER))

    postprocess: ClassVar = {"name": "segmentation"}
    keeps_size, batch_size = True, 1

    def pipeline(self, size: Sequence[int]) -> Pipeline:
        return join_phases(
            training=[T.RandomResizedCrop(tuple(size), scale=(0.25, 1.0)), T.HorizontalFlip()],
            evaluation=[T.Resize(tuple(size))],
            always=[T.Normalize(IMAGENET_MEAN, IMAGENET_STD)],
        )
