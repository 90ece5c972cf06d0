"""Changes of sounds for training: values of torchaudio, and what random choices promise."""

import numpy as np
import pytest
from audio_oracle import RATE, arrays, assert_equal, expected, mel, of, parameters, sound
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.data import parts
from labdl.data import transforms as T
from labdl.data.codecs.audio import encode_audio
from labdl.errors import ConfigError, DataError


@pytest.mark.parametrize("case", of("resample"))
def test_resampling_as_in_torchaudio(case):
    result = T.Resample(**parameters(case))(sound(channels=1))
    assert result.sample_rate == parameters(case)["new_freq"]
    assert_equal(result, case, 5e-5)


@pytest.mark.parametrize("case", of("speed"))
def test_speed_as_in_torchaudio(case):
    transform = T.Speed(factor=parameters(case)["factor"], resampling_method="sinc_interp_hann")
    assert_equal(transform(sound()), case, 5e-5)


def test_pitch_shift_as_in_torchaudio():
    (case,) = of("pitch_shift")
    p = parameters(case)
    transform = T.PitchShift(n_steps=float(p["n_steps"]), n_fft=p["n_fft"], resampling_method="sinc_interp_hann")
    assert_equal(transform(sound(channels=1)), case, 2e-4)


@pytest.mark.parametrize("case", of("add_noise"))
def test_noise_as_in_torchaudio(case):
    """One ratio for each channel there, so a channel at a time; noise on the padding behind a sound is not compared."""
    p, wave, noise = parameters(case), sound().array, arrays()["x:noise"]
    for i, (snr, length) in enumerate(zip(p["snr"], p["lengths"] or [2000, 2000], strict=True)):
        mixed = T.AddNoise(array=noise[i, :length], snr=snr)(parts.Audio(wave[i, :length], sample_rate=RATE), rng=0)
        np.testing.assert_allclose(mixed.array[0], expected(case)[i, :length], atol=3e-5)


@pytest.mark.parametrize("case", of("convolve", "fftconvolve"))
def test_convolution_as_in_torchaudio(case):
    transform = T.Convolve(array=arrays()["x:response"], mode=parameters(case)["mode"])
    assert_equal(transform(sound(channels=1)), case)


@pytest.mark.parametrize("case", of("mask_along_axis", "mask_along_axis_iid"))
def test_masks_as_in_torchaudio(case):
    p = parameters(case)
    each = case.startswith("mask_along_axis_iid")
    cls, axis = (T.MaskAlongAxisIID, p["axis"] - 1) if each else (T.MaskAlongAxis, p["axis"])
    transform = cls(mask_param=p["mask_param"], mask_value=p["mask_value"], axis=axis)
    result = transform.apply_to(mel(), {"uniforms": np.array(p["uniforms"])})
    assert_equal(result[None] if each else result, case)


# -- what holds for all


@pytest.mark.parametrize("source", [8000, 11_025, 44_100])
@pytest.mark.parametrize("method", ["soxr", "sinc_interp_hann", "sinc_interp_kaiser"])
def test_a_tone_keeps_its_frequency_at_another_rate(source, method):
    tone = parts.Audio(np.sin(2 * np.pi * 500 * np.arange(source) / source), sample_rate=source)
    result = T.Resample(16_000, resampling_method=method)(tone)
    assert abs(result.shape[1] - 16_000) <= 1
    wanted = np.sin(2 * np.pi * 500 * np.arange(16_000) / 16_000)
    np.testing.assert_allclose(result.array[0, 500:15_500], wanted[500:15_500], atol=0.02)


def test_resampling_refuses_what_it_cannot_know():
    with pytest.raises(DataError, match="known sampling rate"):
        T.Resample(16_000)(parts.Audio(np.zeros(100)))
    with pytest.raises(DataError, match="received a sound of 8000"):
        T.Resample(16_000, orig_freq=44_100)(sound())
    assert T.Resample(16_000, orig_freq=RATE)(sound().array).shape == (2, 4000)


def test_stretched_sounds_keep_their_pitch_and_shifted_ones_their_length():
    time = np.arange(16_000) / 16_000
    tone = parts.Audio(0.5 * np.sin(2 * np.pi * 400 * time), sample_rate=16_000)

    def peak(wave):
        return np.abs(np.fft.rfft(wave.array[0])).argmax() * 16_000 / wave.shape[1]

    slow = T.TimeStretch(rate=0.8)(tone)
    assert slow.shape == (1, 20_000)
    assert peak(slow) == pytest.approx(400, abs=3)
    high = T.PitchShift(n_steps=12.0)(tone)
    assert high.shape == tone.shape
    assert peak(high) == pytest.approx(800, abs=6)
    fast = T.Speed(factor=2.0)(tone)
    assert fast.shape == (1, 8000)
    assert peak(fast) == pytest.approx(800, abs=3)


def test_speeds_are_those_of_the_list():
    lengths = {T.SpeedPerturbation(factors=(0.8, 1.0, 1.25))(sound(), rng=seed).shape[1] for seed in range(30)}
    assert lengths == {2500, 2000, 1600}


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), snr=st.floats(-20, 40), noise=st.sampled_from(["white", "pink"]))
def test_noise_has_its_ratio(seed, snr, noise):
    wave = parts.Audio(sound().array.astype("float64"), sample_rate=RATE)
    mixed = T.AddNoise(noise=noise, snr=snr)(wave, rng=seed)
    ratio = 10 * np.log10(np.sum(wave.array**2) / np.sum((mixed.array - wave.array) ** 2))
    assert ratio == pytest.approx(snr, abs=1e-6)


def test_noise_comes_from_files_and_folders(tmp_path):
    rng = np.random.default_rng(0)
    for name, rate, seconds in (("a", 16_000, 3.0), ("b", 8000, 0.1)):
        wave = parts.Audio(rng.normal(size=(2, int(rate * seconds))) * 0.1, sample_rate=rate)
        (tmp_path / f"{name}.wav").write_bytes(encode_audio(wave))
    (tmp_path / "readme.txt").write_text("no sound")
    transform = T.AddNoise(noise=str(tmp_path), snr=10.0)
    results = [transform(sound(), rng=seed).array for seed in range(24)]
    assert all(np.array_equal(a, transform(sound(), rng=seed).array) for seed, a in enumerate(results))
    assert len({a.tobytes() for a in results}) > 3
    wet = T.Convolve(response=str(tmp_path / "b.wav"), mode="start")(sound())
    assert wet.shape == (2, 2000)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no sounds in the folder"):
        T.AddNoise(noise=str(tmp_path / "empty"))(sound())
    with pytest.raises(ConfigError, match="wants a response"):
        T.Convolve()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), width=st.integers(0, 60), each=st.booleans())
def test_masks_are_one_band_not_wider_than_allowed(seed, width, each):
    values = parts.Spectrogram(np.ones((3, 20, 30), "float32"))
    rows = T.FrequencyMasking(freq_mask_param=width, iid_masks=each)(values, rng=seed)
    frames = T.TimeMasking(time_mask_param=width, iid_masks=each, max_share=0.5)(values, rng=seed)
    for result, axis, most in ((rows, 1, min(width, 20)), (frames, 2, min(width, 15))):
        bands = result.array.min(3 - axis) == 0
        assert np.array_equal(bands, result.array.max(3 - axis) == 0)
        assert bands.sum(1).max() <= most
        assert np.all(np.abs(np.diff(bands.astype(int), axis=1)).sum(1) <= 2)
        if not each:
            assert np.all(bands == bands[0])


def test_spec_augment_fills_with_the_mean():
    values = mel()
    result = T.SpecAugment(n_time_masks=1, time_mask_param=10, n_freq_masks=1, freq_mask_param=8)(values, rng=5)
    changed = result.array != values.array
    assert 0 < changed.mean() < 0.8
    np.testing.assert_allclose(result.array[changed], values.array.mean(), rtol=1e-5)
    zeros = T.SpecAugment(n_time_masks=1, time_mask_param=10, zero_masking=True)(values, rng=5)
    assert (zeros.array == 0).any()


def test_numbers_may_be_drawn():
    gains = {float(T.Gain(gain_db=(-6.0, 6.0))(sound(), rng=seed).array.std()) for seed in range(5)}
    assert len(gains) == 5
    base = float(sound().array.std())
    assert all(base * 0.5 < gain < base * 2 for gain in gains)


def test_every_case_of_torchaudio_is_tested():
    """But for those of losses, distances and beam forming, which are operators and metrics."""
    import test_audio_filters
    import test_audio_spectra
    from audio_oracle import TESTED, cases

    assert test_audio_filters.BIQUADS
    assert test_audio_spectra.FRAMES
    called = {"linear_fbanks", "db_to_amplitude", "inverse_mel_scale", "inverse_spectrogram", "spectral_centroid"}
    called |= {"time_stretch", "filtfilt", "detect_pitch_frequency", "vad", "loudness", "pitch_shift"}
    elsewhere = {"edit_distance", "frechet_distance", "psd", "mvdr_souden"}
    left = {case for case in set(cases()) - TESTED if case.split("/")[0] not in called}
    assert left == elsewhere
    assert expected("vad").shape == (1, 5600)
