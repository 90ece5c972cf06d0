"""Powers of the frames of a sound, by the settings that mel spectrograms and cepstra share."""

from __future__ import annotations

from typing import Any

import numpy as np

from labdl.data import parts
from labdl.data.sound.spectra import Normalization, frame_sizes, spectra_of
from labdl.data.transforms.audio.units import check_band_of, rate_of


def powers_of(
    owner: Any, audio: parts.Audio, *, power: float = 2.0, normalized: Normalization = False
) -> tuple[np.ndarray, int, int]:
    """Powers (channels, frames, frequencies) of a sound, its sampling rate, and the samples from frame to frame.

    ``owner`` is a transform with the settings of `Spectrogram`, and a band of frequencies, which is checked for the rate.
    """
    rate = rate_of(owner, audio)
    check_band_of(owner, rate)
    powers = spectra_of(
        audio.array,
        owner.n_fft,
        owner.win_length,
        owner.hop_length,
        window_fn=owner.window_fn,
        power=power,
        normalized=normalized,
        center=owner.center,
        pad_mode=owner.pad_mode,
    )
    return powers, rate, frame_sizes(owner.n_fft, owner.win_length, owner.hop_length)[1]
