"""The form of a detector: how a picture becomes its input, and its outputs become boxes and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from labdl.data.vision.color_statistics import IMAGENET_MEAN, IMAGENET_STD
from labdl.errors import ConfigError
from labdl.models.vision import detection_losses
from labdl.spec import Spec

MARGIN = 114 / 255  # the gray around pictures in letterboxes
MULTIPLE = 32  # of the sides of pictures
_LARGEST = 1 << 14  # pixels of a side
Outputs = Sequence[np.ndarray]
Read = Callable[[Outputs], tuple[np.ndarray, ...]]
LossFor = Callable[[tuple[int, int]], Callable[[Any, Any], Any]]


@dataclass(frozen=True)
class DetectorForm:
    """Steps before and after a detector and the loss of its training, with the settings of its published implementation.

    Pictures have values from 0 to 1; ``mean`` is taken away and the rest divided by ``deviation``. ``resize`` says what
    ``size`` means: "stretch" to this height and width, "letterbox" into them with gray margins, or "shorter": the shorter
    side becomes the first, the longer one at most the second number, and zeros follow up to a multiple of 32.
    ``takes_sizes``: the model takes the sizes before these zeros as a second input. ``read`` gives, of the outputs for one
    picture, boxes (n, 4) and scores (n, classes), or boxes, scores (n) and classes (n). ``settings`` are those of
    the post-processor of the name ``postprocess`` in `labdl.infer`.

    ``loss`` gives the loss of the family for pictures of a size (height, width), see `labdl.models.vision.detection_losses`,
    and ``first_class`` is the number of the first class of objects: 1 where class 0 is the background.
    """

    resize: Literal["stretch", "letterbox", "shorter"]
    size: tuple[int, int]
    read: Read
    loss: LossFor
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    deviation: tuple[float, float, float] = (1.0, 1.0, 1.0)
    takes_sizes: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    postprocess: str = "detection"
    first_class: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a file; the loss as its name and settings, where it takes what the graph of the model gives.

        That of a detector of two stages is left out: in training its regions are others than those of its graph.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "loss"}
        values |= {"read": self.read.__name__, "settings": dict(self.settings)}
        loss: Any = None if self.takes_sizes or self.loss is _no_loss else self.loss(self.size)
        if type(loss).__name__ in detection_losses.__all__:
            values["loss"] = {"name": type(loss).__name__, **vars(loss)}
        return values

    @classmethod
    def from_dict(cls, values: Any) -> DetectorForm:
        """The form of `to_dict`, without a loss if that has none. Raises ConfigError for other values."""
        names = {field.name for field in fields(cls)} - {"loss"}
        if not isinstance(values, dict) or values.keys() - {"loss"} != names:
            raise ConfigError(f"the form of a detector is a dictionary of {', '.join(sorted(names))} and loss")
        checks = {
            "resize": values["resize"] in ("stretch", "letterbox", "shorter"),
            "size": _numbers(values["size"], 2, int) and all(0 < n <= _LARGEST for n in values["size"]),
            "read": values["read"] in READERS,
            "mean": _numbers(values["mean"], 3, int | float),
            "deviation": _numbers(values["deviation"], 3, int | float) and all(values["deviation"]),
            "takes_sizes": isinstance(values["takes_sizes"], bool),
            "settings": isinstance(values["settings"], dict),
            "postprocess": values["postprocess"] in ("detection", "instance_segmentation"),
            "first_class": values["first_class"] in (0, 1),
        }
        for name, fits in checks.items():
            if not fits:
                raise ConfigError(f"the form of a detector has the {name} {values[name]!r:.60}, which no detector has")
        tuples = {name: tuple(values[name]) for name in ("size", "mean", "deviation")}
        loss = _read_loss(values["loss"]) if "loss" in values else _no_loss
        return cls(**{**values, **tuples, "read": READERS[values["read"]], "loss": loss})


def _numbers(value: Any, count: int, kind: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == count
        and all(isinstance(n, kind) and not isinstance(n, bool) for n in value)
    )


def _no_loss(size: tuple[int, int]) -> Callable[[Any, Any], Any]:
    raise ConfigError(
        "the file of this detector has no loss, because in training it gives other outputs than the graph of the file: create "
        "it with labdl.models.create, and load its parameters, model.load_state_dict(labdl.load(path).state_dict())"
    )


def _read_loss(values: Any) -> LossFor:
    """The loss of a file for pictures of any size. Raises ConfigError for one that LabDL has not."""
    name = values.get("name") if isinstance(values, dict) else None
    if name not in detection_losses.__all__:
        raise ConfigError(f"the form of a detector has the loss {name!r:.60}, which LabDL has not")
    kind = getattr(detection_losses, name)
    own = {key: _as_tuples(value) for key, value in values.items() if key not in ("name", "image_size")}
    if not own.keys() <= {field.name for field in fields(kind)}:
        raise ConfigError(f"{name} has no setting {', '.join(own.keys() - {field.name for field in fields(kind)})}")
    kind(**own)  # raises for values that it cannot have
    has_size = "image_size" in {field.name for field in fields(kind)}
    return lambda size: kind(**own, **({"image_size": size} if has_size else {}))


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def count_columns(form: DetectorForm, outputs: Sequence[Spec]) -> int:
    """The number of classes that a detector tells apart, with the background where it has one, by the Specs of its outputs."""
    arrays = [np.zeros([1 if n is None else n for n in spec.shape[1:]], "float32") for spec in outputs]
    if form.postprocess == "instance_segmentation":
        return arrays[4].shape[-1]  # the logits of the regions
    _, scores, *kinds = form.read(arrays)
    return int(kinds[0].max()) + 1 if kinds else scores.shape[-1]


def last_two(outputs: Outputs) -> tuple[np.ndarray, ...]:
    """The boxes and the probabilities that are a detector's last outputs."""
    boxes, scores = outputs[-2:]
    return boxes, scores


def columns_as_rows(outputs: Outputs) -> tuple[np.ndarray, ...]:
    """Boxes (4, cells) and probabilities (classes, cells) of a detector without anchors, as rows."""
    boxes, scores = outputs[-2:]
    return boxes.T, scores.T


def rows_with_objectness(outputs: Outputs) -> tuple[np.ndarray, ...]:
    """Rows of center, size, objectness and classes: a score is the product of the objectness and the class."""
    rows = outputs[-1]
    return rows[:, :4], rows[:, 4:5] * rows[:, 5:]


def boxes_of_classes(outputs: Outputs) -> tuple[np.ndarray, ...]:
    """Boxes (n, classes, 4) and probabilities (n, classes), a box for each class but the background, class 0."""
    boxes, scores = outputs[-2:]
    classes = np.tile(np.arange(1, scores.shape[1]), len(scores))
    return boxes[:, 1:].reshape(-1, 4), scores[:, 1:].ravel(), classes


def detections_with_masks(outputs: Outputs) -> tuple[np.ndarray, ...]:
    """Boxes (n, 4), scores (n), classes (n) and masks (n, height, width) of detections that a model has selected itself."""
    boxes, scores, classes, masks = outputs[-4:]
    return boxes, scores, classes, masks


READERS: dict[str, Read] = {
    read.__name__: read
    for read in (last_two, columns_as_rows, rows_with_objectness, boxes_of_classes, detections_with_masks)
}


def single_shot(size: int, *, mean: tuple[float, float, float], deviation: float, **settings) -> DetectorForm:
    """The form of SSD: pictures stretched to a square, values from 0 to 1 less their mean, in units of ``deviation``."""
    return DetectorForm(
        "stretch",
        (size, size),
        last_two,
        lambda _: detection_losses.SSDLoss(),
        mean,
        (deviation, deviation, deviation),
        settings={"background": 0, "clip_first": True, "candidates": 10**9, **settings},
        first_class=1,
    )


def on_pyramid(
    read: Read, loss: LossFor, *, takes_sizes: bool, postprocess: str = "detection", first_class: int = 0, **settings
) -> DetectorForm:
    """The form of detectors on a feature pyramid, as torchvision has it."""
    return DetectorForm(
        "shorter",
        (800, 1333),
        read,
        loss,
        IMAGENET_MEAN,
        IMAGENET_STD,
        takes_sizes,
        settings,
        postprocess,
        first_class,
    )


def letterbox(read: Read, loss: LossFor, size: int = 640, **settings) -> DetectorForm:
    """The form of YOLO from version 5 on: letterboxes, values from 0 to 1, boxes as center and size, one class each."""
    return DetectorForm(
        "letterbox", (size, size), read, loss, settings={"box_format": "cxcywh", "best_class_only": True, **settings}
    )
