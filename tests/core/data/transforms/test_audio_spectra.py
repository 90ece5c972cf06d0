"""Spectra of sounds: values of torchaudio, and what their shapes, inverses and units promise."""

import numpy as np
import pytest
from audio_oracle import (
    FRAMES,
    RATE,
    arrays,
    assert_equal,
    complex_spectrogram,
    create,
    expected,
    mel,
    of,
    parameters,
    sound,
    spectrogram,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from labdl.data import parts
from labdl.data import transforms as T
from labdl.data.sound.fourier import frames_of, overlap_add
from labdl.data.sound.spectra import cepstrum_matrix, linear_bank, mel_bank
from labdl.data.sound.windows import WINDOWS, window
from labdl.errors import ConfigError, DataError


@pytest.mark.parametrize("case", of("spectrogram"))
def test_spectrogram_as_in_torchaudio(case):
    values = parameters(case)
    if "window_fn" in values:
        values["window_fn"] = values["window_fn"].removesuffix("_window")
    result = T.Spectrogram(**values)(sound())
    assert type(result) is parts.Spectrogram
    assert result.sample_rate == RATE
    assert_equal(result, case)


@pytest.mark.parametrize("case", of("mel_spectrogram"))
def test_mel_spectrogram_as_in_torchaudio(case):
    result = T.MelSpectrogram(**parameters(case))(sound())
    assert result.dtype == "float32"
    assert result.hop_length == 80
    assert_equal(result, case)


@pytest.mark.parametrize("case", of("melscale_fbanks"))
def test_mel_filters_as_in_torchaudio(case):
    p = parameters(case)
    bank = mel_bank(p["n_freqs"], p["f_min"], p["f_max"], p["n_mels"], p["sample_rate"], p["norm"], p["mel_scale"])
    assert_equal(bank.T, case)


def test_linear_filters_as_in_torchaudio():
    (case,) = of("linear_fbanks")
    p = parameters(case)
    assert_equal(linear_bank(p["n_freqs"], p["f_min"], p["f_max"], p["n_filter"], p["sample_rate"]).T, case)


@pytest.mark.parametrize("case", of("create_dct"))
def test_cosine_matrix_as_in_torchaudio(case):
    p = parameters(case)
    assert_equal(cepstrum_matrix(p["n_mfcc"], p["n_mels"], p["norm"]).T, case, 1e-5)


@pytest.mark.parametrize("case", of("mfcc"))
def test_mfcc_as_in_torchaudio(case):
    p = parameters(case)
    if case == "mfcc/slaney_no_norm":  # both the transform and its filters have a setting "norm"
        p.update(norm=None, mel_norm="slaney")
    assert_equal(T.MFCC(**p)(sound()), case, 1e-3 if case.endswith("norm") else None)


@pytest.mark.parametrize("case", of("lfcc"))
def test_lfcc_as_in_torchaudio(case):
    assert_equal(T.LFCC(**parameters(case))(sound()), case)


@pytest.mark.parametrize("case", of("compute_deltas"))
def test_deltas_as_in_torchaudio(case):
    assert_equal(T.ComputeDeltas(**parameters(case))(spectrogram(np.log(mel() + np.float32(1e-6)))), case)


@pytest.mark.parametrize("case", of("sliding_window_cmn"))
def test_sliding_window_cmn_as_in_torchaudio(case):
    values = np.log(mel()[:1] + np.float32(0.1))
    result = T.SlidingWindowCMN(**parameters(case))(spectrogram(values))
    assert_equal(result.swapaxes(-1, -2), case, 5e-4 if case.endswith("variance") else None)


@pytest.mark.parametrize("case", of("amplitude_to_db"))
def test_decibels_as_in_torchaudio(case):
    assert_equal(T.AmplitudeToDB(top_db=parameters(case)["top_db"])(mel()), case, 1e-3)


def test_decibels_back_as_in_torchaudio():
    (case,) = of("db_to_amplitude")
    assert_equal(T.DBToAmplitude(**parameters(case))(spectrogram(sound().array * 30)), case)


def test_inverse_mel_scale_as_in_torchaudio():
    (case,) = of("inverse_mel_scale")
    p = parameters(case)
    result = T.InverseMelScale(n_stft=p["n_stft"], sample_rate=RATE)(mel())
    assert_equal(result, case, 1e-5 * float(expected(case).max()))


def test_inverse_spectrogram_as_in_torchaudio():
    (case,) = of("inverse_spectrogram")
    result = T.InverseSpectrogram(**parameters(case))(complex_spectrogram())
    assert type(result) is parts.Audio
    assert result.sample_rate == RATE
    assert_equal(result, case)


@pytest.mark.parametrize("case", of("griffinlim"))
def test_griffin_lim_as_in_torchaudio(case):
    p = parameters(case)
    values = np.abs(complex_spectrogram().array) ** p["power"]
    assert_equal(T.GriffinLim(**p)(spectrogram(values)), case, 2e-4)


def test_spectral_centroid_as_in_torchaudio():
    (case,) = of("spectral_centroid")
    p = {k: v for k, v in parameters(case).items() if k not in ("pad", "window")}
    assert_equal(T.SpectralCentroid(**p)(sound())[:, 0], case)


@pytest.mark.parametrize("case", of("phase_vocoder"))
def test_phase_vocoder_as_in_torchaudio(case):
    assert_equal(T.PhaseVocoder(rate=parameters(case)["rate"])(complex_spectrogram()), case, 2e-3)


def test_time_stretch_as_in_torchaudio():
    (case,) = of("time_stretch")
    assert_equal(T.TimeStretch(rate=parameters(case)["fixed_rate"], hop_length=80)(complex_spectrogram()), case, 2e-3)


# -- what holds for all


@settings(max_examples=25, deadline=None)
@given(
    n_fft=st.integers(2, 64), share=st.floats(0.2, 1), center=st.booleans(), name=st.sampled_from(["hann", "hamming"])
)
def test_inverse_of_a_spectrogram_is_the_sound(n_fft, share, center, name):
    n_fft += n_fft % 2
    hop = max(1, int(n_fft / 2 * share))
    wave = parts.Audio(np.random.default_rng(0).normal(size=(2, 300)).astype("float32"), sample_rate=RATE)
    spectra = T.Spectrogram(n_fft=n_fft, hop_length=hop, power=None, center=center, window_fn=name)(wave)
    back = T.InverseSpectrogram(center=center, window_fn=name)(spectra)
    inside = slice(n_fft, back.shape[1] - n_fft)
    np.testing.assert_allclose(back[:, inside], wave[:, : back.shape[1]][:, inside], atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(length=st.integers(1, 20), hop=st.integers(1, 25), count=st.integers(1, 9))
def test_overlapping_frames_are_added(length, hop, count):
    frames = np.random.default_rng(1).normal(size=(2, count, length))
    slow = np.zeros((2, (count - 1) * hop + length))
    for at in range(count):
        slow[:, at * hop : at * hop + length] += frames[:, at]
    np.testing.assert_allclose(overlap_add(frames, hop), slow, atol=1e-12)
    assert np.array_equal(frames_of(slow, length, hop).shape, (2, count, length))


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("window_fn", ["vorbis", "kaiser_bessel_derived", None])
def test_inverse_of_mdct_is_the_sound(norm, window_fn):
    wave = sound()
    back = T.InverseMDCT(window_fn=window_fn, norm=norm)(T.MDCT(frame_length=64, window_fn=window_fn, norm=norm)(wave))
    np.testing.assert_allclose(back[:, 32:-32], wave[:, 32 : back.shape[1] - 32], atol=1e-5)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "ortho"])
def test_inverse_of_dct_is_the_spectrogram(kind, norm):
    np.testing.assert_allclose(T.IDCT(kind=kind, norm=norm)(T.DCT(kind=kind, norm=norm)(mel())), mel(), atol=1e-3)


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_as_in_scipy(name):
    same = {"blackman_harris": "blackmanharris", "rectangular": "boxcar", "kaiser": ("kaiser", 12.0)}
    if name == "kaiser_bessel_derived":
        reference = signal.windows.kaiser_bessel_derived(64, 12.0)
    elif name == "vorbis":
        reference = np.sin(np.pi / 2 * signal.windows.cosine(64) ** 2)
    else:
        reference = signal.get_window(same.get(name, name), 64)
    np.testing.assert_allclose(window(name, 64), reference, atol=1e-12)


def test_frames_are_added_back_to_the_sound():
    wave = sound()
    frames = T.Frame(frame_length=100, hop_length=100)(wave)
    assert frames.shape == (2, 100, 20)
    assert np.array_equal(T.OverlapAndAdd()(frames), wave)


def test_parts_of_complex_numbers():
    spectra = complex_spectrogram()
    sizes, angles = T.MagPhase(power=2.0)(spectra)
    np.testing.assert_allclose(np.sqrt(sizes) * np.exp(1j * angles), spectra, atol=1e-4)
    assert np.array_equal(T.ComplexNorm(power=2.0)(spectra), sizes)
    assert np.array_equal(T.Angle()(spectra), angles)
    assert sizes.hop_length == 80


def test_stretched_magnitudes_are_those_of_the_stretched_spectrogram():
    stretched = T.TimeStretch(rate=0.7)(complex_spectrogram())
    alone = T.TimeStretch(rate=0.7)(T.ComplexNorm()(complex_spectrogram()))
    np.testing.assert_allclose(alone, np.abs(stretched), atol=1e-4)


def test_the_sample_rate_is_that_of_the_sound():
    wave = sound()
    assert np.array_equal(T.MelSpectrogram(n_mels=20)(wave), T.MelSpectrogram(sample_rate=RATE, n_mels=20)(wave))
    with pytest.raises(DataError, match=r"put T.Resample\(16000\) before it"):
        T.MelSpectrogram(sample_rate=16000)(wave)
    with pytest.raises(DataError, match="known sampling rate"):
        T.MelSpectrogram()(parts.Audio(wave.array))
    assert T.MelSpectrogram(sample_rate=RATE)(wave.array).shape == (2, 128, 11)


def test_log_mel_spectrogram_is_the_logarithm_of_the_mel_spectrogram():
    wave, p = sound(), {**FRAMES, "n_mels": 23}
    energy = T.MelSpectrogram(**p)(wave).array
    assert np.array_equal(
        T.LogMelSpectrogram(**p, top_db=60.0)(wave), T.AmplitudeToDB(top_db=60.0)(spectrogram(energy))
    )
    np.testing.assert_allclose(
        T.LogMelSpectrogram(**p, log="natural", amin=1e-3)(wave), np.log(energy + 1e-3), atol=1e-5
    )


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("Spectrogram", {"win_length": 500}, "win_length of at most n_fft=400"),
        ("MelSpectrogram", {"f_min": 300.0, "f_max": 200.0}, "f_min < f_max"),
        ("MFCC", {"n_mfcc": 60, "n_mels": 40}, "n_mfcc of at most"),
        ("GriffinLim", {"momentum": 1.0}, "momentum below 1"),
        ("Spectrogram", {"window_fn": "han"}, "window_fn wants"),
        ("MelSpectrogram", {"n_mels": 0}, "n_mels wants an integer at least 1"),
    ],
)
def test_settings_that_cannot_be_are_named(name, values, message):
    with pytest.raises(ConfigError, match=message):
        create(name, values)


@pytest.mark.parametrize(
    ("transform", "part", "message"),
    [
        (T.Spectrogram(), parts.Audio(np.zeros(100), sample_rate=RATE), "too short"),
        (T.Spectrogram(center=False), parts.Audio(np.zeros(100), sample_rate=RATE), "shorter than a frame"),
        (T.InverseSpectrogram(), parts.Spectrogram(np.zeros((1, 5, 4), "float32")), "wants complex numbers"),
        (T.InverseSpectrogram(n_fft=400), parts.Spectrogram(np.zeros((1, 5, 4), "complex64")), "n_fft=8 gives"),
        (T.AmplitudeToDB(), parts.Spectrogram(np.zeros((1, 5, 4), "complex64")), "ComplexNorm"),
        (T.MelSpectrogram(f_min=4000.0), parts.Audio(np.zeros(4000), sample_rate=RATE), "below 4000 Hz"),
        (T.MDCT(), parts.Audio(np.zeros(100)), "pad_end=True"),
        (T.OverlapAndAdd(), parts.Spectrogram(np.zeros((1, 5, 4), "float32")), "hop_length"),
    ],
)
def test_sounds_that_cannot_be_transformed_are_named(transform, part, message):
    with pytest.raises(DataError, match=message):
        transform(part)


def test_silence_has_no_centroid():
    assert not T.SpectralCentroid()(parts.Audio(np.zeros(1000), sample_rate=RATE)).any()


def test_inputs_are_those_of_the_file():
    assert arrays()["x:wave"].shape == (2, 2000)
