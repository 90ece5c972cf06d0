"""Cepstra of sounds, and what is made of features along their frequencies or frames."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import scipy.fft
from annotated_types import Ge

from labdl.data import parts
from labdl.data.sound.fourier import as_float, pad_centered
from labdl.data.sound.spectra import (
    PadMode,
    apply_filters,
    cepstrum_matrix,
    decibels,
    linear_bank,
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
    check_window,
)
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError
from labdl.settings import Amount

Norm = Literal["ortho"] | None


def _levels(energy: np.ndarray, natural: bool) -> np.ndarray:
    return np.log(energy + np.float32(1e-6)) if natural else decibels(energy, top_db=80.0)


@transform
class MFCC(Transform):
    """Make mel-frequency cepstral coefficients (channels, n_mfcc, frames) of a sound, float32.

    The cosine transform of the mel spectrogram in decibels, cut 80 below the largest of the sample, or with ``log_mels`` of
    its natural logarithm. ``norm`` is of the cosine transform, ``mel_norm`` of the filters; the other settings as in
    `MelSpectrogram`. Source: torchaudio.transforms.MFCC.
    """

    sample_rate: Count | None = None
    n_mfcc: Count = 40
    norm: Norm = "ortho"
    log_mels: bool = False
    n_fft: Count = 400
    win_length: Count | None = None
    hop_length: Count | None = None
    f_min: Amount = 0.0
    f_max: Hertz | None = None
    n_mels: Count = 128
    window_fn: WindowName = "hann"
    center: bool = True
    pad_mode: PadMode = "reflect"
    mel_norm: MelNorm = None
    mel_scale: MelScaleName = "htk"

    def check_settings(self) -> None:
        check_window(self)
        check_band(self)
        if self.n_mfcc > self.n_mels:
            raise ConfigError(f"MFCC wants an n_mfcc of at most n_mels={self.n_mels}, received {self.n_mfcc}")

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        powers, rate, hop = powers_of(self, audio)
        filters = mel_bank(powers.shape[-1], self.f_min, self.f_max, self.n_mels, rate, self.mel_norm, self.mel_scale)
        levels = _levels(apply_filters(filters, powers), self.log_mels)
        return parts.Spectrogram(
            cepstrum_matrix(self.n_mfcc, self.n_mels, self.norm) @ levels, sample_rate=rate, hop_length=hop
        )


@transform
class LFCC(Transform):
    """Make linear-frequency cepstral coefficients (channels, n_lfcc, frames) of a sound, float32.

    As `MFCC` with ``n_filter`` filters equidistant in Hz; ``log_lf`` takes natural logarithms.
    Source: torchaudio.transforms.LFCC.
    """

    sample_rate: Count | None = None
    n_filter: Count = 128
    f_min: Amount = 0.0
    f_max: Hertz | None = None
    n_lfcc: Count = 40
    norm: Norm = "ortho"
    log_lf: bool = False
    n_fft: Count = 400
    win_length: Count | None = None
    hop_length: Count | None = None
    window_fn: WindowName = "hann"
    center: bool = True
    pad_mode: PadMode = "reflect"

    def check_settings(self) -> None:
        check_window(self)
        check_band(self)
        if self.n_lfcc > self.n_filter:
            raise ConfigError(f"LFCC wants an n_lfcc of at most n_filter={self.n_filter}, received {self.n_lfcc}")

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        powers, rate, hop = powers_of(self, audio)
        filters = linear_bank(powers.shape[-1], self.f_min, self.f_max, self.n_filter, rate)
        levels = _levels(apply_filters(filters, powers), self.log_lf)
        return parts.Spectrogram(
            cepstrum_matrix(self.n_lfcc, self.n_filter, self.norm) @ levels, sample_rate=rate, hop_length=hop
        )


@transform
class DCT(Transform):
    """Take the discrete cosine transform along the frequencies of a spectrogram.

    ``kind`` is the type of the transform; ``n`` cuts or pads the frequencies before it. Source: tf.signal.dct.
    """

    kind: Literal[1, 2, 3, 4] = 2
    n: Count | None = None
    norm: Norm = None

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        return scipy.fft.dct(spectrogram.array, self.kind, self.n, axis=-2, norm=self.norm)  # type: ignore[return-value]


@transform
class IDCT(Transform):
    """Take the inverse discrete cosine transform along the frequencies of a spectrogram. Source: tf.signal.idct."""

    kind: Literal[1, 2, 3, 4] = 2
    n: Count | None = None
    norm: Norm = None

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        return scipy.fft.idct(spectrogram.array, self.kind, self.n, axis=-2, norm=self.norm)  # type: ignore[return-value]


@transform
class ComputeDeltas(Transform):
    """Compute the slope of features along the frames, by least squares over ``win_length`` of them (odd, 3 or more).

    Source: torchaudio.transforms.ComputeDeltas.
    """

    win_length: Annotated[int, Ge(3)] = 5
    mode: PadMode = "replicate"

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        reach = (self.win_length - 1) // 2
        padded, count = pad_centered(spectrogram.array, reach, self.mode), spectrogram.shape[-1]
        slope = np.zeros_like(spectrogram.array)
        for at in range(1, reach + 1):
            slope += at * (padded[..., reach + at : reach + at + count] - padded[..., reach - at : reach - at + count])
        return slope / np.asarray(reach * (reach + 1) * (2 * reach + 1) / 3, slope.dtype)


@transform
class SlidingWindowCMN(Transform):
    """Subtract the mean of a sliding window of frames from features, with ``norm_vars`` divide by their deviation.

    ``cmn_window`` frames end at the present one, or lie around it with ``center``; without it the first frames use
    ``min_cmn_window``. Source: torchaudio.transforms.SlidingWindowCmn.
    """

    cmn_window: Count = 600
    min_cmn_window: Count = 100
    center: bool = False
    norm_vars: bool = False

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        values, count = as_float(spectrogram.array), spectrogram.shape[-1]
        at = np.arange(count)
        start = at - self.cmn_window // 2 if self.center else at - self.cmn_window
        stop = start + self.cmn_window if self.center else at + 1
        stop, start = np.where(start < 0, stop - start, stop), np.maximum(start, 0)
        if not self.center:
            stop = np.where(stop > at, np.maximum(at + 1, self.min_cmn_window), stop)
        start, stop = np.where(stop > count, np.maximum(start - (stop - count), 0), start), np.minimum(stop, count)
        size = stop - start
        mean = _window_sums(values, start, stop) / size
        result = values - mean
        if self.norm_vars:
            variance = _window_sums(np.square(values, dtype="float64"), start, stop) / size - mean**2
            safe = np.where(variance > 0, variance, 1)
            result = np.where((size == 1) | (variance <= 0), 0, result / np.sqrt(safe))
        return result.astype(values.dtype)


def _window_sums(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, -1, dtype="float64")], -1)
    return sums[..., stop] - sums[..., start]
