"""Frames of a video container, by their number: the list of its frames, seeking to a key frame, decoding from there."""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from labdl.bounded.files import open_file
from labdl.errors import DataError

# the demuxer is named, so that no playlist or concatenation in the file is followed to other files
_DEMUXERS = {"mp4": "mov", "matroska": "matroska", "avi": "avi", "asf": "asf", "flv": "flv", "ogg": "ogg"}
_DEMUXERS |= {"mpeg": "mpeg", "mpegts": "mpegts"}
_HEADS = {b"\x1a\x45\xdf\xa3": "matroska", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11": "asf", b"FLV": "flv", b"OggS": "ogg"}
_HEADS |= {b"\x00\x00\x01\xba": "mpeg"}
_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")  # that an mp4 or mov file begins with
_MOST_FRAMES = 1 << 22  # of a file: 38 hours of 30 frames a second
_SHORT = 0.5  # seconds that may be missing at the end, where the head rounds the duration or counts the sound
_TS_PACKET = 188
_STREAMED = 0x7FFFF000  # a size that programs write into an avi file before they know it


@dataclasses.dataclass(frozen=True, eq=False)
class FrameList:
    """The frames of a video in the order in which they are shown.

    ``times`` are seconds from the first frame, ``stamps`` the time stamps of the file, ``keys`` the numbers of the key
    frames. ``counted`` is of files without usable time stamps: their frames are counted from the beginning.
    """

    times: np.ndarray
    stamps: np.ndarray
    keys: np.ndarray
    fps: float
    counted: bool

    def __len__(self) -> int:
        return len(self.times)

    @property
    def seconds(self) -> float:
        """Duration, the last frame included."""
        return float(self.times[-1]) + 1 / self.fps

    def key_before(self, number: int) -> int:
        """The last key frame at or before a frame."""
        return int(self.keys[max(0, np.searchsorted(self.keys, number, "right") - 1)])

    def shown_at(self, times: np.ndarray) -> np.ndarray:
        """Numbers of the frames that are on the screen at some times."""
        slack = 0.01 / self.fps  # time stamps of matroska are rounded to milliseconds
        return np.clip(np.searchsorted(self.times, times + max(slack, 1e-3), "right") - 1, 0, len(self) - 1)

    def at_rate(self, fps: float, start: float = 0.0, end: float | None = None) -> np.ndarray:
        """Numbers of the frames at ``fps`` frames a second from one time to another, by default the end of the video."""
        end = self.seconds if end is None else min(end, self.seconds)
        return self.shown_at(start + np.arange(max(0, int(np.ceil((end - start) * fps - 1e-3)))) / fps)


@contextmanager
def open_video(source: str | Path | bytes, threads: int = 1) -> Iterator[tuple[Any, Any, str, str]]:
    """The container and the first video of it, the kind of container, and the name in messages.

    FFmpeg's errors inside of the block become DataError.
    """
    import av  # imported here: FFmpeg is large
    from av.error import FFmpegError

    with open_bytes(source) as (file, name):
        kind = _kind_of(file, name)
        try:
            with av.open(file, format=_DEMUXERS[kind], metadata_errors="replace") as container:
                if not container.streams.video:
                    raise DataError(f"{name} has no video")
                stream = container.streams.video[0]
                if stream.codec_context is None or not stream.codec_context.width:
                    raise DataError(f"{name} holds a video that FFmpeg cannot decode")
                stream.codec_context.thread_count = threads
                yield container, stream, kind, name
        except FFmpegError as error:
            raise DataError(
                f"{name} cannot be read as {kind}: {error.strerror}; it may be cut off or damaged"
            ) from None


@contextmanager
def open_bytes(source: str | Path | bytes) -> Iterator[tuple[BinaryIO, str]]:
    """The open file, or the bytes as one, and its name in messages."""
    if isinstance(source, bytes | bytearray | memoryview):
        yield io.BytesIO(source), f"the video of {len(source)} bytes"
        return
    with open_file(source) as file:
        yield file, str(source)


def _kind_of(file: BinaryIO, name: str) -> str:
    head = file.read(_TS_PACKET + 1)
    file.seek(0)
    if not head:
        raise DataError(f"{name} is empty, not a video")
    if head[4:8] in _BOXES:
        return "mp4"
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        declared, size = int.from_bytes(head[4:8], "little") + 8, file.seek(0, os.SEEK_END)
        file.seek(0)
        if declared > size + 2 and declared < _STREAMED:
            raise DataError(f"{name} is cut off: it has {size:,} of {declared:,} bytes")
        return "avi"
    if head[0] == 0x47 and head[_TS_PACKET:] == b"\x47":
        return "mpegts"
    for start, kind in _HEADS.items():
        if head.startswith(start):
            return kind
    raise DataError(f"{name} is no video of a known format (mp4, mov, mkv, webm, avi, wmv, flv, ogv, mpeg)")


def list_frames(source: str | Path | bytes) -> FrameList:
    """The frames of a video, read from its packets without decoding; remembered for the last files.

    Raises DataError for a file that is damaged or shorter than its head says.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _list(source)
    with open_file(source) as file:
        state = os.fstat(file.fileno())
    return _list_file(os.path.abspath(source), str(source), state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=256)
def _list_file(path: str, name: str, changed: int, size: int) -> FrameList:
    return _list(name)


def _list(source: str | Path | bytes) -> FrameList:
    with open_video(source) as (container, stream, kind, name):
        scale = float(stream.time_base or 1)
        stamps, keys, packets, exact = [], [], 0, True
        for packet in container.demux(stream):
            if packet.size == 0:  # the end
                continue
            packets += 1
            if packets > _MOST_FRAMES:
                raise DataError(f"{name} has more than {_MOST_FRAMES:,} frames")
            if packet.is_corrupt:
                raise DataError(f"{name} is cut off or damaged at frame {packets - 1:,}")
            if packet.is_discard:  # cut away by the file's edit list
                continue
            exact &= packet.pts is not None
            stamps.append(packet.pts)
            if packet.is_keyframe:
                keys.append(packet.pts)
        if kind == "mp4" and packets < stream.frames:  # avi counts empty ones too
            raise DataError(f"{name} is cut off: it has {packets:,} of {stream.frames:,} frames")
        # avi has no time stamps: FFmpeg numbers the packets, which are not in the order of the frames
        exact &= not (kind == "avi" and stream.codec_context.has_b_frames and _ascending(stamps))
        if not exact or len(set(stamps)) < len(stamps) or not keys or min(keys) > min(stamps):
            return _count(container, stream, name)
        ordered = np.sort(np.array(stamps, np.int64))
        listed = _frame_list(ordered, np.searchsorted(ordered, np.sort(np.array(keys, np.int64))), stream, scale, False)
        _check_duration(container, stream, listed, name)
        return listed


def _ascending(stamps: list[int | None]) -> bool:
    return all(a is not None and b is not None and a < b for a, b in itertools.pairwise(stamps))


def _count(container: Any, stream: Any, name: str) -> FrameList:
    """The frames of a file without usable time stamps, by decoding it."""
    container.seek(0)
    count = 0
    for _ in container.decode(stream):
        count += 1
        if count > _MOST_FRAMES:
            raise DataError(f"{name} has more than {_MOST_FRAMES:,} frames")
    if not count:
        raise DataError(f"{name} has no frames")
    fps = float(stream.average_rate or stream.base_rate or 25)
    return FrameList(np.arange(count) / fps, np.arange(count), np.zeros(1, np.int64), fps, True)


def _frame_list(stamps: np.ndarray, keys: np.ndarray, stream: Any, scale: float, counted: bool) -> FrameList:
    times = (stamps - stamps[0]) * scale
    fps = float(stream.average_rate or 0)
    if not 0 < fps < 1e6:
        fps = (len(times) - 1) / float(times[-1]) if len(times) > 1 else 25.0
    return FrameList(times, stamps, keys, fps, counted)


def _check_duration(container: Any, stream: Any, frames: FrameList, name: str) -> None:
    expected = None
    if stream.duration is not None and stream.time_base is not None:
        expected = float(stream.duration * stream.time_base)
    elif ":" in (text := stream.metadata.get("DURATION", "")):  # of matroska
        try:
            hours, minutes, seconds = text.split(":")
            expected = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        except ValueError:
            expected = None
    elif container.duration is not None and not container.streams.audio:
        expected = container.duration / 1e6
    if expected is not None and "matroska" in container.format.name:  # it counts from 0, not from the first frame
        expected -= max(0.0, float(frames.stamps[0] * (stream.time_base or 0)))
    if expected is not None and frames.seconds < expected - max(_SHORT, 2 / frames.fps):
        raise DataError(f"{name} is cut off: it has {frames.seconds:.3f} s of {expected:.3f} s")


class FrameReader:
    """Decoder of single frames: it goes on from the last one, or seeks to the key frame before the next."""

    def __init__(self, container: Any, stream: Any, frames: FrameList, name: str):
        self.container, self.stream, self.frames, self.name = container, stream, frames, name
        self._decoded: Iterator[Any] | None = None
        self._at = -1  # the number of the last frame

    def read(self, number: int) -> Any:
        """Decode a frame. Raises DataError if it cannot be decoded."""
        key = self.frames.key_before(number)
        frame = None
        if self._decoded is not None and key <= self._at < number:
            frame = self._advance(number)
        # a decoder may drop frames behind a key frame that refer to those before it: begin earlier then
        starts = (key, self.frames.key_before(max(0, key - 1)), 0)
        for start in dict.fromkeys(starts):
            if frame is not None:
                break
            self._seek(start)
            frame = self._advance(number)
        if frame is None or frame.is_corrupt:
            raise DataError(f"{self.name} is damaged: its frame {number:,} cannot be decoded")
        self._at = number
        return frame

    def _seek(self, key: int) -> None:
        if key == 0:  # the beginning of the file: mpegts is not exact
            self.container.seek(0)
        else:
            self.container.seek(int(self.frames.stamps[key]), stream=self.stream)
        self._decoded, self._at = self.container.decode(self.stream), -1

    def _advance(self, number: int) -> Any:
        assert self._decoded is not None
        for frame in self._decoded:
            self._at += 1
            if self.frames.counted:
                if self._at == number:
                    return frame
            elif frame.pts is not None and frame.pts >= self.frames.stamps[number]:
                return frame if frame.pts == self.frames.stamps[number] else None
        return None
