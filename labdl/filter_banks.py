"""Filter banks of sound spectra, mel and linear, and the cosine matrix of cepstra, in NumPy (semantics of torchaudio).

The "htk" scale is that of Young et al., The HTK Book; "slaney" that of the Auditory Toolbox (Slaney, 1998), linear below
1 kHz.
"""

from __future__ import annotations

import math

import numpy as np

_LINEAR, _KNEE, _STEP = 200.0 / 3, 1000.0, math.log(6.4) / 27.0  # Hz per mel, where logarithms begin, and their step


def hz_to_mel(frequency: float, scale: str = "htk") -> float:
    """A frequency in mel."""
    if scale == "htk":
        return 2595.0 * math.log10(1.0 + frequency / 700.0)
    return frequency / _LINEAR if frequency < _KNEE else _KNEE / _LINEAR + math.log(frequency / _KNEE) / _STEP


def mel_to_hz(mels: np.ndarray, scale: str = "htk") -> np.ndarray:
    """Frequencies of mels."""
    if scale == "htk":
        return 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    return np.where(mels < _KNEE / _LINEAR, _LINEAR * mels, _KNEE * np.exp(_STEP * (mels - _KNEE / _LINEAR)))


def mel_filters(
    n_freqs: int, f_min: float, f_max: float, n_mels: int, sample_rate: float, norm: str | None, scale: str
) -> np.ndarray:
    """Triangular filters (n_freqs, n_mels), equidistant in mel; ``norm="slaney"`` gives all of them the same area."""
    corners = mel_to_hz(np.linspace(hz_to_mel(f_min, scale), hz_to_mel(f_max, scale), n_mels + 2), scale)
    filters = _triangles(corners, n_freqs, sample_rate)
    return filters * (2.0 / (corners[2:] - corners[:-2])) if norm == "slaney" else filters


def linear_filters(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: float) -> np.ndarray:
    """Triangular filters (n_freqs, n_filter), equidistant in Hz."""
    return _triangles(np.linspace(f_min, f_max, n_filter + 2), n_freqs, sample_rate)


def _triangles(corners: np.ndarray, n_freqs: int, sample_rate: float) -> np.ndarray:
    slopes = corners[None, :] - np.linspace(0, sample_rate // 2, n_freqs)[:, None]
    widths = np.diff(corners)
    return np.maximum(0.0, np.minimum(-slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]))


def cosine_matrix(count: int, size: int, norm: str | None) -> np.ndarray:
    """The discrete cosine transform of type II: (count, size)."""
    matrix = 2 * np.cos(math.pi / size * np.outer(np.arange(count), np.arange(size) + 0.5))
    if norm == "ortho":
        matrix *= math.sqrt(1 / (2 * size))
        matrix[0] *= math.sqrt(0.5)
    return matrix
