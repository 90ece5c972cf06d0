"""Linear filters of sounds by their coefficients."""

from __future__ import annotations

import numpy as np

from labdl.data import parts
from labdl.data.sound.fourier import as_float
from labdl.data.sound.recursive import filter_wave
from labdl.data.transforms.transform import Parameters, Transform, transform
from labdl.errors import ConfigError, DataError
from labdl.settings import Share

Row = tuple[float, ...]
Rows = Row | tuple[Row, ...]

_EXAMPLE = {"a_coeffs": (1.0, -0.9, 0.5), "b_coeffs": (0.3, 0.2, 0.1)}


def _check(owner: LFilter | FiltFilt) -> None:
    a, b = _rows(owner.a_coeffs), _rows(owner.b_coeffs)
    if len(a) != len(b) or not all(a) or not all(b) or any(row[0] == 0 for row in a):
        raise ConfigError(
            f"{type(owner).__name__} wants as many lists of a_coeffs as of b_coeffs, none empty, each of a_coeffs with a "
            f"first number other than 0; received {owner.a_coeffs} and {owner.b_coeffs}"
        )


def _rows(coefficients: Rows) -> tuple[Row, ...]:
    return coefficients if isinstance(coefficients[:1], tuple) and _nested(coefficients) else (coefficients,)  # type: ignore[return-value]


def _nested(coefficients: Rows) -> bool:
    return bool(coefficients) and isinstance(coefficients[0], tuple)


def _filter(owner: LFilter | FiltFilt, wave: np.ndarray, clamp: bool) -> np.ndarray:
    """Each channel by its filter; one filter is for all channels, one channel goes through all filters."""
    a, b = _rows(owner.a_coeffs), _rows(owner.b_coeffs)
    if len(a) == 1:
        return filter_wave(wave, b[0], a[0], clamp=clamp)
    if len(wave) not in (1, len(a)):
        raise DataError(
            f"{type(owner).__name__} with {len(a)} filters wants 1 or {len(a)} channels, received {len(wave)}"
        )
    channels = wave if len(wave) > 1 else np.broadcast_to(wave, (len(a), wave.shape[-1]))
    return np.stack([filter_wave(one, b[i], a[i], clamp=clamp) for i, one in enumerate(channels)])


@transform(_EXAMPLE)
class LFilter(Transform):
    """Filter by a rational function: ``b_coeffs`` of the numerator, ``a_coeffs`` of the denominator, lowest delay first.

    Lists of coefficients are a filter for each channel; a sound of one channel gets a channel for each filter. ``clamp``
    cuts to [-1, 1]. Source: torchaudio.functional.lfilter.
    """

    a_coeffs: Rows
    b_coeffs: Rows
    clamp: bool = True

    def check_settings(self) -> None:
        _check(self)

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        return _filter(self, audio.array, self.clamp)


@transform(_EXAMPLE)
class FiltFilt(Transform):
    """Filter forwards, then backwards, so that phases stay. The settings as in `LFilter`.

    Source: torchaudio.functional.filtfilt.
    """

    a_coeffs: Rows
    b_coeffs: Rows
    clamp: bool = True

    def check_settings(self) -> None:
        _check(self)

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        forward = _filter(self, audio.array, clamp=False)
        return _filter(self, forward[:, ::-1], self.clamp)[:, ::-1]


@transform
class Preemphasis(Transform):
    """Raise high frequencies: subtract ``coeff`` times the sample before. Source: torchaudio.transforms.Preemphasis."""

    coeff: Share = 0.97

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        result = as_float(audio.array).copy()
        result[:, 1:] -= np.asarray(self.coeff, result.dtype) * audio.array[:, :-1]
        return result


@transform
class Deemphasis(Transform):
    """Undo `Preemphasis`, cut to [-1, 1]. Source: torchaudio.transforms.Deemphasis."""

    coeff: Share = 0.97

    def apply_to_audio(self, audio: parts.Audio, params: Parameters) -> np.ndarray:
        return filter_wave(audio.array, (1.0, 0.0), (1.0, -self.coeff))
