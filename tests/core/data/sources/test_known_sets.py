"""Known data sets by name, read from files of their formats."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image
from set_files import packed, tar

from labdl.data import Video, sources
from labdl.data.annotations.voc import VOCSegmentation
from labdl.data.codecs.audio import encode_audio
from labdl.data.codecs.image import encode_image
from labdl.data.codecs.video import encode_video
from labdl.data.sources import SETS
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError


def test_cifar(server, load):
    rng = np.random.default_rng(1)
    records = rng.integers(0, 10, (5, 3, 3073), dtype=np.uint8)
    names = "\n".join(f"class{n}" for n in range(10)).encode()
    members = {f"cifar-10-batches-bin/data_batch_{n + 1}.bin": records[n].tobytes() for n in range(5)}
    members |= {
        "cifar-10-batches-bin/test_batch.bin": records[0].tobytes(),
        "cifar-10-batches-bin/batches.meta.txt": names,
    }
    train, test = load(server.entry("cifar10", {"cifar-10-binary.tar.gz": tar(members)}))
    assert (len(train), len(test)) == (15, 3)
    assert (train[4]["image"].array == records[1, 1, 1:].reshape(3, 32, 32).transpose(1, 2, 0)).all()
    assert train[4]["label"] == records[1, 1, 0]
    assert len([name for name, _ in server.requests]) == 1

    wide = rng.integers(0, 20, (4, 3074), dtype=np.uint8)
    members = {f"cifar-100-binary/{n}.bin": wide.tobytes() for n in ("train", "test")}
    members["cifar-100-binary/fine_label_names.txt"] = "\n".join(f"class{n}" for n in range(100)).encode()
    train, _ = load(server.entry("cifar100", {"cifar-100-binary.tar.gz": tar(members)}))
    assert (train[2]["label"], train[2]["superclass"]) == (wide[2, 1], wide[2, 0])


def test_svhn(server, load):
    from scipy.io import savemat

    memory = io.BytesIO()
    pictures = np.random.default_rng(2).integers(0, 256, (32, 32, 3, 4), dtype=np.uint8)
    savemat(memory, {"X": pictures, "y": np.array([[10], [1], [2], [9]], np.uint8)}, do_compression=True)
    data = load(server.entry("svhn", {"test_32x32.mat": memory.getvalue()}), "test")
    assert data.labels().tolist() == [0, 1, 2, 9]
    assert (data[3]["image"].array == pictures[..., 3]).all()
    memory = io.BytesIO()
    savemat(memory, {"X": pictures[..., 0], "y": np.zeros((4, 1))})
    with pytest.raises(FileFormatError, match="no file of SVHN"):
        load(server.entry("svhn", {"test_32x32.mat": memory.getvalue()}), "test")


def picture(height=12, width=16) -> bytes:
    return encode_image(np.full((height, width, 3), 90, "uint8"), "jpeg")


def test_pets(server, load):
    names = "#list\nshiba_inu_1 2 2 1\nBombay_7 1 1 1\n"
    trimap = encode_image(np.array([[1, 2], [3, 1]], "uint8").repeat(6, 0).repeat(8, 1)[..., None], "png")
    files = {
        "images.tar.gz": tar({f"images/{n}.jpg": picture() for n in ("shiba_inu_1", "Bombay_7")}),
        "annotations.tar.gz": tar(
            {"annotations/trainval.txt": names.encode(), "annotations/trimaps/shiba_inu_1.png": trimap}
        ),
    }
    data = load(server.entry("oxford_iiit_pet", files), "trainval")
    assert data.classes == ["Bombay", "shiba inu"]
    assert data.labels().tolist() == [1, 0]
    assert data[0]["image"].shape == (12, 16, 3)
    masks = load(server.entry("oxford_iiit_pet_masks", files), "trainval")
    assert masks[0]["mask"][[0, 0, 11], [0, 15, 0]].tolist() == [0, 1, 2]


def test_voc_and_coco(server, load):
    xml = (
        b"<annotation><object><name>dog</name><bndbox><xmin>2</xmin><ymin>3</ymin><xmax>9</xmax><ymax>8</ymax></bndbox>"
        b"</object></annotation>"
    )
    root = "VOCdevkit/VOC2007/"
    members = {
        f"{root}JPEGImages/000001.jpg": picture(),
        f"{root}Annotations/000001.xml": xml,
        f"{root}ImageSets/Main/test.txt": b"000001\n",
    }
    data = load(server.entry("voc2007", {"VOCtest_06-Nov-2007.tar": tar(members, "w")}), "test")
    assert data[0]["boxes"].tolist() == [[1, 2, 9, 8]]
    assert data.name == "VOC 2007 (test)"

    content = {
        "images": [{"id": 1, "file_name": "1.jpg"}],
        "categories": [{"id": 7, "name": "dog"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 7, "bbox": [1, 2, 8, 6]}],
    }
    files = {
        "val2017.zip": packed({"val2017/1.jpg": picture()}),
        "annotations_trainval2017.zip": packed({"annotations/instances_val2017.json": json.dumps(content).encode()}),
    }
    data = load(server.entry("coco2017", files), "val")
    assert data[0]["boxes"].tolist() == [[1, 2, 9, 8]]
    assert data.classes == ["dog"]


def test_voc_masks(server, load):
    palette = Image.fromarray(np.array([[0, 15], [255, 1]], "uint8").repeat(6, 0).repeat(8, 1), "P")
    palette.putpalette([value for n in range(256) for value in (n, 255 - n, 7)])
    memory = io.BytesIO()
    palette.save(memory, "png")
    root = "VOCdevkit/VOC2012/"
    members = {
        f"{root}JPEGImages/2007_01.jpg": picture(),
        f"{root}JPEGImages/2007_02.jpg": picture(),
        f"{root}SegmentationClass/2007_01.png": memory.getvalue(),
        f"{root}SegmentationObject/2007_01.png": encode_image(np.ones((12, 16, 1), "uint8"), "png"),
        f"{root}SegmentationClass/2007_02.png": encode_image(np.ones((5, 16, 1), "uint8"), "png"),
        f"{root}ImageSets/Segmentation/train.txt": b"2007_01\n",
        f"{root}ImageSets/Segmentation/val.txt": b"2007_02\n",
        f"{root}ImageSets/Main/train.txt": b"2007_01 1\n2007_02 1\n",
    }
    entry = server.entry("voc2012_masks", {"VOCtrainval_11-May-2012.tar": tar(members, "w")})
    train, val = load(entry)
    assert (len(train), train.name, train.classes[:2]) == (1, "VOC 2012 masks (train)", ["background", "aeroplane"])
    assert train[0]["image"].shape == (12, 16, 3)
    assert train[0]["mask"][[0, 0, 11, 11], [0, 15, 0, 15]].tolist() == [0, 15, 255, 1]
    with pytest.raises(DataError, match=r"size \(5, 16\)"):
        val[0]
    objects = sources.load(entry, "train", server.folder, target="object", progress=False)
    assert (objects.classes, objects[0]["mask"].max()) == (None, 1)
    with pytest.raises(ConfigError, match="has the settings target, received 'targets'"):
        sources.load(entry, "train", server.folder, targets="object")
    with pytest.raises(ConfigError, match="has the splits train, val"):
        VOCSegmentation(server.folder / "voc2012_masks" / "VOCtrainval_11-May-2012" / root, split="test")


def test_coco_masks_and_key_points(server):
    points = [1, 2, 2] + [0, 0, 0] * 15 + [5, 6, 1]
    content = {
        "images": [{"id": 1, "file_name": "1.jpg"}],
        "categories": [{"id": 1, "name": "person", "keypoints": ["nose", "left_eye", "right_eye"]}],
        "annotations": [
            {
                "id": 1,
                "image_id": 1,
                "category_id": 1,
                "bbox": [0, 0, 4, 4],
                "segmentation": [[0, 0, 4, 0, 4, 4, 0, 4]],
                "keypoints": points,
            }
        ],
    }
    names = ("instances_val2017", "person_keypoints_val2017")
    files = {
        "val2017.zip": packed({"val2017/1.jpg": picture()}),
        "annotations_trainval2017.zip": packed({f"annotations/{n}.json": json.dumps(content).encode() for n in names}),
    }
    masks = sources.load(server.entry("coco2017", files), "val", server.folder, masks=True, progress=False)
    assert masks[0]["masks"].sum() == 16
    sample = sources.load(server.entry("coco2017_keypoints", files), "val", server.folder, progress=False)[0]
    assert sample["keypoints"].shape == (1, 17, 3)
    assert sample["keypoints"].array[0, -1].tolist() == [5, 6, 1]
    assert sample["keypoints"].swaps == ((1, 2),)


LISTS = {
    "ucfTrainTestlist/classInd.txt": b"1 Archery\r\n2 HandstandPushups\r\n",
    "ucfTrainTestlist/trainlist01.txt": b"Archery/v_Archery_g01_c01.avi 1\r\n"
    b"HandstandPushups/v_HandStandPushups_g01_c01.avi 2\r\n",
    "ucfTrainTestlist/testlist01.txt": b"Archery/v_Archery_g02_c01.avi\r\n",
    "ucfTrainTestlist/trainlist02.txt": b"Archery/v_Archery_g09_c01.avi 1\r\n",
    "ucfTrainTestlist/trainlist03.txt": b"Swimming/v_Archery_g01_c01.avi 1\r\n",
}


def clip(shade: int) -> bytes:
    frames = np.full((8, 16, 32, 3), shade, "uint8") + np.arange(8, dtype="uint8")[:, None, None, None] * 4
    return encode_video(Video(frames, fps=25), "avi", codec="mpeg4")


def test_ucf101(server, load):
    videos = {
        "UCF101/v_Archery_g01_c01.avi": clip(40),
        "UCF101/v_HandstandPushups_g01_c01.avi": clip(160),
        "UCF101/v_Archery_g02_c01.avi": clip(90),
    }
    lists = "UCF101TrainTestSplits-RecognitionTask.zip"
    entry = server.entry("ucf101", {"UCF101_videos.zip": packed(videos), lists: packed(LISTS)})
    server.broken["UCF101_videos.zip"] = 2000
    train, test = sources.load(entry, root=server.folder, progress=False, frames=4, stride=2)
    assert [asked for name, asked in server.requests if name == "UCF101_videos.zip"] == [None, "bytes=2000-"]
    assert train.classes == ["Archery", "HandstandPushups"]
    assert (train.labels().tolist(), test.labels().tolist()) == ([0, 1], [0])
    assert train[0]["video"].shape == (4, 16, 32, 3)
    assert abs(float(train[1]["video"].array.mean()) - 172) < 3
    assert train[1]["label"] == 1
    with pytest.raises(MissingFileError, match=r"no video v_Archery_g09_c01\.avi.*unpack the whole archive"):
        load(entry, "train2")
    with pytest.raises(FileFormatError, match=r"trainlist03\.txt, line 1 wants class"):
        load(entry, "train3")


def test_ucf101_of_the_rar_archive_that_a_person_has_unpacked(server, load, tmp_path):
    entry = server.entry("ucf101", {"UCF101TrainTestSplits-RecognitionTask.zip": packed(LISTS)})
    with pytest.raises(MissingFileError, match=r"unpack it into .*ucf101/UCF101_videos"):
        load(entry, "train1")
    for name in ("Archery/v_Archery_g01_c01.avi", "HandstandPushups/v_HandStandPushups_g01_c01.avi"):
        file = tmp_path / "ucf101" / "UCF101_videos" / "UCF-101" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(clip(80))
    train = load(entry, "train1")
    assert [train.path(i).name for i in range(2)] == ["v_Archery_g01_c01.avi", "v_HandStandPushups_g01_c01.avi"]
    assert train[1]["video"].shape == (16, 16, 32, 3)


def test_texts(server, load):
    reviews = {f"aclImdb/train/{kind}/0_1.txt": f"a {kind} film".encode() for kind in ("pos", "neg", "unsup")}
    data = load(server.entry("imdb", {"aclImdb_v1.tar.gz": tar(reviews)}), "train")
    assert [(s["text"], s["label"]) for s in data] == [("a neg film", 0), ("a pos film", 1)]

    news = {"test.csv": b'"3","Title","text, of ""news"""\n"1","A","b"\n'}
    data = load(server.entry("ag_news", news), "test")
    assert (data[0]["text"], data[0]["label"]) == ('Title text, of "news"', 2)
    with pytest.raises(FileFormatError, match="row 1 wants a class"):
        load(server.entry("ag_news", {"test.csv": b'"9","Title","text"\n'}), "test")

    archive = packed({"wikitext-2/wiki.valid.tokens": b" \n = Title = \n\n Some <unk> text \n"})
    data = load(server.entry("wikitext2", {"wikitext-2-v1.zip": archive}), "valid")
    assert [s["text"] for s in data] == ["= Title =", "Some <unk> text"]


def test_speech(server, load):
    wave = np.sin(np.arange(1600) / 20).astype("float32")
    sound, flac = (encode_audio(wave, kind, sample_rate=16_000) for kind in ("wav", "flac"))
    names = ["no/a_nohash_0.wav", "yes/a_nohash_0.wav", "yes/b_nohash_0.wav", "_background_noise_/hum.wav"]
    members = {f"./{name}": sound for name in names}
    members |= {"./validation_list.txt": b"no/a_nohash_0.wav\n", "./testing_list.txt": b"yes/b_nohash_0.wav\n"}
    entry = server.entry("speech_commands", {"speech_commands_v0.02.tar.gz": tar(members)})
    train, test = load(entry)
    assert train.classes == ["no", "yes"]
    assert (train.paths, test.paths) == (["yes/a_nohash_0.wav"], ["yes/b_nohash_0.wav"])
    assert load(entry, "validation").labels().tolist() == [0]
    assert train[0]["audio"].shape == (1, 1600)

    members = {
        "LibriSpeech/test-clean/61/70/61-70-0000.flac": flac,
        "LibriSpeech/test-clean/61/70/61-70.trans.txt": b"61-70-0000 HE BEGAN\n",
    }
    data = load(server.entry("librispeech", {"test-clean.tar.gz": tar(members)}), "test-clean")
    assert (data[0]["text"], data[0]["speaker"], data[0]["audio"].sample_rate) == ("HE BEGAN", 61, 16_000)

    members = {"LJSpeech-1.1/metadata.csv": b"LJ1|In 2 days|In two days\n", "LJSpeech-1.1/wavs/LJ1.wav": sound}
    data = load(server.entry("ljspeech", {"LJSpeech-1.1.tar.bz2": tar(members, "w:bz2")}))
    assert data[0]["text"] == "In two days"


@pytest.mark.parametrize("entry", SETS.values(), ids=SETS)
def test_entry_is_complete(entry):
    assert set(entry.pair) <= set(entry.files)
    assert not entry.samples or set(entry.samples) == set(entry.files)
    assert entry.title
    assert entry.license
    assert entry.citation
    for file in (file for files in entry.files.values() for file in files):
        assert re.fullmatch("md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", file.hash or "")
        assert all(url.startswith(("https://", "http://")) and url.endswith(file.name) for url in file.urls)
