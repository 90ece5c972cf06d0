"""Windows of spectra by name, periodic as spectra want them (semantics of torch and tf.signal)."""

from __future__ import annotations

import functools
from typing import Literal, get_args

import numpy as np

WindowName = Literal[
    "hann",
    "hamming",
    "blackman",
    "nuttall",
    "blackman_harris",
    "bartlett",
    "cosine",
    "kaiser",
    "vorbis",
    "kaiser_bessel_derived",
    "rectangular",
]
WINDOWS: tuple[str, ...] = get_args(WindowName)

# coefficients of cosines with alternating signs
_COSINES = {
    "hann": (0.5, 0.5),
    "hamming": (0.54, 0.46),
    "blackman": (0.42, 0.5, 0.08),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "blackman_harris": (0.35875, 0.48829, 0.14128, 0.01168),
    "rectangular": (1.0,),
}


def window(name: WindowName, size: int, *, beta: float = 12.0) -> np.ndarray:
    """A window of ``size`` samples, float64. ``beta`` is the shape of "kaiser" and "kaiser_bessel_derived".

    "vorbis" and "kaiser_bessel_derived" are those of the modified cosine transform and symmetric; the latter wants an even
    size.
    """
    if size == 1:
        return np.ones(1)
    at = np.arange(size)
    if name in _COSINES:
        terms = [(-1) ** k * c * np.cos(2 * np.pi * k * at / size) for k, c in enumerate(_COSINES[name])]
        return np.sum(terms, 0)
    if name == "bartlett":
        return 1 - np.abs(2 * at / size - 1)
    if name == "cosine":
        return np.sin(np.pi * (at + 0.5) / (size + 1))
    if name == "vorbis":
        return np.sin(np.pi / 2 * np.sin(np.pi * (at + 0.5) / size) ** 2)
    if name == "kaiser":
        return np.kaiser(size + 1, beta)[:-1]
    half = np.cumsum(np.kaiser(size // 2 + 1, beta))
    rising = np.sqrt(half[:-1] / half[-1])
    return np.concatenate([rising, rising[::-1]])


@functools.lru_cache(64)
def frame_window(name: WindowName, size: int, n_fft: int) -> np.ndarray:
    """A window of ``size`` in the middle of zeros, ``n_fft`` samples together; float32, not to be written to."""
    before = (n_fft - size) // 2
    padded = np.pad(window(name, size), (before, n_fft - size - before)).astype("float32")
    padded.flags.writeable = False
    return padded
