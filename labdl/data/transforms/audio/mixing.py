"""Sounds mixed with others: background noise at a ratio, and the response of a room."""

from __future__ import annotations

import functools
import os
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.fft

from labdl.data import parts
from labdl.data.codecs.audio import audio_info, decode_audio
from labdl.data.sound.fourier import as_float
from labdl.data.transforms.ranges import Range, check_order, draw
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import INNER

SUFFIXES = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".aiff", ".aif", ".m4a", ".wma")


@functools.lru_cache(32)
def _sounds_of(path: str) -> tuple[str, ...]:
    """The sound files of a folder and those in it, sorted; a file is itself."""
    if not os.path.isdir(path):
        return (path,)
    found = tuple(sorted(str(file) for file in Path(path).rglob("*") if file.suffix.lower() in SUFFIXES))
    if not found:
        raise DataError(f"there are no sounds in the folder {path}: it wants files of {', '.join(SUFFIXES)}")
    return found


_info = functools.lru_cache(4096)(audio_info)


def _read(path: str, rate: int | None, seconds: float | None, rng: np.random.Generator) -> np.ndarray:
    """One of the sounds of a path, at a sampling rate, from a random place on if it is longer than ``seconds``."""
    files = _sounds_of(path)
    file = files[int(rng.integers(len(files)))]
    length, start = _info(file).seconds, 0.0
    if seconds is not None and length is not None and length > seconds:
        start = float(rng.uniform(0, length - seconds))
    return decode_audio(file, rate, start=start, seconds=seconds).array


def _channels(wave: np.ndarray, count: int) -> np.ndarray:
    return wave if len(wave) in (1, count) else wave.mean(0, keepdims=True)


def _synthesize(color: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    noise = rng.normal(size=shape)
    if color == "white":
        return noise
    spectra = scipy.fft.rfft(noise) / np.sqrt(np.maximum(np.arange(shape[-1] // 2 + 1), 1))  # type: ignore[operator]
    return scipy.fft.irfft(spectra, shape[-1])  # type: ignore[return-value]


@transform({"snr": (5.0, 15.0)})
class AddNoise(Transform):
    """Add noise at a ratio of ``snr`` decibels to the sound, or at one between a pair (low, high).

    ``noise`` is "white", "pink", or the path of a sound file or of a folder of them: one is drawn for each sample, from a
    random place on, resampled, repeated where it is too short. ``array`` (channels, samples) is used instead if given, from
    a random place on where it is longer. The ratio is that of the energies of all channels.
    Source: torchaudio.transforms.AddNoise.
    """

    noise: str = "white"
    snr: Range = (0.0, 20.0)
    array: Any = field(default=None, metadata=INNER)

    def check_settings(self) -> None:
        check_order(self, "snr")
        _check_array(self, self.array)

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"snr": draw(self.snr, rng), "seed": int(rng.integers(2**63))}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave, rng = as_float(audio.array), np.random.default_rng(params["seed"])
        count = wave.shape[1]
        if count == 0:
            return wave
        noise = self._noise(audio, rng)
        if noise.shape[1] > count:
            start = int(rng.integers(noise.shape[1] - count, endpoint=True))
            noise = noise[:, start : start + count]
        elif noise.shape[1] < count:
            noise = np.tile(noise, (1, -(-count // max(noise.shape[1], 1))))[:, :count]
        noise = np.broadcast_to(_channels(noise, len(wave)), wave.shape)
        energy, other = (float(np.sum(np.square(x, dtype="float64"))) for x in (wave, noise))
        if other == 0:
            return wave
        return wave + noise.astype(wave.dtype) * wave.dtype.type(np.sqrt(energy / other) * 10 ** (-params["snr"] / 20))

    def _noise(self, audio: parts.Audio, rng: np.random.Generator) -> np.ndarray:
        if self.array is not None:
            return np.atleast_2d(np.asarray(self.array))
        if self.noise in ("white", "pink"):
            return _synthesize(self.noise, audio.shape, rng)
        if audio.sample_rate is None:
            raise DataError("AddNoise wants a sound of known sampling rate: write data.Audio(…, sample_rate=…)")
        return _read(self.noise, audio.sample_rate, audio.seconds, rng)


@transform({"array": (1.0, 0.5, 0.25)})
class Convolve(Transform):
    """Convolve a sound with an impulse response, such as that of a room.

    ``response`` is the path of a sound file, or of a folder of them of which one is drawn for each sample; ``array``
    (samples,) is used instead if given. ``mode`` is "full", "same" (the middle), "valid", or "start" (as long as the sound,
    from its first sample on). Source: torchaudio.transforms.FFTConvolve.
    """

    response: str = ""
    mode: Literal["full", "same", "valid", "start"] = "full"
    array: Any = field(default=None, metadata=INNER)

    def check_settings(self) -> None:
        if not self.response and self.array is None:
            raise ConfigError("Convolve wants a response, the path of a sound or a folder, or an array; received none")
        _check_array(self, self.array)

    def get_params(self, rng: np.random.Generator, part: parts.Audio) -> Parameters:
        return {"seed": int(rng.integers(2**63))}

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        wave = as_float(audio.array)
        if self.array is not None:
            response = np.atleast_2d(np.asarray(self.array))
        else:
            response = _read(self.response, audio.sample_rate, None, np.random.default_rng(params["seed"]))
        response = _channels(response, len(wave)).astype(wave.dtype)
        samples, taps = wave.shape[1], response.shape[1]
        if not samples or not taps:
            raise DataError(f"Convolve wants sounds that are not empty, received {samples} and {taps} samples")
        size = samples + taps - 1
        fast = scipy.fft.next_fast_len(size, real=True)
        full = scipy.fft.irfft(scipy.fft.rfft(wave, fast) * scipy.fft.rfft(response, fast), fast)[:, :size]  # type: ignore[operator, index]
        length = {"full": size, "same": samples, "start": samples, "valid": abs(samples - taps) + 1}[self.mode]
        first = 0 if self.mode == "start" else (size - length) // 2
        return full[:, first : first + length]


def _check_array(owner: AddNoise | Convolve, array: Any) -> None:
    if array is None:
        return
    values = np.atleast_2d(np.asarray(array))
    if values.ndim != 2 or not values.size or values.dtype.kind not in "iuf":
        raise ConfigError(
            f"{type(owner).__name__} wants an array (samples,) or (channels, samples), received {values.dtype} "
            f"{np.shape(array)}"
        )
