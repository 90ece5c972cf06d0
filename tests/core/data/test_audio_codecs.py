"""Sounds decoded and encoded: values, parts of a file, and files that are none."""

import io

import numpy as np
import pytest
import soundfile

from labdl.data.codecs import audio as codec
from labdl.data.codecs.audio import audio_info, decode_audio, encode_audio
from labdl.data.parts import Audio
from labdl.errors import ConfigError, DataError, MissingFileError

RATE = 16_000
# largest difference of values: half a step where nothing is lost, else that of the codec
FORMATS = {"wav": 4e-5, "flac": 4e-5, "aiff": 4e-5, "ogg": 0.1, "opus": 0.1, "mp3": 0.05, "m4a": 0.05, "wma": 0.05}


def sound(seconds: float = 3.0) -> Audio:
    """A stereo sound that fades in and out, so that codecs have no edge to spread."""
    time = np.arange(int(RATE * seconds)) / RATE
    fade = np.minimum(1, 4 * np.minimum(time, seconds - time))
    waves = [0.5 * np.sin(2 * np.pi * (300 + 100 * time) * time), 0.3 * np.sin(2 * np.pi * 700 * time)]
    return Audio((np.stack(waves) * fade).astype("float32"), sample_rate=RATE)


@pytest.fixture(scope="module")
def files():
    return {name: encode_audio(sound(), name) for name in FORMATS}


@pytest.mark.parametrize("name", FORMATS)
def test_a_sound_comes_back(files, name):
    result, wave = decode_audio(files[name]), sound()
    assert type(result) is Audio
    assert result.dtype == "float32"
    assert result.sample_rate == RATE
    assert result.flags.c_contiguous
    slack = 2 * 2048 + 1 if name == "wma" else 0
    assert wave.shape[1] <= result.shape[1] <= wave.shape[1] + slack
    assert float(np.abs(result.array[:, : wave.shape[1]] - wave.array).max()) < FORMATS[name]


@pytest.mark.parametrize("name", FORMATS)
def test_a_part_is_that_of_the_whole(files, name):
    whole, part = decode_audio(files[name]).array, decode_audio(files[name], start=1.25, seconds=0.5).array
    assert part.shape == (2, RATE // 2)
    np.testing.assert_allclose(part, whole[:, 20_000:28_000], atol=2e-4)
    assert decode_audio(files[name], start=2.9, seconds=60).shape[1] < RATE


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_as_its_bytes(files, name, tmp_path):
    path = tmp_path / "a name without its format"
    path.write_bytes(files[name])
    assert np.array_equal(decode_audio(path), decode_audio(files[name]))
    info = audio_info(path)
    assert (info.sample_rate, info.channels) == (RATE, 2)
    assert info.seconds == pytest.approx(3.0, abs=0.3 if name == "wma" else 1e-3)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("share", [0.9, 0.5, 0.05, 0.002])
def test_a_file_that_is_cut_off_is_named(files, name, share, tmp_path):
    path = tmp_path / "half.sound"
    path.write_bytes(files[name][: max(1, int(len(files[name]) * share))])
    with pytest.raises(DataError, match=r"half\.sound"):
        decode_audio(path)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_read_or_refused(files, name):
    """Whatever bytes are in it: a sound or a DataError."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        damaged = bytearray(files[name])
        for at in rng.integers(0, min(len(damaged), 400), 6):
            damaged[at] = int(rng.integers(256))
        try:
            assert decode_audio(bytes(damaged)).ndim == 2
        except DataError:
            continue


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello, this is a text and no sound", "no sound file of a known format"),
        (b"#EXTM3U\nfile:///etc/hostname\n", "no sound file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "no sound file"),
        (b"RIFF\x10\x00\x00\x00AVI LIST", "no sound file"),
        (b"fLaC" + bytes(200), "cannot be read as flac"),
        (b"\x1a\x45\xdf\xa3" + bytes(200), "cannot be read as matroska"),
        (bytes(4) + b"ftypM4A " + bytes(100), "cannot be read as mp4"),
    ],
)
def test_files_that_are_no_sounds_are_named(content, message, tmp_path):
    path = tmp_path / "song.wav"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        decode_audio(path)
    assert "song.wav" in str(error.value)


def test_missing_files_and_wrong_times(files, tmp_path):
    with pytest.raises(MissingFileError, match="there is no file"):
        decode_audio(tmp_path / "none.wav")
    for name in ("wav", "m4a"):
        with pytest.raises(DataError, match="start=9 s lies after it"):
            decode_audio(files[name], start=9)
    with pytest.raises(ConfigError, match="0 or more"):
        decode_audio(files["wav"], start=-1)


def test_values_are_bounded(files, monkeypatch):
    """A small file may hold hours of silence."""
    monkeypatch.setattr(codec, "MOST_VALUES", 50_000)
    for name in ("flac", "mp3", "m4a", "wma"):
        with pytest.raises(DataError, match="more than 50,000 values: read parts"):
            decode_audio(files[name])
        assert decode_audio(files[name], start=1, seconds=1).shape == (2, RATE)


def test_rates_and_channels(files):
    assert decode_audio(files["wav"], 8000).shape == (2, 24_000)
    assert decode_audio(files["wav"], 8000).sample_rate == 8000
    mono = decode_audio(files["wav"], mono=True)
    np.testing.assert_allclose(mono, decode_audio(files["wav"]).array.mean(0, keepdims=True), atol=1e-6)


def test_streams_whose_length_was_not_known_are_read(files):
    streamed = bytearray(files["wav"])
    streamed[4:8] = b"\xff\xff\xff\xff"
    assert decode_audio(bytes(streamed)).shape[1] == 3 * RATE


@pytest.mark.parametrize("subtype", ["PCM_24", "FLOAT", "PCM_U8"])
def test_subtypes(subtype):
    content = encode_audio(sound(), "wav", subtype=subtype)
    assert soundfile.info(io.BytesIO(content)).subtype == subtype
    atol = 0.01 if subtype == "PCM_U8" else 1e-6
    np.testing.assert_allclose(decode_audio(content), sound(), atol=atol)


def test_values_out_of_range_are_cut():
    loud = Audio(sound().array * 4, sample_rate=RATE)
    assert float(decode_audio(encode_audio(loud)).max()) == pytest.approx(1, abs=1e-4)


def test_what_a_format_cannot_hold_is_named():
    with pytest.raises(ConfigError, match="wants a sampling rate"):
        encode_audio(np.zeros(10))
    with pytest.raises(ConfigError, match="cannot be written as mp3"):
        encode_audio(Audio(np.zeros((9, 100)), sample_rate=RATE), "mp3")
    with pytest.raises(ConfigError, match="cannot be written as wma"):
        encode_audio(Audio(np.zeros((1, 100)), sample_rate=96_000), "wma")
    with pytest.raises(ConfigError, match="encode_audio writes"):
        encode_audio(sound(), "midi")  # type: ignore[arg-type]
    assert encode_audio(sound(), sample_rate=8000)[24:28] == (8000).to_bytes(4, "little")
