"""Spectrograms in mel, and back to Hz."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from labdl.data import parts
from labdl.data.sound.fourier import as_float
from labdl.data.sound.spectra import (
    Normalization,
    PadMode,
    apply_filters,
    decibels,
    mel_bank,
)
from labdl.data.sound.windows import WindowName
from labdl.data.transforms.audio.framed_powers import powers_of
from labdl.data.transforms.audio.units import (
    Count,
    Hertz,
    MelNorm,
    MelScaleName,
    check_band,
    check_band_of,
    check_window,
    rate_of,
)
from labdl.data.transforms.ranges import Positive
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import DataError
from labdl.settings import Amount


@transform
class MelSpectrogram(Transform):
    """Make a mel spectrogram (channels, n_mels, frames) of a sound, float32.

    ``sample_rate`` is that of the sound if None, ``f_max`` (Hz) half of it. ``mel_scale`` is "htk" or "slaney",
    ``norm="slaney"`` gives all filters the same area; the other settings as in `Spectrogram`.
    Source: torchaudio.transforms.MelSpectrogram.
    """

    sample_rate: Count | None = None
    n_fft: Count = 400
    win_length: Count | None = None
    hop_length: Count | None = None
    f_min: Amount = 0.0
    f_max: Hertz | None = None
    n_mels: Count = 128
    window_fn: WindowName = "hann"
    power: Positive = 2.0
    normalized: Normalization = False
    center: bool = True
    pad_mode: PadMode = "reflect"
    norm: MelNorm = None
    mel_scale: MelScaleName = "htk"

    def check_settings(self) -> None:
        check_window(self)
        check_band(self)

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        powers, rate, hop = powers_of(self, audio, power=self.power, normalized=self.normalized)
        filters = mel_bank(powers.shape[-1], self.f_min, self.f_max, self.n_mels, rate, self.norm, self.mel_scale)
        return parts.Spectrogram(apply_filters(filters, powers), sample_rate=rate, hop_length=hop)


@transform
class LogMelSpectrogram(Transform):
    """Make a mel spectrogram (channels, n_mels, frames) in logarithms, float32.

    ``log="db"`` gives decibels of the values of ``amin`` and more, cut ``top_db`` below the largest of the sample;
    ``log="natural"`` the natural logarithm of the values plus ``amin``. The other settings as in `MelSpectrogram`.
    Source: paddle.audio.features.LogMelSpectrogram.
    """

    sample_rate: Count | None = None
    n_fft: Count = 400
    win_length: Count | None = None
    hop_length: Count | None = None
    f_min: Amount = 0.0
    f_max: Hertz | None = None
    n_mels: Count = 128
    window_fn: WindowName = "hann"
    power: Positive = 2.0
    center: bool = True
    pad_mode: PadMode = "reflect"
    norm: MelNorm = None
    mel_scale: MelScaleName = "htk"
    log: Literal["db", "natural"] = "db"
    amin: Positive = 1e-10
    top_db: Amount | None = None

    def check_settings(self) -> None:
        check_window(self)
        check_band(self)

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        powers, rate, hop = powers_of(self, audio, power=self.power)
        filters = mel_bank(powers.shape[-1], self.f_min, self.f_max, self.n_mels, rate, self.norm, self.mel_scale)
        energy = apply_filters(filters, powers)
        levels = (
            np.log(energy + np.float32(self.amin))
            if self.log == "natural"
            else decibels(energy, amin=self.amin, top_db=self.top_db)
        )
        return parts.Spectrogram(levels, sample_rate=rate, hop_length=hop)


@transform
class MelScale(Transform):
    """Turn a spectrogram (channels, frequencies, frames) into a mel spectrogram (channels, n_mels, frames).

    The settings as in `MelSpectrogram`. Source: torchaudio.transforms.MelScale.
    """

    n_mels: Count = 128
    sample_rate: Count | None = None
    f_min: Amount = 0.0
    f_max: Hertz | None = None
    norm: MelNorm = None
    mel_scale: MelScaleName = "htk"

    def check_settings(self) -> None:
        check_band(self)

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        rate = rate_of(self, spectrogram)
        check_band_of(self, rate)
        if spectrogram.dtype.kind == "c":
            raise DataError(
                "MelScale wants powers or magnitudes, received complex numbers: put T.ComplexNorm before it"
            )
        filters = mel_bank(spectrogram.shape[-2], self.f_min, self.f_max, self.n_mels, rate, self.norm, self.mel_scale)
        return apply_filters(filters, spectrogram.array.swapaxes(-1, -2))


@transform
class InverseMelScale(Transform):
    """Estimate the spectrogram (channels, n_stft, frames) of a mel spectrogram, by least squares, cut at 0.

    ``n_stft`` is the number of frequencies, ``n_fft // 2 + 1``. The other settings as in `MelSpectrogram`.
    Source: torchaudio.transforms.InverseMelScale.
    """

    n_stft: Count = 201
    sample_rate: Count | None = None
    f_min: Amount = 0.0
    f_max: Hertz | None = None
    norm: MelNorm = None
    mel_scale: MelScaleName = "htk"

    def check_settings(self) -> None:
        check_band(self)

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        rate = rate_of(self, spectrogram)
        check_band_of(self, rate)
        inverse = _inverse_bank(
            self.n_stft, self.f_min, self.f_max, spectrogram.shape[-2], rate, self.norm, self.mel_scale
        )
        return np.maximum(inverse @ as_float(spectrogram.array), 0).astype("float32")


@functools.lru_cache(16)
def _inverse_bank(n_stft, f_min, f_max, n_mels, rate, norm, scale) -> np.ndarray:
    """The least-squares inverse of mel filters."""
    filters = mel_bank(n_stft, f_min, f_max, n_mels, rate, norm, scale).astype("float64")
    return np.linalg.pinv(filters, rcond=float(np.finfo("float32").eps) * max(filters.shape))
