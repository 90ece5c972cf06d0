"""Levels of sounds and spectrograms: gain, volume, fades, loudness, decibels."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from labdl.data import parts
from labdl.data.sound.fourier import as_float
from labdl.data.sound.loudness import measure_loudness
from labdl.data.sound.spectra import decibels
from labdl.data.transforms.audio.units import Count, rate_of
from labdl.data.transforms.ranges import Positive, Range, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import Amount

_SHAPES = {
    "linear": lambda share: share,
    "exponential": lambda share: np.exp2(share - 1) * share,
    "logarithmic": lambda share: np.log10(0.1 + share) + 1,
    "quarter_sine": lambda share: np.sin(share * math.pi / 2),
    "half_sine": lambda share: np.sin(share * math.pi - math.pi / 2) / 2 + 0.5,
}


@transform
class Gain(Transform):
    """Multiply by ``gain_db`` decibels, or by decibels between a pair (low, high). Source: torchaudio.functional.gain."""

    gain_db: Range = 1.0

    def check_settings(self) -> None:
        check_order(self, "gain_db")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"factor": 10 ** (draw(self.gain_db, rng) / 20)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave = as_float(audio.array)
        return wave * wave.dtype.type(params["factor"])


@transform({"gain": 0.5})
class Vol(Transform):
    """Multiply by a factor of amplitudes, of power, or by decibels, and cut to [-1, 1]; ``gain`` may be a pair (low, high).

    Source: torchaudio.transforms.Vol.
    """

    gain: Range
    gain_type: Literal["amplitude", "power", "db"] = "amplitude"

    def check_settings(self) -> None:
        check_order(self, "gain")
        least = min(self.gain) if isinstance(self.gain, tuple) else self.gain
        if self.gain_type != "db" and (least < 0 or (least == 0 and self.gain_type == "power")):
            raise ConfigError(f'Vol wants a gain above 0 unless its gain_type is "db", received {self.gain}')

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        gain = draw(self.gain, rng)
        factors = {"amplitude": lambda: gain, "power": lambda: math.sqrt(gain), "db": lambda: 10 ** (gain / 20)}
        return {"factor": factors[self.gain_type]()}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave = as_float(audio.array)
        return np.clip(wave * wave.dtype.type(params["factor"]), -1, 1)


@transform({"fade_in_len": 400, "fade_out_len": 400})
class Fade(Transform):
    """Fade a sound in over its first samples and out over its last. Source: torchaudio.transforms.Fade."""

    fade_in_len: Annotated[int, Ge(0)] = 0
    fade_out_len: Annotated[int, Ge(0)] = 0
    fade_shape: Literal["linear", "exponential", "logarithmic", "quarter_sine", "half_sine"] = "linear"

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        result = as_float(audio.array).copy()
        samples = result.shape[1]
        if max(self.fade_in_len, self.fade_out_len) > samples:
            raise DataError(
                f"Fade wants a sound of {max(self.fade_in_len, self.fade_out_len)} samples or more, received {samples}"
            )
        shape = _SHAPES[self.fade_shape]
        result[:, : self.fade_in_len] *= np.clip(shape(np.linspace(0, 1, self.fade_in_len)), 0, 1)
        result[:, samples - self.fade_out_len :] *= np.clip(shape(np.linspace(1, 0, self.fade_out_len)), 0, 1)
        return result


@transform
class Loudness(Transform):
    """Multiply so that the loudness (ITU-R BS.1770-4) is ``target`` LUFS, or one between a pair (low, high).

    Silence stays as it is. The sound has 0.4 s or more; the result may leave [-1, 1].
    Source: torchaudio.transforms.Loudness, which measures it.
    """

    target: Range = -23.0
    sample_rate: Count | None = None

    def check_settings(self) -> None:
        check_order(self, "target")

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"target": draw(self.target, rng)}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, rate = as_float(audio.array), rate_of(self, audio)
        if len(wave) > 5:
            raise DataError(f"Loudness wants at most 5 channels, received {len(wave)}")
        if wave.shape[1] < round(0.4 * rate):
            raise DataError(f"Loudness wants a sound of 0.4 s or more, received {wave.shape[1] / rate:.3f} s")
        loudness = measure_loudness(wave, rate)
        return wave if loudness == -math.inf else wave * wave.dtype.type(10 ** ((params["target"] - loudness) / 20))


@transform
class AmplitudeToDB(Transform):
    """Turn a spectrogram of powers or magnitudes into decibels, at most ``top_db`` below the largest of the sample.

    Source: torchaudio.transforms.AmplitudeToDB.
    """

    stype: Literal["power", "magnitude"] = "power"
    top_db: Amount | None = None
    amin: Positive = 1e-10
    ref: Positive = 1.0

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        if spectrogram.dtype.kind == "c":
            raise DataError(
                "AmplitudeToDB wants powers or magnitudes, received complex numbers: put T.ComplexNorm before it"
            )
        multiplier = 10.0 if self.stype == "power" else 20.0
        return decibels(spectrogram.array, multiplier, amin=self.amin, ref=self.ref, top_db=self.top_db)


@transform
class DBToAmplitude(Transform):
    """Turn decibels into ``ref`` times powers (``power`` 1) or magnitudes (``power`` 0.5).

    Source: torchaudio.functional.DB_to_amplitude.
    """

    ref: Positive = 1.0
    power: Positive = 1.0

    def apply_to_spectrogram(self, spectrogram: parts.Spectrogram, params: Parameters) -> np.ndarray:
        values = as_float(spectrogram.array)
        return values.dtype.type(self.ref) * np.power(
            values.dtype.type(10), values * values.dtype.type(0.1 * self.power)
        )
