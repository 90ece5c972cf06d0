"""Clips encoded as video files, with a sound or without, by FFmpeg."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from labdl.data.parts import Audio, Video
from labdl.errors import ConfigError

VideoFormat = Literal["mp4", "mov", "mkv", "webm", "avi"]
VideoCodec = Literal["h264", "h265", "av1", "vp9", "mpeg4"]

_MUXERS = {"mp4": "mp4", "mov": "mov", "mkv": "matroska", "webm": "webm", "avi": "avi"}
_SOUNDS = {"webm": "libopus", "avi": "pcm_s16le"}  # others have aac
_ENCODERS: dict[str, tuple[str, dict[str, str]]] = {
    "h264": ("libx264", {"preset": "veryfast"}),
    "h265": ("libx265", {"preset": "veryfast", "x265-params": "log-level=none"}),
    "av1": ("libsvtav1", {"preset": "10"}),
    "vp9": ("libvpx-vp9", {"cpu-used": "8", "b": "0"}),
    "mpeg4": ("mpeg4", {"b": "8000000", "qmax": "4"}),
}
_NARROW = 64  # pixels: the assembly code of x265 writes beyond the rows of narrower pictures
_RATE_FACTORS = {"h264": 51, "h265": 51, "av1": 63, "vp9": 63}  # the highest of each codec


def encode_video(
    video: Video | np.ndarray,
    format: VideoFormat = "mp4",
    *,
    codec: VideoCodec | None = None,
    fps: float | None = None,
    audio: Audio | None = None,
    crf: int | None = None,
    key_interval: int = 12,
) -> bytes:
    """Encode a clip (frames, height, width, 3) of uint8 as the bytes of a file, with a sound or without.

    ``codec`` is H.264 by default, VP9 in webm; ``fps`` that of the video, or 25. ``crf`` is the constant rate factor, 0
    the best, up to 51 (H.264, H.265) or 63; there is a key frame every ``key_interval`` frames. The height and the width are
    even. Raises ConfigError for what a format cannot hold.
    """
    import av
    from av.error import FFmpegError

    pixels = np.asarray(video)
    own: float | None = getattr(video, "fps", None)
    fps = fps or own or 25.0
    codec = codec or ("vp9" if format == "webm" else "h264")
    _check_encoding(pixels, format, codec, crf)
    rate = Fraction(fps).limit_denominator(1001)
    encoder, options = _ENCODERS[codec]
    if codec == "h265" and pixels.shape[2] < _NARROW:
        options = {**options, "x265-params": options["x265-params"] + ":asm=0"}
    if codec == "av1":
        os.environ.setdefault("SVT_LOG", "1")  # errors alone: by default it prints all its settings
    buffer = io.BytesIO()
    try:
        with _same_priority(), av.open(buffer, "w", format=_MUXERS[format]) as container:
            stream: Any = container.add_stream(
                encoder, rate=rate, options=options if crf is None else {**options, "crf": str(crf)}
            )
            stream.height, stream.width, stream.pix_fmt = pixels.shape[1], pixels.shape[2], "yuv420p"
            stream.codec_context.gop_size = key_interval
            sound: Any = None
            if audio is not None:
                layout = "mono" if len(audio) == 1 else "stereo"
                wanted = 48_000 if format == "webm" else audio.sample_rate  # Opus knows few rates
                sound = container.add_stream(_SOUNDS.get(format, "aac"), rate=wanted, layout=layout)
            for number, image in enumerate(pixels):
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
                frame.pts, frame.time_base = number, 1 / rate
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
            if audio is not None:
                _encode_sound(container, sound, audio, layout)
    except (FFmpegError, ValueError) as error:
        raise ConfigError(f"a clip {pixels.shape} cannot be written as {codec} in {format}: {error}") from None
    return buffer.getvalue()


@contextmanager
def _same_priority() -> Iterator[None]:
    """Restore the scheduling of the thread: SVT-AV1 gives the one that calls it real-time priority if it may, as root."""
    if not hasattr(os, "sched_getscheduler"):
        yield
        return
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        if os.sched_getscheduler(0) != policy:
            os.sched_setscheduler(0, policy, priority)


def _check_encoding(pixels: np.ndarray, format: str, codec: str, crf: int | None) -> None:
    if format not in _MUXERS or codec not in _ENCODERS:
        raise ConfigError(
            f"encode_video writes {', '.join(_MUXERS)} with {', '.join(_ENCODERS)}, received {format!r} and {codec!r}"
        )
    if pixels.ndim != 4 or pixels.shape[-1] != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise ConfigError(
            f"encode_video wants uint8 (frames, height, width, 3), received {pixels.dtype} {pixels.shape}"
        )
    if pixels.shape[1] % 2 or pixels.shape[2] % 2:
        raise ConfigError(f"encode_video wants an even height and width, received {pixels.shape[1:3]}: add T.Resize")
    if crf is not None and not 0 <= crf <= _RATE_FACTORS.get(codec, -1):
        raise ConfigError(
            f"encode_video wants a crf of at least 0, at most {_RATE_FACTORS}, received {crf} for {codec}"
        )


def _encode_sound(container: Any, stream: Any, audio: Audio, layout: str) -> None:
    import av

    if audio.sample_rate is None or len(audio) > 2:
        raise ConfigError(
            f"encode_video wants a sound of 1 or 2 channels and its sampling rate, received {audio.shape}"
        )
    wave = np.clip(audio.array, -1, 1).astype("float32")
    resampler = av.AudioResampler(format=stream.codec_context.format, layout=layout, rate=stream.rate)
    for at in range(0, wave.shape[1], 2**16):
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(wave[:, at : at + 2**16]), "fltp", layout)
        frame.sample_rate, frame.pts = audio.sample_rate, at
        for converted in resampler.resample(frame):
            container.mux(stream.encode(converted))
    for converted in resampler.resample(None):
        container.mux(stream.encode(converted))
    container.mux(stream.encode(None))
