"""Numbers of a picture brought to a mean of 0, a deviation of 1, or another range."""

from __future__ import annotations

import functools
from dataclasses import field
from typing import Any, ClassVar, Literal

import cv2
import numpy as np

from labdl.data.row_memory import empty_or_row
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.data.vision.color_statistics import IMAGENET_MEAN, IMAGENET_STD
from labdl.data.vision.pixels import brightest, rows
from labdl.errors import ConfigError, DataError
from labdl.settings import INNER

Numbers = tuple[float, ...]
_FLOAT32 = np.dtype("float32")
_IMAGENET: dict[str, Any] = {"mean": IMAGENET_MEAN, "std": IMAGENET_STD}


def _check(owner: Any) -> None:
    if not owner.mean or len(owner.mean) != len(owner.std) or 0 in owner.std:
        raise ConfigError(
            f"{type(owner).__name__} wants as many numbers in mean as in std, none of them 0 in std, "
            f"received {owner.mean} and {owner.std}"
        )


@transform(_IMAGENET)
class Normalize(Transform):
    """Subtract ``mean`` and divide by ``std``, one number for each channel or one for all; the result is float32.

    They are those of colours 0 to 1: integers are divided by their white first (255 of uint8), in the same pass, so
    `ToFloat` may be left out. Source: torchvision.transforms.v2.Normalize.
    """

    fills_rows: ClassVar[bool] = True

    mean: Numbers
    std: Numbers

    def check_settings(self) -> None:
        _check(self)

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        return _normalize(image, self.mean, self.std, type(self).__name__)

    apply_to_video = apply_to_image


@transform(_IMAGENET)
class NormalizePad(Transform):
    """Normalize as `Normalize` does and append a channel of zeros, which makes 4 of 3 for aligned memory.

    Source: mindspore.dataset.vision.NormalizePad, whose mean and std are those of colours 0 to 255.
    """

    mean: Numbers
    std: Numbers
    dtype: Literal["float32", "float16"] = "float32"

    def check_settings(self) -> None:
        _check(self)

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        values = _normalize(image, self.mean, self.std, type(self).__name__)
        padded = np.zeros((*values.shape[:-1], values.shape[-1] + 1), self.dtype)
        padded[..., :-1] = values
        return padded

    apply_to_video = apply_to_image


@transform
class PerImageStandardize(Transform):
    """Bring each picture to the mean 0 and the deviation 1; the result is float32.

    The deviation is at least 1 / √(number of values), so that an even picture becomes 0.
    Source: tf.image.per_image_standardization.
    """

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image)
        mean, deviation = (float(n[0, 0]) for n in cv2.meanStdDev(rows(_readable(array))))
        scale = 1 / max(deviation, 1 / np.sqrt(array.size))
        values = np.multiply(array, np.float32(scale), dtype="float32")
        values -= np.float32(mean * scale)
        return values


@transform
class Rescale(Transform):
    """Multiply by ``scale`` and add ``offset``; the result is float32. Source: keras.layers.Rescaling."""

    scale: float = 1 / 255
    offset: float = 0.0

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        values = np.multiply(np.asarray(image), np.float32(self.scale), dtype="float32")
        if self.offset:
            values += np.float32(self.offset)
        return values

    apply_to_video = apply_to_image


@transform({"transformation_matrix": np.eye(36) - 1 / 36, "mean_vector": np.full(36, 0.5)})
class LinearTransformation(Transform):
    """Subtract a vector from the flat picture and multiply by a matrix, as for whitening; the result is float32.

    The picture is flattened channels first, and multiplied as a row: ``(x - mean_vector) @ transformation_matrix``.
    Source: torchvision.transforms.v2.LinearTransformation.
    """

    transformation_matrix: Any = field(metadata=INNER)
    mean_vector: Any = field(metadata=INNER)

    def check_settings(self) -> None:
        for name in ("transformation_matrix", "mean_vector"):
            try:
                setattr(self, name, np.asarray(getattr(self, name), "float32"))
            except (TypeError, ValueError):
                raise ConfigError(
                    f"LinearTransformation: {name} wants numbers, received {getattr(self, name)!r:.80}"
                ) from None
        size = self.mean_vector.size
        if self.mean_vector.ndim != 1 or self.transformation_matrix.shape != (size, size):
            raise ConfigError(
                "LinearTransformation wants a vector of n numbers and a matrix of n × n, received the shapes "
                f"{self.mean_vector.shape} and {self.transformation_matrix.shape}"
            )

    def apply_to_image(self, image: np.ndarray, params: Parameters) -> np.ndarray:
        array = np.asarray(image, "float32")
        if array.size != self.mean_vector.size:
            raise DataError(
                f"LinearTransformation is of {self.mean_vector.size} values, received a picture of {array.shape}: "
                "resize it first"
            )
        channels_first = array.transpose(2, 0, 1)
        product = (channels_first.ravel() - self.mean_vector) @ self.transformation_matrix
        return np.ascontiguousarray(product.reshape(channels_first.shape).transpose(1, 2, 0))


def _normalize(image: np.ndarray, mean: Numbers, std: Numbers, name: str) -> np.ndarray:
    array = np.asarray(image)
    channels = array.shape[-1]
    if len(mean) not in (1, channels):
        raise DataError(f"{name} has {len(mean)} numbers, received a picture of {channels} channels")
    if array.dtype == np.uint8:
        return _from_bytes(array, _tables(mean, std, channels))
    matrix = _matrix(mean, std, channels, 1.0 if array.dtype.kind == "f" else brightest(array.dtype))
    values = array.reshape(-1, array.shape[-2], channels)
    if values.dtype == np.float32:
        return cv2.transform(values, matrix).reshape(array.shape)
    values = values.astype("float32")
    return cv2.transform(values, matrix, values).reshape(array.shape)


def _from_bytes(array: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """The numbers of bytes, each channel in memory of its own, in which models and `stack_samples` want them."""
    planes = cv2.split(array.reshape(-1, *array.shape[-2:]))
    values = empty_or_row((len(tables), *planes[0].shape), _FLOAT32)
    for plane, table, target in zip(planes, tables, values, strict=True):
        scale = (float(table[255]) - float(table[0])) / 255
        if abs(scale) < 0.5:  # in three quarters of the time of the table: (1 - scale) * start + scale * byte
            target.fill(float(table[0]) / (1 - scale))
            cv2.accumulateWeighted(plane, target, scale)
        else:
            cv2.LUT(plane, table, dst=target)
    channels_first = values.reshape(-1, *array.shape[:-1])
    return channels_first.transpose(*range(1, channels_first.ndim), 0)


@functools.lru_cache(maxsize=64)
def _tables(mean: Numbers, std: Numbers, channels: int) -> np.ndarray:
    """The normalized numbers (channels, 256) of bytes."""
    bytes_ = np.repeat(np.arange(256, dtype="float32"), channels).reshape(1, 256, channels)
    return np.ascontiguousarray(cv2.transform(bytes_, _matrix(mean, std, channels, 255.0)).reshape(256, channels).T)


@functools.lru_cache(maxsize=64)
def _matrix(mean: Numbers, std: Numbers, channels: int, white: float) -> np.ndarray:
    """The matrix (channels, channels + 1) of cv2.transform."""
    shifts, scales = np.broadcast_to(mean, channels), 1 / np.broadcast_to(std, channels)
    return np.column_stack([np.diag(scales / white), -shifts * scales])


def _readable(array: np.ndarray) -> np.ndarray:
    return array if array.dtype.name in ("uint8", "uint16", "float32", "float64") else array.astype("float64")
