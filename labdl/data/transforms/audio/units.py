"""Types of settings that transforms of sounds share, and the sampling rate and hop that hold for a part."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt

from labdl.errors import ConfigError, DataError

Count = Annotated[int, Ge(1)]
Hertz = Annotated[float, Gt(0)]
MelScaleName = Literal["htk", "slaney"]
MelNorm = Literal["slaney"] | None


def rate_of(transform: Any, part: Any) -> int:
    """The setting ``sample_rate`` of a transform, or the sampling rate of the sound where that is None."""
    name, setting, own = type(transform).__name__, transform.sample_rate, getattr(part, "sample_rate", None)
    if setting is None and own is None:
        raise DataError(
            f"{name} wants a sound of known sampling rate, received one without: write "
            f"data.{type(part).__name__}(…, sample_rate=16_000) or T.{name}(sample_rate=16_000)"
        )
    if setting is not None and own is not None and setting != own:
        raise DataError(
            f"{name}(sample_rate={setting}) received a sound of {own} samples a second: put T.Resample({setting}) before "
            "it, or leave sample_rate out"
        )
    return int(own or 0) if setting is None else setting


def hop_of(transform: Any, part: Any, win_length: int) -> int:
    """The setting ``hop_length``, else that of the spectrogram, else half of the window."""
    return transform.hop_length or getattr(part, "hop_length", None) or max(win_length // 2, 1)


def check_window(transform: Any) -> None:
    """Raise ConfigError for a window longer than the frame."""
    if transform.win_length is not None and transform.n_fft is not None and transform.win_length > transform.n_fft:
        raise ConfigError(
            f"{type(transform).__name__} wants a win_length of at most n_fft={transform.n_fft}, received {transform.win_length}"
        )


def check_band(transform: Any) -> None:
    """Raise ConfigError for frequencies in the wrong order."""
    if transform.f_max is not None and not transform.f_min < transform.f_max:
        raise ConfigError(
            f"{type(transform).__name__} wants f_min < f_max, received {transform.f_min} and {transform.f_max}"
        )


def check_band_of(transform: Any, rate: float) -> None:
    """Raise DataError for a lowest frequency that the sound does not have."""
    top = rate // 2 if transform.f_max is None else transform.f_max
    if not transform.f_min < top:
        raise DataError(
            f"{type(transform).__name__} wants f_min={transform.f_min:g} Hz below {top:g} Hz, half of the sampling rate {rate}"
        )
