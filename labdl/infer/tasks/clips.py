"""The task of clips: the classes of a video."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.parts import Video
from labdl.errors import DataError
from labdl.infer.postprocess.base import array_of
from labdl.infer.tasks.pictures import classification
from labdl.infer.tasks.task import Task, register_task
from labdl.nn.module import Module


def read_clip(sample: Any, frames: int) -> Video:
    """A clip of a file name, of which ``frames`` at equal distances are read, or of an array (frames, height, width, 3).

    All frames of an array are taken. Raises DataError for anything else, MissingFileError without the file.
    """
    if isinstance(sample, str | Path | bytes):
        from labdl.data.codecs.video import decode_video, video_info  # imported lazily: arrays need no decoder

        count = video_info(sample).frames
        return decode_video(sample, frames=np.linspace(0, count - 1, frames).astype("int64"))
    array = sample if isinstance(sample, Video) else array_of(sample)
    if array.ndim != 4 or array.shape[3] != 3 or array.dtype != np.uint8 or not array.size:
        raise DataError(
            f"a clip wants an array (frames, height, width, 3) of uint8, received {array.dtype} of the shape {array.shape}"
        )
    return array if isinstance(array, Video) else Video(array)


def _frames_of(model: Module) -> int:
    spec = model.input_specs[0] if model.input_specs else None
    return spec.shape[2] or 16 if spec is not None and len(spec.shape) == 5 else 16


register_task(
    "video classification",
    Task(
        lambda steps, model: [functools.partial(read_clip, frames=_frames_of(model)), *steps],
        classification,
        batch_size=1,
    ),
)
