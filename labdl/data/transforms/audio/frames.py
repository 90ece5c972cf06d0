"""Frames of sounds, their modified cosine transform, and sounds of frames."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, MultipleOf

from labdl.data import parts
from labdl.data.sound.fourier import as_float, frames_of, imdct, mdct, overlap_add
from labdl.data.sound.windows import WindowName, window
from labdl.data.transforms.audio.units import Count
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import DataError

MDCTWindow = WindowName | None


@transform({"frame_length": 256, "hop_length": 128})
class Frame(Transform):
    """Cut a sound into frames of ``frame_length`` samples, ``hop_length`` apart: (channels, frame_length, frames).

    What is left over at the end is dropped, or padded with zeros with ``pad_end``; ``window_fn`` multiplies each frame.
    Source: paddle.signal.frame.
    """

    frame_length: Count
    hop_length: Count
    pad_end: bool = False
    window_fn: WindowName = "rectangular"

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        wave, length, hop = as_float(audio.array), self.frame_length, self.hop_length
        if self.pad_end:
            more = (-(-wave.shape[-1] // hop) - 1) * hop + length - wave.shape[-1]
            wave = np.pad(wave, ((0, 0), (0, max(more, 0))))
        if wave.shape[-1] < length:
            raise DataError(
                f"Frame wants a sound of {length} samples or more, received {wave.shape[-1]}: write pad_end=True"
            )
        frames = frames_of(wave, length, hop)
        if self.window_fn != "rectangular":
            frames = frames * window(self.window_fn, length).astype(wave.dtype)
        return parts.Spectrogram(frames.swapaxes(-1, -2).copy(), sample_rate=audio.sample_rate, hop_length=hop)


@transform
class OverlapAndAdd(Transform):
    """Add frames (channels, frame_length, frames), ``hop_length`` samples apart, to a sound.

    ``hop_length`` is that of the frames by default. Source: paddle.signal.overlap_add.
    """

    hop_length: Count | None = None

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> parts.Audio:
        hop = self.hop_length or spectrogram.hop_length
        if hop is None:
            raise DataError(
                "OverlapAndAdd wants the hop of the frames, received none: write OverlapAndAdd(hop_length=…)"
            )
        return parts.Audio(overlap_add(spectrogram.array.swapaxes(-1, -2), hop), sample_rate=spectrogram.sample_rate)


@transform
class MDCT(Transform):
    """Take the modified cosine transform of a sound: (channels, frame_length / 2, frames), frames overlap by half.

    ``frame_length`` is a multiple of 4. Source: tf.signal.mdct.
    """

    frame_length: Annotated[int, Ge(4), MultipleOf(4)] = 512
    window_fn: MDCTWindow = "vorbis"
    pad_end: bool = False
    norm: Literal["ortho"] | None = None

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        values = mdct(audio.array, self.frame_length, self.window_fn, pad_end=self.pad_end, ortho=self.norm is not None)
        return parts.Spectrogram(
            values.swapaxes(-1, -2), sample_rate=audio.sample_rate, hop_length=self.frame_length // 2
        )


@transform
class InverseMDCT(Transform):
    """Make the sound of a modified cosine transform (channels, frame_length / 2, frames). Source: tf.signal.inverse_mdct.

    The first and last half of a frame stay incomplete, as no other frame overlaps them.
    """

    window_fn: MDCTWindow = "vorbis"
    norm: Literal["ortho"] | None = None

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> parts.Audio:
        if spectrogram.shape[-2] % 2:
            raise DataError(f"InverseMDCT wants an even number of frequencies, received {spectrogram.shape[-2]}")
        wave = imdct(spectrogram.array.swapaxes(-1, -2), self.window_fn, ortho=self.norm is not None)
        return parts.Audio(wave, sample_rate=spectrogram.sample_rate)
