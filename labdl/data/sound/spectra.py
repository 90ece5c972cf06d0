"""Spectra of sounds as magnitudes or powers, in Hz, in mel, and their levels in decibels (semantics of torchaudio)."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from labdl.data.sound.fourier import pad_centered, stft
from labdl.data.sound.windows import WindowName, frame_window
from labdl.filter_banks import cosine_matrix, linear_filters, mel_filters

PadMode = Literal["reflect", "constant", "replicate", "circular"]
Normalization = bool | Literal["window", "frame_length"]


def spectra_of(
    wave: np.ndarray,
    n_fft: int,
    win_length: int | None = None,
    hop_length: int | None = None,
    *,
    pad: int = 0,
    window_fn: WindowName = "hann",
    power: float | None = 2.0,
    normalized: Normalization = False,
    center: bool = True,
    pad_mode: PadMode = "reflect",
    onesided: bool = True,
) -> np.ndarray:
    """Spectra (..., frames, frequencies) of a sound (..., samples): absolute values to a power, complex if that is None."""
    size, hop = frame_sizes(n_fft, win_length, hop_length)
    weights = frame_window(window_fn, size, n_fft)
    spectra = stft(
        pad_centered(wave, pad, "constant"), n_fft, hop, weights, center=center, pad_mode=pad_mode, onesided=onesided
    )
    if normalized:
        spectra /= np.sqrt(n_fft if normalized == "frame_length" else np.sum(weights.astype("float64") ** 2)).astype(
            np.real(spectra).dtype
        )
    return spectra if power is None else powers(spectra, power)


def powers(spectra: np.ndarray, power: float) -> np.ndarray:
    """The absolute values of spectra to a power."""
    if power == 2 and spectra.dtype.kind == "c":
        return np.square(np.real(spectra)) + np.square(np.imag(spectra))
    sizes = np.abs(spectra)
    return sizes if power == 1 else sizes**power


def frame_sizes(n_fft: int, win_length: int | None, hop_length: int | None) -> tuple[int, int]:
    """Length of the window (default: ``n_fft``) and of the hop (default: half of the window)."""
    size = win_length or n_fft
    return size, hop_length or max(size // 2, 1)


def apply_filters(filters: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """Powers (..., frames, frequencies) in filters (count, frequencies): (..., count, frames), float32."""
    return filters @ powers.astype("float32", copy=False).swapaxes(-1, -2)


@functools.lru_cache(64)
def mel_bank(
    n_freqs: int, f_min: float, f_max: float | None, n_mels: int, sample_rate: float, norm: str | None, scale: str
) -> np.ndarray:
    """Mel filters (n_mels, n_freqs), float32, not to be written to; ``f_max`` is half of the sampling rate if None."""
    top = float(sample_rate // 2) if f_max is None else f_max
    return _frozen(mel_filters(n_freqs, f_min, top, n_mels, sample_rate, norm, scale).T)


@functools.lru_cache(64)
def linear_bank(n_freqs: int, f_min: float, f_max: float | None, n_filter: int, sample_rate: float) -> np.ndarray:
    """Linear filters (n_filter, n_freqs), float32, not to be written to."""
    top = float(sample_rate // 2) if f_max is None else f_max
    return _frozen(linear_filters(n_freqs, f_min, top, n_filter, sample_rate).T)


@functools.lru_cache(64)
def cepstrum_matrix(count: int, size: int, norm: str | None) -> np.ndarray:
    """The discrete cosine transform (count, size), float32, not to be written to."""
    return _frozen(cosine_matrix(count, size, norm))


def _frozen(matrix: np.ndarray) -> np.ndarray:
    matrix = np.ascontiguousarray(matrix, "float32")
    matrix.flags.writeable = False
    return matrix


def decibels(
    values: np.ndarray, multiplier: float = 10.0, *, amin: float = 1e-10, ref: float = 1.0, top_db: float | None = None
) -> np.ndarray:
    """``multiplier * log10(values / ref)``; at most ``top_db`` below the largest of the sample."""
    levels = np.log10(np.maximum(values, np.asarray(amin, values.dtype)))
    levels *= multiplier
    if ref != 1.0:
        levels -= multiplier * np.log10(max(amin, ref))
    if top_db is not None and levels.size:
        np.maximum(levels, levels.max() - np.asarray(top_db, levels.dtype), out=levels)
    return levels
