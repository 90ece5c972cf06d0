"""Folders of sounds: classes, one rate and length, random excerpts, damaged files."""

import numpy as np
import pytest

from labdl import data
from labdl.data.codecs.audio import decode_audio, encode_audio
from labdl.data.folders.audio_folder import AudioFolder
from labdl.errors import ConfigError, DataError, MissingFileError


def tone(seconds: float, rate: int, channels: int = 1) -> data.Audio:
    """A sound whose values tell the time: a ramp from 0 to 0.9 in five seconds."""
    wave = np.arange(round(seconds * rate)) / rate * 0.18
    return data.Audio(np.tile(wave.astype("float32"), (channels, 1)), sample_rate=rate)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("commands")
    files = {
        "no/a.wav": (tone(2, 16_000), "wav"),
        "no/b.flac": (tone(0.5, 16_000), "flac"),
        "yes/c.ogg": (tone(1, 8000), "ogg"),
        "yes/deep/d.mp3": (tone(1, 44_100, 2), "mp3"),
        "yes/e.m4a": (tone(1, 16_000), "m4a"),
        "yes/f.WAV": (tone(5, 16_000), "wav"),
    }
    for name, (audio, form) in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(encode_audio(audio, form))
    (root / "yes" / "notes.txt").write_text("no sound")
    return root


def test_a_folder_of_sounds(tree):
    sounds = AudioFolder(tree)
    assert (len(sounds), sounds.classes, sounds.labels().tolist()) == (6, ["no", "yes"], [0, 0, 1, 1, 1, 1])
    assert [sounds.path(i).name for i in range(6)] == ["a.wav", "b.flac", "c.ogg", "d.mp3", "e.m4a", "f.WAV"]
    sample = sounds[0]
    assert type(sample["audio"]) is data.Audio
    assert (sample["audio"].shape, sample["audio"].sample_rate, sample["label"]) == ((1, 32_000), 16_000, 0)
    assert (sounds[3]["audio"].shape[0], sounds[3]["audio"].sample_rate) == (2, 44_100)
    assert sounds.label_of(5) == 1


def test_one_rate_length_and_channel_make_a_batch(tree):
    sounds = AudioFolder(tree, sample_rate=8000, mono=True, seconds=0.75)
    batch = sounds[np.arange(6)]
    assert (batch["audio"].shape, batch["audio"].dtype) == ((6, 1, 6000), np.float32)
    np.testing.assert_array_equal(batch["audio"][1, :, 4100:], 0)  # half a second, then zeros
    assert batch["audio"][1, 0, 3900] > 0.08
    assert batch["label"].tolist() == [0, 0, 1, 1, 1, 1]
    loaded = next(iter(sounds.loader(6)))
    np.testing.assert_array_equal(loaded["audio"], batch["audio"])


@pytest.mark.parametrize("seconds", [1 / 3, 0.1001, 0.9999])
@pytest.mark.parametrize("rate", [11_025, 16_000, None])
def test_lengths_are_exact(tree, seconds, rate):
    for sample in AudioFolder(tree, sample_rate=rate, seconds=seconds):
        audio = sample["audio"]
        assert audio.shape[1] == round(seconds * audio.sample_rate)


def test_random_excerpts_depend_on_seed_epoch_and_index(tree):
    settings = {"sample_rate": 16_000, "mono": True, "seconds": 0.5, "excerpt": "random", "classes": ["yes"]}
    sounds, again = AudioFolder(tree, seed=1, **settings), AudioFolder(tree, seed=1, **settings)
    starts = []
    for epoch in range(8):
        audio = sounds.read(3, epoch)["audio"]  # f.WAV, five seconds
        np.testing.assert_array_equal(again.read(3, epoch)["audio"], audio)
        starts.append(round(float(audio[0, 0]) / 0.18, 2))
        assert np.all(np.diff(audio[0]) >= 0)
    assert len(set(starts)) == 8
    assert 0 <= min(starts) < 2 < max(starts) <= 4.5
    other = AudioFolder(tree, seed=2, **settings).read(3)["audio"]
    assert not np.array_equal(other, sounds.read(3)["audio"])


def test_sounds_without_labels(tree):
    sounds = AudioFolder(tree, labels=False)
    assert (len(sounds), set(sounds[0]), sounds.classes, sounds.targets) == (6, {"audio"}, None, ())


def test_classes_in_an_order_of_their_own(tree):
    assert AudioFolder(tree, classes=["yes", "no"]).labels().tolist() == [0, 0, 0, 0, 1, 1]
    with pytest.raises(ConfigError, match=r"no folder for the class 'yess': did you mean 'yes'\?"):
        AudioFolder(tree, classes=["yess"])


def test_a_damaged_sound_is_named(tree, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "cut.wav").write_bytes((tree / "no" / "a.wav").read_bytes()[:2000])
    with pytest.raises(DataError, match=r"cut\.wav is cut off"):
        AudioFolder(tmp_path)[0]


def test_links_out_of_the_folder_are_refused(tree, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link.wav").symlink_to(tree / "no" / "a.wav")
    with pytest.raises(DataError, match="is a link out of the folder"):
        AudioFolder(tmp_path)[0]
    linked = AudioFolder(tmp_path, follow_links=True)[0]["audio"]
    np.testing.assert_array_equal(linked, decode_audio(tree / "no" / "a.wav"))


def test_wrong_settings(tree, tmp_path):
    for settings in ({"seconds": 0}, {"sample_rate": -1}, {"excerpt": "random"}, {"excerpt": "last", "seconds": 1}):
        with pytest.raises(ConfigError, match="AudioFolder wants"):
            AudioFolder(tree, **settings)
    with pytest.raises(MissingFileError, match="there is no folder"):
        AudioFolder(tmp_path / "none")
    with pytest.raises(DataError, match="no folder for each class: sort the sounds into folders"):
        AudioFolder(tmp_path)
