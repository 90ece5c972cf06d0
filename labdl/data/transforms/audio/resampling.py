"""Sounds with another sampling rate, speed or pitch."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from labdl.data import parts
from labdl.data.sound.fourier import as_float
from labdl.data.sound.resampling import Method, Quality, resample
from labdl.data.sound.windows import WindowName
from labdl.data.transforms.audio.phases import stretch_wave
from labdl.data.transforms.audio.units import Count, check_window, rate_of
from labdl.data.transforms.ranges import Positive, Range, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError

Factor = Annotated[float, Ge(0.01), Le(100)]
Rolloff = Annotated[float, Gt(0), Le(1)]


@transform({"new_freq": 16_000})
class Resample(Transform):
    """Change the sampling rate to ``new_freq``; ``orig_freq`` is that of the sound if None.

    ``resampling_method`` is "soxr" (``quality`` "QQ" to "VHQ") or a windowed sinc, "sinc_interp_hann" or
    "sinc_interp_kaiser", of ``lowpass_filter_width`` zero crossings that ends at ``rolloff`` of the highest frequency.
    Source: torchaudio.transforms.Resample.
    """

    new_freq: Count
    orig_freq: Count | None = None
    resampling_method: Method = "soxr"
    quality: Quality = "HQ"
    lowpass_filter_width: Count = 6
    rolloff: Rolloff = 0.99
    beta: Positive | None = None

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Audio:
        own = audio.sample_rate
        if self.orig_freq is None and own is None:
            raise DataError(
                "Resample wants a sound of known sampling rate, received one without: write "
                f"data.Audio(…, sample_rate=…) or T.Resample({self.new_freq}, orig_freq=…)"
            )
        if self.orig_freq is not None and own is not None and own != self.orig_freq:
            raise DataError(f"Resample(orig_freq={self.orig_freq}) received a sound of {own} samples a second")
        wave = resample(
            audio.array,
            self.orig_freq or own or 0,
            self.new_freq,
            self.resampling_method,
            quality=self.quality,
            lowpass_filter_width=self.lowpass_filter_width,
            rolloff=self.rolloff,
            beta=self.beta,
        )
        return parts.Audio(wave, sample_rate=self.new_freq)


def _change_speed(audio: parts.Audio, factor: float, method: Method) -> np.ndarray:
    """The sound played faster; the rates that stand for it are whole, as torchaudio rounds them."""
    rate = audio.sample_rate or 16_000
    return resample(audio.array, int(factor * rate), rate, method)


@transform({"factor": 1.25})
class Speed(Transform):
    """Play a sound ``factor`` times as fast, so that its pitch changes too; ``factor`` may be a pair (low, high).

    ``resampling_method`` as in `Resample`. Source: torchaudio.transforms.Speed.
    """

    factor: Factor | tuple[Factor, Factor]
    resampling_method: Method = "soxr"

    def check_settings(self) -> None:
        check_order(self, "factor")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"factor": draw(self.factor, rng)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        return _change_speed(audio, params["factor"], self.resampling_method)


@transform
class SpeedPerturbation(Transform):
    """Play a sound at one of several speeds, drawn for each sample (Ko et al., 2015).

    Source: torchaudio.transforms.SpeedPerturbation.
    """

    factors: tuple[Factor, ...] = (0.9, 1.0, 1.1)
    resampling_method: Method = "soxr"

    def check_settings(self) -> None:
        if not self.factors:
            raise ConfigError("SpeedPerturbation wants one factor or more, received none")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"factor": self.factors[int(rng.integers(len(self.factors)))]}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        return _change_speed(audio, params["factor"], self.resampling_method)


@transform({"n_steps": (-2.0, 2.0)})
class PitchShift(Transform):
    """Move the pitch by ``n_steps`` of which an octave has ``bins_per_octave``, at the same length.

    ``n_steps`` may be a pair (low, high). The sound is stretched by the phase vocoder, then resampled.
    Source: torchaudio.transforms.PitchShift.
    """

    n_steps: Range
    bins_per_octave: Count = 12
    n_fft: Count = 512
    win_length: Count | None = None
    hop_length: Count | None = None
    window_fn: WindowName = "hann"
    resampling_method: Method = "soxr"
    sample_rate: Count | None = None

    def check_settings(self) -> None:
        check_order(self, "n_steps")
        check_window(self)
        steps = np.abs(self.n_steps).max()
        if steps > 5 * self.bins_per_octave:
            raise ConfigError(f"PitchShift moves by at most 5 octaves, received {self.n_steps}")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"rate": 2.0 ** (-draw(self.n_steps, rng) / self.bins_per_octave)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, rate, change = as_float(audio.array), rate_of(self, audio), params["rate"]
        stretched = stretch_wave(wave, change, self.n_fft, self.win_length, self.hop_length, self.window_fn)
        shifted = resample(stretched, int(rate / change), rate, self.resampling_method)[:, : wave.shape[1]]
        return np.pad(shifted, ((0, 0), (0, wave.shape[1] - shifted.shape[1])))
