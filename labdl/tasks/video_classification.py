"""Classification of clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labdl.data import transforms as T
from labdl.data.parts import Video
from labdl.data.pipeline import Pipeline
from labdl.data.vision.color_statistics import KINETICS_MEAN, KINETICS_STD
from labdl.nn.module import Module
from labdl.tasks.samples import read_clip
from labdl.tasks.task import Task, join_phases, task

_FRAMES = 16  # of a clip where the model takes any number
_MARGIN = 8 / 7  # the clip is resized to 128 where the model sees the central 112


@task
class VideoClassification(Task):
    """Classification of clips, each of one class: `labdl.data.VideoFolder`, whose ``frames`` are those the model receives.

    Trained with cross entropy on random parts of the clips, the same in all frames, half of them mirrored; evaluated on their
    center. Source: torchvision's references/video_classification (Tran et al., 2018).
    """

    name = "video classification"
    inputs = ("video",)
    targets = ("label",)
    metrics = ("accuracy",)
    batch_size = 1

    def read(self, sample: Any, model: Module) -> Video:
        spec = model.input_specs[0] if model.input_specs else None
        frames = spec.shape[2] if spec is not None and spec.ndim == 5 else None
        return read_clip(sample, frames or _FRAMES)

    def pipeline(self, size: Sequence[int]) -> Pipeline:
        return join_phases(
            training=[T.RandomResizedCrop(tuple(size), scale=(0.5, 1.0)), T.HorizontalFlip()],
            evaluation=[T.ResizeShortestSize(round(max(size) * _MARGIN)), T.CenterCrop(tuple(size))],
            always=[T.Normalize(KINETICS_MEAN, KINETICS_STD)],
        )
