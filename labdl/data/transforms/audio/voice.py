"""Voice in sounds: where it begins, its pitch, and its companding for telephones."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge

from labdl.data import parts
from labdl.data.sound.fourier import as_float
from labdl.data.sound.voice import VoiceTrigger, detect_pitch, voice_start
from labdl.data.transforms.audio.units import Count, Hertz, rate_of
from labdl.data.transforms.ranges import Positive
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import Amount

Channels = Annotated[int, Ge(2)]


@transform
class VAD(Transform):
    """Cut off what comes before voice; the result has no samples where there is none.

    ``trigger_level`` is the level that starts the voice, ``trigger_time`` the time (s) over which it is averaged,
    ``search_time`` how far back quieter voice is searched, with gaps up to ``allowed_gap``; ``pre_trigger_time`` is kept
    before that. Noise is measured from the first ``boot_time`` on. Reverse a sound to cut off its end.
    Source: torchaudio.transforms.Vad.
    """

    trigger_level: float = 7.0
    trigger_time: Positive = 0.25
    search_time: Positive = 1.0
    allowed_gap: Amount = 0.25
    pre_trigger_time: Amount = 0.0
    boot_time: Amount = 0.35
    noise_up_time: Positive = 0.1
    noise_down_time: Positive = 0.01
    noise_reduction_amount: Amount = 1.35
    measure_freq: Hertz = 20.0
    measure_duration: Positive | None = None
    measure_smooth_time: Positive = 0.4
    hp_filter_freq: Hertz = 50.0
    lp_filter_freq: Hertz = 6000.0
    hp_lifter_freq: Hertz = 150.0
    lp_lifter_freq: Hertz = 2000.0
    sample_rate: Count | None = None

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, rate = as_float(audio.array), rate_of(self, audio)
        settings = VoiceTrigger(**{name: getattr(self, name) for name in VoiceTrigger.__dataclass_fields__})
        try:
            start = voice_start(wave, rate, settings)
        except ValueError as error:
            raise DataError(
                f"VAD cannot be applied: {error}; choose filter and lifter frequencies that are apart"
            ) from None
        return wave[:, wave.shape[1] if start is None else start :]


@transform
class DetectPitchFrequency(Transform):
    """Measure the pitch (Hz) of each ``frame_time`` seconds: (channels, 1, frames).

    It is searched between ``freq_low`` and ``freq_high`` and smoothed by the median of ``win_length`` frames.
    Source: torchaudio.functional.detect_pitch_frequency.
    """

    frame_time: Positive = 0.01
    win_length: Count = 30
    freq_low: Hertz = 85.0
    freq_high: Hertz = 3400.0
    sample_rate: Count | None = None

    def check_settings(self) -> None:
        if not self.freq_low < self.freq_high:
            raise ConfigError(
                f"DetectPitchFrequency wants freq_low < freq_high, received {self.freq_low} and {self.freq_high}"
            )

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> parts.Spectrogram:
        rate = rate_of(self, audio)
        try:
            pitch = detect_pitch(audio.array, rate, self.frame_time, self.win_length, self.freq_low, self.freq_high)
        except ValueError as error:
            raise DataError(f"DetectPitchFrequency cannot be applied: {error}; choose a smaller win_length") from None
        return parts.Spectrogram(pitch[:, None], sample_rate=rate, hop_length=int(np.ceil(rate * self.frame_time)))


@transform
class MuLawEncoding(Transform):
    """Turn values from -1 to 1 into integers from 0 to ``quantization_channels`` - 1 in logarithmic steps, int64.

    Source: torchaudio.transforms.MuLawEncoding.
    """

    quantization_channels: Channels = 256

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, mu = as_float(audio.array), self.quantization_channels - 1
        compressed = np.sign(wave) * np.log1p(mu * np.abs(wave)) / wave.dtype.type(np.log1p(mu))
        return ((compressed + 1) / 2 * mu + wave.dtype.type(0.5)).astype("int64")


@transform
class MuLawDecoding(Transform):
    """Turn the integers of `MuLawEncoding` into values from -1 to 1, float32. Source: torchaudio.transforms.MuLawDecoding."""

    quantization_channels: Channels = 256

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        mu = self.quantization_channels - 1
        compressed = audio.array.astype("float32") / np.float32(mu) * 2 - 1
        return np.sign(compressed) * np.expm1(np.abs(compressed) * np.float32(np.log1p(mu))) / np.float32(mu)
