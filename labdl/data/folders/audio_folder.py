"""Sounds of a folder tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.data.codecs.audio import audio_info, decode_audio
from labdl.data.dataset import Dataset
from labdl.data.folders.file_list import FileList
from labdl.data.parts import Audio
from labdl.data.random_keys import derive_seed, sample_generator
from labdl.errors import ConfigError

AUDIO_SUFFIXES = (".wav", ".mp3", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".wma", ".aif", ".aiff", ".au")
_EXCERPTS = 2**41  # keeps the random numbers apart from those of Dataset.map with the same seed


class AudioFolder(Dataset):
    """Sounds of a folder, of which each sub-folder is a class: samples ``{"audio": Audio, "label": int}``.

    ``sample_rate`` resamples all sounds to one rate, ``mono`` averages their channels. With ``seconds`` each has this
    length: a longer one is cut, from its beginning, or with ``excerpt="random"`` at a random place that depends on ``seed``,
    the epoch and the index of the sample alone; a shorter one is padded with zeros at its end. Only the excerpt is decoded.

    ``classes`` are names of sub-folders in the order of their numbers, by default all in alphabetical order; with
    ``labels=False`` all sounds of the folder and those below are read. Links that lead out of the folder are refused unless
    ``follow_links``. As keras.utils.audio_dataset_from_directory.

    Example: ``data.AudioFolder("commands", sample_rate=16_000, seconds=1)``. Raises MissingFileError, DataError.
    """

    inputs = ("audio",)

    def __init__(
        self,
        root: str | Path,
        *,
        sample_rate: int | None = None,
        mono: bool = False,
        seconds: float | None = None,
        excerpt: Literal["first", "random"] = "first",
        seed: int = 0,
        classes: Sequence[str] | None = None,
        labels: bool = True,
        follow_links: bool = False,
    ):
        for name, value in (("sample_rate", sample_rate), ("seconds", seconds)):
            if value is not None and not value > 0:
                raise ConfigError(f"AudioFolder wants {name} above 0, received {value!r:.40}")
        if excerpt not in ("first", "random") or (excerpt == "random" and seconds is None):
            raise ConfigError(
                f'AudioFolder wants the excerpt "first", or "random" with seconds=, received {excerpt!r:.40}'
            )
        self.files = FileList(root, AUDIO_SUFFIXES, what="sounds", labels=labels, classes=classes)
        self.name, self.classes = self.files.root.name, self.files.classes
        self.targets = ("label",) if labels else ()
        self.sample_rate, self.mono, self.seconds, self.excerpt = sample_rate, mono, seconds, excerpt
        self.follow_links, self.seed = follow_links, seed
        self._key = derive_seed(seed, _EXCERPTS)

    def __len__(self) -> int:
        return len(self.files.paths)

    def file_of(self, index: int) -> str:
        return self.files.paths[index]

    def path(self, index: int) -> Path:
        """The file of a sample."""
        return self.files.path(index, follow_links=self.follow_links)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        path = self.path(index)
        start = self._start(path, index, epoch)
        audio = decode_audio(path, self.sample_rate, mono=self.mono, start=start, seconds=self.seconds)
        if self.seconds is not None:
            audio = fit_length(audio, self.seconds)
        return {"audio": audio} if self.files.labels is None else {"audio": audio, "label": self.files.labels[index]}

    def _start(self, path: Path, index: int, epoch: int) -> float:
        if self.excerpt == "first" or self.seconds is None:
            return 0.0
        spare = (audio_info(path).seconds or 0.0) - self.seconds
        return float(sample_generator(self._key, epoch, index).uniform(0, spare)) if spare > 0 else 0.0

    def label_of(self, index: int) -> Any:
        return super().label_of(index) if self.files.labels is None else self.files.labels[index]

    def labels(self) -> np.ndarray:
        return super().labels() if self.files.labels is None else np.array(self.files.labels, np.int64)


def fit_length(audio: Audio, seconds: float) -> Audio:
    """A sound of a length, cut or padded with zeros at its end."""
    length = max(1, round(seconds * (audio.sample_rate or 1)))
    if audio.shape[1] >= length:
        return audio if audio.shape[1] == length else audio.like(np.ascontiguousarray(audio.array[:, :length]))
    return audio.like(np.pad(audio.array, ((0, 0), (0, length - audio.shape[1]))))
