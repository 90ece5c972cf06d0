"""Classification of clips."""

from __future__ import annotations

from collections.abc import Sequence

from labdl.data import transforms as T
from labdl.data.pipeline import Pipeline
from labdl.tasks.statistics import KINETICS
from labdl.tasks.task import Task, join_phases, task

_MARGIN = 8 / 7  # the clip is resized to 128 where the model sees the central 112


@task
class VideoClassification(Task):
    """Classification of clips, each of one class: `labdl.data.VideoFolder`, whose ``frames`` are those the model receives.

    Trained with cross entropy on random parts of the clips, the same in all frames, half of them mirrored; evaluated on their
    center. Source: torchvision's references/video_classification (Tran et al., 2018).
    """

    name = "video classification"
    inputs = ("video",)
    metrics = ("accuracy",)

    def pipeline(self, size: Sequence[int]) -> Pipeline:
        return join_phases(
            training=[T.RandomResizedCrop(tuple(size), scale=(0.5, 1.0)), T.HorizontalFlip()],
            evaluation=[T.ResizeShortestSize(round(max(size) * _MARGIN)), T.CenterCrop(tuple(size))],
            always=[T.Normalize(**KINETICS)],
        )
