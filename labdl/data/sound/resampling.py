"""Change of the sampling rate: by soxr, or by the windowed sinc of torchaudio."""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
import soxr

from labdl.data.sound.fourier import as_float
from labdl.errors import ConfigError

Method = Literal["soxr", "sinc_interp_hann", "sinc_interp_kaiser"]
Quality = Literal["VHQ", "HQ", "MQ", "LQ", "QQ"]

KAISER_BETA = 14.769656459379492
_MOST_WEIGHTS = 2**25  # 128 MiB


def resample(
    wave: np.ndarray,
    source: float,
    target: float,
    method: Method = "soxr",
    *,
    quality: Quality = "HQ",
    lowpass_filter_width: int = 6,
    rolloff: float = 0.99,
    beta: float | None = None,
) -> np.ndarray:
    """A sound (channels, samples) of ``source`` samples a second with ``target`` samples a second.

    ``quality`` is of soxr; the other settings are of the sinc methods, which want whole numbers of samples a second.
    """
    wave = as_float(wave)
    if source == target or not wave.size:
        return wave
    if method == "soxr":
        return np.ascontiguousarray(soxr.resample(wave.T, source, target, quality).T)
    if source != int(source) or target != int(target):
        raise ConfigError(
            f'"{method}" wants whole sampling rates, received {source} and {target}: choose method "soxr"'
        )
    divisor = math.gcd(int(source), int(target))
    step, phases = int(source) // divisor, int(target) // divisor
    kaiser = None if method == "sinc_interp_hann" else (KAISER_BETA if beta is None else beta)
    first, weights = _sinc_weights(step, phases, lowpass_filter_width, rolloff, kaiser)
    count, taps = -(-wave.shape[-1] * phases // step), weights.shape[1]
    at = np.arange(count)
    start = at // phases * step + first[at % phases]
    before = int(-first.min())
    after = max(0, int(start[-1]) + taps - wave.shape[-1]) if count else 0
    padded = np.pad(wave, ((0, 0), (before, after)))
    result = np.zeros((wave.shape[0], count), wave.dtype)
    weights = weights.astype(wave.dtype)
    start += before
    phase = at % phases
    for tap in range(taps):
        result += padded[:, start + tap] * weights[phase, tap]
    return result


@functools.lru_cache(8)
def _sinc_weights(
    step: int, phases: int, width: int, rolloff: float, beta: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """For each of the outputs between two inputs `step` apart: the first input that counts, and the weights from it on."""
    cutoff = min(step, phases) * rolloff
    reach = math.ceil(width * step / cutoff)
    taps = 2 * reach + 2
    if phases * taps > _MOST_WEIGHTS:
        raise ConfigError(
            f"the sinc filter from {step} to {phases} samples has {phases * taps:,} weights, at most {_MOST_WEIGHTS:,} are "
            'held: choose method "soxr"'
        )
    exact = np.arange(phases) * step / phases
    first = np.floor(exact).astype(np.int64) - reach
    at = (first[:, None] + np.arange(taps) - exact[:, None]) / step * cutoff
    clipped = np.clip(at, -width, width)
    if beta is None:
        shape = np.cos(clipped * np.pi / width / 2) ** 2
    else:
        shape = np.i0(beta * np.sqrt(1 - (clipped / width) ** 2)) / np.i0(beta)
    weights = np.sinc(clipped) * shape * cutoff / step
    weights[np.abs(at) > width] = 0
    return first, weights.astype("float32")
