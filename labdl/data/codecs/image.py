"""Decoding and encoding of pictures."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labdl.bounded.files import read_file
from labdl.data.parts import Image
from labdl.errors import ConfigError, DataError, LabDLError

Mode = Literal["RGB", "L", "RGBA", "unchanged"]
Format = Literal["jpeg", "png", "bmp", "gif", "webp", "tiff"]

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff")
MOST_PIXELS = 178_956_970  # half a gigabyte of RGB, Pillow's limit against decompression bombs
LARGEST = 1 << 30  # bytes of a file
_JPEG = b"\xff\xd8\xff"
_SCAN = 0xDA  # the JPEG marker before the compressed picture
_ORIENTATION = 0x0112  # the EXIF tag
# operations that bring a picture of an orientation 2 to 8 upright: (transposed, flipped top to bottom, left to right)
_UPRIGHT = {
    2: (False, False, True),
    3: (False, True, True),
    4: (False, True, False),
    5: (True, False, False),
    6: (True, False, True),
    7: (True, True, True),
    8: (True, True, False),
}


def decode_image(
    source: bytes | str | Path,
    mode: Mode = "RGB",
    *,
    min_size: tuple[int, int] | None = None,
    fast: bool = False,
    max_pixels: int = MOST_PIXELS,
) -> Image:
    """Decode a JPEG, PNG, BMP, GIF (its first picture), WebP or TIFF file, or its bytes: (height, width, channels).

    ``mode`` "RGB" gives three channels of uint8: grey and palettes are converted, CMYK too, 16 bits are scaled to 8, and
    transparency is left out. "L" is grey, "RGBA" has the alpha channel, and "unchanged" keeps the channels of the file, 16
    bits as uint16, and class numbers of a palette as they are. Pictures are turned upright by their EXIF orientation.

    ``min_size`` (height, width) allows a JPEG to be decoded at a half, a quarter or an eighth of its size, if it stays as
    large; ``fast`` chooses its less exact inverse transform. Raises MissingFileError, and DataError for what is no picture, is
    damaged, or has more than ``max_pixels`` pixels.
    """
    name = "the picture" if isinstance(source, bytes) else os.path.basename(source)
    data = source if isinstance(source, bytes) else read_file(source, LARGEST, "picture")
    if not data:
        raise DataError(f"{name} is empty")
    try:
        if data[:3] == _JPEG and mode in ("RGB", "L"):
            array = _decode_jpeg(data, mode, min_size, fast, max_pixels, name)
            if array is not None:
                return Image(array)
        return Image(_decode_with_pillow(data, mode, max_pixels, name))
    except LabDLError:
        raise
    except Exception as error:  # decoders raise errors of many kinds for damaged data
        raise DataError(f"{name} cannot be decoded: {_describe(error)}") from None


def image_size(source: bytes | str | Path) -> tuple[int, int]:
    """Height and width of a picture, upright, from its header. Raises as `decode_image`."""
    import PIL.Image

    name = "the picture" if isinstance(source, bytes) else os.path.basename(source)
    data = source if isinstance(source, bytes) else read_file(source, LARGEST, "picture")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with PIL.Image.open(io.BytesIO(data)) as picture:
                width, height = picture.size
                turned = _orientation(data) in (5, 6, 7, 8)
    except Exception as error:  # as above
        raise DataError(f"{name} cannot be decoded: {_describe(error)}") from None
    return (width, height) if turned else (height, width)


def _describe(error: Exception) -> str:
    import PIL

    if isinstance(error, PIL.UnidentifiedImageError):  # its text is about an object in memory
        return "it is no JPEG, PNG, BMP, GIF, WebP or TIFF file, or its beginning is damaged"
    return str(error).strip() or type(error).__name__


def _decode_jpeg(
    data: bytes, mode: str, min_size: tuple[int, int] | None, fast: bool, max_pixels: int, name: str
) -> np.ndarray | None:
    """Decode with libjpeg-turbo; None for colours that it cannot convert."""
    import simplejpeg

    height, width, colors, _ = simplejpeg.decode_jpeg_header(data)
    _check_pixels(int(width), int(height), max_pixels, name)
    if colors in ("CMYK", "YCCK"):
        return None
    orientation = _orientation(data)
    least = (0, 0) if min_size is None else min_size if orientation < 5 else min_size[::-1]
    array = simplejpeg.decode_jpeg(
        data,
        "RGB" if mode == "RGB" else "GRAY",
        fastdct=fast,
        fastupsample=fast,
        min_height=least[0],
        min_width=least[1],
        min_factor=2,  # libjpeg-turbo is slower at 5 / 8 and the like than at the whole size
    )
    return _turn(array, orientation)


def _decode_with_pillow(data: bytes, mode: str, max_pixels: int, name: str) -> np.ndarray:
    import PIL.Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large pictures, which are checked below, and of odd metadata
        try:
            picture: Any = PIL.Image.open(io.BytesIO(data))
        except PIL.Image.DecompressionBombError as error:  # above twice Pillow's own limit
            raise DataError(f"{name} is refused, max_pixels={max_pixels:,}: {error}") from None
        with picture:
            _check_pixels(picture.width, picture.height, max_pixels, name)
            picture.seek(0)
            picture.load()
            array = _convert(picture, mode)
    return _turn(array, _orientation(data))


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


def _check_pixels(width: int, height: int, most: int, name: str) -> None:
    if width * height > most:
        raise DataError(f"{name} has {width:,} × {height:,} pixels, more than max_pixels={most:,}")


def _orientation(data: bytes) -> int:
    """The EXIF orientation 1 to 8; parsed only where the bytes hold EXIF data."""
    if not (_has_exif(data) if data[:3] == _JPEG else data[:4] in (b"II*\0", b"MM\0*", b"\x89PNG", b"RIFF")):
        return 1
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(data)) as picture:
            found = picture.getexif().get(_ORIENTATION, 1)
    except Exception:  # damaged metadata of a picture that can be decoded
        return 1
    return found if found in _UPRIGHT else 1


def _has_exif(data: bytes) -> bool:
    """Whether one of the segments before the picture of a JPEG file holds EXIF data."""
    at = 2
    while at < 65536 and len(data) >= at + 10 and data[at] == 0xFF and data[at + 1] != _SCAN:
        if data[at + 4 : at + 8] == b"Exif":
            return True
        # a marker may be filled up with further bytes FF
        at += 1 if data[at + 1] == 0xFF else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return False


def _turn(array: np.ndarray, orientation: int) -> np.ndarray:
    if orientation not in _UPRIGHT:
        return array
    transposed, rows, columns = _UPRIGHT[orientation]
    array = array.swapaxes(0, 1) if transposed else array
    array = array[::-1] if rows else array
    return np.ascontiguousarray(array[:, ::-1] if columns else array)


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
