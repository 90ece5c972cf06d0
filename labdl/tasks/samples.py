"""Pictures, clips and sounds as users have them, read as parts of a sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labdl import ops
from labdl.data.parts import Audio, Image, Video
from labdl.errors import DataError


def read_picture(sample: Any) -> Image:
    """A picture (height, width, 3) in RGB of a file name, bytes of a file, a Pillow picture, or an array or tensor.

    Arrays are (height, width), (height, width, 1), (…, 3) or (…, 4) of uint8, or of floating-point numbers from 0 to 1.
    Transparency is left out. Raises DataError for anything else, MissingFileError without the file.
    """
    if isinstance(sample, str | Path | bytes):
        from labdl.data.codecs.image import decode_image  # imported lazily: arrays need no decoder

        return decode_image(sample)
    if type(sample).__module__.partition(".")[0] == "PIL":
        return Image(np.asarray(sample.convert("RGB")))
    array = ops.to_numpy(sample)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or not array.size:
        hint = ": move the channels to the end" if array.ndim == 3 and array.shape[0] in (1, 3, 4) else ""
        raise DataError(f"a picture wants an array (height, width, 3), received the shape {array.shape}{hint}")
    if array.dtype.kind == "f":
        low, high = float(array.min()), float(array.max())
        if not (low >= 0 and high <= 1):
            raise DataError(
                f"a picture of floating-point numbers wants those from 0 to 1, received {low:g} to {high:g}: divide by 255, "
                "or give uint8"
            )
    elif array.dtype != np.uint8:
        raise DataError(f"a picture wants uint8 or floating-point numbers from 0 to 1, received {array.dtype}")
    colors = np.repeat(array, 3, 2) if array.shape[2] == 1 else array[:, :, :3]
    return Image(np.ascontiguousarray(colors))


def read_clip(sample: Any, frames: int) -> Video:
    """A clip of a file name, of which ``frames`` at equal distances are read, or of an array (frames, height, width, 3).

    All frames of an array are taken. Raises DataError for anything else, MissingFileError without the file.
    """
    if isinstance(sample, str | Path | bytes):
        from labdl.data.codecs.video import decode_video, video_info  # imported lazily: arrays need no decoder

        count = video_info(sample).frames
        return decode_video(sample, frames=np.linspace(0, count - 1, frames).astype("int64"))
    array = sample if isinstance(sample, Video) else ops.to_numpy(sample)
    if array.ndim != 4 or array.shape[3] != 3 or array.dtype != np.uint8 or not array.size:
        raise DataError(
            f"a clip wants an array (frames, height, width, 3) of uint8, received {array.dtype} of the shape {array.shape}"
        )
    return array if isinstance(array, Video) else Video(array)


def read_sound(sample: Any, sample_rate: int) -> Audio:
    """A sound (1, samples) of ``sample_rate``, of a file name, bytes of a file, an `Audio`, or an array.

    Arrays are (samples,) or (channels, samples), of floating-point numbers from -1 to 1 or integers as in wav files; they
    have the ``sample_rate`` already, an `Audio` that knows its own is resampled. Channels become their mean. Raises DataError
    for an empty sound and for anything else, MissingFileError without the file.
    """
    if isinstance(sample, str | Path | bytes):
        from labdl.data.codecs.audio import decode_audio  # imported lazily: arrays need no decoder

        sound = decode_audio(sample, sample_rate, mono=True)
    else:
        array = sample if isinstance(sample, Audio) else ops.to_numpy(sample)
        if array.ndim not in (1, 2) or array.dtype.kind not in "fiu":
            raise DataError(
                f"a sound wants an array (samples,) or (channels, samples), received {array.dtype} of the shape {array.shape}"
            )
        sound = array if isinstance(array, Audio) else Audio(array, sample_rate=sample_rate)
        if sound.size and len(sound) > 1:
            sound = Audio(np.asarray(sound).mean(0, keepdims=True, dtype="float32"), sample_rate=sound.sample_rate)
        if sound.size and sound.sample_rate not in (None, sample_rate):
            from labdl.data.sound.resampling import resample

            sound = Audio(resample(np.asarray(sound), sound.sample_rate, sample_rate), sample_rate=sample_rate)
    if not sound.size:
        raise DataError("the sound is empty: it wants at least one sample")
    if not np.isfinite(sound).all():
        raise DataError("the sound has values that are no numbers (NaN or infinite)")
    return sound


def read_speech(sample: Any, sample_rate: int) -> Audio:
    """A sound as `read_sound` reads it. Raises DataError also for silence, such as a single sample."""
    sound = read_sound(sample, sample_rate)
    wave = np.asarray(sound)
    if wave.min() == wave.max():
        count = wave.shape[-1]
        raise DataError(
            f"the sound is silent: its {count} samples are all equal" if count > 1 else "the sound has one sample alone"
        )
    return sound
