"""Classification of pictures."""

from __future__ import annotations

from collections.abc import Sequence

from labdl.data import transforms as T
from labdl.data.pipeline import Pipeline
from labdl.data.vision.color_statistics import IMAGENET_MEAN, IMAGENET_STD
from labdl.tasks.task import Task, join_phases, task

_MARGIN = 8 / 7  # the picture is resized to 256 where the model sees the central 224


@task
class ImageClassification(Task):
    """Classification of pictures, each of one class: `labdl.data.ImageFolder` and its like.

    Trained with cross entropy on random parts of the pictures, half of them mirrored; evaluated on their center. Source:
    torchvision's references/classification (He et al., 2015).
    """

    name = "image classification"
    targets = ("label",)
    metrics = ("accuracy",)

    def pipeline(self, size: Sequence[int]) -> Pipeline:
        return join_phases(
            training=[T.RandomResizedCrop(tuple(size)), T.HorizontalFlip()],
            evaluation=[T.ResizeShortestSize(round(max(size) * _MARGIN)), T.CenterCrop(tuple(size))],
            always=[T.Normalize(IMAGENET_MEAN, IMAGENET_STD)],
        )
