"""Clips of the videos of a folder tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.data.codecs.video import MOST_PIXELS, SUFFIXES, decode_video
from labdl.data.codecs.video_container import FrameList, list_frames
from labdl.data.dataset import Dataset
from labdl.data.folders.file_list import FileList
from labdl.data.random_keys import derive_seed, sample_generator
from labdl.errors import ConfigError

Sampling = Literal["uniform", "random", "all"]
_CLIPS = 2**40  # keeps the random numbers apart from those of Dataset.map with the same seed


class VideoFolder(Dataset):
    """Clips of a folder's videos, of which each sub-folder is a class: samples ``{"video": Video, "label": int}``.

    A clip is ``frames`` frames that follow each other at ``stride``, of ``fps`` frames a second of the video, or of all.
    ``stride=None`` spreads them over the whole video, one in each of ``frames`` equal parts. ``sampling`` chooses the clips:

    - "uniform": ``clips`` of each video, at equal distances from its beginning to its end; one is in the middle.
    - "random": ``clips`` of each video at random places, others in each epoch; numbers depend on ``seed``, the epoch and the
      index of the sample alone.
    - "all": every clip of each video, one begins ``step`` frames after another, by default where that ends. The videos are
      listed when the data set is created.

    A video that is shorter than a clip repeats its last frame. ``sound=True`` adds the "audio" of the clip's time, resampled
    to ``sample_rate``. ``classes`` are names of sub-folders in the order of their numbers, by default all in alphabetical
    order; with ``labels=False`` all videos of the folder and those below are read. Links that lead out of the folder are
    refused unless ``follow_links``. As torchvision.datasets.Kinetics with its clip samplers.

    Example: ``data.VideoFolder("actions", frames=16, stride=2, sampling="random")``. Raises MissingFileError, DataError.
    """

    inputs = ("video",)

    def __init__(
        self,
        root: str | Path | FileList,
        *,
        frames: int = 16,
        stride: int | None = 1,
        sampling: Sampling = "uniform",
        clips: int = 1,
        step: int | None = None,
        fps: float | None = None,
        seed: int = 0,
        sound: bool = False,
        sample_rate: int | None = None,
        classes: Sequence[str] | None = None,
        labels: bool = True,
        max_pixels: int = MOST_PIXELS,
        follow_links: bool = False,
    ):
        _check_settings(frames, stride, sampling, clips, step, fps)
        if not isinstance(root, FileList):
            root = FileList(root, SUFFIXES, what="videos", labels=labels, classes=classes)
        self.files = root
        self.name, self.classes = self.files.root.name, self.files.classes
        self.inputs = ("video", "audio") if sound else ("video",)
        self.targets = () if self.files.labels is None else ("label",)
        self.frames, self.stride, self.sampling, self.fps, self.seed = frames, stride, sampling, fps, seed
        self.sound, self.sample_rate = sound, sample_rate
        self.max_pixels, self.follow_links = max_pixels, follow_links
        self._key = derive_seed(seed, _CLIPS)
        count = len(self.files.paths)
        if sampling == "all":
            starts = [self._starts(file, step) for file in range(count)]
            self._file = np.repeat(np.arange(count), [len(own) for own in starts])
            self._start: np.ndarray | None = np.concatenate(starts)
        else:
            self._file, self._start = np.repeat(np.arange(count), clips), None
        self._clips = clips

    def __len__(self) -> int:
        return len(self._file)

    def file_of(self, index: int) -> str:
        return self.files.paths[int(self._file[index])]

    def path(self, index: int) -> Path:
        """The file of a sample."""
        return self.files.path(int(self._file[index]), follow_links=self.follow_links)

    def clip(self, index: int, epoch: int = 0) -> np.ndarray:
        """The numbers of a sample's frames in its file."""
        listed = list_frames(self.path(index))
        positions = _positions(listed, self.fps)
        if self.stride is None:
            places = self._spread(len(positions), index, epoch)
        else:
            places = self._place(len(positions), index, epoch) + np.arange(self.frames) * self.stride
        return positions[np.minimum(places, len(positions) - 1)]

    def _spread(self, length: int, index: int, epoch: int) -> np.ndarray:
        within = 0.5
        if self.sampling == "random":
            within = sample_generator(self._key, epoch, index).random(self.frames)
        elif self._clips > 1:
            within = (index % self._clips + 0.5) / self._clips
        return ((np.arange(self.frames) + within) * length / self.frames).astype(np.int64)

    def _place(self, length: int, index: int, epoch: int) -> int:
        """Where a clip begins."""
        if self._start is not None:
            return int(self._start[index])
        last = max(0, length - _span(self.frames, self.stride))
        if self.sampling == "random":
            return int(sample_generator(self._key, epoch, index).integers(0, last + 1))
        return last // 2 if self._clips == 1 else round(last * (index % self._clips) / (self._clips - 1))

    def _starts(self, file: int, step: int | None) -> np.ndarray:
        length = len(_positions(list_frames(self.files.path(file, follow_links=self.follow_links)), self.fps))
        span = _span(self.frames, self.stride)
        return np.arange(0, max(0, length - span) + 1, step or self.frames * (self.stride or 1))

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        settings: dict[str, Any] = {"frames": self.clip(index, epoch), "max_pixels": self.max_pixels}
        sample: dict[str, Any] = {}
        if self.sound:
            sample["video"], sample["audio"] = decode_video(
                self.path(index), sound=True, sample_rate=self.sample_rate, **settings
            )
        else:
            sample["video"] = decode_video(self.path(index), **settings)
        if self.stride is not None:
            sample["video"].fps = (self.fps or list_frames(self.path(index)).fps) / self.stride
        if self.files.labels is not None:
            sample["label"] = self.files.labels[self._file[index]]
        return sample

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self.files.labels is None else self.files.labels[self._file[index]]

    def labels(self) -> np.ndarray:
        return super().labels() if self.files.labels is None else np.array(self.files.labels, np.int64)[self._file]


def _check_settings(
    frames: int, stride: int | None, sampling: str, clips: int, step: int | None, fps: float | None
) -> None:
    for name, value in (("frames", frames), ("stride", stride), ("clips", clips), ("step", step)):
        if value is not None and (not isinstance(value, int | np.integer) or value < 1):
            raise ConfigError(f"VideoFolder wants {name} of at least 1, received {value!r:.40}")
    if sampling not in ("uniform", "random", "all"):
        raise ConfigError(f'VideoFolder wants the sampling "uniform", "random" or "all", received {sampling!r:.40}')
    if sampling == "all" and (stride is None or clips != 1):
        raise ConfigError('VideoFolder with sampling="all" reads every clip: it wants a stride and no clips=')
    if step is not None and sampling != "all":
        raise ConfigError(f'VideoFolder has step= with sampling="all", received sampling={sampling!r}')
    if fps is not None and not 0 < fps <= 1000:
        raise ConfigError(f"VideoFolder wants fps above 0 up to 1000, received {fps}")


def _positions(listed: FrameList, fps: float | None) -> np.ndarray:
    return np.arange(len(listed)) if fps is None else listed.at_rate(fps)


def _span(frames: int, stride: int | None) -> int:
    """Frames from the first to the last of a clip."""
    return (frames - 1) * (stride or 1) + 1
