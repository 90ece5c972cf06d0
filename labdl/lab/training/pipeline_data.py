"""The data set of a pipeline's file, described for the Train panel and for the model: shapes, classes, targets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.dataset import Dataset
from labdl.data.parts import Image, Video
from labdl.data.pipeline import Pipeline
from labdl.errors import ConfigError, DataError, LabDLError
from labdl.lab.dataset_view.opened_datasets import dataset_of, load_checked, open_limited
from labdl.lab.dataset_view.source import known_labels
from labdl.lab.training.options import kind_of, size_of

_READ = 4  # samples whose shapes are compared
_WORDS = {"boxes": "bounding boxes", "mask": "masks", "masks": "masks", "keypoints": "key points", "text": "texts"}


def describe_pipeline(file: Path) -> dict[str, Any]:
    """Describe what a pipeline's file gives to a training as `labdl.lab.training.data_files.describe_file` describes a file.

    Raises ConfigError for targets that are no classes and no numbers, and DataError for samples that cannot be read.
    """
    name = file.name
    opened = open_limited(dataset_of(file))
    train, test = load_checked(file).split_dataset(opened)
    shape, target_shape, dtype = _shapes(test, name)
    classes = _count_classes(test, train) if dtype.kind in "iu" and len(target_shape) == 1 else None
    if dtype.kind not in "f" and classes is None:
        raise ConfigError(f"{name} has targets of {size_of(target_shape)} {dtype}: train it with code")
    samples = len(train) + len(test)
    what = f"{classes} classes" if classes else "regression targets"
    own = isinstance(opened, Mapping) and "validation" in opened  # the numbers of a split are in its settings
    counts = f"{len(train):,} training and {len(test):,} validation samples" if own else f"{samples:,} samples"
    return {
        "name": name,
        "kind": kind_of(classes),
        "classes": classes,
        "columns": None,
        "target": None,
        "samples": samples,
        "summary": f"{counts} of {size_of(shape)}, {what}",
        "input_shape": shape,
        "target_shape": target_shape,
    }


def input_shape(pipeline: Pipeline, dataset: Dataset) -> list[int | None]:
    """Shape of a batch of inputs, with None where samples differ; empty where they are no single array."""
    try:
        prepared = dataset.map(pipeline.evaluation()).as_supervised()
        inputs = [_first(prepared.read(at)) for at in _places(prepared)]
    except (LabDLError, OSError):  # the preview shows why
        return []
    shapes = [_shape_in_batch(x) for x in inputs if isinstance(x, np.ndarray)]
    same = len(shapes) == len(inputs) and len({len(shape) for shape in shapes}) == 1
    return [None, *_common(shapes)] if same else []


def target_words(dataset: Dataset) -> str:
    """The targets of a data set in words."""
    if dataset.targets in ((), ("label",)):
        return f"{len(dataset.classes)} classes" if dataset.classes else "numbers or labels"
    return " and ".join(_WORDS.get(name, name) for name in dataset.targets)


def _shapes(dataset: Dataset, name: str) -> tuple[list[int | None], list[int | None], np.dtype]:
    """Shapes of a batch of inputs and of targets, and the dtype of the targets."""
    pairs = [_pair(dataset, index, name) for index in _places(dataset)]
    inputs, targets = [[pair[which] for pair in pairs] for which in (0, 1)]
    shapes, targets = [_shape_in_batch(x) for x in inputs], [np.asarray(y) for y in targets]
    if len(set(map(len, shapes))) > 1 or None in _common(shapes):
        sizes = " and ".join(dict.fromkeys(" × ".join(map(str, np.shape(x))) for x in inputs))
        raise ConfigError(
            f"{name} has samples of different sizes, {sizes}: add a step that makes them equal, such as Resize"
        )
    if targets[0].dtype.kind not in "iufb" or len({y.shape for y in targets}) > 1:
        raise ConfigError(
            f"{name} has {target_words(dataset)} as targets: the Train panel trains classes and numbers, others with code"
        )
    return [None, *shapes[0]], [None, *targets[0].shape], targets[0].dtype


def _shape_in_batch(part: Any) -> tuple[int, ...]:
    """The shape of a part as models receive it: batches have the channels of pictures and clips first."""
    shape = np.shape(part)
    return (shape[-1], *shape[:-1]) if isinstance(part, Image | Video) else shape


def _pair(dataset: Dataset, index: int, name: str) -> tuple[Any, Any]:
    pair = dataset.as_supervised().read(index)
    one = (
        isinstance(pair, tuple)
        and len(pair) == 2
        and not any(isinstance(part, tuple | list | Mapping) for part in pair)
    )
    if not one or len(dataset.targets) > 1:
        words = target_words(dataset)
        raise ConfigError(
            f"{name} has {words} as targets: the Train panel trains classes and numbers, others with code"
        )
    return pair


def _count_classes(test: Dataset, train: Dataset) -> int | None:
    if test.classes is not None:
        return len(test.classes)
    labels = [known for known in (known_labels(part) for part in (train, test)) if known is not None]
    if not labels:
        raise DataError("the number of classes is not known: name them with classes=, and train with code")
    return int(max(part.max() for part in labels)) + 1


def _places(dataset: Dataset) -> list[int]:
    return sorted({int(at) for at in np.linspace(0, len(dataset) - 1, min(_READ, len(dataset)))})


def _first(pair: Any) -> Any:
    return pair[0] if isinstance(pair, tuple) else pair


def _common(shapes: list[tuple[int, ...]]) -> list[int | None]:
    return [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=False)]
