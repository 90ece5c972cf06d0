"""Readers of speech: words in a folder each, and recordings with their text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.dataset import Dataset
from labdl.data.folders.file_list import find_classes, list_files
from labdl.data.parts import Text
from labdl.errors import DataError, FileFormatError, MissingFileError

_LARGEST_LIST = 1 << 26  # bytes of a list of names or a file of texts


class SpokenWords(Dataset):
    """Words of one second: samples ``{"audio": Audio, "label": int}``.

    The lists of the set name the files for validation and for testing; all others are for training.
    """

    inputs, targets = ("audio",), ("label",)

    def __init__(self, split: str, root: Path):
        self.root, self.name = root, f"Speech Commands ({split})"
        if not root.is_dir():
            raise MissingFileError(f"there is no folder {root}")
        self.classes = [name for name in find_classes(root) if not name.startswith("_")]  # _background_noise_
        held = {part: _read_lines(root / f"{part}_list.txt") for part in ("validation", "testing")}
        kind = {"validation": "validation", "test": "testing"}.get(split)
        chosen = held[kind] if kind else held["validation"] | held["testing"]
        self.paths: list[str] = []
        labels: list[int] = []
        for number, name in enumerate(self.classes):
            files = [f"{name}/{file}" for file in list_files(root / name, [".wav"])]
            files = [file for file in files if (file in chosen) == bool(kind)]
            self.paths += files
            labels += [number] * len(files)
        self._labels = np.array(labels, np.int64)

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        return {"audio": _read_sound(self.root / self.paths[index], self.root), "label": int(self._labels[index])}

    def label_of(self, index: int) -> Any:
        return int(self._labels[index])

    def labels(self) -> np.ndarray:
        return self._labels


class Recordings(Dataset):
    """Recordings with what is said: samples ``{"audio": Audio, "text": Text, "speaker": int}``."""

    inputs, targets = ("audio",), ("text",)

    def __init__(self, root: Path, paths: Sequence[str], texts: Sequence[str], speakers: Sequence[int], *, name: str):
        self.root, self.paths, self.texts, self.speakers, self.name = root, paths, texts, speakers, name

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, index: int, epoch: int = 0) -> dict[str, Any]:
        audio = _read_sound(self.root / self.paths[index], self.root)
        return {"audio": audio, "text": Text(self.texts[index]), "speaker": self.speakers[index]}


def read_speech_commands(split: str, folder: Path) -> SpokenWords:
    """The 35 words of version 2."""
    return SpokenWords(split, folder)


def read_librispeech(split: str, folder: Path) -> Recordings:
    """Read books; a file of texts lies beside the recordings of each chapter."""
    root = folder / "LibriSpeech" / split
    paths, texts, speakers = [], [], []
    if not root.is_dir():
        raise MissingFileError(f"there is no folder {root}")
    for file in list_files(root, [".trans.txt"]):
        for number, line in enumerate(_read_text(root / file).splitlines(), 1):
            name, _, text = line.strip().partition(" ")
            speaker = name.partition("-")[0]
            if not text or not speaker.isdecimal() or "/" in name:
                raise FileFormatError(f"{file}, line {number} wants a name and a text, received {line!r:.80}")
            paths.append(f"{file.rpartition('/')[0]}/{name}.flac")
            texts.append(text)
            speakers.append(int(speaker))
    return Recordings(root, paths, texts, speakers, name=f"LibriSpeech ({split})")


def read_ljspeech(split: str, folder: Path) -> Recordings:
    """One reader of seven books; texts with numbers and abbreviations in full words."""
    root = folder / "LJSpeech-1.1"
    paths, texts = [], []
    for number, line in enumerate(_read_text(root / "metadata.csv").splitlines(), 1):
        values = line.split("|")
        if len(values) < 2 or "/" in values[0]:
            raise FileFormatError(f"metadata.csv, line {number} wants a name and texts, received {line!r:.80}")
        paths.append(f"wavs/{values[0]}.wav")
        texts.append(values[-1])
    return Recordings(root, paths, texts, [0] * len(paths), name="LJSpeech")


def _read_text(file: Path) -> str:
    return read_file(file, _LARGEST_LIST, "list").decode("utf-8", "replace")


def _read_lines(file: Path) -> set[str]:
    return {line.strip() for line in _read_text(file).splitlines() if line.strip()}


def _read_sound(path: Path, root: Path) -> Any:
    from labdl.data.codecs.audio import decode_audio  # imported lazily: it imports soundfile

    if not path.resolve().is_relative_to(root.resolve()):
        raise DataError(f"{path} is not below {root}")
    return decode_audio(path)
