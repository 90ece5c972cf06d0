"""Find parts of a data set that are files beside each other: train.csv and test.csv, train-00000-of-00002.parquet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from labdl.data.folders.split_names import find_splits
from labdl.data.folders.survey import check_inside
from labdl.errors import DataError

_SHARD = re.compile(r"(.+?)[-_.]\d+-of-\d+", re.ASCII)  # as Hugging Face's datasets and TensorFlow write them


def find_split_files(root: Path, entries: Mapping[str, bool], suffixes: Sequence[str]) -> dict[str, list[Path]]:
    """The files of each part, in the order of training, validation and test; empty if the names are not of parts.

    ``entries`` are the names in the folder, True for folders. Beside folders, texts are lists of the files in them, as
    train.txt of YOLO, and no parts. Raises DataError for parts in files of two formats.
    """
    by_suffix: dict[str, dict[str, list[str]]] = {}
    for name in sorted(name for name, is_folder in entries.items() if not is_folder):
        suffix = Path(name).suffix.lower()
        if suffix in suffixes and not (suffix == ".txt" and any(entries.values())):
            stem = Path(name).stem
            shard = _SHARD.fullmatch(stem)
            by_suffix.setdefault(suffix, {}).setdefault(shard[1] if shard else stem, []).append(name)
    found = {suffix: (find_splits(stems, root.name), stems) for suffix, stems in by_suffix.items()}
    found = {suffix: each for suffix, each in found.items() if each[0]}
    if len(found) > 1:
        raise DataError(f"{root.name} has parts in files {' and '.join(found)}: keep those of one format in the folder")
    return {
        split: [check_inside(root / name, root) for name in stems[stem]]
        for names, stems in found.values()
        for split, stem in names.items()
    }
