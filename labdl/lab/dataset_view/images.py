"""Pictures of a data set as small JPEG, PNG and WebP files in data URLs."""

from __future__ import annotations

import base64
import colorsys
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_EXACT = 64  # pixels of a side up to which a picture is sent as PNG
_QUALITY = 82
_TILT = 0.618034  # the golden ratio: hues of neighbors are far from each other
_ALPHA = 150  # of masks
_VOID = 255  # class number of pixels that have no class


def data_url(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode('ascii')}"


def is_picture(array: np.ndarray) -> bool:
    """Whether a plain array can be shown as a picture: two axes, or three of which one has channels."""
    if array.dtype.kind not in "buif" or not all(array.shape) or array.ndim not in (2, 3):
        return False
    if array.ndim == 3:
        channels = array.shape[2] if array.shape[2] in (1, 3, 4) else array.shape[0]
        if channels not in (1, 3, 4):
            return False
    height, width = size_of(array)
    return min(height, width) >= 4 and max(height, width) <= 64 * min(height, width)


def size_of(array: np.ndarray) -> tuple[int, int]:
    """Height and width of a picture, whose channels are last or first."""
    if array.ndim == 2:
        return array.shape[0], array.shape[1]
    return (array.shape[1], array.shape[2]) if is_channels_first(array) else (array.shape[0], array.shape[1])


def is_channels_first(array: np.ndarray) -> bool:
    return array.ndim == 3 and array.shape[2] not in (1, 3, 4) and array.shape[0] in (1, 3, 4)


def shrink(array: np.ndarray, size: int) -> np.ndarray:
    """A picture of uint8, grey or RGB, of which the longest side has at most ``size`` pixels; smaller ones stay as they are."""
    import cv2

    array = array.transpose(1, 2, 0) if is_channels_first(array) else array
    height, width = array.shape[:2]
    scale = size / max(height, width)
    if array.dtype == bool:
        array = array.astype(np.uint8) * 255
    if array.ndim == 3 and array.shape[2] not in (1, 3, 4):
        array = array[..., :3] if array.shape[2] > 4 else array[..., :1]
    if scale < 1:
        if (array.dtype.kind in "ui" and array.itemsize > 2) or array.dtype.kind == "f":
            array = array.astype(np.float32)
        elif array.dtype.kind == "i":
            array = array.astype(np.int16)
        target = max(1, round(width * scale)), max(1, round(height * scale))
        array = cv2.resize(np.ascontiguousarray(array), target, interpolation=cv2.INTER_AREA)
    array = to_bytes(array)
    if array.ndim == 3 and array.shape[2] == 4:
        alpha = array[..., 3:].astype(np.uint16)
        array = ((array[..., :3] * alpha + 255 * (255 - alpha)) // 255).astype(np.uint8)
    return array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array


def to_bytes(array: np.ndarray) -> np.ndarray:
    """Values as uint8: 0 to 1 of floating-point numbers, 0 to 255 or all of integers; other ranges from least to greatest."""
    if array.dtype == np.uint8:
        return array
    if array.dtype == np.uint16:
        return (array >> 8).astype(np.uint8)
    values = array.astype(np.float32)
    finite = np.isfinite(values)
    if not finite.all():
        values = np.where(finite, values, 0)
    least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    low, high = (0.0, 1.0) if array.dtype.kind == "f" else (0.0, 255.0)
    if least < low - 1e-3 or most > high + 1e-3 or (array.dtype.kind != "f" and most <= 16):
        low, high = least, most
    scale = 255 / (high - low) if high > low else 0.0
    return np.clip((values - low) * scale + 0.5, 0, 255).astype(np.uint8)


def picture_url(array: np.ndarray, size: int) -> str:
    """A picture of any dtype as a data URL, small ones without loss."""
    small = np.ascontiguousarray(shrink(array, size))
    if max(small.shape[:2]) <= _EXACT:
        return data_url("image/png", encode_png(small))
    return data_url("image/jpeg", encode_jpeg(small))


def encode_jpeg(array: np.ndarray, quality: int = _QUALITY) -> bytes:
    import simplejpeg

    if array.ndim == 2:
        return simplejpeg.encode_jpeg(np.ascontiguousarray(array[..., None]), quality, "GRAY", "Gray", fastdct=True)
    return simplejpeg.encode_jpeg(np.ascontiguousarray(array), quality, "RGB", "420", fastdct=True)


def encode_png(array: np.ndarray) -> bytes:
    import cv2

    pixels = array if array.ndim == 2 else np.ascontiguousarray(array[..., ::-1])
    return cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 3])[1].tobytes()


def color(number: int) -> tuple[int, int, int]:
    """The color of a class or an object by its number."""
    red, green, blue = colorsys.hsv_to_rgb((number * _TILT) % 1.0, 0.75, 0.95)
    return round(red * 255), round(green * 255), round(blue * 255)


def mask_url(mask: np.ndarray, size: int) -> str:
    """Masks as a transparent picture: class numbers (height, width), or (objects, height, width) one color for each."""
    import cv2
    import PIL.Image

    height, width = mask.shape[-2:]
    scale = min(1.0, size / max(height, width))
    target = max(1, round(width * scale)), max(1, round(height * scale))
    if mask.ndim == 3:
        classes = np.zeros((target[1], target[0]), np.uint8)
        for number, one in enumerate(mask[:254], 1):
            small = cv2.resize((one > 0).astype(np.uint8), target, interpolation=cv2.INTER_NEAREST)
            classes[small > 0] = number
    else:
        # numbers above 254 share colors, but for 255, which is no class
        numbers = mask if mask.dtype == np.uint8 else np.where(mask == _VOID, _VOID, np.mod(mask, 254)).astype(np.uint8)
        classes = cv2.resize(np.ascontiguousarray(numbers), target, interpolation=cv2.INTER_NEAREST)
    colors = [(0, 0, 0), *(color(n) for n in range(1, 255)), (255, 255, 255)]
    picture = PIL.Image.fromarray(classes, "L").convert("P")
    picture.putpalette([value for one in colors for value in one])
    stream = io.BytesIO()
    picture.save(stream, "PNG", transparency=bytes([0, *[_ALPHA] * 254, _ALPHA]), compress_level=3)
    return data_url("image/png", stream.getvalue())


def levels_url(values: np.ndarray, size: int) -> str:
    """Values (rows, columns) as colors, the first row at the bottom: a spectrogram."""
    import cv2

    grey = to_bytes(resize_levels(np.asarray(values, np.float32)[::-1], size))
    colored = cv2.cvtColor(cv2.applyColorMap(grey, cv2.COLORMAP_VIRIDIS), cv2.COLOR_BGR2RGB)
    return data_url("image/jpeg", encode_jpeg(colored, 88))


def resize_levels(values: np.ndarray, size: int) -> np.ndarray:
    import cv2

    finite = np.nan_to_num(values, posinf=0.0, neginf=0.0)
    least, most = float(finite.min()), float(finite.max())
    finite = (finite - least) / (most - least) if most > least else np.zeros_like(finite)
    height, width = finite.shape
    target = min(width, 2 * size), min(height, size)
    return finite if target == (width, height) else cv2.resize(finite, target, interpolation=cv2.INTER_AREA)


def animation_url(frames: Sequence[np.ndarray], seconds: float) -> str:
    """Frames of uint8 as an animated WebP that repeats; ``seconds`` is its duration."""
    import PIL.Image

    pictures = [PIL.Image.fromarray(frame) for frame in frames]
    stream = io.BytesIO()
    delay = min(1000, max(60, round(1000 * seconds / len(pictures))))
    pictures[0].save(
        stream, "WEBP", save_all=True, append_images=pictures[1:], duration=delay, loop=0, quality=55, method=0
    )
    return data_url("image/webp", stream.getvalue())


def contact_sheet(pictures: Sequence[np.ndarray], side: int, columns: int, most: int) -> tuple[bytes, int, int] | None:
    """Pictures of uint8 in a grid as a JPEG of at most ``most`` bytes, with its width and height; None if there are none."""
    import cv2

    if not pictures:
        return None
    rows = math.ceil(len(pictures) / columns)
    sheet = np.full((rows * side, columns * side, 3), 255, np.uint8)
    for at, picture in enumerate(pictures):
        small = shrink(picture, side - 2)
        rgb: Any = cv2.cvtColor(small, cv2.COLOR_GRAY2RGB) if small.ndim == 2 else small
        top = at // columns * side + (side - rgb.shape[0]) // 2
        left = at % columns * side + (side - rgb.shape[1]) // 2
        sheet[top : top + rgb.shape[0], left : left + rgb.shape[1]] = rgb
    for quality in (75, 60, 45, 30, 15):
        content = encode_jpeg(sheet, quality)
        if len(content) <= most:
            return content, sheet.shape[1], sheet.shape[0]
    return None
