"""Sounds decoded from files and encoded: wav, flac, ogg, mp3, aiff by libsndfile; m4a, wma, webm by FFmpeg.

A file is judged by its first bytes, not by its name, and read no further than asked for.
"""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import soundfile

from labdl.bounded.files import open_file
from labdl.data.codecs.audio_container import container_info, decode_container, encode_container
from labdl.data.parts import Audio
from labdl.data.sound.resampling import resample
from labdl.errors import ConfigError, DataError

AudioFormat = Literal["wav", "flac", "ogg", "opus", "mp3", "aiff", "m4a", "wma"]

MOST_VALUES = 2**28  # of a decoded sound, 1 GiB: half an hour of 16 channels, three hours of one at 24 kHz
_BLOCK = 2**20
_MP3_LEAD = 10 * 1152  # samples decoded before the first one wanted: frames of mp3 borrow bits of those before them
_UNKNOWN_LENGTH = 2**60
_STREAMED = (0, 0x7FFFF000)  # sizes that programs write into a wav file before they know them

_LIBSNDFILE = {b"RIFF": "wav", b"RF64": "wav", b"riff": "wav", b"fLaC": "flac", b"OggS": "ogg", b"ID3": "mp3"}
_LIBSNDFILE |= {b"FORM": "aiff", b".snd": "au", b"caff": "caf"}
_CONTAINERS = {b"\x30\x26\xb2\x75\x8e\x66\xcf\x11": "asf", b"\x1a\x45\xdf\xa3": "matroska", b"#!AMR": "amr"}
_WRITERS: dict[str, tuple[str, str]] = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "aiff": ("AIFF", "PCM_16"),
}
_FALLBACKS = ("wav", "flac", "ogg", "mp3")  # formats whose rarer codecs FFmpeg knows


@dataclasses.dataclass(frozen=True)
class AudioInfo:
    """The head of a sound file; ``samples`` is None where it does not."""

    format: str
    sample_rate: int
    channels: int
    samples: int | None

    @property
    def seconds(self) -> float | None:
        """Duration in seconds."""
        return None if self.samples is None else self.samples / self.sample_rate


def audio_info(source: str | Path | bytes) -> AudioInfo:
    """Sampling rate, channels and length of a sound file, without decoding it. Raises as `decode_audio`."""
    with _open(source) as (file, name, _):
        kind, engine = _kind_of(file, name)
        if engine == "libsndfile":
            try:
                with soundfile.SoundFile(_handle(file), closefd=False) as sound:
                    samples = sound.frames if sound.frames < _UNKNOWN_LENGTH else None
                    return AudioInfo(kind, sound.samplerate, sound.channels, samples)
            except soundfile.LibsndfileError as error:
                if kind not in _FALLBACKS:
                    raise DataError(f"{name} cannot be read as {kind}: {error.error_string}") from None
                _rewind(file)
        return AudioInfo(kind, *container_info(file, kind, name))


def decode_audio(
    source: str | Path | bytes,
    sample_rate: int | None = None,
    *,
    mono: bool = False,
    start: float = 0.0,
    seconds: float | None = None,
) -> Audio:
    """Decode a sound file, or its bytes, to float32 values from -1 to 1.

    ``sample_rate`` resamples it (soxr), ``mono`` averages the channels; ``seconds`` from ``start`` on are read, less
    where the file ends. Raises MissingFileError where there is no file, and DataError for one that is empty, cut off (where
    its format tells), no sound, or of more than 2^28 values.
    """
    if start < 0 or (seconds is not None and seconds < 0):
        raise ConfigError(f"decode_audio wants start and seconds of 0 or more, received {start} and {seconds}")
    with _open(source) as (file, name, size):
        kind, engine = _kind_of(file, name)
        _check_complete(file, kind, name, size)
        found = _decode_libsndfile(file, kind, name, start, seconds) if engine == "libsndfile" else None
        if found is None:
            found = decode_container(file, kind, name, start, seconds, MOST_VALUES)
    wave, rate = found
    if mono and len(wave) > 1:
        wave = wave.mean(0, keepdims=True, dtype="float32")
    if sample_rate is not None and sample_rate != rate:
        wave, rate = resample(wave, rate, sample_rate), sample_rate
    return Audio(wave, sample_rate=rate)


def encode_audio(
    audio: Audio | np.ndarray,
    format: AudioFormat = "wav",
    *,
    sample_rate: int | None = None,
    subtype: str | None = None,
    bit_rate: int | None = None,
) -> bytes:
    """Encode a sound as the bytes of a file.

    ``sample_rate`` is that of the file, to which the sound is resampled; by default that of the sound. ``subtype`` is
    "PCM_16", "PCM_24", "FLOAT" and the like of libsndfile; ``bit_rate`` (bits a second) is of m4a and wma. Raises
    ConfigError for what a format cannot hold.
    """
    rate = getattr(audio, "sample_rate", None)
    sound = Audio(audio, sample_rate=rate)
    if rate is None and sample_rate is None:
        raise ConfigError("encode_audio wants a sampling rate, received a sound without: write sample_rate=…")
    target = sample_rate or rate or 0
    wave = sound.array if rate in (None, target) else resample(sound.array, rate or 0, target)
    if format in ("m4a", "wma"):
        return encode_container(wave.astype("float32", copy=False), target, format, bit_rate)
    if format not in _WRITERS:
        raise ConfigError(f"encode_audio writes {', '.join(_WRITERS)}, m4a, wma, received {format!r}")
    container, coding = _WRITERS[format]
    coding = subtype or coding
    buffer = io.BytesIO()
    try:
        with soundfile.SoundFile(buffer, "w", target, len(wave), coding, format=container) as file:
            for at in range(0, wave.shape[1], _BLOCK):
                file.write(wave[:, at : at + _BLOCK].T)
    except (soundfile.LibsndfileError, ValueError) as error:
        reason = getattr(error, "error_string", error)
        raise ConfigError(
            f"{len(wave)} channels of {target} samples a second cannot be written as {format} ({coding}): {reason}"
        ) from None
    return buffer.getvalue()


@contextmanager
def _open(source: str | Path | bytes) -> Iterator[tuple[BinaryIO, str, int]]:
    """The open file, its name in messages, and its size."""
    if isinstance(source, bytes | bytearray | memoryview):
        yield io.BytesIO(source), f"the sound of {len(source)} bytes", len(source)
        return
    with open_file(source) as file:
        yield file, str(source), os.fstat(file.fileno()).st_size


def _kind_of(file: BinaryIO, name: str) -> tuple[str, Literal["libsndfile", "ffmpeg"]]:
    head = file.read(64)
    _rewind(file)
    if not head:
        raise DataError(f"{name} is empty, not a sound file")
    for start, kind in _LIBSNDFILE.items():
        if head.startswith(start) and (kind != "wav" or head[8:12] in (b"WAVE", b".\x91\xcf\x11")):
            return kind, "libsndfile"
    for start, kind in _CONTAINERS.items():
        if head.startswith(start):
            return kind, "ffmpeg"
    if head[4:8] == b"ftyp":
        return "mp4", "ffmpeg"
    if head[0] == 0xFF and len(head) > 1 and head[1] & 0xE0 == 0xE0:
        return ("aac", "ffmpeg") if head[1] & 0xF6 == 0xF0 else ("mp3", "libsndfile")
    raise DataError(f"{name} is no sound file of a known format (wav, flac, ogg, mp3, aiff, m4a, wma, webm)")


def _check_complete(file: BinaryIO, kind: str, name: str, size: int) -> None:
    """Raise DataError for a file that is shorter than its format says, which libsndfile reads as far as it goes."""
    if kind in ("wav", "aiff"):
        head = file.read(8)
        _rewind(file)
        order = {b"RIFF": "little", b"FORM": "big"}.get(head[:4])
        declared = int.from_bytes(head[4:8], order) if order else 0  # type: ignore[arg-type]
        if _STREAMED[0] < declared < _STREAMED[1] and declared + 8 > size + 2:  # some writers count a byte of padding
            raise DataError(f"{name} is cut off: it has {size:,} of {declared + 8:,} bytes")
    if kind == "ogg":
        file.seek(max(0, size - 2**16 - 512))
        tail = file.read()
        _rewind(file)
        at = tail.rfind(b"OggS")
        segments = tail[at + 27 : at + 27 + tail[at + 26]] if 0 <= at < len(tail) - 27 else b""
        whole = at >= 0 and len(tail) >= at + 27 and len(tail) - at >= 27 + tail[at + 26] + sum(segments)
        if not whole:
            raise DataError(f"{name} is cut off: its last page is incomplete")


def _rewind(file: BinaryIO) -> None:
    file.seek(0, os.SEEK_END)  # empties the buffer, so that the descriptor goes back too, which libsndfile reads
    file.seek(0)


def _handle(file: BinaryIO) -> BinaryIO | int:
    """The file for libsndfile: a descriptor needs no Python, but is one of another C library on Windows."""
    return file.fileno() if isinstance(file, io.BufferedReader) and os.name == "posix" else file


def _decode_libsndfile(
    file: BinaryIO, kind: str, name: str, start: float, seconds: float | None
) -> tuple[np.ndarray, int] | None:
    """Values and sampling rate; None for a codec that FFmpeg may know."""
    try:
        with soundfile.SoundFile(_handle(file), closefd=False) as sound:
            return _read(sound, kind, name, start, seconds), sound.samplerate
    except soundfile.LibsndfileError as error:
        if kind in _FALLBACKS:
            _rewind(file)
            return None
        raise DataError(f"{name} cannot be read as {kind}: {error.error_string}") from None


def _read(sound: soundfile.SoundFile, kind: str, name: str, start: float, seconds: float | None) -> np.ndarray:
    rate, channels = sound.samplerate, sound.channels
    known = sound.frames if sound.frames < _UNKNOWN_LENGTH else None
    first = round(start * rate)
    if first and known is not None and first >= known:
        raise DataError(f"{name} has {known / rate:.3f} s of sound, start={start:g} s lies after it")
    lead = min(first, _MP3_LEAD if kind == "mp3" else 0)
    if first:
        sound.seek(first - lead)
    wanted = None if known is None else known - first
    if seconds is not None:
        asked = round(seconds * rate)
        wanted = asked if wanted is None else min(asked, wanted)
    most = MOST_VALUES // channels
    step = most if kind == "mp3" else _BLOCK  # soundfile seeks after each read, which is not exact in mp3
    blocks, samples = [], 0
    if wanted is not None and wanted > most:
        raise DataError(f"{name} has more than {MOST_VALUES:,} values: read parts of it by start= and seconds=")
    while wanted is None or samples < wanted:
        size = lead + (step if wanted is None else min(step, wanted - samples))
        block = sound.read(size, dtype="float32", always_2d=True)[lead:]
        lead = 0
        if not len(block):
            break
        blocks.append(block)
        samples += len(block)
        if samples > most:
            raise DataError(f"{name} has more than {MOST_VALUES:,} values: read parts of it by start= and seconds=")
    if wanted is not None and samples < wanted:
        raise DataError(
            f"{name} is cut off: it has {(first + samples) / rate:.3f} s of {(first + wanted) / rate:.3f} s"
        )
    if len(blocks) == 1:
        return np.ascontiguousarray(blocks[0].T)
    values = np.empty((channels, samples), "float32")
    at = 0
    for block in blocks:
        values[:, at : at + len(block)] = block.T
        at += len(block)
    return values
