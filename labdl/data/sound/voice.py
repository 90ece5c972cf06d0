"""Voice in a sound: where it begins (the detector of SoX), and its pitch (semantics of torchaudio)."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from labdl.data.sound.fourier import frames_of
from labdl.data.sound.windows import window


@dataclasses.dataclass(frozen=True)
class VoiceTrigger:
    """Settings of the detector, in seconds and Hz."""

    trigger_level: float = 7.0
    trigger_time: float = 0.25
    search_time: float = 1.0
    allowed_gap: float = 0.25
    pre_trigger_time: float = 0.0
    boot_time: float = 0.35
    noise_up_time: float = 0.1
    noise_down_time: float = 0.01
    noise_reduction_amount: float = 1.35
    measure_freq: float = 20.0
    measure_duration: float | None = None
    measure_smooth_time: float = 0.4
    hp_filter_freq: float = 50.0
    lp_filter_freq: float = 6000.0
    hp_lifter_freq: float = 150.0
    lp_lifter_freq: float = 2000.0


def voice_start(wave: np.ndarray, rate: float, settings: VoiceTrigger) -> int | None:
    """The sample of (channels, samples) at which voice begins, in a channel at least; None if there is none.

    Raises ValueError for lifter frequencies between which there is no coefficient at this sampling rate.
    """
    s = settings
    duration = 2.0 / s.measure_freq if s.measure_duration is None else s.measure_duration
    length, period = int(rate * duration + 0.5), int(rate / s.measure_freq + 0.5)
    count, gap = math.ceil(s.search_time * s.measure_freq), int(s.allowed_gap * s.measure_freq + 0.5)
    kept = int(s.pre_trigger_time * rate + 0.5) + count * period + length
    meter = _Meter(wave.shape[0], rate, length, s)
    keep = math.exp(-1.0 / (s.trigger_time * s.measure_freq))
    measures, mean = np.zeros((wave.shape[0], count)), np.zeros(wave.shape[0])
    for turn, at in enumerate(range(length, wave.shape[1], period)):
        levels = meter.measure(wave[:, at - length : at])
        measures[:, turn % count] = levels
        mean = mean * keep + levels * (1 - keep)
        over = mean >= s.trigger_level
        if over.any():
            flushed = 0
            for row in measures[over]:
                flushed = min(max(flushed, _quiet(row, turn % count, s.trigger_level, gap)), count)
            return max(0, at - kept + (count - flushed) * period)
    return None


def _quiet(measures: np.ndarray, newest: int, level: float, gap: int) -> int:
    """The number of measures before the newest that belong to the voice, gaps between them allowed."""
    count = len(measures)
    last = silent = count
    for back in range(count):
        value = measures[(newest - back) % count]
        if value >= level and back <= last + gap:
            silent = last = back
        elif value == 0 and last >= silent:
            silent = back
    return min(count - 1, silent)


class _Meter:
    """Cepstral power of one measure after the other, the spectrum of the noise taken off."""

    def __init__(self, channels: int, rate: float, length: int, settings: VoiceTrigger) -> None:
        s = settings
        self.size = 16
        while self.size < length:
            self.size *= 2
        self.weights = window("hann", length) * 2 / math.sqrt(length)
        first = max(int(s.hp_filter_freq / rate * self.size + 0.5), 1)
        last = min(int(s.lp_filter_freq / rate * self.size + 0.5), self.size // 2)
        self.bins = slice(first, last)
        low, high = math.ceil(rate * 0.5 / s.lp_lifter_freq), math.floor(rate * 0.5 / s.hp_lifter_freq)
        self.lifter = slice(low, min(high, self.size // 4))
        if last <= first or self.lifter.stop <= self.lifter.start:
            raise ValueError(f"no frequencies are between the filters at {rate:g} Hz")
        self.cepstrum_weights = window("hann", last - first) * 2 / math.sqrt(last - first)
        self.up, self.down, self.smooth = (
            math.exp(-1.0 / (time * s.measure_freq))
            for time in (s.noise_up_time, s.noise_down_time, s.measure_smooth_time)
        )
        self.reduction = s.noise_reduction_amount
        self.boots, self.turn = int(s.boot_time * s.measure_freq - 0.5), 0
        self.spectrum, self.noise = np.zeros((2, channels, last - first))

    def measure(self, samples: np.ndarray) -> np.ndarray:
        booting = self.turn <= self.boots
        keep = self.turn / (1.0 + self.turn) if booting else self.smooth
        self.turn += 1
        found = np.abs(np.fft.rfft(samples * self.weights, self.size))[:, self.bins]
        self.spectrum = self.spectrum * keep + found * (1 - keep)
        power = self.spectrum**2
        rate = 0.0 if booting else np.where(power > self.noise, self.up, self.down)
        self.noise = self.noise * rate + power * (1 - rate)
        clean = np.sqrt(np.maximum(0, power - self.reduction * self.noise)) * self.cepstrum_weights
        padded = np.zeros((len(samples), self.size // 2))
        padded[:, self.bins] = clean
        cepstrum = np.abs(np.fft.rfft(padded))[:, self.lifter]
        total = np.sum(cepstrum**2, -1) / (self.lifter.stop - self.lifter.start)
        with np.errstate(divide="ignore"):
            return np.maximum(0, 21 + np.log(total))


def detect_pitch(
    wave: np.ndarray, rate: float, frame_time: float, win_length: int, freq_low: float, freq_high: float
) -> np.ndarray:
    """Pitch (channels, frames) in Hz: the lag of the best normalized cross-correlation, smoothed by a median.

    Raises ValueError for a sound of too few frames.
    """
    lags, size = math.ceil(rate / freq_low), math.ceil(rate * frame_time)
    count = -(-wave.shape[-1] // size)
    before = (win_length - 1) // 2
    if count <= before or count + before < win_length:
        raise ValueError(f"the sound has {count} frames, fewer than the median needs")
    padded = np.pad(wave.astype("float64"), ((0, 0), (0, lags + count * size - wave.shape[-1])))
    near = padded[:, : count * size].reshape(-1, count, size)
    energy = np.concatenate([np.zeros((len(wave), 1)), np.cumsum(padded**2, -1)], -1)
    starts = np.arange(count) * size
    power = energy[:, starts + size] - energy[:, starts]
    least = math.ceil(rate / freq_high)
    best = np.empty((len(wave), count, lags))
    for lag in range(1, lags + 1):
        far = padded[:, lag : lag + count * size].reshape(-1, count, size)
        other = energy[:, starts + size + lag] - energy[:, starts + lag]
        sizes = (1e-9 + _root(power)) ** 2 * (1e-9 + _root(other)) ** 2
        best[..., lag - 1] = np.einsum("cfs,cfs->cf", near, far) / sizes
    whole = best[..., least:]
    half = best[..., least : lags // 2]
    at = whole.argmax(-1)
    if half.shape[-1]:
        shorter = half.max(-1) > 0.99 * whole.max(-1)
        at = np.where(shorter, half.argmax(-1), at)
    at = at + least + 1
    at = np.concatenate([np.repeat(at[:, :1], before, -1), at], -1)
    ordered = np.sort(frames_of(at, win_length, 1), -1)[..., (win_length - 1) // 2]
    return (rate / ordered).astype("float32")


def _root(power: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(power, 0))  # differences of sums may be a little below 0
