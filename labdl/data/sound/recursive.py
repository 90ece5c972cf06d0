"""Recursive filters of sounds: linear ones, and delays that are read back (flanger and phaser of SoX)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from labdl.data.sound.fourier import as_float


def filter_wave(wave: np.ndarray, b: Sequence[float], a: Sequence[float], *, clamp: bool = True) -> np.ndarray:
    """The rational filter with numerator ``b`` and denominator ``a`` along the last axis, cut to [-1, 1] if ``clamp``."""
    from scipy import signal  # imported here: it takes a second

    wave = as_float(wave)
    filtered: Any = signal.lfilter(np.asarray(b, "float64"), np.asarray(a, "float64"), wave)
    return np.clip(filtered, -1, 1).astype(wave.dtype, copy=False) if clamp else np.asarray(filtered, wave.dtype)


def oscillate(shape: str, size: int, low: float, high: float, phase: float) -> np.ndarray:
    """One period of ``size`` values from ``low`` to ``high``: "sinusoidal" or "triangular", from ``phase`` (radians) on."""
    at = (np.arange(size) + int(phase / math.pi / 2 * size + 0.5)) % size
    if shape == "sinusoidal":
        values = (np.sin(at / size * 2 * math.pi) + 1) / 2
    else:
        values, quarter = at * 2 / size, 4 * at // size
        values = np.select([quarter == 0, quarter == 3], [values + 0.5, values - 1.5], 1.5 - values)
    return values * (high - low) + low


def _block_size(delays: np.ndarray, start: int, more: int) -> int:
    """The number of samples from ``start`` on that depend only on samples before them."""
    size = int(delays[start]) + more
    return max(1, min(size, int(delays[start : start + size].min()) + more))


def phase_shift(wave: np.ndarray, delays: np.ndarray, gain_in: float, decay: float) -> np.ndarray:
    """``y[i] = gain_in * x[i] + decay * y[i - delays[i]]`` of (channels, samples); delays are 1 or more."""
    longest = int(delays.max(initial=1))
    output = np.zeros((wave.shape[0], longest + wave.shape[1]), wave.dtype)
    inside = output[:, longest:]
    np.multiply(wave, gain_in, out=inside)
    start = 0
    while start < wave.shape[1]:
        stop = min(start + _block_size(delays, start, 0), wave.shape[1])
        inside[:, start:stop] += decay * output[:, np.arange(start, stop) + longest - delays[start:stop]]
        start = stop
    return inside


def delay_line(wave: np.ndarray, delays: np.ndarray, feedback: float, quadratic: bool) -> np.ndarray:
    """A sound (channels, samples) delayed by ``delays`` of the same shape, between samples by interpolation.

    ``feedback`` times the delayed sound enters the delay line again.
    """
    if not wave.size:
        return wave
    whole = np.floor(delays).astype(np.int64)
    share = (delays - whole).astype(wave.dtype)
    least = whole.min(0)
    longest = int(whole.max(initial=0)) + 2
    channels, samples = wave.shape
    line = np.zeros((channels, longest + samples), wave.dtype)
    line[:, longest:] = wave
    delayed = np.empty_like(wave)
    rows = np.arange(channels)[:, None]
    start = 0
    while start < samples:
        stop = samples if feedback == 0 else min(start + _block_size(least, start, 1), samples)
        at = np.arange(start, stop) + longest - whole[:, start:stop]
        near, far, between = line[rows, at], line[rows, at - 1], share[:, start:stop]
        if quadratic:
            last = line[rows, at - 2] - near
            step = far - near
            found = near + ((last * 0.5 - step) * between + (step * 2 - last * 0.5)) * between
        else:
            found = near + (far - near) * between
        delayed[:, start:stop] = found
        if feedback:
            end = min(stop + 1, samples)
            line[:, longest + start + 1 : longest + end] += feedback * found[:, : end - start - 1]
        start = stop
    return delayed
