"""Typed parts of a sample: arrays that know whether they are a picture, boxes, a sound, and in which units.

A sample is one part, a tuple of parts, or a dictionary of parts. A transform changes the parts of its kinds and leaves
the others: labels and plain arrays stay as they are (as in torchvision.transforms.v2, whose tv_tensors these resemble).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from labdl.errors import DataError

BoxFormat = Literal["xyxy", "xywh", "cxcywh"]
Canvas = tuple[int, int]


_WORDS = {"b": "true and false", "i": "integers", "f": "floating-point numbers", "c": "complex numbers"}


class Part(np.ndarray):
    """Base class of the typed arrays of a sample; NumPy functions work on them as on any array."""

    metadata: ClassVar[Mapping[str, Any]] = {}  # attributes besides the values, with their defaults
    axes: ClassVar[tuple[int, ...]] = ()  # accepted numbers of axes
    layout: ClassVar[str] = ""
    kinds: ClassVar[str] = "uif"  # accepted kinds of dtypes, as in ``numpy.dtype.kind``

    def __new__(cls, value: Any, **metadata: Any) -> Self:
        part = cls.convert(cls.read(value)).view(cls)
        if cls.axes and part.ndim not in cls.axes:
            raise DataError(f"{cls.__name__} wants an array of {cls.layout}, received the shape {part.shape}")
        for name in metadata:
            if name not in cls.metadata:
                raise TypeError(f"{cls.__name__} has no {name!r}; its attributes: {', '.join(cls.metadata) or 'none'}")
        for name, default in cls.metadata.items():
            setattr(part, name, metadata.get(name, getattr(value, name, default)))
        part.check()
        return part

    @classmethod
    def read(cls, value: Any) -> np.ndarray:
        """The value as an array. Raises DataError for what is none, and for another kind of values."""
        try:
            array = np.asarray(value)
        except ValueError:
            raise DataError(
                f"{cls.__name__} wants an array of {cls.layout}, received lists of different lengths"
            ) from None
        if array.dtype.kind not in cls.kinds and (array.size or array.dtype.kind != "f"):  # an empty list is float64
            values = " or ".join(words for kind, words in _WORDS.items() if kind in cls.kinds)
            raise DataError(f"{cls.__name__} wants {values}, received values of {array.dtype}")
        return array

    @classmethod
    def convert(cls, array: np.ndarray) -> np.ndarray:
        """The array in the dtype and with the axes that the part has."""
        return array

    def check(self) -> None:
        """Raise DataError for attributes that do not fit the values."""

    def __array_finalize__(self, other: Any) -> None:
        for name, default in self.metadata.items():
            setattr(self, name, getattr(other, name, default))

    def like(self, value: Any, **metadata: Any) -> Self:
        """Another value with the attributes of this part, but for those given."""
        part = np.asarray(value).view(type(self))
        for name in self.metadata:
            setattr(part, name, metadata[name] if name in metadata else getattr(self, name))
        return part

    @property
    def array(self) -> np.ndarray:
        """The values as a plain array, not copied."""
        return self.view(np.ndarray)

    @property
    def canvas(self) -> Canvas | None:
        """Height and width of the picture that the part is or belongs to; None if it is unknown or has none."""
        return None

    def __reduce__(self) -> Any:
        return _restore, (type(self), self.array, {name: getattr(self, name) for name in self.metadata})


def _restore(kind: type[Part], array: np.ndarray, metadata: dict[str, Any]) -> Part:
    part = array.view(kind)
    for name, value in metadata.items():
        setattr(part, name, value)
    return part


class Image(Part):
    """A picture (height, width, channels): uint8 of 0 to 255, uint16, or floating-point numbers of 0 to 1.

    Channels are RGB, RGBA, grey (1), or any number of them. Pillow pictures and (height, width) arrays are taken.
    Example: ``data.Image(np.zeros((32, 48, 3), "uint8"))``.
    """

    axes, layout = (3,), "(height, width, channels)"

    @classmethod
    def convert(cls, array: np.ndarray) -> np.ndarray:
        return array[:, :, None] if array.ndim == 2 else array

    def check(self) -> None:
        _check_pixels(self)

    @property
    def canvas(self) -> Canvas:
        return self.shape[0], self.shape[1]


def _check_pixels(part: Part) -> None:
    if not part.size:
        raise DataError(f"{type(part).__name__} wants at least one pixel, received the shape {part.shape}")


class Video(Part):
    """Pictures of a clip (frames, height, width, channels), ``fps`` of them a second.

    A transform of pictures draws its random numbers once for all frames.
    """

    metadata: ClassVar[Mapping[str, Any]] = {"fps": None}
    axes, layout = (4,), "(frames, height, width, channels)"
    fps: float | None

    def check(self) -> None:
        _check_pixels(self)

    @property
    def canvas(self) -> Canvas:
        return self.shape[1], self.shape[2]


class Mask(Part):
    """Class numbers of pixels (height, width), or one mask for each object (objects, height, width)."""

    axes, layout = (2, 3), "(height, width) or (objects, height, width)"
    kinds = "buif"

    @property
    def canvas(self) -> Canvas:
        return self.shape[-2], self.shape[-1]


class BoundingBoxes(Part):
    """Boxes (objects, 4) in pixels, float32, of a picture of ``canvas_size`` (height, width).

    ``format`` is "xyxy" (left, top, right, bottom; the default), "xywh" (left, top, width, height) or "cxcywh" (center,
    width, height). Example: ``data.BoundingBoxes([[2, 3, 10, 20]], canvas_size=(32, 48))``.
    """

    metadata: ClassVar[Mapping[str, Any]] = {"format": "xyxy", "canvas_size": None}
    axes, layout = (2,), "(objects, 4)"
    format: BoxFormat
    canvas_size: Canvas | None

    @classmethod
    def convert(cls, array: np.ndarray) -> np.ndarray:
        array = array.astype("float32", copy=False)
        return array.reshape(0, 4) if array.size == 0 else array

    def check(self) -> None:
        if self.shape[1] != 4:
            raise DataError(f"BoundingBoxes wants an array of (objects, 4), received the shape {self.shape}")
        if self.format not in ("xyxy", "xywh", "cxcywh"):
            raise DataError(f'BoundingBoxes wants the format "xyxy", "xywh" or "cxcywh", received {self.format!r}')

    @property
    def canvas(self) -> Canvas | None:
        return self.canvas_size


class KeyPoints(Part):
    """Points (objects, points, 2) or (points, 2) in pixels (x, y), float32; a third number is the visibility as in COCO.

    ``canvas_size`` is (height, width) of the picture. ``swaps`` are pairs of points that change places when the picture is
    mirrored, such as the left and the right eye: ``swaps=((1, 2), (3, 4))``.
    """

    metadata: ClassVar[Mapping[str, Any]] = {"canvas_size": None, "swaps": ()}
    axes, layout = (2, 3), "(points, 2 or 3) or (objects, points, 2 or 3)"
    canvas_size: Canvas | None
    swaps: tuple[tuple[int, int], ...]

    @classmethod
    def convert(cls, array: np.ndarray) -> np.ndarray:
        return array.astype("float32", copy=False)

    def check(self) -> None:
        if self.shape[-1] not in (2, 3):
            raise DataError(f"KeyPoints wants an array of {self.layout}, received the shape {self.shape}")

    @property
    def canvas(self) -> Canvas | None:
        return self.canvas_size


# silence and full scale of the integers of wav files
_FULL_SCALE = {np.dtype("uint8"): (128, 2**7), np.dtype("int16"): (0, 2**15), np.dtype("int32"): (0, 2**31)}


class Audio(Part):
    """A sound (channels, samples) of floating-point numbers from -1 to 1, ``sample_rate`` samples a second.

    (samples,) arrays are taken as one channel. Integers of 16 and 32 bits, as in wav files, are divided by 2^15 and 2^31;
    uint8 by 128 after 128 is subtracted; other integers, such as the codes of `MuLawEncoding`, keep their values.
    Example: ``data.Audio(wave, sample_rate=16_000)``.
    """

    metadata: ClassVar[Mapping[str, Any]] = {"sample_rate": None}
    axes, layout = (2,), "(channels, samples)"
    sample_rate: int | None

    @classmethod
    def convert(cls, array: np.ndarray) -> np.ndarray:
        if array.dtype in _FULL_SCALE:
            silence, scale = _FULL_SCALE[array.dtype]
            array = ((array.astype("float64") - silence) / scale).astype("float32")
        elif array.dtype.kind != "f":
            array = array.astype("float32")
        return array[None] if array.ndim == 1 else array

    @property
    def seconds(self) -> float | None:
        """Duration in seconds; None if the sampling rate is unknown."""
        return self.shape[-1] / self.sample_rate if self.sample_rate else None


class Spectrogram(Part):
    """A picture of a sound (channels, frequencies, frames); ``sample_rate`` and ``hop_length`` tell the units of its axes."""

    metadata: ClassVar[Mapping[str, Any]] = {"sample_rate": None, "hop_length": None}
    layout, kinds = "(channels, frequencies, frames)", "uifc"
    sample_rate: int | None
    hop_length: int | None

    @classmethod
    def convert(cls, array: np.ndarray) -> np.ndarray:
        return array if array.dtype.kind in "fc" else array.astype("float32")


class TokenIds(Part):
    """Numbers of tokens (tokens,), int64."""

    axes, layout = (1,), "(tokens,)"
    kinds = "ui"

    @classmethod
    def convert(cls, array: np.ndarray) -> np.ndarray:
        return array.astype("int64", copy=False)


class Text(str):
    """Text of a sample; plain strings, such as names of classes and files, are no text to a transform."""


class Tokens(list):
    """Tokens of a text: a list of strings.

    ``offsets`` (tokens, 2) are the first character of each token in the text and the one behind it, if a tokenizer with
    ``with_offsets=True`` has split the text.
    """

    offsets: np.ndarray | None = None
