"""Spectrograms of sounds and their inverse."""

from __future__ import annotations

import numpy as np

from labdl.data import parts
from labdl.data.sound.fourier import istft
from labdl.data.sound.spectra import Normalization, PadMode, frame_sizes, spectra_of
from labdl.data.sound.vocoder import griffin_lim
from labdl.data.sound.windows import WindowName, frame_window
from labdl.data.transforms.audio.units import Count, check_window, hop_of, rate_of
from labdl.data.transforms.ranges import Positive
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import Share


@transform
class Spectrogram(Transform):
    """Make a spectrogram (channels, frequencies, frames) of a sound, float32.

    ``power`` is the exponent of the absolute values (2: power, 1: magnitude, None: complex numbers). ``win_length`` is
    ``n_fft`` and ``hop_length`` half of that by default; ``pad`` zeros are added on both sides. ``normalized`` divides by
    the root of the sum of squares of the window (True, "window") or of ``n_fft`` ("frame_length").
    Source: torchaudio.transforms.Spectrogram.
    """

    n_fft: Count = 400
    win_length: Count | None = None
    hop_length: Count | None = None
    pad: int = 0
    window_fn: WindowName = "hann"
    power: Positive | None = 2.0
    normalized: Normalization = False
    center: bool = True
    pad_mode: PadMode = "reflect"
    onesided: bool = True

    def check_settings(self) -> None:
        check_window(self)
        if self.pad < 0:
            raise ConfigError(f"Spectrogram wants a pad of 0 or more, received {self.pad}")

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        spectra = spectra_of(
            audio.array,
            self.n_fft,
            self.win_length,
            self.hop_length,
            pad=self.pad,
            window_fn=self.window_fn,
            power=self.power,
            normalized=self.normalized,
            center=self.center,
            pad_mode=self.pad_mode,
            onesided=self.onesided,
        ).swapaxes(-1, -2)
        if self.power is not None:
            spectra = spectra.astype("float32", copy=False)
        return _spectrogram(spectra, audio, frame_sizes(self.n_fft, self.win_length, self.hop_length)[1])


def _spectrogram(values: np.ndarray, audio: parts.Audio, hop: int) -> parts.Spectrogram:
    return parts.Spectrogram(values, sample_rate=audio.sample_rate, hop_length=hop)


@transform
class InverseSpectrogram(Transform):
    """Make the sound of a complex spectrogram.

    ``n_fft`` is the even number that fits the frequencies, ``win_length`` is ``n_fft`` and ``hop_length`` that of the
    spectrogram by default; ``length`` is the number of samples. Source: torchaudio.transforms.InverseSpectrogram.
    """

    n_fft: Count | None = None
    win_length: Count | None = None
    hop_length: Count | None = None
    window_fn: WindowName = "hann"
    normalized: Normalization = False
    center: bool = True
    onesided: bool = True
    length: Count | None = None

    def check_settings(self) -> None:
        check_window(self)

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> parts.Audio:
        if spectrogram.dtype.kind != "c":
            raise DataError(
                "InverseSpectrogram wants complex numbers, received "
                f"{spectrogram.dtype}: write T.Spectrogram(power=None), or T.GriffinLim for magnitudes"
            )
        n_fft = _frame_of(self, spectrogram, self.onesided)
        size = self.win_length or n_fft
        weights = frame_window(self.window_fn, size, n_fft)
        spectra = spectrogram.array.swapaxes(-1, -2)
        if self.normalized:
            scale = np.sqrt(n_fft if self.normalized == "frame_length" else np.sum(weights.astype("float64") ** 2))
            spectra = spectra * scale.astype(np.real(spectra).dtype)
        hop = hop_of(self, spectrogram, size)
        wave = istft(spectra, n_fft, hop, weights, center=self.center, onesided=self.onesided, length=self.length)
        return parts.Audio(wave, sample_rate=spectrogram.sample_rate)


def _frame_of(owner: InverseSpectrogram | GriffinLim, spectrogram: parts.Spectrogram, onesided: bool = True) -> int:
    name = type(owner).__name__
    if spectrogram.ndim != 3 or 0 in spectrogram.shape:
        raise DataError(f"{name} wants a spectrogram (channels, frequencies, frames), received {spectrogram.shape}")
    rows = spectrogram.shape[-2]
    n_fft = owner.n_fft or (max(2 * (rows - 1), 1) if onesided else rows)
    if rows != (n_fft // 2 + 1 if onesided else n_fft):
        raise DataError(f"{name}(n_fft={n_fft}) received {rows} frequencies, which n_fft={2 * (rows - 1)} gives")
    if owner.win_length is not None and owner.win_length > n_fft:
        raise DataError(
            f"{name}(win_length={owner.win_length}) received a spectrogram of n_fft={n_fft}, which is smaller"
        )
    return n_fft


@transform
class GriffinLim(Transform):
    """Make a sound of a spectrogram without phases, by the fast algorithm of Griffin and Lim.

    ``power`` is the exponent of the values (2: power, 1: magnitude). ``n_fft``, ``hop_length`` and ``length`` as in
    `InverseSpectrogram`. Phases begin at random, or at 0 without ``rand_init``. Source: torchaudio.transforms.GriffinLim.
    """

    n_fft: Count | None = None
    n_iter: Count = 32
    win_length: Count | None = None
    hop_length: Count | None = None
    window_fn: WindowName = "hann"
    power: Positive = 2.0
    momentum: Share = 0.99
    length: Count | None = None
    rand_init: bool = True

    def check_settings(self) -> None:
        check_window(self)
        if self.momentum == 1:
            raise ConfigError("GriffinLim wants a momentum below 1, received 1")

    def get_params(self, rng: np.random.Generator, part: parts.Spectrogram) -> Parameters:
        return {"seed": int(rng.integers(2**63))} if self.rand_init else {}

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> parts.Audio:
        n_fft = _frame_of(self, spectrogram)
        size = self.win_length or n_fft
        phases = None
        if "seed" in params:
            phases = np.random.default_rng(params["seed"]).uniform(-np.pi, np.pi, spectrogram.shape)
        wave = griffin_lim(
            (np.abs(spectrogram.array) ** (1 / self.power)).astype("float32"),
            n_fft,
            hop_of(self, spectrogram, size),
            frame_window(self.window_fn, size, n_fft),
            rounds=self.n_iter,
            momentum=self.momentum,
            length=self.length,
            phases=phases,
        )
        return parts.Audio(wave, sample_rate=spectrogram.sample_rate)


@transform
class SpectralCentroid(Transform):
    """Measure the mean frequency (Hz) of each frame, weighted by magnitudes: (channels, 1, frames); 0 in silence.

    Source: torchaudio.transforms.SpectralCentroid.
    """

    sample_rate: Count | None = None
    n_fft: Count = 400
    win_length: Count | None = None
    hop_length: Count | None = None
    window_fn: WindowName = "hann"

    def check_settings(self) -> None:
        check_window(self)

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        rate = rate_of(self, audio)
        sizes = spectra_of(
            audio.array, self.n_fft, self.win_length, self.hop_length, window_fn=self.window_fn, power=1.0
        )
        total = sizes.sum(-1)
        weighted = sizes @ np.linspace(0, rate // 2, sizes.shape[-1]).astype(sizes.dtype)
        mean = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)
        hop = frame_sizes(self.n_fft, self.win_length, self.hop_length)[1]
        return _spectrogram(mean[:, None].astype("float32", copy=False), audio, hop)
