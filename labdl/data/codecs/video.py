"""Clips decoded from video files: H.264, H.265, AV1, VP9 and others in mp4, mov, mkv, webm, avi, by FFmpeg."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from labdl.data.codecs.audio_container import decode_container
from labdl.data.codecs.video_container import FrameList, FrameReader, list_frames, open_bytes, open_video
from labdl.data.codecs.video_encoder import encode_video as encode_video
from labdl.data.parts import Audio, Video
from labdl.errors import ConfigError, DataError

SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".flv", ".ogv", ".mpg", ".mpeg")
MOST_PIXELS = 1 << 29  # of a decoded clip, 1.5 GiB of RGB: ten seconds of 1920 × 1080
_MOST_VALUES = 2**28  # of its sound
_CODECS = {"hevc": "h265", "libdav1d": "av1", "libvpx-vp9": "vp9"}  # of FFmpeg's decoders


@dataclasses.dataclass(frozen=True)
class VideoInfo:
    """The head of a video file: its frames, their upright size, and whether it has a sound."""

    format: str
    codec: str
    frames: int
    height: int
    width: int
    fps: float
    seconds: float
    sound: bool


def video_info(source: str | Path | bytes) -> VideoInfo:
    """Codec, number of frames, size, frames a second and length of a video. Raises as `decode_video`."""
    frames = list_frames(source)
    with open_video(source) as (container, stream, kind, name):
        frame = FrameReader(container, stream, frames, name).read(0)
        height, width = _upright_size(frame.height, frame.width, _orientation(frame))
        decoder = str(stream.codec_context.name)
        codec = _CODECS.get(decoder, decoder)
        sound = bool(container.streams.audio)
        return VideoInfo(kind, codec, len(frames), height, width, frames.fps, frames.seconds, sound)


@overload
def decode_video(
    source: str | Path | bytes,
    *,
    sound: Literal[True],
    frames: Any = ...,
    start: float = ...,
    seconds: float | None = ...,
    fps: float | None = ...,
    sample_rate: int | None = ...,
    max_pixels: int = ...,
    threads: int = ...,
) -> tuple[Video, Audio]: ...
@overload
def decode_video(
    source: str | Path | bytes,
    *,
    sound: Literal[False] = ...,
    frames: Any = ...,
    start: float = ...,
    seconds: float | None = ...,
    fps: float | None = ...,
    sample_rate: int | None = ...,
    max_pixels: int = ...,
    threads: int = ...,
) -> Video: ...
def decode_video(
    source: str | Path | bytes,
    *,
    frames: Sequence[int] | np.ndarray | None = None,
    start: float = 0.0,
    seconds: float | None = None,
    fps: float | None = None,
    sound: bool = False,
    sample_rate: int | None = None,
    max_pixels: int = MOST_PIXELS,
    threads: int = 1,
) -> Any:
    """Decode frames of a video file, or of its bytes: a `Video` (frames, height, width, 3) of uint8 RGB, turned upright.

    ``frames`` are numbers of frames from 0, in any order, negative ones from the end; or those of ``seconds`` from
    ``start`` are read, less where the file ends. ``fps`` takes that many frames of each second, the ones on the screen at
    these times; by default all. Only the parts of the file from a key frame to the wanted frames are decoded.

    ``sound=True`` returns a pair of the video and the `Audio` of the same time, resampled to ``sample_rate`` if it is an
    integer. ``threads`` is the number of the decoder's threads, 0 for one for each processor.

    Example: ``decode_video("clip.mp4", frames=range(0, 64, 4))``. Raises MissingFileError where there is no file, and
    DataError for one that is damaged, cut off, no video, without a sound if there should be one, or for more than
    ``max_pixels`` pixels of all frames together.
    """
    _check_settings(frames, start, seconds, fps)
    listed = list_frames(source)
    name = str(source) if isinstance(source, str | Path) else f"the video of {len(source)} bytes"
    numbers = _select(listed, frames, start, seconds, fps, name)
    with open_video(source, threads) as (container, stream, kind, name):
        if sound and not container.streams.audio:
            raise DataError(f"{name} has no sound: read it with sound=False")
        pixels = _decode(FrameReader(container, stream, listed, name), numbers, max_pixels)
    video = Video(pixels, fps=fps if fps is not None and frames is None else _rate_of(listed, numbers))
    if not sound:
        return video
    if frames is not None:
        start = float(listed.times[numbers.min()])
        seconds = float(listed.times[numbers.max()]) - start + 1 / listed.fps
    return video, _decode_sound(source, kind, name, start, seconds, sample_rate)


def _check_settings(frames: Any, start: float, seconds: float | None, fps: float | None) -> None:
    if frames is not None and (start or seconds is not None or fps is not None):
        raise ConfigError("decode_video wants frames=, or start=, seconds= and fps=, received both")
    if start < 0 or (seconds is not None and seconds <= 0) or (fps is not None and not 0 < fps <= 1000):
        raise ConfigError(
            "decode_video wants a start of at least 0, seconds above 0 and fps above 0 up to 1000, "
            f"received {start}, {seconds} and {fps}"
        )


def _select(
    listed: FrameList, frames: Any, start: float, seconds: float | None, fps: float | None, name: str
) -> np.ndarray:
    """Numbers of the frames that are wanted."""
    if frames is not None:
        numbers = np.atleast_1d(np.asarray(frames))
        if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
            raise ConfigError(f"decode_video wants numbers of frames, at least one, received {frames!r:.60}")
        wrong = numbers[(numbers < -len(listed)) | (numbers >= len(listed))]
        if wrong.size:
            raise DataError(f"{name} has {len(listed):,} frames, received the number {wrong[0]:,}")
        return np.where(numbers < 0, numbers + len(listed), numbers).astype(np.int64)
    if start >= listed.seconds:
        raise DataError(f"{name} has {listed.seconds:.3f} s, start={start:g} s lies after it")
    end = None if seconds is None else start + seconds
    if fps is not None:
        return listed.at_rate(fps, start, end)
    first = int(listed.shown_at(np.array([start]))[0])
    stop = len(listed) if end is None else int(np.searchsorted(listed.times, end - 1e-3))
    return np.arange(first, max(stop, first + 1))


def _decode(reader: FrameReader, numbers: np.ndarray, most: int) -> np.ndarray:
    context = reader.stream.codec_context
    _check_pixels(reader.name, len(numbers), context.height, context.width, most)
    context.options = {"max_pixels": str(most)}  # of a frame, which the head may not tell
    pixels, orientation = np.empty(0, np.uint8), (False, False, False)
    shape = (0, 0)
    places = np.argsort(numbers, kind="stable")
    image, last = None, -1
    for at, place in enumerate(places):
        if (number := int(numbers[place])) != last:
            frame = reader.read(number)
            if at == 0:
                orientation, shape = _orientation(frame), (frame.height, frame.width)
                _check_pixels(reader.name, len(numbers), *shape, most)
                pixels = np.empty((len(numbers), *_upright_size(*shape, orientation), 3), np.uint8)
            elif (frame.height, frame.width) != shape:
                raise DataError(
                    f"{reader.name} changes its size at frame {number:,}, from {shape} to {(frame.height, frame.width)}"
                )
            image, last = _turn(frame.to_ndarray(format="rgb24"), orientation), number
        pixels[place] = image
    return pixels


def _check_pixels(name: str, count: int, height: int, width: int, most: int) -> None:
    if count * height * width > most:
        raise DataError(
            f"{name} has {count:,} × {height:,} × {width:,} pixels, more than max_pixels={most:,}: read fewer frames, by "
            "frames=, seconds= or fps="
        )


def _orientation(frame: Any) -> tuple[bool, bool, bool]:
    """Whether a frame is transposed, then flipped top to bottom, then left to right, to be upright."""
    from av.sidedata.sidedata import Type

    found = frame.side_data.get(Type.DISPLAYMATRIX)
    if found is None:
        return False, False, False
    matrix = np.frombuffer(bytes(found), np.int32)
    if len(matrix) != 9:
        return False, False, False
    (a, b), (c, d) = matrix[[0, 1]].tolist(), matrix[[3, 4]].tolist()
    if abs(b) > abs(a):  # x of the screen is c * y of the frame, y of the screen b * x
        return True, b < 0, c < 0
    return False, d < 0, a < 0


def _upright_size(height: int, width: int, orientation: tuple[bool, bool, bool]) -> tuple[int, int]:
    return (width, height) if orientation[0] else (height, width)


def _turn(image: np.ndarray, orientation: tuple[bool, bool, bool]) -> np.ndarray:
    transposed, rows, columns = orientation
    image = image.swapaxes(0, 1) if transposed else image
    image = image[::-1] if rows else image
    return image[:, ::-1] if columns else image


def _rate_of(listed: FrameList, numbers: np.ndarray) -> float | None:
    """Frames a second of a selection of frames; None if they do not go forward."""
    steps = np.diff(numbers)
    if not len(steps):
        return listed.fps
    if steps.min() <= 0:
        return None
    if steps.min() == steps.max():
        return listed.fps / int(steps[0])
    times = listed.times[numbers]
    return len(steps) / float(times[-1] - times[0])


def _decode_sound(
    source: str | Path | bytes, kind: str, name: str, start: float, seconds: float | None, sample_rate: int | None
) -> Audio:
    with open_bytes(source) as (file, _):
        wave, rate = decode_container(file, kind, name, start, seconds, _MOST_VALUES)
    if sample_rate is not None and sample_rate != rate:
        from labdl.data.sound.resampling import resample  # imported here: it needs soxr, which clips alone do not

        wave, rate = resample(wave, rate, sample_rate), sample_rate
    return Audio(wave, sample_rate=rate)
