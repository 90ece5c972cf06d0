"""Phases of spectra: the phase vocoder, and phases for magnitudes by Griffin and Lim (semantics of torchaudio)."""

from __future__ import annotations

import numpy as np

from labdl.data.sound.fourier import istft, stft


def stretch_spectra(spectra: np.ndarray, rate: float, hop: int) -> np.ndarray:
    """Spectra (..., frequencies, frames) played ``rate`` times as fast at the same pitch.

    Magnitudes are interpolated between frames, phases go on as between neighbouring frames. Real spectra are magnitudes.
    """
    if rate == 1.0:
        return spectra
    count = spectra.shape[-1]
    steps = np.arange(0, count, rate)
    before = steps.astype(np.intp)
    after = np.minimum(before + 1, count)  # the frame after the last is silent
    share = steps - before
    magnitudes = np.concatenate(
        [np.abs(spectra), np.zeros((*spectra.shape[:-1], 1), np.abs(spectra[..., :0]).dtype)], -1
    )
    mixed = share * magnitudes[..., after] + (1 - share) * magnitudes[..., before]
    if spectra.dtype.kind != "c":
        return mixed.astype(spectra.dtype)
    angles = np.concatenate([np.angle(spectra), np.zeros((*spectra.shape[:-1], 1))], -1).astype("float64")
    advance = np.linspace(0, np.pi * hop, spectra.shape[-2])[:, None]
    change = angles[..., after] - angles[..., before] - advance
    change += advance - 2 * np.pi * np.round(change / (2 * np.pi))
    phases = np.cumsum(np.concatenate([angles[..., :1], change[..., :-1]], -1), -1)
    return (mixed * np.exp(1j * phases)).astype(spectra.dtype)


def griffin_lim(
    magnitudes: np.ndarray,
    n_fft: int,
    hop: int,
    weights: np.ndarray,
    *,
    rounds: int,
    momentum: float,
    length: int | None,
    phases: np.ndarray | None,
) -> np.ndarray:
    """A sound whose spectra have the magnitudes (..., frequencies, frames), from ``phases`` (radians; None is 0) on.

    The fast algorithm of Perraudin, Balazs and Søndergaard (2013) for a ``momentum`` above 0.
    """
    sizes = magnitudes.swapaxes(-1, -2)
    turns = (
        np.ones_like(sizes, "complex64") if phases is None else np.exp(1j * phases.swapaxes(-1, -2)).astype("complex64")
    )
    previous: np.ndarray | float = 0.0
    step = momentum / (1 + momentum)
    # a sound of another length has another number of frames, so only the result is cut or filled up
    inner = length if length is not None and 1 + length // hop == magnitudes.shape[-1] else None
    for _ in range(rounds):
        wave = istft(sizes * turns, n_fft, hop, weights, length=inner)
        rebuilt = stft(wave, n_fft, hop, weights)
        turns = rebuilt - step * previous if step else rebuilt
        turns = turns / (np.abs(turns) + 1e-16)
        previous = rebuilt
    return istft(sizes * turns, n_fft, hop, weights, length=length)
