"""Decoding and encoding of pictures."""

from __future__ import annotations

import functools
import io
import os
import warnings
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.codecs.jpeg import Box, Header, check_pixels, decode_jpeg, decode_jpeg_crop
from labdl.data.codecs.orientation import JPEG, read_orientation, turn_upright
from labdl.data.parts import Image
from labdl.errors import ConfigError, DataError, LabDLError

Mode = Literal["RGB", "L", "RGBA", "unchanged"]
Color = Literal["RGB", "L"]
Format = Literal["jpeg", "png", "bmp", "gif", "webp", "tiff"]

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff")
MOST_PIXELS = 178_956_970  # half a gigabyte of RGB, Pillow's limit against decompression bombs
LARGEST = 1 << 30  # bytes of a file


def decode_image(
    source: bytes | str | Path,
    mode: Mode = "RGB",
    *,
    min_size: tuple[int, int] | None = None,
    fast: bool = False,
    max_pixels: int = MOST_PIXELS,
    upright: bool = True,
) -> Image:
    """Decode a JPEG, PNG, BMP, GIF (its first picture), WebP or TIFF file, or its bytes: (height, width, channels).

    ``mode`` "RGB" gives three channels of uint8: grey and palettes are converted, CMYK too, 16 bits are scaled to 8, and
    transparency is left out. "L" is grey, "RGBA" has the alpha channel, and "unchanged" keeps the channels of the file, 16
    bits as uint16, and class numbers of a palette as they are. Pictures are turned upright by their EXIF orientation, unless
    ``upright`` is False.

    ``min_size`` (height, width) allows a JPEG to be decoded at a half, a quarter or an eighth of its size, if it stays as
    large; ``fast`` chooses its less exact inverse transform. Raises MissingFileError, and DataError for what is no picture, is
    damaged, or has more than ``max_pixels`` pixels.
    """
    name, data = _read(source)
    try:
        if data[:3] == JPEG and mode in ("RGB", "L"):
            array = decode_jpeg(data, mode, min_size, fast, max_pixels, name, upright)
            if array is not None:
                return Image(array)
        return Image(_decode_with_pillow(data, mode, max_pixels, name, upright))
    except LabDLError:
        raise
    except Exception as error:  # decoders raise errors of many kinds for damaged data
        raise DataError(f"{name} cannot be decoded: {_describe(error)}") from None


class EncodedImage(bytes):
    """The bytes of a picture file as a part of a sample; ``name`` is what errors call it.

    ``max_pixels``, ``mode`` ("RGB" or "L") and ``fast`` are those of `decode_image`. `Decode`, and transforms that crop or
    resize, such as `RandomResizedCrop` and `Resize`, make an Image of it. As datasets.Image(decode=False).
    Example: ``data.EncodedImage(Path("photo.jpg").read_bytes(), "photo.jpg")``.
    """

    name: str
    max_pixels: int
    mode: Color
    fast: bool

    def __new__(
        cls,
        data: bytes = b"",
        name: str = "",
        *,
        max_pixels: int = MOST_PIXELS,
        mode: Color = "RGB",
        fast: bool = False,
    ) -> Self:
        encoded = super().__new__(cls, data)
        encoded.name, encoded.max_pixels, encoded.mode, encoded.fast = name, max_pixels, mode, fast
        return encoded

    @functools.cached_property
    def header(self) -> Header | None:
        """The header of a JPEG file, None for another one."""
        return Header.read(self) if self[:3] == JPEG else None

    @functools.cached_property
    def canvas(self) -> tuple[int, int]:
        """Height and width of the upright picture, from the header. Raises DataError."""
        return image_size(self)

    def decode(self) -> Image:
        """The whole picture. Raises as `decode_image`."""
        return decode_image(self, self.mode, fast=self.fast, max_pixels=self.max_pixels)

    def decode_crop(self, box: Box, size: tuple[int, int] | None = None) -> Image:
        """The rectangle ``box`` (top, left, height, width) of the picture, which is to get the ``size``: `decode_and_crop`."""
        return decode_and_crop(self, box, self.mode, size=size, fast=self.fast, max_pixels=self.max_pixels)

    def __repr__(self) -> str:
        return f"EncodedImage({len(self):,} bytes{self.name and f', {self.name!r}'})"


def decode_and_crop(
    source: bytes | str | Path,
    box: Box,
    mode: Color = "RGB",
    *,
    size: tuple[int, int] | None = None,
    fast: bool = False,
    max_pixels: int = MOST_PIXELS,
) -> Image:
    """Decode a rectangle ``box`` (top, left, height, width) of a picture: (height, width, channels) of uint8.

    Of a JPEG, rows below the rectangle are not decoded; damage there goes unnoticed. The pixels are those of `decode_image`.
    With ``fast``, the inverse transform is less exact, and with the ``size`` (height, width) that the rectangle is to get, a
    JPEG is decoded at a half, a quarter or an eighth of its size if the rectangle keeps three quarters of that size; its
    edges are then moved by at most half a pixel of the reduced picture. Source: tf.image.decode_and_crop_jpeg. Raises as
    `decode_image`, and DataError for a rectangle that is not inside of the picture.

    Example: ``decode_and_crop("photo.jpg", (0, 100, 300, 300))``.
    """
    name, data = _read(source)
    header = read_jpeg_header(data)
    if header is None or header.components == 4:  # libjpeg-turbo converts no CMYK
        whole = decode_image(source, mode, fast=fast, max_pixels=max_pixels)
        _check_box(box, whole.canvas, name)
        top, left, height, width = box
        return Image(whole.array[top : top + height, left : left + width])
    check_pixels(header.width, header.height, max_pixels, name)
    _check_box(box, image_size(data), name)
    least = (0.75 * size[0], 0.75 * size[1]) if fast and size is not None else None
    try:
        return Image(decode_jpeg_crop(data, header, box, mode, least, fast))
    except Exception as error:  # decoders raise errors of many kinds for damaged data
        raise DataError(f"{name} cannot be decoded: {_describe(error)}") from None


def _check_box(box: Box, canvas: tuple[int, int], name: str) -> None:
    """Raise DataError for a rectangle that is not inside of a picture of the size ``canvas``."""
    top, left, height, width = box
    if not (0 <= top < top + height <= canvas[0] and 0 <= left < left + width <= canvas[1]):
        raise DataError(
            f"{name} has {canvas[0]:,} × {canvas[1]:,} pixels, received the rectangle {tuple(box)} to decode"
        )


def read_jpeg_header(data: bytes) -> Header | None:
    """The header of the bytes of a JPEG file, None for another file, and for damage before the picture."""
    if data[:3] != JPEG:
        return None
    return data.header if isinstance(data, EncodedImage) else Header.read(data)


def image_size(source: bytes | str | Path) -> tuple[int, int]:
    """Height and width of a picture, upright, from its header. Raises as `decode_image`."""
    name, data = _read(source)
    header = read_jpeg_header(data)
    if header is not None:
        turned = header.exif and read_orientation(data) > 4
        return (header.width, header.height) if turned else (header.height, header.width)
    import PIL.Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with PIL.Image.open(io.BytesIO(data)) as picture:
                width, height = picture.size
                turned = read_orientation(data) > 4
    except Exception as error:  # as above
        raise DataError(f"{name} cannot be decoded: {_describe(error)}") from None
    return (width, height) if turned else (height, width)


def _read(source: bytes | str | Path) -> tuple[str, bytes]:
    """The name of a picture for errors, and the bytes of its file. Raises DataError for an empty one."""
    if isinstance(source, bytes):
        name, data = getattr(source, "name", "") or "the picture", source
    else:
        name, data = os.path.basename(source), read_file(source, LARGEST, "picture")
    if not data:
        raise DataError(f"{name} is empty")
    return name, data


def _describe(error: Exception) -> str:
    import PIL

    if isinstance(error, PIL.UnidentifiedImageError):  # its text is about an object in memory
        reason = "it is no JPEG, PNG, BMP, GIF, WebP or TIFF file, or its beginning is damaged"
        return reason
    return str(error).strip() or type(error).__name__


def _decode_with_pillow(data: bytes, mode: str, max_pixels: int, name: str, upright: bool) -> np.ndarray:
    import PIL.Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large pictures, which are checked below, and of odd metadata
        try:
            picture: Any = PIL.Image.open(io.BytesIO(data))
        except PIL.Image.DecompressionBombError as error:  # above twice Pillow's own limit
            raise DataError(f"{name} is refused, max_pixels={max_pixels:,}: {error}") from None
        with picture:
            check_pixels(picture.width, picture.height, max_pixels, name)
            picture.seek(0)
            picture.load()
            array = _convert(picture, mode)
    return turn_upright(array, read_orientation(data)) if upright else array


def _convert(picture: Any, mode: str) -> np.ndarray:
    deep = picture.mode.startswith("I;16") or picture.mode == "I"
    if mode == "unchanged":
        if deep:
            return np.asarray(picture).astype("uint16")
        kept = (
            picture.mode
            if picture.mode in ("L", "LA", "P", "RGB", "RGBA", "F")
            else "L"
            if picture.mode == "1"
            else "RGB"
        )
        return np.array(picture if kept == picture.mode else picture.convert(kept))
    if deep:  # Pillow cuts the values at 255
        grey = np.round(np.clip(np.asarray(picture), 0, 65535) / 257).astype("uint8")
        return grey if mode == "L" else np.repeat(grey[:, :, None], 3, 2) if mode == "RGB" else _with_alpha(grey)
    if picture.mode == "P" and mode == "RGB" and "transparency" in picture.info:
        picture = picture.convert("RGBA")
    return np.array(picture.convert(mode))


def _with_alpha(grey: np.ndarray) -> np.ndarray:
    return np.stack([grey, grey, grey, np.full_like(grey, 255)], -1)


def encode_image(image: Any, format: Format = "png", *, quality: int = 95, subsampling: str = "420") -> bytes:
    """Encode a picture (height, width, channels) of uint8, or uint16 grey as PNG or TIFF: the bytes of a file.

    ``quality`` (1 to 100) is that of JPEG and WebP, ``subsampling`` ("420", "422", "444") that of JPEG. Raises ConfigError.
    """
    import PIL.Image

    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if format not in ("jpeg", "png", "bmp", "gif", "webp", "tiff"):
        raise ConfigError(f"encode_image wants jpeg, png, bmp, gif, webp or tiff, received {format!r}")
    deep = array.dtype == np.uint16 and array.ndim == 2 and format in ("png", "tiff")
    if not deep and (
        array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4))
    ):
        raise ConfigError(
            f"encode_image wants uint8 (height, width, 1, 3 or 4 channels), received {array.dtype} {array.shape}"
        )
    if not 1 <= quality <= 100 or subsampling not in ("420", "422", "444"):
        raise ConfigError(
            f"encode_image wants a quality from 1 to 100 and a subsampling 420, 422 or 444, received {quality}, {subsampling}"
        )
    settings: dict[str, Any] = {}
    if format == "jpeg":
        settings = {"quality": quality, "subsampling": {"444": 0, "422": 1, "420": 2}[subsampling]}
        array = array[..., :3] if array.ndim == 3 else array
    elif format == "webp":
        settings = {"quality": quality}
    stream = io.BytesIO()
    PIL.Image.fromarray(np.ascontiguousarray(array)).save(stream, format.upper(), **settings)
    return stream.getvalue()
