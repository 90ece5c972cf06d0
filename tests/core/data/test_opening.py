"""`open_dataset` finds the class of a folder or a file by looking at it."""

import itertools
import json
import os
import shutil
import time

import numpy as np
import pytest

from labdl import data
from labdl.data.annotations.voc import VOC_CLASSES
from labdl.data.codecs.audio import encode_audio
from labdl.data.codecs.image import encode_image
from labdl.data.codecs.video import encode_video
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

PICTURE = encode_image(np.full((24, 32, 3), 90, np.uint8), "png")


def write(folder, *names, content=PICTURE):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_folders_of_pictures(tmp_path):
    write(tmp_path / "classes", "cat/1.png", "dog/1.png", "dog/deep/2.PNG")
    write(tmp_path / "classes", "readme.txt", content=b"text")
    found = data.open_dataset(tmp_path / "classes")
    assert (type(found), found.classes, len(found)) == (data.ImageFolder, ["cat", "dog"], 3)
    write(tmp_path / "flat", "1.png", "2.png")
    found = data.open_dataset(str(tmp_path / "flat"))
    assert (found.classes, len(found), list(found[0])) == (None, 2, ["image"])


def test_folders_of_sounds_clips_and_texts(tmp_path):
    write(tmp_path / "sounds", "a/1.wav", content=encode_audio(data.Audio(np.zeros(80), sample_rate=8000)))
    assert data.open_dataset(tmp_path / "sounds")[0]["audio"].shape == (1, 80)
    write(tmp_path / "clips", "a/1.mp4", content=encode_video(np.zeros((4, 64, 64, 3), np.uint8)))
    assert data.open_dataset(tmp_path / "clips")[0]["video"].shape[1:] == (64, 64, 3)
    write(tmp_path / "texts", "good/1.txt", "bad/1.txt", content=b"word")
    assert data.open_dataset(tmp_path / "texts")[0] == {"text": "word", "label": 0}


def coco(folder, name, *, file="1.png", **extra):
    content = {
        "images": [{"id": 7, "file_name": file, "width": 32, "height": 24}],
        "annotations": [{"id": 1, "image_id": 7, "category_id": 3, "bbox": [2, 3, 10, 11], **extra}],
        "categories": [{"id": 3, "name": "cat"}],
    }
    write(folder, name, content=json.dumps(content).encode())


@pytest.mark.parametrize("pictures", ["", "images/", "images/val2017/", "val2017/"])
def test_coco(tmp_path, pictures):
    write(tmp_path, f"{pictures}1.png")
    coco(tmp_path, "annotations/instances_val2017.json", segmentation=[[2, 3, 12, 3, 12, 14]])
    found = data.open_dataset(tmp_path)
    assert type(found) is data.CocoDetection
    np.testing.assert_allclose(found[0]["boxes"].array, [[2, 3, 12, 14]])
    assert found[0]["masks"].sum() > 0
    coco(tmp_path, "annotations/instances_train2017.json")
    with pytest.raises(DataError, match="several files of annotations"):
        data.open_dataset(tmp_path)


def test_voc_with_its_own_classes(tmp_path):
    write(tmp_path, "JPEGImages/1.png")
    box = "<bndbox><xmin>3</xmin><ymin>4</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    for name, classes in (("wheel", ["wheel"]), ("cat", VOC_CLASSES)):
        xml = f"<annotation><object><name>{name}</name>{box}</object></annotation>"
        write(tmp_path, "Annotations/1.xml", content=xml.encode())
        found = data.open_dataset(tmp_path)
        assert (type(found), found.classes) == (data.VOCDetection, classes)
        np.testing.assert_allclose(found[0]["boxes"].array, [[2, 3, 9, 9]])


def test_yolo_and_masks(tmp_path):
    write(tmp_path / "yolo", "images/train/1.png")
    write(tmp_path / "yolo", "labels/train/1.txt", content=b"0 0.5 0.5 0.5 0.5\n")
    assert data.open_dataset(tmp_path / "yolo")[0]["boxes"].shape == (1, 4)
    write(tmp_path / "parts", "images/1.png")
    write(tmp_path / "parts", "masks/1.png", content=encode_image(np.ones((24, 32, 1), np.uint8), "png"))
    found = data.open_dataset(tmp_path / "parts")
    assert (type(found), found.name, found[0]["mask"].max()) == (data.SegmentationFolder, "parts", 1)


def test_manifests_and_tables(tmp_path):
    write(tmp_path, "clips/1.png")
    write(tmp_path, "list.jsonl", content=b'{"path": "clips/1.png", "label": "yes"}\n')
    write(tmp_path, "list.csv", content=b"file,label\nclips/1.png,yes\n")
    for name in ("list.jsonl", "list.csv"):
        found = data.open_dataset(tmp_path / name)
        assert (type(found), found.classes) == (data.ManifestDataset, ["yes"])
    write(tmp_path, "metadata.csv", content=b"file_name,text\nclips/1.png,a small one\n")
    assert data.open_dataset(tmp_path)[0]["text"] == "a small one"
    rows = b"\n".join(b"%d,%d,%s" % (i, i * i, [b"a", b"b"][i % 2]) for i in range(20))
    write(tmp_path, "table.csv", content=b"x,square,label\n" + rows)
    found = data.open_dataset(tmp_path / "table.csv")
    assert (type(found), len(found), list(found.classes)) == (data.Table, 20, ["a", "b"])
    write(tmp_path, "texts.csv", content=b"label,text\nyes,a word\n")
    write(tmp_path, "texts.jsonl", content=b'{"text": "a word", "label": "yes"}\n')
    write(tmp_path, "texts.txt", content=b"a word\n")
    write(tmp_path, "texts.xml", content=b"<rows><row><text>a word</text><label>yes</label></row></rows>")
    for name in ("texts.csv", "texts.jsonl", "texts.txt", "texts.xml"):
        assert data.open_dataset(tmp_path / name)[0]["text"] == "a word"
    with pytest.raises(ConfigError, match="MiB"):
        data.open_dataset(tmp_path / "table.csv", largest=10)
    with pytest.raises(ConfigError, match="MiB"):
        data.open_dataset(tmp_path / "texts.xml", largest=10)


def test_files_of_other_formats(tmp_path):
    samples = data.SampleDataset([{"x": np.float32([i, 2]), "label": i} for i in range(6)])
    data.write_webdataset(samples, tmp_path / "a.tar")
    data.write_parquet(samples, tmp_path / "a.parquet")
    data.write_hdf5(samples, tmp_path / "a.h5")
    data.write_tfrecord(samples, tmp_path / "a.tfrecord")
    data.pack(samples, tmp_path / "packed")
    np.savez(tmp_path / "xy.npz", x=np.zeros((6, 3)), y=np.arange(6) % 2)
    np.savez(tmp_path / "other.npz", a=np.zeros((6, 3)))
    for name in ("a.tar", "a.parquet", "a.h5", "a.tfrecord", "packed", "xy.npz", "other.npz"):
        assert len(data.open_dataset(tmp_path / name)) == 6, name
    shards = tmp_path / "shards"
    shards.mkdir()
    for number in range(2):
        shutil.copy(tmp_path / "a.tar", shards / f"{number}.tar")
    found = data.open_dataset(shards)
    assert (type(found), len(found), found.name) == (data.WebDataset, 12, "shards")


def test_what_is_no_data_set_says_what_is_supported(tmp_path):
    write(tmp_path / "code", "a.py", "deep/er/b.py", content=b"raise SystemExit")
    with pytest.raises(DataError, match=r"supported are .*COCO"):
        data.open_dataset(tmp_path / "code")
    (tmp_path / "empty" / "class").mkdir(parents=True)
    with pytest.raises(DataError, match="empty has no files: put pictures"):
        data.open_dataset(tmp_path / "empty")
    with pytest.raises(FileFormatError, match="supported are"):
        data.open_dataset(tmp_path / "code" / "a.py")
    with pytest.raises(MissingFileError, match="there is no"):
        data.open_dataset(tmp_path / "nothing")
    write(tmp_path / "both", "train/a/1.png", "val/a/1.png")
    with pytest.raises(DataError, match=r"train, val: open them with labdl\.data\.open_splits"):
        data.open_dataset(tmp_path / "both")
    for content in (b"{", b'{"images": 3, "annotations": 4, "categories": 5}', b"[" * 100_000):
        write(tmp_path, "bad.json", content=content)
        with pytest.raises((FileFormatError, ConfigError)):
            data.open_dataset(tmp_path / "bad.json")


def test_links_out_of_the_folder_are_refused(tmp_path):
    write(tmp_path / "outside", "1.png", "a.txt")
    root = tmp_path / "inside"
    write(root, "cat/1.png")
    (root / "dog").symlink_to(tmp_path / "outside")
    found = data.open_dataset(root)
    for index in range(len(found)):
        if found.classes[found.label_of(index)] == "dog":
            with pytest.raises(DataError, match="link out of the folder"):
                found[index]
    write(tmp_path / "masks", "images/1.png")
    (tmp_path / "masks" / "masks").symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match="masks is a link out of the folder"):
        data.open_dataset(tmp_path / "masks")
    write(tmp_path / "yolo", "images/1.png", "labels/2.txt")
    (tmp_path / "yolo" / "labels" / "1.txt").symlink_to("/etc/passwd")
    with pytest.raises(DataError, match="is not below"):
        data.open_dataset(tmp_path / "yolo")[0]


def test_a_large_folder_is_looked_at_only_in_part(tmp_path, monkeypatch):
    """Ten thousand pictures take some scans of folders, and no look at each file."""
    write(tmp_path, "first.png")
    for number, name in itertools.product(range(1000), "abcdefghij"):
        folder = tmp_path / "many" / name
        folder.mkdir(parents=True, exist_ok=True)
        os.link(tmp_path / "first.png", folder / f"{number}.png")
    data.open_dataset(tmp_path / "many")
    opened = []
    monkeypatch.setattr("labdl.data.opening.open_file", lambda path: opened.append(path))
    start = time.process_time()
    found = data.open_dataset(tmp_path / "many")
    assert (len(found), opened) == (10_000, [])
    assert time.process_time() - start < 3  # some 0.02 s


def test_a_file_of_coco_alone(tmp_path):
    write(tmp_path, "images/1.png")
    coco(tmp_path, "objects.json")
    assert data.open_dataset(tmp_path / "objects.json")[0]["labels"].tolist() == [0]
