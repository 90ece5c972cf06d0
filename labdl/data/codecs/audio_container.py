"""Sound of containers that libsndfile does not know (mp4, asf, matroska, aac), by FFmpeg."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from labdl.errors import ConfigError, DataError

# the demuxer is named, so that no playlist or concatenation in the file is followed to other files
_DEMUXERS = {"mp4": "mov", "asf": "asf", "matroska": "matroska", "aac": "aac", "amr": "amr"}
_DEMUXERS |= {"wav": "wav", "flac": "flac", "ogg": "ogg", "mp3": "mp3"}
_DEMUXERS |= {"avi": "avi", "flv": "flv", "mpeg": "mpeg", "mpegts": "mpegts"}  # the sound of clips
_MUXERS = {"m4a": ("ipod", "aac"), "wma": ("asf", "wmav2")}
_LAYOUTS = {1: "mono", 2: "stereo", 3: "3.0", 4: "4.0", 5: "5.0", 6: "5.1"}
_BIT_RATE = 64_000  # of a channel
_LEAD = 0.25  # seconds decoded before the start: codecs need the frames before it
_SHORT = 0.1  # seconds that may be missing from the duration of the head, which is rounded to frames and milliseconds


@contextmanager
def _open(file: BinaryIO, kind: str, name: str) -> Any:
    import av  # imported here: FFmpeg is large, and most sounds are read without it
    from av.error import FFmpegError

    try:
        with av.open(file, format=_DEMUXERS[kind], metadata_errors="replace") as container:
            if not container.streams.audio:
                raise DataError(f"{name} has no sound")
            yield container, container.streams.audio[0]
    except FFmpegError as error:
        raise DataError(f"{name} cannot be read as {kind}: {error.strerror}; it may be cut off") from None


def _duration(container: Any, stream: Any) -> float | None:
    if stream.duration is not None and stream.time_base is not None:
        return float(stream.duration * stream.time_base)
    return None if container.duration is None else container.duration / 1_000_000


def container_info(file: BinaryIO, kind: str, name: str) -> tuple[int, int, int | None]:
    """Sampling rate, channels and number of samples, None if it is not known."""
    with _open(file, kind, name) as (container, stream):
        duration = _duration(container, stream)
        samples = None if duration is None else round(duration * stream.rate)
        return stream.rate, stream.codec_context.channels, samples


def decode_container(
    file: BinaryIO, kind: str, name: str, start: float, seconds: float | None, most: int
) -> tuple[np.ndarray, int]:
    """Values (channels, samples) and sampling rate of the first sound of a container, at most ``most`` values."""
    import av

    blocks: list[np.ndarray] = []
    rate = channels = samples = 0
    first = 0  # the sample of the sound that the first block begins with
    with _open(file, kind, name) as (container, stream):
        duration = _duration(container, stream)
        if start and duration is not None and start >= duration:
            raise DataError(f"{name} has {duration:.3f} s of sound, start={start:g} s lies after it")
        exact = (
            kind == "mp4" and stream.time_base is not None
        )  # others count in milliseconds: decode from the beginning
        if start > _LEAD and exact:
            container.seek(int((start - _LEAD) / float(stream.time_base or 1)), stream=stream)
        converter = av.AudioResampler(format="fltp")
        for frame in container.decode(stream):
            if rate == 0:
                rate, channels = frame.sample_rate, frame.layout.nb_channels
                if exact and start > _LEAD and frame.pts is not None and frame.time_base is not None:
                    first = round(float(frame.pts * frame.time_base) * rate)
            elif (frame.sample_rate, frame.layout.nb_channels) != (rate, channels):
                raise DataError(f"{name} changes its sampling rate or channels on the way, and cannot be read")
            for converted in converter.resample(frame):
                blocks.append(converted.to_ndarray())
                samples += blocks[-1].shape[1]
            while blocks and first + blocks[0].shape[1] <= round(start * rate):
                first += blocks[0].shape[1]
                samples -= blocks.pop(0).shape[1]
            if samples * channels > most:
                raise DataError(f"{name} has more than {most:,} values: read parts of it by start= and seconds=")
            if seconds is not None and first + samples >= round((start + seconds) * rate):
                break
        else:
            if duration is not None and rate and first + samples < (duration - _SHORT) * rate:
                raise DataError(f"{name} is cut off: it has {(first + samples) / rate:.3f} s of {duration:.3f} s")
        if rate == 0:
            raise DataError(f"{name} cannot be read as {kind}: it holds no sound; it may be cut off")
    wave = np.concatenate(blocks, 1) if blocks else np.zeros((channels, 0), "float32")
    skip = max(0, round(start * rate) - first)
    ends = [] if seconds is None else [skip + round(seconds * rate)]
    if kind == "mp4" and duration is not None:
        ends.append(max(0, round(duration * rate) - first))  # the last frame of the codec is longer than the sound
    stop = min(ends, default=None)
    return np.ascontiguousarray(wave[:, skip:stop], "float32"), rate


def encode_container(wave: np.ndarray, rate: int, format: str, bit_rate: int | None) -> bytes:
    """The bytes of an m4a or wma file of float32 values (channels, samples)."""
    import av
    from av.error import FFmpegError

    muxer, codec = _MUXERS[format]
    if len(wave) not in _LAYOUTS:
        raise ConfigError(f"{format} holds 1 to {len(_LAYOUTS)} channels, received {len(wave)}")
    buffer = io.BytesIO()
    try:
        with av.open(buffer, "w", format=muxer) as container:
            stream: Any = container.add_stream(codec, rate=rate, layout=_LAYOUTS[len(wave)])
            stream.bit_rate = bit_rate or _BIT_RATE * len(wave)
            stream.codec_context.open()
            if format == "wma":  # the encoder loses a block on either side
                wave = np.pad(wave, ((0, 0), (stream.codec_context.frame_size,) * 2))
            for at in range(0, wave.shape[1], 2**16):
                block = np.ascontiguousarray(np.clip(wave[:, at : at + 2**16], -1, 1))
                frame = av.AudioFrame.from_ndarray(block, format="fltp", layout=_LAYOUTS[len(wave)])
                frame.sample_rate, frame.pts = rate, at
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    except (FFmpegError, ValueError) as error:
        raise ConfigError(
            f"{len(wave)} channels of {rate} samples a second cannot be written as {format}: {error}"
        ) from None
    return buffer.getvalue()
