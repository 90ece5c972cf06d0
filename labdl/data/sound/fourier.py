"""Frames of sounds and their spectra: short-time Fourier and modified cosine transforms, and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft

from labdl.data.sound.windows import WindowName, window
from labdl.errors import DataError

_fft: Any = scipy.fft  # whose annotations are of its backends
_FLOATS = {np.dtype("float32"), np.dtype("float64")}


def as_float(wave: np.ndarray) -> np.ndarray:
    """A sound as floating-point numbers of 32 or 64 bits. Raises DataError for complex numbers."""
    if wave.dtype.kind == "c":
        raise DataError("a complex spectrogram was given where real numbers are wanted: put T.ComplexNorm before it")
    return wave if wave.dtype in _FLOATS else wave.astype("float32")


def frames_of(wave: np.ndarray, length: int, hop: int) -> np.ndarray:
    """Views of (..., samples) as (..., frames, length), a frame each ``hop`` samples; what is left over is not seen."""
    return np.lib.stride_tricks.sliding_window_view(wave, length, axis=-1)[..., ::hop, :]


def pad_centered(wave: np.ndarray, size: int, mode: str) -> np.ndarray:
    """A sound with ``size`` samples more on both sides: "constant" (zeros), "reflect", "replicate" or "circular"."""
    if size == 0:
        return wave
    samples = wave.shape[-1]
    least = {"reflect": size + 1, "circular": size, "replicate": 1}.get(mode, 0)
    if samples < least:
        raise DataError(
            f'a sound of {samples} samples is too short to be padded with {size} of its own ("{mode}"): choose a smaller '
            'n_fft, pad_mode="constant", or center=False'
        )
    padded = np.empty((*wave.shape[:-1], samples + 2 * size), wave.dtype)
    padded[..., size : size + samples] = wave
    first, last = padded[..., :size], padded[..., size + samples :]
    if mode == "reflect":
        first[...] = wave[..., size:0:-1]
        last[...] = wave[..., -2 : -size - 2 : -1]
    elif mode == "replicate":
        first[...], last[...] = wave[..., :1], wave[..., -1:]
    elif mode == "circular":
        first[...], last[...] = wave[..., samples - size :], wave[..., :size]
    else:
        first[...], last[...] = 0, 0
    return padded


def stft(
    wave: np.ndarray,
    n_fft: int,
    hop: int,
    weights: np.ndarray,
    *,
    center: bool = True,
    pad_mode: str = "reflect",
    onesided: bool = True,
) -> np.ndarray:
    """Complex spectra (..., frames, frequencies) of (..., samples); ``weights`` is a window of ``n_fft`` samples."""
    wave = as_float(wave)
    if center:
        wave = pad_centered(wave, n_fft // 2, pad_mode)
    if wave.shape[-1] < n_fft:
        raise DataError(f"a sound of {wave.shape[-1]} samples is shorter than a frame of n_fft={n_fft}: pad it")
    frames = frames_of(wave, n_fft, hop) * weights.astype(wave.dtype, copy=False)
    return _fft.rfft(frames) if onesided else _fft.fft(frames)


def istft(
    spectra: np.ndarray,
    n_fft: int,
    hop: int,
    weights: np.ndarray,
    *,
    center: bool = True,
    onesided: bool = True,
    length: int | None = None,
) -> np.ndarray:
    """The sound (..., samples) of spectra (..., frames, frequencies), by least squares (Griffin and Lim, 1984)."""
    frames = _fft.irfft(spectra, n_fft) if onesided else np.real(_fft.ifft(spectra))
    weights = weights.astype(frames.dtype, copy=False)
    wave = overlap_add(frames * weights, hop)
    envelope = overlap_add(np.broadcast_to(weights**2, frames.shape[-2:]), hop)
    start = n_fft // 2 if center else 0
    stop = wave.shape[-1] - start if length is None else min(start + length, wave.shape[-1])
    wave, envelope = wave[..., start:stop], envelope[start:stop]
    wave = np.divide(wave, envelope, out=np.zeros_like(wave), where=envelope > 1e-11)
    if length is not None and wave.shape[-1] < length:
        wave = np.concatenate([wave, np.zeros((*wave.shape[:-1], length - wave.shape[-1]), wave.dtype)], -1)
    return wave


def overlap_add(frames: np.ndarray, hop: int) -> np.ndarray:
    """The sum (..., samples) of frames (..., frames, length) that begin ``hop`` samples apart."""
    count, length = frames.shape[-2:]
    if not count:
        return np.zeros((*frames.shape[:-2], 0), frames.dtype)
    wave = np.zeros((*frames.shape[:-2], (count - 1) * hop + length), frames.dtype)
    steps = -(-length // hop)  # frames that overlap; those that are `steps` apart do not and are added at once
    if count < steps:
        for at in range(count):
            wave[..., at * hop : at * hop + length] += frames[..., at, :]
        return wave
    blocks = np.zeros((*frames.shape[:-2], count + steps - 1, hop), frames.dtype)
    for step in range(steps):
        part = frames[..., step * hop : (step + 1) * hop]
        blocks[..., step : step + count, : part.shape[-1]] += part
    flat = blocks.reshape(*frames.shape[:-2], (count + steps - 1) * hop)
    return flat[..., : wave.shape[-1]]


def mdct(wave: np.ndarray, length: int, name: WindowName | None, *, pad_end: bool, ortho: bool) -> np.ndarray:
    """Modified cosine transform (..., frames, length / 2) of (..., samples), frames half of ``length`` apart."""
    half, quarter = length // 2, length // 4
    wave = as_float(wave)
    if pad_end:
        more = (-(-wave.shape[-1] // half) - 1) * half + length - wave.shape[-1]
        wave = np.concatenate([wave, np.zeros((*wave.shape[:-1], more), wave.dtype)], -1)
    if wave.shape[-1] < length:
        raise DataError(f"a sound of {wave.shape[-1]} samples is shorter than a frame of {length}: write pad_end=True")
    frames = frames_of(wave, length, half) * _mdct_window(name, length).astype(wave.dtype)
    a, b, c, d = (frames[..., i * quarter : (i + 1) * quarter] for i in range(4))
    folded = np.concatenate([-c[..., ::-1] - d, a - b[..., ::-1]], -1)
    return _fft.dct(folded, type=4, norm="ortho" if ortho else None)


def imdct(coefficients: np.ndarray, name: WindowName | None, *, ortho: bool) -> np.ndarray:
    """The sound of a modified cosine transform (..., frames, half)."""
    half, coefficients = coefficients.shape[-1], as_float(coefficients)
    folded = _fft.dct(coefficients, type=4, norm="ortho" if ortho else None) * (1 if ortho else 0.5 / half)
    one, two = folded[..., : half // 2], folded[..., half // 2 :]
    frames = np.concatenate([two, -two[..., ::-1], -one[..., ::-1], -one], -1)
    return overlap_add(frames * _mdct_window(name, 2 * half).astype(frames.dtype), half)


def _mdct_window(name: WindowName | None, length: int) -> np.ndarray:
    return np.full(length, np.sqrt(0.5)) if name is None else window(name, length)
