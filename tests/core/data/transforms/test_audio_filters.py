"""Filters, effects and levels of sounds: values of torchaudio, and what the formulas promise."""

import math

import numpy as np
import pytest
from audio_oracle import RATE, assert_equal, create, expected, of, parameters, sound
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.data import parts
from labdl.data import transforms as T
from labdl.data.sound.loudness import measure_loudness
from labdl.data.sound.recursive import delay_line, phase_shift
from labdl.errors import ConfigError, DataError

FORMS = ["allpass", "band", "bandpass", "bandreject", "bass", "equalizer", "highpass", "lowpass", "treble"]
BIQUADS = [f"{form}_biquad" for form in FORMS]


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


@pytest.mark.parametrize("case", of(*BIQUADS, "biquad"))
def test_filters_of_second_order_as_in_torchaudio(case):
    assert_equal(create(_camel(case.split("/")[0]), parameters(case))(sound()), case, 1e-5)


@pytest.mark.parametrize("case", of("deemph_biquad", "riaa_biquad"))
def test_playback_curves_as_in_torchaudio(case):
    assert_equal(create(_camel(case), {})(sound(rate=44_100)), case, 1e-5)


@pytest.mark.parametrize("case", of("lfilter"))
def test_linear_filters_as_in_torchaudio(case):
    values = parameters(case)
    wave = sound(channels=1) if values.pop("batching", True) is False else parts.Audio(sound().array * 3)
    assert_equal(T.LFilter(**values)(wave), case, 1e-5)


def test_filters_forwards_and_backwards_as_in_torchaudio():
    (case,) = of("filtfilt")
    assert_equal(T.FiltFilt(**parameters(case))(sound()), case, 1e-5)


@pytest.mark.parametrize("case", of("preemphasis", "deemphasis", "gain", "contrast", "overdrive"))
def test_effects_as_in_torchaudio(case):
    values = parameters(case)
    if "colour" in values:
        values["color"] = values.pop("colour")
    assert_equal(create(_camel(case), values)(sound()), case, 1e-5 if case == "deemphasis" else None)


@pytest.mark.parametrize("case", of("dcshift"))
def test_shifts_as_in_torchaudio(case):
    assert_equal(T.DCShift(**parameters(case))(sound()), case)


@pytest.mark.parametrize("case", of("phaser"))
def test_phaser_as_in_torchaudio(case):
    assert_equal(T.Phaser(**parameters(case))(sound()), case)


@pytest.mark.parametrize("case", of("flanger"))
def test_flanger_as_in_torchaudio(case):
    assert_equal(T.Flanger(**parameters(case))(sound()), case)


@pytest.mark.parametrize("case", of("fade"))
def test_fades_as_in_torchaudio(case):
    assert_equal(T.Fade(**parameters(case))(sound()), case)


@pytest.mark.parametrize("case", of("vol"))
def test_volume_as_in_torchaudio(case):
    assert_equal(T.Vol(**parameters(case))(sound()), case)


@pytest.mark.parametrize("case", of("mu_law_encoding"))
def test_mu_law_as_in_torchaudio(case):
    result = T.MuLawEncoding(**parameters(case))(sound())
    assert result.dtype == "int64"
    assert_equal(result, case, 1)
    assert np.mean(result != expected(case)) < 1e-3


@pytest.mark.parametrize("case", of("mu_law_decoding"))
def test_mu_law_back_as_in_torchaudio(case):
    codes = parts.Audio(np.arange(parameters(case)["quantization_channels"]))
    assert_equal(T.MuLawDecoding(**parameters(case))(codes)[0], case)


def test_pitch_as_in_torchaudio():
    (case,) = of("detect_pitch_frequency")
    values = {k: float(v) if k.startswith("freq") else v for k, v in parameters(case).items()}
    assert_equal(T.DetectPitchFrequency(**values)(sound())[:, 0], case, 1e-3)


def test_voice_begins_as_in_torchaudio():
    (case,) = of("vad")
    assert_equal(T.VAD(**parameters(case))(sound("long")), case)


def test_loudness_as_in_torchaudio():
    (case,) = of("loudness")
    assert measure_loudness(sound("long").array, RATE) == pytest.approx(float(expected(case)), abs=1e-3)
    loud = T.Loudness(target=-30.0)(sound("long"))
    assert measure_loudness(loud.array, RATE) == pytest.approx(-30.0, abs=1e-3)


# -- what holds for all


@settings(max_examples=40, deadline=None)
@given(
    delays=st.lists(st.floats(0, 12), min_size=1, max_size=60), feedback=st.floats(-0.9, 0.9), quadratic=st.booleans()
)
def test_delay_line_in_blocks_is_that_sample_by_sample(delays, feedback, quadratic):
    wave = np.random.default_rng(2).normal(size=(1, len(delays)))
    line, delayed = np.zeros(16 + len(delays)), np.zeros(len(delays))
    for at, delay in enumerate(delays):
        line[16 + at] = wave[0, at] + feedback * (delayed[at - 1] if at else 0)
        whole, share = int(delay), delay - int(delay)
        near, far, last = line[16 + at - whole], line[15 + at - whole], line[14 + at - whole]
        if quadratic:
            delayed[at] = (
                near * (1 - share) * (2 - share) / 2 + far * share * (2 - share) - last * share * (1 - share) / 2
            )
        else:
            delayed[at] = near * (1 - share) + far * share
    np.testing.assert_allclose(delay_line(wave, np.array([delays]), feedback, quadratic)[0], delayed, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(delays=st.lists(st.integers(1, 9), min_size=1, max_size=60))
def test_phaser_in_blocks_is_that_sample_by_sample(delays):
    wave = np.random.default_rng(3).normal(size=(2, len(delays)))
    slow = np.zeros((2, 9 + len(delays)))
    for at, delay in enumerate(delays):
        slow[:, 9 + at] = 0.5 * wave[:, at] + 0.7 * slow[:, 9 + at - delay]
    np.testing.assert_allclose(phase_shift(wave, np.array(delays), 0.5, 0.7), slow[:, 9:], atol=1e-10)


def test_deemphasis_undoes_preemphasis():
    wave = sound()
    np.testing.assert_allclose(T.Deemphasis()(T.Preemphasis()(wave)), np.clip(wave, -1, 1), atol=1e-5)


def test_filters_keep_what_is_in_their_band():
    time = np.arange(16_000) / 16_000
    low, high = (parts.Audio(np.sin(2 * np.pi * f * time) * 0.5, sample_rate=16_000) for f in (100, 4000))

    def loss(transform, wave):
        return 20 * math.log10(float(np.std(transform(wave)[:, 4000:]) / np.std(wave[:, 4000:])))

    assert loss(T.LowpassBiquad(cutoff_freq=800.0), low) > -0.1 > -25 > loss(T.LowpassBiquad(cutoff_freq=800.0), high)
    assert loss(T.HighpassBiquad(cutoff_freq=800.0), high) > -0.2 > -30 > loss(T.HighpassBiquad(cutoff_freq=800.0), low)
    assert loss(T.BassBiquad(gain=5.0, central_freq=500.0), low) == pytest.approx(5, abs=0.3)
    assert loss(T.TrebleBiquad(gain=-6.0, central_freq=1000.0), high) == pytest.approx(-6, abs=0.5)
    assert loss(T.AllpassBiquad(central_freq=300.0), low) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("density", ["TPDF", "RPDF", "GPDF"])
@pytest.mark.parametrize("shaping", [False, True])
def test_dithered_sounds_lie_on_steps_and_average_to_the_sound(density, shaping):
    wave = parts.Audio(np.full((1, 20_000), 0.1 + 0.3 / 2**7), sample_rate=RATE)
    result = T.Dither(density_function=density, noise_shaping=shaping, bits=8)(wave, rng=0)
    steps = result.array * 2**7
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-4)
    assert float(result.mean()) == pytest.approx(float(wave.mean()), abs=2e-4)
    error = np.abs(np.fft.rfft((result - wave).array[0])) ** 2
    low, high = error[1:1000].mean(), error[-1000:].mean()
    assert high > 20 * low if shaping else 0.5 < high / low < 2


def test_a_channel_gets_its_filter():
    a, b = ((1.0, -0.5), (1.0, 0.2)), ((1.0, 0.0), (0.5, 0.5))
    both = T.LFilter(a_coeffs=a, b_coeffs=b)(sound())
    for i in range(2):
        assert np.array_equal(both[i], T.LFilter(a_coeffs=a[i], b_coeffs=b[i])(sound())[i])
    with pytest.raises(DataError, match="1 or 2 channels, received 3"):
        T.LFilter(a_coeffs=a, b_coeffs=b)(parts.Audio(np.zeros((3, 10))))


def test_silence_has_no_voice():
    quiet = parts.Audio(np.zeros(RATE), sample_rate=RATE)
    assert T.VAD()(quiet).shape == (1, 0)
    assert not T.Loudness()(quiet).any()


def test_pitch_of_a_tone():
    time = np.arange(RATE) / RATE
    tone = parts.Audio(np.sin(2 * np.pi * 200 * time), sample_rate=RATE)
    assert np.median(T.DetectPitchFrequency()(tone)) == pytest.approx(200, rel=0.05)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("Biquad", {"b0": 1.0, "b1": 0.0, "b2": 0.0, "a0": 0.0, "a1": 0.0, "a2": 0.0}, "a0 other than 0"),
        ("LFilter", {"a_coeffs": (0.0, 1.0), "b_coeffs": (1.0,)}, "first number other than 0"),
        ("LFilter", {"a_coeffs": ((1.0,), (1.0,)), "b_coeffs": (1.0,)}, "as many lists"),
        ("Vol", {"gain": -1.0}, "gain above 0"),
        ("Gain", {"gain_db": (3.0, 1.0)}, r"\(low, high\)"),
        ("DetectPitchFrequency", {"freq_low": 500.0, "freq_high": 400.0}, "freq_low < freq_high"),
        ("RiaaBiquad", {"sample_rate": 8000}, "88200 or 96000"),
        ("Flanger", {"delay": 31.0}, "delay wants a number at least 0 and at most 30"),
    ],
)
def test_settings_that_cannot_be_are_named(name, values, message):
    with pytest.raises(ConfigError, match=message):
        create(name, values)


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (T.LowpassBiquad(cutoff_freq=4000.0), "half of the sampling rate 8000, received 4000 Hz"),
        (T.RiaaBiquad(), "received 8000: put T.Resample"),
        (T.Fade(fade_in_len=3000), "3000 samples or more, received 2000"),
        (T.Loudness(), "0.4 s or more, received 0.250 s"),
        (T.DetectPitchFrequency(win_length=80), "smaller win_length"),
        (T.VAD(lp_lifter_freq=100.0), "filters at 8000 Hz"),
    ],
)
def test_sounds_that_cannot_be_transformed_are_named(transform, message):
    with pytest.raises(DataError, match=message):
        transform(sound())
