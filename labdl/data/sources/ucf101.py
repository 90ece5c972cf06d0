"""Reader of UCF101: clips of human actions, by the lists of its three splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labdl.bounded.files import read_file
from labdl.data.folders.file_list import FileList, list_files
from labdl.data.folders.video_folder import VideoFolder
from labdl.errors import FileFormatError, MissingFileError

_LARGEST_LIST = 1 << 24  # bytes


def read_ucf101(split: str, videos: Path, lists: Path, **settings: Any) -> VideoFolder:
    """Clips of a split such as "train1"; ``settings`` are those of `VideoFolder`.

    Videos lie in any folder below ``videos``: the zip archive has all of them in one, the rar archive of the authors a
    folder for each class.
    """
    root = lists / "ucfTrainTestlist"
    classes = []
    for number, line in enumerate(_lines(root / "classInd.txt"), 1):
        position, _, name = line.partition(" ")
        if position != str(number) or not name:
            raise FileFormatError(
                f"classInd.txt, line {number} wants {number} and the name of a class, received {line!r:.60}"
            )
        classes.append(name.strip())
    # the lists, the zip archive and the rar archive write HandStandPushups with other capitals
    found = {path.rpartition("/")[2].lower(): path for path in list_files(videos, [".avi"])}
    paths, labels = [], []
    file = root / f"{split[:-1]}list{int(split[-1]):02}.txt"
    for number, line in enumerate(_lines(file), 1):
        label, _, name = line.split()[0].partition("/")
        if label not in classes or not name:
            raise FileFormatError(f"{file.name}, line {number} wants class/video.avi, received {line!r:.80}")
        if name.lower() not in found:
            raise MissingFileError(
                f"{videos} has no video {name}, which {file.name} lists: unpack the whole archive there"
            )
        paths.append(found[name.lower()])
        labels.append(classes.index(label))
    data = VideoFolder(FileList.of_paths(videos, paths, labels, classes), **settings)
    data.name = f"UCF101 ({split})"
    return data


def _lines(file: Path) -> list[str]:
    text = read_file(file, _LARGEST_LIST, "list of videos").decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
