"""Pictures, sounds and videos of a list of paths."""

import numpy as np
import pytest

from labdl import data
from labdl.data.codecs.audio import encode_audio
from labdl.data.codecs.image import encode_image
from labdl.data.codecs.video import encode_video
from labdl.errors import ConfigError, MissingFileError


@pytest.fixture
def files(tmp_path):
    pictures = []
    for n in range(3):
        file = tmp_path / f"{n}.png"
        file.write_bytes(encode_image(np.full((4, 6, 3), n * 50, "uint8")))
        pictures.append(file)
    (tmp_path / "a.wav").write_bytes(encode_audio(np.ones((1, 80), "float32") / 2, sample_rate=8000))
    sound = data.Audio(np.zeros((1, 16_000), "float32"), sample_rate=16_000)
    clip = encode_video(np.zeros((10, 16, 32, 3), "uint8"), fps=10, audio=sound)
    (tmp_path / "a.mp4").write_bytes(clip)
    return pictures


def test_pictures_with_labels(files):
    dataset = data.FileDataset(files, labels=[2, 0, 1], classes=["a", "b", "c"], mode="L")
    assert len(dataset) == 3
    assert (dataset[1]["image"].shape, int(dataset[1]["image"].max())) == ((4, 6, 1), 50)
    assert [s["label"] for s in dataset] == [2, 0, 1]
    assert dataset.labels().tolist() == [2, 0, 1]
    x, y = next(iter(dataset.as_supervised().loader(3, workers=0)))
    assert (x.shape, y.tolist()) == ((3, 1, 4, 6), [2, 0, 1])


def test_targets_may_be_arrays(files):
    dataset = data.FileDataset(files, labels=np.float32([[0, 1], [2, 3], [4, 5]]))
    assert dataset[2]["label"].tolist() == [4, 5]


def test_one_sound_and_a_video_with_sound(files, tmp_path):
    sound = data.FileDataset(tmp_path / "a.wav", sample_rate=16_000)
    assert (len(sound), sound.inputs, sound.targets) == (1, ("audio",), ())
    assert sound[0]["audio"].shape == (1, 160)
    clip = data.FileDataset(str(tmp_path / "a.mp4"), sound=True, seconds=0.5)[0]
    assert (clip["video"].shape, clip["audio"].sample_rate) == ((5, 16, 32, 3), 16_000)


def test_errors(files, tmp_path):
    with pytest.raises(MissingFileError, match=r"no file .*9\.png"):
        data.FileDataset([*files, tmp_path / "9.png"])
    with pytest.raises(ConfigError, match="a label for each of 3 paths, received 2"):
        data.FileDataset(files, labels=[0, 1])
    with pytest.raises(ConfigError, match="mixes"):
        data.FileDataset([*files, tmp_path / "a.wav"])
    with pytest.raises(ConfigError, match="did you mean 'mode'"):
        data.FileDataset(files, mod="L")
    with pytest.raises(ConfigError, match="at least one path"):
        data.FileDataset([])
    files[1].unlink()
    dataset = data.FileDataset(files[:1] + files[2:])
    files[0].unlink()
    with pytest.raises(MissingFileError):
        dataset[0]
