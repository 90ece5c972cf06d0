"""Open the training, validation and test part of a folder that has them, with one list of classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labdl.data.annotations.coco import CocoDetection
from labdl.data.annotations.coco_files import find_coco_files, open_coco, split_coco_files
from labdl.data.annotations.segmentation_folder import SegmentationFolder
from labdl.data.annotations.yolo import YOLODetection, read_class_names, read_points
from labdl.data.dataset import Dataset
from labdl.data.folders.file_list import FileList
from labdl.data.folders.image_folder import ImageFolder
from labdl.data.folders.manifest import ManifestDataset
from labdl.data.folders.split_files import find_split_files
from labdl.data.folders.split_names import find_splits
from labdl.data.folders.survey import check_inside, has_files, scan
from labdl.data.opening import (
    FILE_SUFFIXES,
    MANIFESTS,
    PIPELINE_SUFFIX,
    find_images,
    find_masks,
    has_voc,
    has_yolo,
    open_dataset,
    open_voc,
)
from labdl.data.split_files import open_split_files
from labdl.data.text_files.text_dataset import TextDataset
from labdl.errors import DataError, suggest_name

Splits = dict[str, Dataset]


def open_splits(path: str | Path, *, largest: int | None = None) -> dict[str, Dataset]:
    """The parts of a data set by "training", "validation" and "test", as far as the folder has them.

    A part is a folder train, training, validation, valid, val, dev, test, testing, eval or evaluation, also with a year as
    in train2017, which `open_dataset` opens; a file of such a name, as ``train.csv`` beside ``test.csv``, or several such as
    ``train-00000-of-00002.parquet``; a file of COCO such as ``annotations/instances_val2017.json``; a folder in
    ``images`` of YOLO or beside masks; or a list train, val, trainval or test in ``ImageSets/Main`` of VOC. There are two
    parts at least; other folders beside a training part are left out, and so are empty ones.

    All parts with class names number them as the training part does; a class that a part lacks has no samples there. A
    part whose pictures are in no folder of a class, or all in one that is no class of the training part, has no labels.
    ``largest`` is that of `open_dataset`. As load_dataset("imagefolder") of Hugging Face.

    Example: ``trainer.fit(splits["training"], validation=splits["validation"])`` with ``splits = data.open_splits("flowers")``.
    Raises MissingFileError; DataError for a folder without parts, and for a class that the training part lacks.
    """
    found = open_data(path, largest=largest)
    if isinstance(found, Dataset):
        raise DataError(
            f"{Path(path).name} has no folders or files train, val or test, nor lists or annotations of this name: open "
            "it with labdl.data.open_dataset, and divide it with its method split"
        )
    return found


def open_data(path: str | Path, *, largest: int | None = None) -> Dataset | dict[str, Dataset]:
    """The parts of a folder that has them, as `open_splits`; else the data set, as `open_dataset`."""
    place = Path(path)
    if place.name.endswith(PIPELINE_SUFFIX) and place.is_file():
        from labdl.data.pipeline import Pipeline

        return Pipeline.load(place).open_data(largest=largest)
    splits = _find(place, largest) if place.is_dir() else {}
    splits = {name: dataset for name, dataset in splits.items() if len(dataset)}
    if not splits:
        return open_dataset(place, largest=largest)
    _check_kinds(splits)
    _share_classes(splits)
    return splits


# -- layouts of folders


def _find(root: Path, largest: int | None) -> Splits:
    """The parts of a folder; empty if it has none."""
    entries = scan(root)
    folders = {name for name, is_folder in entries.items() if is_folder}
    if has_voc(root, folders):
        return _find_voc(root)
    if coco := find_coco_files(root, entries, largest):
        files = split_coco_files(coco, root)
        return {split: _name(open_coco(file, root), f"{root.name}/{file.stem}") for split, file in files.items()}
    if (images := find_images(folders)) and (annotated := _find_annotated(root, folders, images)):
        return annotated
    if not entries.keys().isdisjoint(MANIFESTS):
        return {}  # it lists the files of all folders
    names = find_splits(folders, root.name)
    if not names and (files := find_split_files(root, entries, FILE_SUFFIXES)):
        return open_split_files(files, largest=largest)
    places = {split: check_inside(root / name, root) for split, name in names.items()}
    opened = {split: open_dataset(place, largest=largest) for split, place in places.items() if scan(place)}
    for split, dataset in opened.items():
        dataset.name = f"{root.name}/{names[split]}"
        if isinstance(dataset, YOLODetection) and dataset.classes is None:
            file = check_inside(root / "data.yaml", root)  # one for all parts
            dataset.classes, dataset.points = read_class_names(file), read_points(file)
    _drop_stray_class(opened)
    return opened


def _find_voc(root: Path) -> Splits:
    lists = check_inside(root / "ImageSets" / "Main", root)
    known = {file.stem for file in lists.glob("*.txt")}
    names = find_splits(known, root.name)
    if not names and "trainval" in known:
        names = find_splits(known | {"train"}, root.name)
        names |= {"training": "trainval"} if names else {}
    opened = open_voc(root, list(names.values())) if names else []
    return {split: _name(one, f"{root.name}/{names[split]}") for split, one in zip(names, opened, strict=True)}


def _find_annotated(root: Path, folders: set[str], images: str) -> Splits:
    """Parts of pictures, each with a folder of text files of YOLO or of masks beside it."""
    inside = {name for name, is_folder in scan(check_inside(root / images, root)).items() if is_folder}
    names = find_splits(inside, root.name)
    is_yolo = images == "images" and has_yolo(root, folders)
    beside = "labels" if is_yolo else find_masks(root, folders)
    if beside is None:
        return {}
    check_inside(root / beside, root)
    opened = {}
    for split, name in names.items():
        pictures, annotations = (check_inside(root / folder / name, root) for folder in (images, beside))
        if not scan(pictures):
            continue
        if not annotations.is_dir() or (is_yolo and not has_files(annotations, (".txt",))):
            found: Dataset = ImageFolder(pictures, labels=False)
        else:
            found = YOLODetection(root, split=name) if is_yolo else SegmentationFolder(pictures, annotations)
        opened[split] = _name(found, f"{root.name}/{name}")
    return opened


def _name(dataset: Dataset, name: str) -> Dataset:
    dataset.name = name
    return dataset


# -- labels


def _check_kinds(splits: Splits) -> None:
    if len({dataset.inputs for dataset in splits.values()}) > 1:
        (name, kind), *others = [
            (dataset.name, " and ".join(dataset.inputs) or "arrays") for dataset in splits.values()
        ]
        listed = [f"{name} has {kind}", *(f"{other} {its}" for other, its in others)]
        raise DataError(f"the parts of a data set want samples of one kind: {', '.join(listed)}")


def _drop_stray_class(opened: Splits) -> None:
    """Read a test part without labels whose only folder is no class, as libraries want it of pictures to predict."""
    test, training = opened.get("test"), opened.get("training")
    files = getattr(test, "files", None)
    if test is None or training is None or not training.classes or not isinstance(files, FileList):
        return
    names = files.classes or []
    if len(names) == 1 and names[0] not in training.classes and not suggest_name(names[0], training.classes):
        opened["test"] = _name(type(test)(files.root, labels=False), test.name)  # type: ignore[call-arg]


def _share_classes(splits: Splits) -> None:
    """Number the classes of all parts as in the training part, or in the order of the alphabet without one."""
    named = {split: list(dataset.classes) for split, dataset in splits.items() if dataset.classes is not None}
    classes = named.get("training", sorted({name for names in named.values() for name in names}))
    if "training" in splits and splits["training"].classes is None:
        return
    for split, own in named.items():
        unknown = [name for name in own if name not in classes]
        if unknown:
            advice = suggest_name(unknown[0], classes) or ": add some there, or remove the class"
            raise DataError(
                f"{splits[split].name} has the class {unknown[0]!r:.80}, of which the training part "
                f"{splits['training'].name} has no samples{advice}"
            )
        if own != classes:
            _renumber(splits[split], classes)


def _renumber(dataset: Dataset, classes: Sequence[str]) -> None:
    files = getattr(dataset, "files", None)
    if isinstance(files, FileList):
        files.renumber(classes)
        dataset.classes = files.classes
    elif isinstance(dataset, CocoDetection | ManifestDataset | TextDataset):
        dataset.renumber(classes)
    else:
        raise DataError(
            f"{dataset.name} ({type(dataset).__name__}) has the classes {', '.join(dataset.classes or ())}, the training part "
            f"{', '.join(classes)}: write both with the same list of classes"
        )
