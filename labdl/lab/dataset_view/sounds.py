"""Sounds of a data set as waveforms, mel spectrograms and WAV."""

from __future__ import annotations

import numpy as np

from labdl.data.parts import Audio

SECTIONS = 400
_MEL_SECONDS = 60  # of a sound that are drawn as a spectrogram
_RATE = 16_000  # where the sampling rate is unknown
_FRAMES, _MELS = 256, 64


def waveform(audio: np.ndarray) -> list[tuple[float, float]]:
    """Least and greatest value of equal sections, at most 400, of the mean of the channels."""
    wave = audio.mean(0) if audio.ndim == 2 else audio
    if not wave.size:
        return []
    wave = np.clip(np.nan_to_num(wave), -1, 1)
    starts = np.linspace(0, len(wave), min(SECTIONS, len(wave)), endpoint=False).astype(int)
    least, most = np.minimum.reduceat(wave, starts), np.maximum.reduceat(wave, starts)
    return [(round(float(a), 4), round(float(b), 4)) for a, b in zip(least, most, strict=True)]


def mel_levels(audio: Audio) -> np.ndarray | None:
    """Mel spectrogram (frequencies, frames) in decibels of the first minute; None for a sound that is too short."""
    from labdl.data.transforms.audio.mel import MelSpectrogram

    rate = audio.sample_rate or _RATE
    wave = audio.array.mean(0, keepdims=True)[:, : _MEL_SECONDS * rate]
    size = 1 << max(5, int(rate * 0.032).bit_length())
    if wave.shape[1] < size or rate < 200:
        return None
    hop = max(size // 4, wave.shape[1] // _FRAMES)
    spectrogram = MelSpectrogram(n_fft=size, hop_length=hop, n_mels=_MELS)(Audio(wave, sample_rate=rate))
    powers = np.asarray(spectrogram)[0]
    return np.maximum(10 * np.log10(np.maximum(powers, 1e-10)), 10 * np.log10(max(float(powers.max()), 1e-10)) - 80)


def to_wav(audio: Audio) -> bytes:
    """A sound as the bytes of a WAV file."""
    from labdl.data.codecs.audio import encode_audio

    rate = int(audio.sample_rate or _RATE)
    values = np.clip(np.nan_to_num(audio.array), -1, 1).astype(np.float32)
    return encode_audio(Audio(values, sample_rate=rate), "wav")
