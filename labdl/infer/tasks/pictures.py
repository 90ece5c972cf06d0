"""Tasks of pictures: the classes of a picture, and the class of each of its pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labdl.data.parts import Image
from labdl.errors import DataError
from labdl.infer.postprocess.base import PostProcessor, array_of, get_postprocessor
from labdl.infer.prepared_sample import PreparedSample
from labdl.infer.tasks.task import Step, Task, register_task
from labdl.nn.module import Module


def read_picture(sample: Any) -> Image:
    """A picture (height, width, 3) in RGB of a file name, bytes of a file, a Pillow picture, or an array or tensor.

    Arrays are (height, width), (height, width, 1), (…, 3) or (…, 4) of uint8, or of floating-point numbers from 0 to 1.
    Transparency is left out. Raises DataError for anything else, MissingFileError without the file.
    """
    if isinstance(sample, str | Path | bytes):
        from labdl.data.codecs.image import decode_image  # imported lazily: arrays need no decoder

        return decode_image(sample)
    if type(sample).__module__.partition(".")[0] == "PIL":
        return Image(np.asarray(sample.convert("RGB")))
    array = array_of(sample)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or not array.size:
        hint = ": move the channels to the end" if array.ndim == 3 and array.shape[0] in (1, 3, 4) else ""
        raise DataError(f"a picture wants an array (height, width, 3), received the shape {array.shape}{hint}")
    if array.dtype.kind == "f":
        low, high = float(array.min()), float(array.max())
        if not (low >= 0 and high <= 1):
            raise DataError(
                f"a picture of floating-point numbers wants those from 0 to 1, received {low:g} to {high:g}: divide by 255, "
                "or give uint8"
            )
    elif array.dtype != np.uint8:
        raise DataError(f"a picture wants uint8 or floating-point numbers from 0 to 1, received {array.dtype}")
    colors = np.repeat(array, 3, 2) if array.shape[2] == 1 else array[:, :, :3]
    return Image(np.ascontiguousarray(colors))


def _with_size(steps: Sequence[Step]) -> Step:
    """One step that applies others to a picture, and remembers its size for the result."""

    def prepare(picture: Image) -> PreparedSample:
        made: Any = picture
        for step in steps:
            made = step(made)
        return PreparedSample(made, {"original_size": tuple(picture.shape[:2])})

    return prepare


def _first_output(output: Any) -> Any:
    """The output of the main head, where a model has an auxiliary one too."""
    return output[0] if isinstance(output, tuple) else output


def classification(model: Module, settings: Mapping[str, Any]) -> PostProcessor:
    """The five likeliest classes, or as the settings say."""
    return get_postprocessor({"name": "classification", "top_k": 5, **settings})


def _segmentation(model: Module, settings: Mapping[str, Any]) -> list[Any]:
    names = model.class_names
    known = {} if names is None else {"names": tuple(names)}
    return [_first_output, get_postprocessor({"name": "segmentation", **known, **settings})]


register_task(
    "image classification",
    Task(lambda steps, model: [read_picture, *steps], classification),
)
register_task(
    "image segmentation",
    Task(lambda steps, model: [read_picture, _with_size(steps)], _segmentation, batch_size=1),
)
