"""Sounds as WAV, clips as WebM and pictures in full size, for a page to play or show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.data import parts
from labdl.errors import ConfigError, DataError
from labdl.lab.dataset_view import images, sounds
from labdl.lab.dataset_view.part_views import kind_of, to_array

_LARGEST = 64 << 20  # bytes of a sound or a picture
_CLIP_SIDE = 640  # pixels
_CLIP_FRAMES = 900
_CLIP_PIXELS = 32_000_000  # of all frames, which take a few seconds to encode
_FRAME_RATE = 8.0  # where it is unknown


def encode(name: str, value: Any, targets: Sequence[str]) -> tuple[str, bytes]:
    """MIME type and bytes of a part of a sample.

    Large clips are made smaller, and long ones have fewer frames. Raises ConfigError for a part that cannot be played or
    shown, DataError for one that is too large.
    """
    kind = kind_of(name, value, targets)
    if kind == "audio":
        _check_size(name, value.size * 2, f" of {value.seconds or 0:,.1f} s")
        content = sounds.to_wav(value)
        mime = "audio/wav"
    elif kind == "image":
        array = to_array(value)
        assert array is not None
        content = images.encode_jpeg(images.shrink(array, max(array.shape)), 92)
        mime = "image/jpeg"
    elif kind == "video" and value.size:
        content = _encode_clip(value)
        mime = "video/webm"
    else:
        raise ConfigError(f"{name} is {kind}: a sound, a picture or a clip can be played or shown")
    _check_size(name, len(content))
    return mime, content


def _check_size(name: str, size: int, what: str = "") -> None:
    if size > _LARGEST:
        raise DataError(f"{name}{what} has {size >> 20:,} MiB, more than the {_LARGEST >> 20} MiB that a page can take")


def _encode_clip(value: parts.Video) -> bytes:
    from labdl.data.codecs.video import encode_video

    step = math.ceil(len(value) / _CLIP_FRAMES)
    frames = value.array[::step]
    count, height, width = frames.shape[:3]
    shrunk = min(1.0, _CLIP_SIDE / max(height, width), math.sqrt(_CLIP_PIXELS / (count * height * width)))
    size = max(1, math.floor(shrunk * max(height, width)))
    if frames.dtype != np.uint8:
        frames = images.to_bytes(frames)  # with one range for all
    pixels = np.stack([_color(images.shrink(frame, size)) for frame in frames])
    odd = ((0, 0), (0, pixels.shape[1] % 2), (0, pixels.shape[2] % 2), (0, 0))
    pixels = np.pad(pixels, odd, mode="edge")  # codecs want even sizes
    return encode_video(parts.Video(pixels, fps=(value.fps or _FRAME_RATE) / step), "webm")


def _color(picture: np.ndarray) -> np.ndarray:
    return picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)
