"""Manifests: pictures, sounds and videos that a JSON, JSON-lines or CSV file lists."""

import csv
import json

import numpy as np
import pytest

from labdl import data
from labdl.data.codecs.audio import encode_audio
from labdl.data.codecs.image import encode_image
from labdl.data.folders.manifest import ManifestDataset
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

ROWS = [
    {"path": "clips/0.wav", "label": "yes", "text": "Yes, please.", "speaker": "7"},
    {"path": "clips/1.wav", "label": "no", "text": 'No, "never"; thanks', "speaker": "9"},
    {"path": "clips/2.wav", "label": "yes", "text": "是的", "speaker": "7"},
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "clips").mkdir()
    for number in range(3):
        wave = np.full(1600 * (number + 1), 0.1 * (number + 1))
        (tmp_path / f"clips/{number}.wav").write_bytes(encode_audio(wave, sample_rate=16_000))
        picture = np.full((8, 12, 3), 40 * number, "uint8")
        (tmp_path / f"clips/{number}.png").write_bytes(encode_image(picture))
    return tmp_path


def write(folder, name, rows=ROWS):
    file = folder / name
    if name.endswith(".json"):
        file.write_text(json.dumps(rows), "utf-8")
    elif name.endswith(("jsonl", "ndjson")):
        file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", "utf-8")
    else:
        with file.open("w", encoding="utf-8-sig", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if name.endswith("tsv") else ",")
            writer.writeheader()
            writer.writerows(rows)
    return file


@pytest.mark.parametrize("name", ["m.json", "m.jsonl", "m.ndjson", "m.csv", "m.tsv", "M.JSON"])
def test_each_format_is_the_same_data_set(folder, name):
    sounds = ManifestDataset(write(folder, name if name != "M.JSON" else "m.json").rename(folder / name))
    assert (len(sounds), sounds.kind, sounds.classes) == (3, "audio", ["no", "yes"])
    assert (sounds.inputs, sounds.targets, sounds.labels().tolist()) == (("audio",), ("label",), [1, 0, 1])
    sample = sounds[1]
    assert set(sample) == {"audio", "label", "text"}
    assert (type(sample["audio"]), sample["audio"].shape) == (data.Audio, (1, 3200))
    assert (type(sample["text"]), sample["text"]) == (data.Text, 'No, "never"; thanks')
    assert sounds[2]["text"] == "是的"
    assert sounds.path(2) == folder / "clips/2.wav"


def test_columns_by_name_and_settings_of_the_decoder(folder):
    rows = [{"sound": r["path"], "word": r["label"], "said": r["text"], "speaker": r["speaker"]} for r in ROWS]
    sounds = ManifestDataset(
        write(folder, "m.csv", rows),
        path="sound",
        label="word",
        text=["said"],
        columns=["speaker"],
        classes=["yes", "no", "maybe"],
        sample_rate=8000,
        seconds=0.05,
    )
    assert sounds.labels().tolist() == [0, 1, 0]
    batch = sounds[np.arange(3)]
    assert batch["audio"].shape == (3, 1, 400)
    assert batch["speaker"].tolist() == ["7", "9", "7"]
    assert batch["said"].tolist() == [r["text"] for r in ROWS]


def test_pictures_by_their_suffix(folder):
    rows = [{"file_name": f"{n}.png", "label": n % 2} for n in range(3)]
    pictures = ManifestDataset(write(folder, "m.jsonl", rows), root=folder / "clips", mode="L")
    sample = pictures[2]
    assert (type(sample["image"]), sample["image"].shape, int(sample["image"].max())) == (data.Image, (8, 12, 1), 80)
    assert (pictures.classes, pictures.labels().tolist()) == (None, [0, 1, 0])
    train, test = pictures.split(0.5)
    assert (len(train), len(test)) in ((1, 2), (2, 1))


def test_videos_and_captions(folder):
    pytest.importorskip("av")
    from labdl.data.codecs.video import encode_video

    (folder / "a.mp4").write_bytes(encode_video(np.zeros((10, 32, 48, 3), "uint8")))
    videos = ManifestDataset(write(folder, "m.json", [{"video": "a.mp4", "caption": "Night"}]), frames=[0, 4, 8])
    sample = videos[0]
    assert (type(sample["video"]), sample["video"].shape, sample["caption"]) == (data.Video, (3, 32, 48, 3), "Night")
    assert videos.targets == ("caption",)


@pytest.mark.parametrize(
    ("values", "labels", "kind"),
    [
        (["3", "1", "2"], [3, 1, 2], np.int64),
        (["0.5", "1", "-2e1"], [0.5, 1, -20], np.float32),
        ([True, False, True], [1, 0, 1], np.int64),
        ([7, "seven", 7], [0, 1, 0], np.int64),
    ],
)
def test_labels_are_numbers_or_classes(folder, values, labels, kind):
    rows = [{"path": f"clips/{n}.png", "label": value} for n, value in enumerate(values)]
    found = ManifestDataset(write(folder, "m.json", rows)).labels()
    assert (found.dtype, found.tolist()) == (kind, labels)


def test_a_list_inside_of_an_object(folder):
    (folder / "m.json").write_text(json.dumps({"version": 1, "data": ROWS}))
    assert len(ManifestDataset(folder / "m.json")) == 3


@pytest.mark.parametrize(
    "path", ["../secret.wav", "/etc/hostname", "clips/../../secret.wav", "link.wav", "clips/\0.wav"]
)
def test_paths_stay_below_the_folder(folder, path):
    root = folder / "clips"
    (root / "link.wav").symlink_to(folder / "secret.wav")
    (folder / "secret.wav").write_bytes(encode_audio(np.zeros(100), sample_rate=16_000))
    sounds = ManifestDataset(write(root, "m.json", [{"path": path}]), kind="audio")
    with pytest.raises(DataError, match="is not below"):
        sounds[0]


def test_a_missing_file_is_named(folder):
    sounds = ManifestDataset(write(folder, "m.json", [{"path": "clips/9.wav"}]))
    with pytest.raises(MissingFileError, match=r"9\.wav"):
        sounds[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.json", b"", "is no manifest"),
        ("m.json", b"{", "is no manifest"),
        ("m.json", b"[]", "has no rows"),
        ("m.json", b"3", "wants a list of objects"),
        ("m.json", b"[3]", "its row 1 is no object"),
        ("m.json", b"[" * 100_000, "is no manifest"),
        ("m.json", b'[{"path": 3}]', r"row 1 has no path in the column 'path', but 3"),
        ("m.json", b'[{"path": "a.wav"}, {"label": "x"}]', "row 2 has no path"),
        ("m.json", b'[{"path": "a.wav", "label": "x"}, {"path": "b.wav"}]', "row 2 has no value in the column 'label'"),
        ("m.json", b'[{"path": "a.wav", "label": [1]}]', "wants a text or a number"),
        ("m.jsonl", b'{"path": "a.wav"}\n{"path"\n', "line 2: "),
        ("m.csv", b"path,label\na.wav,x\nb.wav\n", "line 3 has 1 columns, the first has 2"),
        ("m.csv", b"path,path\na.wav,x\n", "the same name"),
        ("m.csv", b'path,label\n"a.wav,x\n', "is no manifest"),
        ("m.csv", b"path,label\n", "has no rows"),
        ("m.csv", b"path\n\xff\xfe.wav\n", "is no manifest"),
    ],
)
def test_damaged_manifests_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as error:
        ManifestDataset(tmp_path / name)
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"path": "pth"}, r"has the columns path, label, text, speaker, received path='pth': did you mean 'path'\?"),
        ({"label": "labels"}, "received label='labels'"),
        ({"text": ["txt"]}, "received text='txt'"),
        ({"columns": ["none"]}, "received columns='none'"),
        ({"kind": "sound"}, 'wants the kind "image"'),
        ({"classes": ["yes"]}, "has the label 'no', none of classes"),
        ({"rate": 8000}, r"has the settings sample_rate, mono, start, seconds, received 'rate'"),
    ],
)
def test_wrong_settings(folder, settings, message):
    with pytest.raises(ConfigError, match=message):
        ManifestDataset(write(folder, "m.csv"), **settings)


def test_files_of_unknown_or_mixed_kinds(folder):
    with pytest.raises(ConfigError, match=r"files of the suffix '\.xyz': write kind="):
        ManifestDataset(write(folder, "m.json", [{"path": "a.xyz"}]))
    with pytest.raises(ConfigError, match="mixes image"):
        ManifestDataset(write(folder, "m.json", [{"path": "a.png"}, {"path": "a.wav"}]))
    with pytest.raises(ConfigError, match=r"reads \.json"):
        ManifestDataset(folder / "m.txt")
    with pytest.raises(ConfigError, match="say which one has the paths"):
        ManifestDataset(write(folder, "m.json", [{"where": "a.wav"}]))
    with pytest.raises(ConfigError, match="would have 'audio' twice"):
        ManifestDataset(write(folder, "m.json", [{"path": "a.wav", "audio": "b"}]), columns=["audio"])
    with pytest.raises(MissingFileError):
        ManifestDataset(folder / "none.json")
