"""Files of COCO annotations in a folder, and the pictures that belong to them."""

from __future__ import annotations

import re
from pathlib import Path

from labdl.bounded.files import open_file, read_file
from labdl.data.annotations.coco import CocoDetection
from labdl.data.folders.split_names import find_split, find_splits
from labdl.data.folders.survey import MOST_LOOKED_AT, check_inside, check_size, scan

_HEAD = 1 << 16  # bytes
_LISTS = (b'"images"', b'"annotations"', b'"categories"')
_KINDS = ("instances", "", "person_keypoints")  # of annotations, what comes first is taken


def find_coco_files(root: Path, entries: dict[str, bool], largest: int | None) -> list[Path]:
    """The files of COCO in a folder and in its folder ``annotations``; ``entries`` are those of `scan`."""
    found = [root / name for name, is_folder in sorted(entries.items()) if not is_folder and name.endswith(".json")]
    if entries.get("annotations"):
        inside = check_inside(root / "annotations", root)
        listed = sorted(scan(inside).items())
        found += [inside / name for name, is_folder in listed if not is_folder and name.endswith(".json")]
    return [file for file in found if is_coco(check_inside(file, root), largest)]


def split_coco_files(files: list[Path], root: Path) -> dict[str, Path]:
    """The file of each part of a data set by the word for it in its name, as in instances_val2017; empty without parts.

    Where there are files of several kinds for each part, those of objects are taken, then those of key points.
    """
    kinds: dict[str, dict[str, Path]] = {}
    for file in files:
        words = re.split(r"[_\-. ]", file.stem)
        part = next((word for word in words if find_split(word)), None)
        if part is not None:
            kinds.setdefault("_".join(word for word in words if word != part), {})[part] = file
    for kind in sorted(kinds, key=lambda kind: _KINDS.index(kind) if kind in _KINDS else len(_KINDS)):
        parts = find_splits(kinds[kind], root.name)
        if parts:
            return {split: kinds[kind][part] for split, part in parts.items()}
    return {}


def open_coco(file: Path, root: Path) -> CocoDetection:
    """A file of COCO, with the folder where its first picture is found."""
    found = CocoDetection(file.parent, file)
    objects = [entry for entries in found.objects for entry in entries[:1]][:MOST_LOOKED_AT]
    found.keypoints = any(entry.get("keypoints") for entry in objects)
    found.masks = any(entry.get("segmentation") for entry in objects)
    part = file.stem.removeprefix("instances_").removeprefix("person_keypoints_")
    above = [root] if file.parent == root else [root, file.parent]
    folders = [folder for base in above for folder in (base, base / "images", base / part, base / "images" / part)]
    first = str(found.images[0].get("file_name", "")) if found.images else ""
    found.root = next((folder for folder in folders if first and (folder / first).is_file()), root)
    return found


def is_coco(file: Path, largest: int | None) -> bool:
    """Whether a JSON file has the three lists of COCO, which in small files are looked for in the whole."""
    with open_file(file) as stream:
        head = stream.read(_HEAD)
        if head.lstrip()[:1] != b"{" or not any(name in head for name in _LISTS):
            return False
    check_size(file, largest)
    content = read_file(file)
    return all(name in content for name in _LISTS)
