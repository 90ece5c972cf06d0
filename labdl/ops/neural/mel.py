"""Mel scale: filters, spectrograms and cepstral coefficients of sound (semantics of torchaudio)."""

from __future__ import annotations

import builtins

import numpy as np

from labdl.dispatch import spec_of
from labdl.filter_banks import cosine_matrix, mel_filters
from labdl.ops import costs, rules
from labdl.ops.array.creation import tensor
from labdl.ops.array.shape import pad
from labdl.ops.math.arithmetic import add, divide, log, log10, maximum, multiply, pow, square, subtract
from labdl.ops.math.comparison import equal, where
from labdl.ops.math.complex_numbers import imag, real
from labdl.ops.math.fourier import stft
from labdl.ops.math.products import matmul
from labdl.ops.math.reduction import max as largest
from labdl.ops.math.reduction import sum
from labdl.ops.neural.linear import tensor_like
from labdl.ops.operator import Choice, Number, case, floats, operator

_SIZE, _POSITIVE, _NORM = Number(1, integer=True), Number(0, above=True), Choice(None, "slaney")
_OPTIONS = {
    "sample_rate": _POSITIVE,
    "win_length": _SIZE,
    "f_min": Number(0),
    "f_max": _POSITIVE,
    "n_mels": _SIZE,
    "pad_mode": Choice("constant", "reflect", "replicate", "circular"),
    "mel_scale": Choice("htk", "slaney"),
}


def mel_filterbank(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: float,
    norm: str | None = None,
    mel_scale: str = "htk",
    dtype: str = "float32",
    backend: str | None = None,
):
    """Triangular filters (n_freqs, n_mels), equidistant on the mel scale from ``f_min`` to ``f_max`` (Hz).

    Rows are the frequencies from 0 to ``sample_rate / 2``. ``mel_scale`` is "htk" or "slaney"; ``norm="slaney"`` gives all
    filters the same area. Semantics: torchaudio.functional.melscale_fbanks.
    """
    rules.check_mel(n_mels, sample_rate, f_min, f_max, norm, mel_scale)
    return tensor(mel_filters(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_scale), dtype, backend)


@operator(
    rules.mel_spectrogram,
    case(floats(2, 60), 8000, n_fft=32, n_mels=6),
    case(floats(50), 8000, 24, 16, 8, floats(16, low=0.2), n_mels=4, power=1.0, norm="slaney", mel_scale="slaney"),
    case(floats(2, 1, 40), 4000.0, n_fft=16, f_min=100.0, f_max=1500.0, n_mels=3, center=False, normalized=True),
    takes=("float32", "float64"),
    composite=True,
    checked=True,
    cost=costs.mel_spectrogram,
    precision="float32",
    without_onnx="complex numbers",
    options={**_OPTIONS, "power": _POSITIVE, "norm": _NORM},
)
def mel_spectrogram(
    x,
    sample_rate=16000,
    n_fft=400,
    win_length=None,
    hop_length=None,
    window=None,
    *,
    f_min=0.0,
    f_max=None,
    n_mels=128,
    power=2.0,
    normalized=False,
    center=True,
    pad_mode="reflect",
    norm=None,
    mel_scale="htk",
):
    """Power of a sound (..., time) in mel filters: (..., n_mels, frames).

    Frames of ``win_length`` (default ``n_fft``) elements start ``hop_length`` (default half of that) apart and are multiplied
    with ``window`` (default: `hann_window`), padded with zeros to ``n_fft``; ``center`` and ``pad_mode`` as in `stft`.
    ``power`` is the exponent of the absolute values; ``normalized`` divides them by the root of the sum of the squares
    of the window. ``f_min`` to ``f_max`` (default half of ``sample_rate``), ``n_mels``, ``norm`` and ``mel_scale`` as in
    `mel_filterbank`. Semantics: torchaudio.transforms.MelSpectrogram.
    """
    size, hop = rules.mel_frames(n_fft, win_length, hop_length, None if window is None else spec_of(window))
    window = tensor_like(x, np.hanning(size + 1)[:-1] if size > 1 else np.ones(1)) if window is None else window
    before = (n_fft - size) // 2
    if size < n_fft:
        window = pad(window, ((before, n_fft - size - before),))
    spectra = stft(x, n_fft, hop, window, center=center, pad_mode=pad_mode)
    energy = add(square(real(spectra)), square(imag(spectra)))
    energy = divide(energy, sum(square(window))) if normalized else energy
    f_max = float(sample_rate // 2) if f_max is None else f_max
    filters = mel_filters(n_fft // 2 + 1, f_min, f_max, n_mels, sample_rate, norm, mel_scale)
    return matmul(tensor_like(x, filters.T), energy if power == 2 else _root(energy, power / 2))


def _root(energy, exponent):
    """A power whose gradient at 0 is 0, not infinite."""
    nothing = equal(energy, 0)
    return where(nothing, 0.0, pow(where(nothing, 1.0, energy), exponent))


@operator(
    rules.mfcc,
    case(floats(2, 60), 8000, 4, n_fft=32, n_mels=6),
    case(floats(2, 1, 50), 8000, 3, n_fft=24, hop_length=8, n_mels=5, norm=None, log_mels=True),
    case(floats(3, 2, 40), 8000, 3, n_fft=16, n_mels=5, mel_norm="slaney", mel_scale="slaney", f_max=3000.0),
    takes=("float32", "float64"),
    composite=True,
    checked=True,
    cost=costs.mfcc,
    precision="float32",
    without_onnx="complex numbers",
    options={**_OPTIONS, "n_mfcc": _SIZE, "norm": Choice(None, "ortho"), "mel_norm": _NORM},
)
def mfcc(
    x,
    sample_rate=16000,
    n_mfcc=40,
    n_fft=400,
    win_length=None,
    hop_length=None,
    *,
    norm="ortho",
    log_mels=False,
    f_min=0.0,
    f_max=None,
    n_mels=128,
    mel_norm=None,
    mel_scale="htk",
    center=True,
    pad_mode="reflect",
):
    """Mel-frequency cepstral coefficients of a sound (..., time): (..., n_mfcc, frames).

    The discrete cosine transform (type II, orthonormal with ``norm="ortho"``) of the `mel_spectrogram` in decibels, cut at
    80 below the largest of a sample and its channels: the axis before time, so sounds (N, time) are one sample. With
    ``log_mels`` of its natural logarithm. ``mel_norm`` is the ``norm`` of the filters.
    Semantics: torchaudio.transforms.MFCC.
    """
    energy = mel_spectrogram(
        x,
        sample_rate,
        n_fft,
        win_length,
        hop_length,
        f_min=f_min,
        f_max=f_max,
        n_mels=n_mels,
        center=center,
        pad_mode=pad_mode,
        norm=mel_norm,
        mel_scale=mel_scale,
    )
    levels = log(add(energy, 1e-6)) if log_mels else _decibels(energy)
    return matmul(tensor_like(x, cosine_matrix(n_mfcc, n_mels, norm)), levels)


def _decibels(energy, range=80.0):
    levels = multiply(log10(maximum(energy, 1e-10)), 10.0)
    axes = tuple(builtins.range(-builtins.min(spec_of(energy).ndim, 3), 0))
    return maximum(levels, subtract(largest(levels, axis=axes, keepdims=True), range))
