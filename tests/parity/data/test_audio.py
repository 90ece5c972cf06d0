"""Transforms of sounds that torchaudio lacks, or has no recorded values of: those of MindSpore, Paddle and TensorFlow."""

import numpy as np
import pytest

mindspore_audio = pytest.importorskip("mindspore.dataset.audio")
paddle = pytest.importorskip("paddle")
tf = pytest.importorskip("tensorflow")

from labdl.data import parts  # noqa: E402
from labdl.data import transforms as T  # noqa: E402
from labdl.data.sound.windows import window  # noqa: E402

RATE = 8000


def sound(rate: int = RATE) -> parts.Audio:
    time = np.arange(2400) / RATE
    noise = np.random.default_rng(0).normal(size=(2, 2400)) * 0.05
    return parts.Audio((0.4 * np.sin(2 * np.pi * 500 * time * (1 + time)) + noise).astype("float32"), sample_rate=rate)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize("name", ["vorbis", "kaiser_bessel_derived", None])
def test_modified_cosine_transform_as_in_tensorflow(name, pad_end, norm):
    weights = name and getattr(tf.signal, f"{name}_window")
    reference = tf.signal.mdct(sound().array, 64, window_fn=weights, pad_end=pad_end, norm=norm)
    ours = T.MDCT(frame_length=64, window_fn=name, pad_end=pad_end, norm=norm)(sound())
    np.testing.assert_allclose(ours.swapaxes(-1, -2), reference, atol=2e-5)
    back = tf.signal.inverse_mdct(reference, window_fn=weights, norm=norm)
    np.testing.assert_allclose(T.InverseMDCT(window_fn=name, norm=norm)(ours), back, atol=1e-5)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("kind", [2, 3])
def test_cosine_transform_as_in_tensorflow(kind, norm):
    values = parts.Spectrogram(np.random.default_rng(1).normal(size=(1, 12, 7)).astype("float32"))
    turned = values.array.swapaxes(-1, -2)
    for ours, theirs in ((T.DCT, tf.signal.dct), (T.IDCT, tf.signal.idct)):
        reference = theirs(turned, type=kind, norm=norm).numpy()
        if theirs is tf.signal.idct and norm is None:
            reference = reference / (2 * 12)  # which TensorFlow leaves to the caller
        np.testing.assert_allclose(ours(kind=kind, norm=norm)(values).swapaxes(-1, -2), reference, atol=1e-4)


@pytest.mark.parametrize("name", ["hann", "hamming", "vorbis", "kaiser_bessel_derived"])
def test_windows_as_in_tensorflow(name):
    np.testing.assert_allclose(window(name, 32), getattr(tf.signal, f"{name}_window")(32), atol=1e-6)


def test_kaiser_window_is_periodic_and_that_of_tensorflow_symmetric():
    np.testing.assert_allclose(window("kaiser", 31), tf.signal.kaiser_window(32)[:-1], atol=1e-6)


def test_frames_as_in_paddle():
    reference = paddle.signal.frame(paddle.to_tensor(sound().array), 100, 60).numpy()
    ours = T.Frame(frame_length=100, hop_length=60)(sound())
    assert np.array_equal(ours, reference)
    added = paddle.signal.overlap_add(paddle.to_tensor(reference), 60).numpy()
    np.testing.assert_allclose(T.OverlapAndAdd()(ours), added, atol=1e-6)


@pytest.mark.parametrize("top_db", [None, 40.0])
def test_log_mel_spectrogram_as_in_paddle(top_db):
    layer = paddle.audio.features.LogMelSpectrogram(
        sr=RATE, n_fft=256, hop_length=80, n_mels=20, f_min=0.0, htk=True, norm=None, top_db=top_db, dtype="float64"
    )
    reference = layer(paddle.to_tensor(sound().array.astype("float64"))).numpy()
    ours = T.LogMelSpectrogram(n_fft=256, hop_length=80, n_mels=20, top_db=top_db)
    results = np.stack([ours(parts.Audio(channel, sample_rate=RATE))[0] for channel in sound().array])
    if top_db is None:
        np.testing.assert_allclose(results, reference, atol=5e-3)
    else:  # cut for all sounds together there
        both = ours(sound())
        np.testing.assert_allclose(both, reference, atol=5e-3)


@pytest.mark.parametrize("rate", [44_100, 48_000, 88_200, 96_000])
def test_playback_curves_as_in_mindspore(rate):
    wave = sound(rate)
    np.testing.assert_allclose(T.RiaaBiquad()(wave), mindspore_audio.RiaaBiquad(rate)(wave.array), atol=1e-5)
    if rate in (44_100, 48_000):
        np.testing.assert_allclose(T.DeemphBiquad()(wave), mindspore_audio.DeemphBiquad(rate)(wave.array), atol=1e-5)


def test_parts_of_complex_numbers_as_in_mindspore():
    spectra = T.Spectrogram(n_fft=64, power=None)(sound())
    pairs = np.stack([spectra.real, spectra.imag], -1)
    np.testing.assert_allclose(T.Angle()(spectra), mindspore_audio.Angle()(pairs), atol=1e-5)
    np.testing.assert_allclose(
        T.ComplexNorm(power=2.0)(spectra), mindspore_audio.ComplexNorm(2.0)(pairs), rtol=1e-4, atol=1e-5
    )
    for ours, theirs in zip(T.MagPhase()(spectra), mindspore_audio.Magphase(1.0)(pairs), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
