"""Frames of clips."""

from __future__ import annotations

import numpy as np

from labdl.data.parts import Video
from labdl.data.transforms.image.sizes import Pixels
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import DataError


@transform({"num_samples": 4})
class UniformTemporalSubsample(Transform):
    """Take ``num_samples`` frames of a clip at equal distances, the first and the last among them.

    Shorter clips repeat frames; ``fps`` becomes that of the chosen frames. Source:
    torchvision.transforms.v2.UniformTemporalSubsample.
    """

    num_samples: Pixels

    def apply_to_video(self, video: Video, params: Parameters) -> Video:
        count = len(video)
        if not count:
            raise DataError("UniformTemporalSubsample wants a clip with frames, received one with none")
        at = np.linspace(0, count - 1, self.num_samples).astype("int64")
        fps = video.fps
        if fps is not None and count > 1 and self.num_samples > 1:
            fps = fps * (self.num_samples - 1) / (count - 1)
        return video.like(video.array[at], fps=fps)
