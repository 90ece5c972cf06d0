"""Filters of second order by their purpose. Each cuts its result to [-1, 1]."""

from __future__ import annotations

import numpy as np

from labdl.data import parts
from labdl.data.sound import biquads
from labdl.data.sound.recursive import filter_wave
from labdl.data.transforms.audio.units import Count, rate_of
from labdl.data.transforms.ranges import Positive, PositiveRange, Range, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError

# the setting and the parameter of a sample, in the order in which they are drawn
_DRAWN = {"gain": "gain", "central_freq": "frequency", "center_freq": "frequency", "cutoff_freq": "frequency"}


def _filter(audio: parts.Audio, coefficients: biquads.Coefficients) -> np.ndarray:
    return filter_wave(audio.array, coefficients[:3], coefficients[3:])


def _rate_above(owner: Transform, audio: parts.Audio, frequency: float) -> int:
    rate = rate_of(owner, audio)
    if 2 * frequency >= rate:
        raise DataError(
            f"{type(owner).__name__} wants a frequency below half of the sampling rate {rate}, received {frequency:g} Hz"
        )
    return rate


class _DrawnFilter(Transform):
    """A filter whose frequency, and gain, may be drawn from a range."""

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        """The coefficients b and a for a sampling rate and a frequency (Hz), and a gain (decibels) where there is one."""
        raise NotImplementedError

    def check_settings(self) -> None:
        check_order(self, *[name for name in _DRAWN if hasattr(self, name)])

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {name: draw(getattr(self, key), rng) for key, name in _DRAWN.items() if hasattr(self, key)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        rate = _rate_above(self, audio, params["frequency"])
        return _filter(audio, self.coefficients(rate, params["frequency"], params.get("gain", 0.0)))


@transform({"b0": 0.4, "b1": 0.2, "b2": -0.1, "a0": 1.2, "a1": -0.6, "a2": 0.3})
class Biquad(Transform):
    """Filter by a rational function of second order with the coefficients b of the numerator and a of the denominator.

    Source: torchaudio.functional.biquad.
    """

    b0: float
    b1: float
    b2: float
    a0: float
    a1: float
    a2: float

    def check_settings(self) -> None:
        if self.a0 == 0:
            raise ConfigError("Biquad wants an a0 other than 0, received 0")

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        return _filter(audio, (self.b0, self.b1, self.b2, self.a0, self.a1, self.a2))


@transform({"central_freq": 900.0})
class AllpassBiquad(_DrawnFilter):
    """Turn phases around a frequency (Hz) and leave magnitudes.

    The frequency may be a pair (low, high). Source: torchaudio.functional.allpass_biquad.
    """

    central_freq: PositiveRange
    Q: Positive = 0.707
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.allpass(rate, frequency, self.Q)


@transform({"central_freq": 900.0})
class BandBiquad(_DrawnFilter):
    """Keep a band around a frequency (Hz) as SoX does; ``noise`` is for sounds that are not pitched.

    The frequency may be a pair (low, high). Source: torchaudio.functional.band_biquad.
    """

    central_freq: PositiveRange
    Q: Positive = 0.707
    noise: bool = False
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.band(rate, frequency, self.Q, self.noise)


@transform({"central_freq": 900.0})
class BandpassBiquad(_DrawnFilter):
    """Keep a band around a frequency (Hz); ``const_skirt_gain`` gives the peak a gain of Q.

    The frequency may be a pair (low, high). Source: torchaudio.functional.bandpass_biquad.
    """

    central_freq: PositiveRange
    Q: Positive = 0.707
    const_skirt_gain: bool = False
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.bandpass(rate, frequency, self.Q, self.const_skirt_gain)


@transform({"central_freq": 900.0})
class BandrejectBiquad(_DrawnFilter):
    """Take out a band around a frequency (Hz).

    The frequency may be a pair (low, high). Source: torchaudio.functional.bandreject_biquad.
    """

    central_freq: PositiveRange
    Q: Positive = 0.707
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.bandreject(rate, frequency, self.Q)


@transform({"cutoff_freq": 900.0})
class HighpassBiquad(_DrawnFilter):
    """Keep frequencies above a frequency (Hz).

    The frequency may be a pair (low, high). Source: torchaudio.functional.highpass_biquad.
    """

    cutoff_freq: PositiveRange
    Q: Positive = 0.707
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.highpass(rate, frequency, self.Q)


@transform({"cutoff_freq": 900.0})
class LowpassBiquad(_DrawnFilter):
    """Keep frequencies below a frequency (Hz).

    The frequency may be a pair (low, high). Source: torchaudio.functional.lowpass_biquad.
    """

    cutoff_freq: PositiveRange
    Q: Positive = 0.707
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.lowpass(rate, frequency, self.Q)


@transform({"gain": 6.0})
class BassBiquad(_DrawnFilter):
    """Raise or lower low frequencies by ``gain`` decibels.

    The gain and the frequency (Hz) may be pairs (low, high). Source: torchaudio.functional.bass_biquad.
    """

    gain: Range
    central_freq: PositiveRange = 100.0
    Q: Positive = 0.707
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.bass(rate, frequency, self.Q, gain)


@transform({"gain": 6.0})
class TrebleBiquad(_DrawnFilter):
    """Raise or lower high frequencies by ``gain`` decibels.

    The gain and the frequency (Hz) may be pairs (low, high). Source: torchaudio.functional.treble_biquad.
    """

    gain: Range
    central_freq: PositiveRange = 3000.0
    Q: Positive = 0.707
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.treble(rate, frequency, self.Q, gain)


@transform({"center_freq": 900.0, "gain": 6.0})
class EqualizerBiquad(_DrawnFilter):
    """Raise or lower frequencies around a frequency (Hz) by ``gain`` decibels.

    The gain and the frequency (Hz) may be pairs (low, high). Source: torchaudio.functional.equalizer_biquad.
    """

    center_freq: PositiveRange
    gain: Range
    Q: Positive = 0.707
    sample_rate: Count | None = None

    def coefficients(self, rate: int, frequency: float, gain: float) -> biquads.Coefficients:
        return biquads.equalizer(rate, frequency, self.Q, gain)


@transform(
    {"sample_rate": 44_100},
)
class DeemphBiquad(Transform):
    """Undo the preemphasis of compact discs (ISO 908), for sounds of 44100 or 48000 samples a second.

    Source: torchaudio.functional.deemph_biquad.
    """

    sample_rate: Count | None = None

    def check_settings(self) -> None:
        if self.sample_rate is not None and self.sample_rate not in biquads.DEEMPHASIS:
            raise ConfigError(f"DeemphBiquad wants a sample_rate of 44100 or 48000, received {self.sample_rate}")

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        rate = rate_of(self, audio)
        if rate not in biquads.DEEMPHASIS:
            raise DataError(
                f"DeemphBiquad wants 44100 or 48000 samples a second, received {rate}: put T.Resample before it"
            )
        return _filter(audio, biquads.deemphasis(rate))


@transform(
    {"sample_rate": 44_100},
)
class RiaaBiquad(Transform):
    """Apply the playback curve of records (RIAA), for sounds of 44100, 48000, 88200 or 96000 samples a second.

    Source: torchaudio.functional.riaa_biquad.
    """

    sample_rate: Count | None = None

    def check_settings(self) -> None:
        if self.sample_rate is not None and self.sample_rate not in biquads.RIAA:
            raise ConfigError(
                f"RiaaBiquad wants a sample_rate of 44100, 48000, 88200 or 96000, received {self.sample_rate}"
            )

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        rate = rate_of(self, audio)
        if rate not in biquads.RIAA:
            raise DataError(
                f"RiaaBiquad wants 44100, 48000, 88200 or 96000 samples a second, received {rate}: put T.Resample before it"
            )
        return _filter(audio, biquads.riaa(rate))
