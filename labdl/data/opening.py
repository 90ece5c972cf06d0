"""Open the data set of a folder or a file by looking at it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from labdl.bounded.files import open_file
from labdl.data.codecs.image import SUFFIXES as PICTURES
from labdl.data.dataset import Dataset
from labdl.data.folders.split_files import find_split_files
from labdl.data.folders.split_names import find_splits
from labdl.data.folders.survey import MOST_LOOKED_AT, check_inside, check_size, has_files, scan, walk
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

PIPELINE_SUFFIX = ".pipeline.json"
TEXT_COLUMNS = ("text", "content", "sentence", "review", "document", "body")
SOUNDS = (".wav", ".mp3", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".wma", ".aif", ".aiff", ".au")
CLIPS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".flv", ".ogv", ".mpg", ".mpeg")
TEXTS = (".txt",)
_KINDS = {"picture": PICTURES, "sound": SOUNDS, "clip": CLIPS, "text": TEXTS}
_MASKS = ("masks", "mask", "annotations", "labels", "segmentationclass")
MANIFESTS = ("metadata.jsonl", "metadata.csv", "manifest.jsonl", "manifest.json", "manifest.csv")
_HEAD = 1 << 16  # bytes
_LIST_OF_WORDS = re.compile(rb'"(?:tokens|words)"\s*:\s*\[')
_LIST_OF_TAGS = re.compile(rb'"(?:ner_tags|tags|labels|pos_tags|upos|chunk_tags)"\s*:\s*\[')
_NAME_OF_FILE = re.compile(
    "({})[\"',;\t\r\n]".format("|".join(map(re.escape, (*PICTURES, *SOUNDS, *CLIPS)))).encode()  # of a manifest
)


def open_dataset(path: str | Path, *, largest: int | None = None) -> Dataset:
    """The data set of a folder or a file, of the class that fits what is there.

    A folder: one folder for each class of pictures, sounds, clips or texts; such files without classes; `CocoDetection`,
    `VOCDetection`, `YOLODetection`, `SegmentationFolder` by their folders; a manifest named metadata or manifest; files of
    `pack`; archives of one format. A file: by its suffix and beginning. The kind is decided by at most 4,000 entries, links
    out of the folder are refused, and nothing is run. ``largest`` is the most bytes of a file that is read as a whole,
    such as a table. For other settings create the class itself.

    Example: ``train, test = data.open_dataset("flowers").split(0.8, stratify=True)``. Raises MissingFileError, DataError and
    FileFormatError for what is no data set; the message lists what is supported.
    """
    place = Path(path)
    if place.is_dir():
        return _open_folder(place, largest)
    if not place.exists():
        raise MissingFileError(f"there is no file or folder {place}")
    return _open_file(place, largest)


def _describe_unknown(name: str) -> str:
    message = (
        f"{name} is no data set that is known: supported are a folder for each class of pictures, sounds, clips or texts; a "
        "folder of such files without classes; pictures with annotations of COCO, VOC or YOLO, or with a folder of masks; a "
        "manifest (.json, .jsonl, .csv) that lists files; a packed data set; .tar of WebDataset, .tfrecord, .parquet, .h5, "
        ".npz; tables (.csv) and texts (.txt, .json, .jsonl, .csv, .xml); tagged texts (.conll, .json, .jsonl) and questions "
        "of SQuAD (.json, .jsonl)"
    )
    return message


# -- folders


def _open_folder(root: Path, largest: int | None) -> Dataset:
    entries = scan(root)
    folders, files = ({name for name, is_folder in entries.items() if is_folder == wanted} for wanted in (True, False))
    if "dataset.json" in files and any(name.endswith(".arrow") for name in files):
        from labdl.data.packing import PackedDataset

        return PackedDataset(root)
    if (found := _open_annotations(root, entries, folders, largest)) is not None:
        return found
    for name in MANIFESTS:
        if name in files:
            return _open_manifest(check_inside(root / name, root), largest)
    parts = find_splits(folders, root.name)
    if not parts and (split_files := find_split_files(root, entries, FILE_SUFFIXES)):
        listed = ", ".join(file.name for paths in split_files.values() for file in paths[:3])
        raise DataError(
            f"{root.name} has the parts {listed}: open them with labdl.data.open_splits, or open one of these files"
        )
    if (found := _open_archives(root, files)) is not None:
        return found
    if parts:
        raise DataError(
            f"{root.name} has the parts {', '.join(parts.values())}: open them with labdl.data.open_splits, or open one of "
            "these folders"
        )
    return _open_files(root, entries)


def _open_annotations(root: Path, entries: dict[str, bool], folders: set[str], largest: int | None) -> Dataset | None:
    """Pictures with annotations beside them; None if there are none."""
    from labdl.data.annotations.coco_files import find_coco_files, open_coco

    if has_voc(root, folders):
        return open_voc(root)[0]
    coco = find_coco_files(root, entries, largest)
    if len(coco) > 1:
        listed = ", ".join(file.relative_to(root).as_posix() for file in coco[:10])
        raise DataError(
            f"{root.name} has several files of annotations: {listed}; open one of them, or the parts for training and "
            "validation with labdl.data.open_splits"
        )
    if coco:
        return open_coco(coco[0], root)
    images = find_images(folders)
    if images is None:
        return None
    if has_yolo(root, folders):
        from labdl.data.annotations.yolo import YOLODetection

        for name in (images, "labels"):
            check_inside(root / name, root)
        return YOLODetection(root)
    masks = find_masks(root, folders)
    if masks is None:
        return None
    from labdl.data.annotations.segmentation_folder import SegmentationFolder

    found = SegmentationFolder(check_inside(root / images, root), check_inside(root / masks, root))
    found.name = root.name
    return found


def has_voc(root: Path, folders: set[str]) -> bool:
    """Whether a folder has annotations of VOC."""
    return {"Annotations", "JPEGImages"} <= folders and has_files(root / "Annotations", (".xml",))


def has_yolo(root: Path, folders: set[str]) -> bool:
    """Whether a folder has text files of YOLO, beside the folder of pictures."""
    return "labels" in folders and has_files(root / "labels", (".txt",))


def find_images(folders: set[str]) -> str | None:
    """The folder of pictures that have annotations in another folder."""
    lower = {name.lower(): name for name in folders}
    return next((lower[name] for name in ("images", "image", "imgs", "jpegimages") if name in lower), None)


def find_masks(root: Path, folders: set[str]) -> str | None:
    """The folder of masks."""
    lower = {name.lower(): name for name in folders}
    return next((lower[name] for name in _MASKS if name in lower and has_files(root / lower[name], PICTURES)), None)


def open_voc(root: Path, splits: Sequence[str | None] = (None,)) -> list[Dataset]:
    """The pictures with annotations of VOC in each list of ``ImageSets``, all for None, with one list of classes."""
    from labdl.data.annotations.voc import VOC_CLASSES, VOCDetection, find_class_names

    for name in ("Annotations", "JPEGImages"):
        check_inside(root / name, root)
    names = find_class_names(root, MOST_LOOKED_AT)
    classes = VOC_CLASSES if set(names) <= set(VOC_CLASSES) else names
    return [VOCDetection(root, split=split, classes=classes) for split in splits]


def _open_archives(root: Path, files: set[str]) -> Dataset | None:
    """Files of one format, of which each has a part of the samples."""
    suffixes = {Path(name).suffix.lower() for name in files}
    for suffix in (".tar", ".tfrecord", ".parquet"):
        if suffix in suffixes and not suffixes & {*PICTURES, *SOUNDS, *CLIPS}:
            found = open_files(
                sorted(check_inside(root / name, root) for name in files if name.lower().endswith(suffix))
            )
            found.name = root.name
            return found
    return None


def open_files(paths: Sequence[Path]) -> Dataset:
    """The data set whose samples are in several files of one format, each with a part of them."""
    suffix = paths[0].suffix.lower()
    if suffix in (".tar", ".tfrecord", ".parquet"):
        return _FORMATS[suffix](list(paths), None)
    if suffix in (".txt", ".json", ".jsonl", ".ndjson", ".csv", ".tsv"):
        from labdl.data.text_files.text_dataset import TextDataset

        return TextDataset(list(paths))
    raise DataError(
        f"{', '.join(path.name for path in paths[:3])}: a data set of this format is one file; open each alone"
    )


def _open_files(root: Path, entries: dict[str, bool]) -> Dataset:
    """Pictures, sounds, clips or texts, with a class for each sub-folder or without classes."""
    counts = {kind: [0, 0] for kind in _KINDS}
    for name, inside in walk(root, entries):
        kind = next((kind for kind, suffixes in _KINDS.items() if name.endswith(suffixes)), None)
        if kind is not None:
            counts[kind][inside] += 1
    # a text among pictures is their description
    kind = max(counts, key=lambda each: (sum(counts[each]) > 0, each != "text", sum(counts[each])))
    at_root, inside = counts[kind]
    if not at_root + inside:
        if not any(True for _ in walk(root, entries)):
            raise DataError(f"{root.name} has no files: put pictures, sounds, clips or texts into it")
        raise DataError(_describe_unknown(root.name))
    return _folder_class(kind)(root, labels=inside > at_root)


def _folder_class(kind: str) -> Callable[..., Dataset]:
    # each where it is wanted: they import decoders
    if kind == "picture":
        from labdl.data.folders.image_folder import ImageFolder

        return ImageFolder
    if kind == "sound":
        from labdl.data.folders.audio_folder import AudioFolder

        return AudioFolder
    if kind == "clip":
        from labdl.data.folders.video_folder import VideoFolder

        return VideoFolder
    from labdl.data.text_files.text_folder import TextFolder

    return TextFolder


# -- files


def _open_file(file: Path, largest: int | None) -> Dataset:
    suffix = file.suffix.lower()
    if file.name.endswith(PIPELINE_SUFFIX):
        from labdl.data.pipeline import Pipeline

        return Pipeline.load(file).open_dataset(largest=largest)
    if suffix == ".json":
        from labdl.data.annotations.coco_files import is_coco, open_coco

        if is_coco(file, largest):
            return open_coco(file, file.parent)
    if suffix in (".json", ".jsonl", ".ndjson", ".csv", ".tsv"):
        check_size(file, largest)
        return _open_annotated_texts(file) or _open_rows(file)
    if suffix not in _FORMATS:
        raise FileFormatError(_describe_unknown(file.name))
    return _FORMATS[suffix](file, largest)


def _open_annotated_texts(file: Path) -> Dataset | None:
    """Tagged texts or questions of a JSON file, by the names in its beginning; None for other files."""
    if file.suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return None
    with open_file(file) as stream:
        head = stream.read(_HEAD)
    if b'"qas"' in head or (b'"question"' in head and b'"context"' in head and b'"answer_start"' in head):
        from labdl.data.text_files.squad import SquadDataset

        return SquadDataset(file)
    if _LIST_OF_WORDS.search(head) and _LIST_OF_TAGS.search(head):
        from labdl.data.text_files.tagged_texts import TaggedTextDataset

        return TaggedTextDataset(file)
    return None


def _open_rows(file: Path) -> Dataset:
    """A manifest if the first rows name files, texts if a column has a usual name for them or it is JSON, else a table."""
    from labdl.data.folders.manifest import ManifestDataset
    from labdl.data.tables.table import Table
    from labdl.data.text_files.text_dataset import TextDataset

    with open_file(file) as stream:
        head = stream.read(_HEAD).lower()
    if _NAME_OF_FILE.search(head):
        with suppress(ConfigError):  # files are named in a text, not in a column of paths
            return ManifestDataset(file)
    is_table = file.suffix.lower() in (".csv", ".tsv")
    columns = head.partition(b"\n")[0].decode("utf-8", "replace").strip("\ufeff\r")
    names = {name.strip().strip('"') for name in re.split("[,;\t]", columns)}
    return Table(file) if is_table and not names & set(TEXT_COLUMNS) else TextDataset(file)


def _open_texts(file: Path, largest: int | None) -> Dataset:
    if file.suffix.lower() == ".xml":  # read as a whole
        check_size(file, largest)
    from labdl.data.text_files.text_dataset import TextDataset

    return TextDataset(file)


def _open_tagged_texts(file: Path, largest: int | None) -> Dataset:
    from labdl.data.text_files.tagged_texts import TaggedTextDataset

    check_size(file, largest)
    return TaggedTextDataset(file)


def _open_arrays(file: Path, largest: int | None) -> Dataset:
    from labdl.data.file_datasets import array_dataset, npz
    from labdl.data.npz import open_arrays

    check_size(file, largest)
    with open_arrays(file) as arrays:
        names = {name.lower() for name in arrays}
    if {"x", "y"} <= names or "x_train" in names:
        train, test = npz(file)
        return train.concat(test)
    return array_dataset(file)


def _open_manifest(file: Path, largest: int | None) -> Dataset:
    from labdl.data.folders.manifest import ManifestDataset

    check_size(file, largest)
    return ManifestDataset(file)


def _formats(name: str) -> Callable[[Any, int | None], Dataset]:
    def create(paths: Any, largest: int | None) -> Dataset:
        import labdl.data.formats as formats

        return getattr(formats, name)(paths)

    return create


_FORMATS: dict[str, Callable[[Any, int | None], Dataset]] = {
    ".txt": _open_texts,
    ".xml": _open_texts,
    ".conll": _open_tagged_texts,
    ".npz": _open_arrays,
    ".npy": _open_arrays,
    ".tar": _formats("WebDataset"),
    ".tfrecord": _formats("TFRecordDataset"),
    ".parquet": _formats("ParquetDataset"),
    ".h5": _formats("HDF5Dataset"),
    ".hdf5": _formats("HDF5Dataset"),
}
FILE_SUFFIXES = (*_FORMATS, ".json", ".jsonl", ".ndjson", ".csv", ".tsv")  # of files that are a data set
