"""Phases of complex spectrograms, and sounds made slower or faster at the same pitch."""

from __future__ import annotations

import numpy as np

from labdl.data import parts
from labdl.data.sound.fourier import istft, stft
from labdl.data.sound.spectra import frame_sizes, powers
from labdl.data.sound.vocoder import stretch_spectra
from labdl.data.sound.windows import WindowName, frame_window
from labdl.data.transforms.audio.units import Count, check_window
from labdl.data.transforms.ranges import Positive, PositiveRange, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform


def stretch_wave(
    wave: np.ndarray, rate: float, n_fft: int, win_length: int | None, hop_length: int | None, window_fn: WindowName
) -> np.ndarray:
    """A sound (channels, samples) played ``rate`` times as fast at the same pitch."""
    size = win_length or n_fft
    hop, weights = hop_length or max(n_fft // 4, 1), frame_window(window_fn, size, n_fft)
    spectra = stretch_spectra(stft(wave, n_fft, hop, weights).swapaxes(-1, -2), rate, hop)
    return istft(spectra.swapaxes(-1, -2), n_fft, hop, weights, length=round(wave.shape[-1] / rate))


@transform({"rate": 1.2})
class TimeStretch(Transform):
    """Play a sound, or its complex spectrogram, ``rate`` times as fast at the same pitch; lengths change.

    ``rate`` may be a pair (low, high). Values of a real spectrogram are interpolated. ``hop_length`` is that of the
    spectrogram, for sounds a quarter of ``n_fft`` by default. Source: torchaudio.transforms.TimeStretch.
    """

    rate: PositiveRange
    hop_length: Count | None = None
    n_fft: Count = 512
    win_length: Count | None = None
    window_fn: WindowName = "hann"

    def check_settings(self) -> None:
        check_order(self, "rate")
        check_window(self)

    def get_params(self, rng: np.random.Generator, part: parts.Part) -> Parameters:
        return {"rate": draw(self.rate, rng)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        if params["rate"] == 1:
            return audio
        return stretch_wave(audio.array, params["rate"], self.n_fft, self.win_length, self.hop_length, self.window_fn)

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        return stretch_spectra(spectrogram.array, params["rate"], _hop(self, spectrogram))


def _hop(owner: TimeStretch | PhaseVocoder, spectrogram: parts.Spectrogram) -> int:
    found = owner.hop_length or spectrogram.hop_length
    return found or frame_sizes(2 * (spectrogram.shape[-2] - 1), None, None)[1]


@transform({"rate": 1.2})
class PhaseVocoder(Transform):
    """Play a complex spectrogram ``rate`` times as fast at the same pitch, by the phase vocoder.

    ``hop_length`` is that of the spectrogram by default. `TimeStretch` also takes sounds.
    Source: torchaudio.functional.phase_vocoder.
    """

    rate: PositiveRange
    hop_length: Count | None = None

    def check_settings(self) -> None:
        check_order(self, "rate")

    def get_params(self, rng: np.random.Generator, part: parts.Part) -> Parameters:
        return {"rate": draw(self.rate, rng)}

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        return stretch_spectra(spectrogram.array, params["rate"], _hop(self, spectrogram))


@transform
class ComplexNorm(Transform):
    """Take the absolute values of a complex spectrogram to a power. Source: mindspore.dataset.audio.ComplexNorm."""

    power: Positive = 1.0

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        return powers(spectrogram.array, self.power)


@transform
class Angle(Transform):
    """Take the phases (radians) of a complex spectrogram. Source: mindspore.dataset.audio.Angle."""

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        return np.angle(spectrogram.array)


@transform
class MagPhase(Transform):
    """Split a complex spectrogram into a pair: absolute values to a power, and phases (radians).

    Source: mindspore.dataset.audio.Magphase.
    """

    power: Positive = 1.0

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> tuple[parts.Part, parts.Part]:
        values = spectrogram.array
        return spectrogram.like(powers(values, self.power)), spectrogram.like(np.angle(values))
