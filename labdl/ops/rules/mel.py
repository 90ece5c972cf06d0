"""Shape rules of mel spectrograms and cepstral coefficients."""

from __future__ import annotations

from labdl.ops.rules.fourier import stft
from labdl.spec import Spec, show


def check_mel(n_mels, sample_rate, f_min, f_max, norm=None, mel_scale="htk") -> None:
    """Raise ValueError for filters that there cannot be."""
    if mel_scale not in ("htk", "slaney") or norm not in (None, "slaney"):
        raise ValueError(f"mel filters want mel_scale htk or slaney, norm None or slaney, received {mel_scale}, {norm}")
    if n_mels < 1 or not sample_rate > 0 or not 0 <= f_min < f_max:
        raise ValueError(
            "mel filters want n_mels of 1 or more, a sample_rate above 0 and 0 <= f_min < f_max, "
            f"received {n_mels=}, {sample_rate=}, {f_min=}, {f_max=}"
        )


def mel_frames(n_fft, win_length, hop_length, window=None) -> tuple[int, int]:
    """The length of the window and the hop between frames."""
    if window is not None and (window.ndim != 1 or window.shape[0] is None):
        raise ValueError(f"a window has one axis of known size, received {show(window.shape)}")
    size = win_length or (n_fft if window is None else window.shape[0])
    if size > n_fft or (window is not None and window.shape[0] != size):
        raise ValueError(f"win_length wants at most n_fft={n_fft} and the size of the window, received {size}")
    return size, (size // 2 or 1) if hop_length is None else hop_length


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
) -> Spec:
    check_mel(n_mels, sample_rate, f_min, sample_rate / 2 if f_max is None else f_max, norm, mel_scale)
    _, hop = mel_frames(n_fft, win_length, hop_length, window)
    spectra = stft(x, n_fft, hop, center=center, pad_mode=pad_mode)
    return x.with_shape((*spectra.shape[:-2], n_mels, spectra.shape[-1]))


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
) -> Spec:
    if not 1 <= n_mfcc <= n_mels:
        raise ValueError(f"mfcc wants n_mfcc from 1 to n_mels={n_mels}, received {n_mfcc}")
    mels = mel_spectrogram(
        x,
        sample_rate,
        n_fft,
        win_length,
        hop_length,
        f_min=f_min,
        f_max=f_max,
        n_mels=n_mels,
        norm=mel_norm,
        mel_scale=mel_scale,
        center=center,
        pad_mode=pad_mode,
    )
    return mels.with_shape((*mels.shape[:-2], n_mfcc, mels.shape[-1]))
