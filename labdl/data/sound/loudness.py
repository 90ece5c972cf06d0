"""Loudness of a sound as ears hear it (ITU-R BS.1770-4)."""

from __future__ import annotations

import math

import numpy as np

from labdl.data.sound import biquads
from labdl.data.sound.fourier import frames_of
from labdl.data.sound.recursive import filter_wave

_WEIGHTS = (1.0, 1.0, 1.0, 1.41, 1.41)  # of left, right, centre, left and right surround
_BIAS, _SILENCE = -0.691, -70.0


def measure_loudness(wave: np.ndarray, sample_rate: float) -> float:
    """Loudness in LUFS of a sound (channels, samples) of 0.4 s or more; -inf for silence."""
    treble = biquads.treble(sample_rate, 1500.0, 1 / math.sqrt(2), 4.0)
    weighted = filter_wave(wave, treble[:3], treble[3:], clamp=False)
    highpass = biquads.highpass(sample_rate, 38.0, 0.5)
    weighted = filter_wave(weighted, highpass[:3], highpass[3:], clamp=False)
    size = round(0.4 * sample_rate)
    if wave.shape[-1] < size:
        raise ValueError("the sound is shorter than 0.4 s")
    sums = np.concatenate([np.zeros((len(wave), 1)), np.cumsum(np.square(weighted, dtype="float64"), -1)], -1)
    ends = frames_of(sums, size + 1, round(size * 0.25))
    energy = (ends[..., -1] - ends[..., 0]) / size
    power = np.asarray(_WEIGHTS)[: len(energy)] @ energy
    loud = power[_decibels(power) > _SILENCE]
    if not loud.size:
        return -math.inf
    loud = loud[_decibels(loud) > _decibels(loud.mean()) - 10]
    return float(_decibels(loud.mean()))


def _decibels(power):
    return _BIAS + 10 * np.log10(np.maximum(power, 1e-30))
