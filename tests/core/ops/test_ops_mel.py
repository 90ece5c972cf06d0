"""Mel filters, spectrograms and cepstral coefficients against torchaudio's outputs (tests/oracles/mel.npz)."""

import json
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.spec import Spec

with np.load(Path(__file__).parents[2] / "oracles" / "mel.npz", allow_pickle=False) as file:
    CASES = json.loads(str(file["cases"]))
    WAVE, OUTPUTS = file["x:wave"], {name: file[f"y:{name}"] for name in CASES}


def named(kind):
    return [name for name in CASES if name.startswith(kind)]


def close(ours, name, tolerance=2e-5):
    expected = OUTPUTS[name]
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(ours, expected, atol=max(1e-6, tolerance * np.abs(expected).max()), rtol=0)


@pytest.mark.parametrize("name", named("melscale_fbanks"))
def test_filters_as_in_torchaudio(name):
    close(ops.mel_filterbank(**CASES[name]["parameters"], backend="numpy"), name)


@pytest.mark.parametrize("name", named("mel_spectrogram"))
def test_mel_spectrogram_as_in_torchaudio(name):
    options = CASES[name]["parameters"]
    close(ops.mel_spectrogram(WAVE, **options), name)
    window = np.hanning(options["win_length"] + 1)[:-1].astype("float32")
    close(ops.mel_spectrogram(WAVE, **options, window=window), name)
    one = ops.mel_spectrogram(WAVE[0], **options)
    np.testing.assert_allclose(one, OUTPUTS[name][0], atol=2e-5 * np.abs(OUTPUTS[name]).max())


@pytest.mark.parametrize("name", named("mfcc"))
def test_mfcc_as_in_torchaudio(name):
    options = dict(CASES[name]["parameters"])
    mel = options.pop("melkwargs")
    if "norm" in mel:
        mel["mel_norm"] = mel.pop("norm")
    close(ops.mfcc(WAVE, **options, **mel), name)


def test_decibels_are_cut_below_the_largest_of_a_sample():
    quiet = WAVE * 1e-5
    options = {"sample_rate": 8000, "n_mfcc": 13, "n_fft": 256, "n_mels": 23}
    alone = ops.mfcc(quiet[None], **options)
    both = ops.mfcc(np.stack([WAVE, quiet]), **options)
    np.testing.assert_allclose(both[1:], alone, rtol=1e-5, atol=1e-3)
    assert not np.allclose(ops.mfcc(np.concatenate([WAVE, quiet]), **options)[2:], alone[0], atol=1)


def test_power_and_normalization():
    options = {"sample_rate": 8000, "n_fft": 256, "n_mels": 9}
    window = np.hanning(257)[:-1]
    spectra = ops.stft(WAVE, 256, 128, window.astype("float32"))
    filters = ops.mel_filterbank(129, 0.0, 4000.0, 9, 8000, backend="numpy")
    for power in (1.0, 3.0):
        expected = filters.T @ np.abs(spectra) ** power
        np.testing.assert_allclose(ops.mel_spectrogram(WAVE, **options, power=power), expected, rtol=1e-4, atol=1e-5)
    plain = ops.mel_spectrogram(WAVE, **options)
    np.testing.assert_allclose(
        ops.mel_spectrogram(WAVE, **options, normalized=True), plain / (window**2).sum(), rtol=1e-4, atol=1e-6
    )


def test_filters_of_slaney_have_equal_areas():
    filters = ops.mel_filterbank(4001, 0.0, 8000.0, 20, 16000, norm="slaney", dtype="float64", backend="numpy")
    np.testing.assert_allclose(filters.sum(0) * 2.0, np.ones(20), rtol=1e-2)
    assert labdl.dispatch.spec_of(filters) == Spec((4001, 20), "float64")


def test_shapes_and_refusals():
    assert ops.mel_spectrogram(Spec((None, 16000))).shape == (None, 128, 81)
    assert ops.mfcc(Spec((None, 2, None)), n_mfcc=13).shape == (None, 2, 13, None)
    for call, message in (
        (lambda: ops.mel_spectrogram(Spec((9000,)), f_min=9000.0), "f_min < f_max"),
        (lambda: ops.mel_spectrogram(Spec((9000,)), win_length=500), "at most n_fft=400"),
        (lambda: ops.mel_filterbank(9, 0.0, 10.0, 3, 8000, mel_scale="bark"), "mel_scale htk or slaney"),
        (lambda: ops.mfcc(Spec((9000,)), n_mfcc=200), "n_mfcc from 1 to n_mels=128"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
