"""Known data sets by name, from a server on this machine: downloads are checked, resumed and kept."""

import gzip
import hashlib
import io
import json
import random
import re
import tarfile
import threading
import zipfile
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from labdl.data import Video, sources
from labdl.data.annotations.voc import VOCSegmentation
from labdl.data.codecs.audio import encode_audio
from labdl.data.codecs.image import encode_image
from labdl.data.codecs.video import encode_video
from labdl.data.sources import SETS, KnownSet, RemoteFile
from labdl.data.sources.svhn import read_svhn
from labdl.data.sources.unpacking import unpack
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError


class Server:
    """Serves ``files``, to be loaded into ``folder``; ``broken`` names those of which the first answer ends early."""

    def __init__(self, folder):
        self.folder = folder
        self.files: dict[str, bytes] = {}
        self.broken: dict[str, int] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.tags = True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name, asked = self.path.lstrip("/"), self.headers.get("Range")
                outer.requests.append((name, asked))
                if name not in outer.files:
                    return self.send_error(404)
                body, start = outer.files[name], 0
                tag = f'"{hashlib.md5(body).hexdigest()}"'
                if asked and self.headers.get("If-Range", tag) == tag:
                    start = int(asked.removeprefix("bytes=").removesuffix("-"))
                    if start >= len(body):
                        return self.send_error(416)
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
                self.send_header("Content-Length", str(len(body) - start))
                if outer.tags:
                    self.send_header("ETag", tag)
                self.end_headers()
                self.wfile.write(body[start : outer.broken.pop(name, len(body))])

            def log_message(self, *values):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def entry(self, name: str, contents: dict[str, bytes]) -> KnownSet:
        """The entry of the table with these files on the server, and their hashes."""
        self.files |= contents

        def local(file: RemoteFile) -> RemoteFile:
            digest = hashlib.sha256(contents[file.name]).hexdigest() if file.name in contents else None
            return replace(file, urls=(self.address + file.name,), hash=digest and f"sha256:{digest}", size=None)

        return replace(SETS[name], files={s: tuple(map(local, files)) for s, files in SETS[name].files.items()})


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def load(tmp_path):
    return lambda entry, split=None: sources.load(entry, split, tmp_path, progress=False)


def idx(values: np.ndarray) -> bytes:
    return gzip.compress(bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes() + values.tobytes())


def tar(members: dict[str, bytes], mode: Any = "w:gz") -> bytes:
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return memory.getvalue()


def packed(members: dict[str, bytes]) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return memory.getvalue()


PICTURES = np.random.default_rng(0).integers(0, 256, (6, 28, 28), dtype=np.uint8)
LABELS = np.array([3, 1, 4, 1, 5, 9], np.uint8)


def mnist_files() -> dict[str, bytes]:
    return {
        "train-images-idx3-ubyte.gz": idx(PICTURES),
        "train-labels-idx1-ubyte.gz": idx(LABELS),
        "t10k-images-idx3-ubyte.gz": idx(PICTURES[:2]),
        "t10k-labels-idx1-ubyte.gz": idx(LABELS[:2]),
    }


def test_mnist_is_downloaded_once(server, load):
    entry = server.entry("mnist", mnist_files())
    train, test = load(entry)
    assert (len(train), len(test)) == (6, 2)
    assert (train[4]["image"].array[..., 0] == PICTURES[4]).all()
    assert train[4]["label"] == 5
    assert train.labels().tolist() == LABELS.tolist()
    assert train.classes == [str(n) for n in range(10)]
    x, y = next(iter(train.as_supervised().loader(3)))
    assert x.shape == (3, 1, 28, 28)
    assert y.tolist() == [3, 1, 4]
    count = len(server.requests)
    assert count == 4
    load(entry)
    assert len(server.requests) == count
    server.stop()
    assert len(load(entry, "test")) == 2  # without a network


def test_broken_download_goes_on_where_it_stopped(server, load):
    entry = server.entry("mnist", mnist_files())
    server.broken["train-images-idx3-ubyte.gz"] = 1000
    assert len(load(entry, "train")) == 6
    ranges = [asked for name, asked in server.requests if name == "train-images-idx3-ubyte.gz"]
    assert ranges == [None, "bytes=1000-"]


@pytest.mark.parametrize(("version", "resumed"), [(True, True), (False, False)])
def test_interrupted_download_resumes_if_the_file_is_the_same(server, load, tmp_path, version, resumed):
    """An ETag of another version makes the server send the whole file."""
    entry = server.entry("mnist", mnist_files())
    body = server.files["train-images-idx3-ubyte.gz"]
    part = tmp_path / "mnist" / "train-images-idx3-ubyte.gz.part"
    part.parent.mkdir()
    part.write_bytes(body[:500] if version else b"other content")
    tag = hashlib.md5(body).hexdigest() if version else "other"
    part.with_name(part.name + ".version").write_text(f'"{tag}"')
    assert (load(entry, "train").images[..., 0] == PICTURES).all()
    assert server.requests[0] == ("train-images-idx3-ubyte.gz", f"bytes={500 if version else 13}-")
    assert sorted(file.name for file in part.parent.iterdir() if not file.name.startswith(".")) == [
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
    ]


def test_without_tag_only_checked_files_are_resumed(server, load, tmp_path):
    server.tags = False
    entry = server.entry("mnist", mnist_files())
    unchecked = {s: tuple(replace(f, hash=None) for f in files) for s, files in entry.files.items()}
    for root, chosen, asked in (("a", entry, "bytes=500-"), ("b", replace(entry, files=unchecked), None)):
        part = tmp_path / root / "mnist" / "train-images-idx3-ubyte.gz.part"
        part.parent.mkdir(parents=True)
        part.write_bytes(server.files["train-images-idx3-ubyte.gz"][:500])
        server.requests.clear()
        assert len(sources.load(chosen, "train", tmp_path / root, progress=False)) == 6
        assert server.requests[0][1] == asked


def test_longer_part_than_file_starts_again(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    body = server.files["train-images-idx3-ubyte.gz"]
    part = tmp_path / "mnist" / "train-images-idx3-ubyte.gz.part"
    part.parent.mkdir()
    part.write_bytes(body + b"more")
    assert len(load(entry, "train")) == 6


def test_rest_that_does_not_fit_is_downloaded_from_the_start(server, load, tmp_path):
    server.tags = False
    entry = server.entry("mnist", mnist_files())
    part = tmp_path / "mnist" / "train-images-idx3-ubyte.gz.part"
    part.parent.mkdir()
    part.write_bytes(b"other content")
    assert len(load(entry, "train")) == 6
    assert [asked for _, asked in server.requests] == ["bytes=13-", None, None]


def test_wrong_hash_is_refused(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    server.files["train-labels-idx1-ubyte.gz"] = idx(LABELS[::-1].copy())
    with pytest.raises(FileFormatError, match=r"train-labels.*other content than the published hash"):
        load(entry, "train")
    assert not (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").exists()


def test_file_with_other_content_is_downloaded_again(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    load(entry, "train")
    (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(b"damaged")
    assert load(entry, "train").labels().tolist() == LABELS.tolist()
    (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(b"damaged")
    server.stop()
    with pytest.raises(MissingFileError, match="The file there has another content"):
        load(entry, "train")


def test_download_larger_than_the_free_space_is_refused(server, load, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=100))
    with pytest.raises(DataError, match="has 100 free"):
        load(server.entry("mnist", mnist_files()), "train")


def test_size_is_compared_where_no_hash_is_published(server, load):
    entry = server.entry("ag_news", {"train.csv": b'"3","Title","text, of ""news"""\n"1","A","b"\n'})
    file = replace(entry.files["train"][0], hash=None, size=10)
    with pytest.raises(FileFormatError, match="wants 10"):
        load(replace(entry, files={"train": (file,)}), "train")


def test_second_address_is_tried(server, load):
    entry = server.entry("ag_news", {"train.csv": b'"3","Title","text"\n'})
    (file,) = entry.files["train"]
    urls = (f"{server.address}missing/train.csv", *file.urls)
    assert len(load(replace(entry, files={"train": (replace(file, urls=urls),)}), "train")) == 1


def test_without_network_the_error_says_what_to_put_where(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    server.stop()
    with pytest.raises(MissingFileError) as error:
        load(entry)
    message = str(error.value)
    assert str(tmp_path / "mnist" / "train-images-idx3-ubyte.gz") in message
    assert server.address + "train-images-idx3-ubyte.gz" in message
    assert "LABDL_DATA" in message
    assert "\n" not in message


def test_folder_of_the_environment(server, tmp_path, monkeypatch):
    monkeypatch.setenv("LABDL_DATA", str(tmp_path / "sets"))
    sources.load(server.entry("mnist", mnist_files()), "test", progress=False)
    assert (tmp_path / "sets" / "mnist" / "t10k-images-idx3-ubyte.gz").exists()


def test_unknown_name_and_split(load):
    with pytest.raises(ConfigError, match="did you mean 'cifar10'"):
        sources.load("cifr10")
    with pytest.raises(ConfigError, match="train, test"):
        load("mnist", "validation")


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


@pytest.mark.parametrize("compressed", [True, False])
def test_damaged_mat_is_an_error(tmp_path, compressed):
    """Damaged files end the process in scipy.io.loadmat."""
    from scipy.io import savemat

    memory, rng = io.BytesIO(), random.Random(0)
    pictures = np.random.default_rng(3).integers(0, 256, (32, 32, 3, 2), dtype=np.uint8)
    savemat(memory, {"other": np.ones(3), "X": pictures, "y": np.array([[1.0], [10.0]])}, do_compression=compressed)
    whole, file = memory.getvalue(), tmp_path / "train.mat"
    file.write_bytes(whole)
    assert read_svhn("train", file).labels().tolist() == [1, 0]
    for cut in (0, 100, 128, 130, 300, len(whole) - 9):
        file.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError, match=r"train\.mat is no file of SVHN"):
            read_svhn("train", file)
    for _ in range(100):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[rng.randrange(600)] = rng.randrange(256)
        file.write_bytes(damaged)
        with suppress(FileFormatError):
            read_svhn("train", file)


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


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/evil", "..\\evil", "C:/evil"])
@pytest.mark.parametrize("make", [tar, packed])
def test_member_that_leads_out_of_the_folder_is_refused(server, load, tmp_path, name, make):
    archive = {tar: "cifar-10-binary.tar.gz", packed: "wikitext-2-v1.zip"}[make]
    entry = server.entry({tar: "cifar10", packed: "wikitext2"}[make], {archive: make({"good": b"1", name: b"evil"})})
    with pytest.raises(FileFormatError, match="leads out of its folder"):
        load(entry, "test")
    folder = tmp_path / entry.name
    assert sorted(file.name for file in folder.iterdir() if file.name != ".lock") == [archive]
    assert not list(tmp_path.rglob("evil"))


def test_links_are_left_out_and_bombs_refused(tmp_path):
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w:gz") as archive:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(info)
        info = tarfile.TarInfo("link/file")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"1"))
    (tmp_path / "a.tar.gz").write_bytes(memory.getvalue())
    unpack(tmp_path / "a.tar.gz", tmp_path / "a")
    assert not (tmp_path / "a" / "link").is_symlink()
    assert (tmp_path / "a" / "link" / "file").read_bytes() == b"1"

    (tmp_path / "b.tar.gz").write_bytes(tar({"zeros": bytes(80 << 20)}))
    with pytest.raises(FileFormatError, match="more than 40 times"):
        unpack(tmp_path / "b.tar.gz", tmp_path / "b")
    (tmp_path / "c.tar.gz").write_bytes(memory.getvalue()[:60])
    with pytest.raises(FileFormatError, match="broken archive"):
        unpack(tmp_path / "c.tar.gz", tmp_path / "c")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "a.tar.gz", "b.tar.gz", "c.tar.gz"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        idx(PICTURES)[:-30],
        gzip.compress(bytes([0, 0, 8, 3]) + np.array([1 << 30] * 3, ">u4").tobytes()),
        gzip.compress(bytes([0, 0, 8, 3]) + np.array([9, 28, 28], ">u4").tobytes() + PICTURES.tobytes()),
        gzip.compress(bytes([0, 0, 8, 3]) + np.array([1, 28, 28], ">u4").tobytes() + PICTURES.tobytes()),
        idx(LABELS),
    ],
)
def test_damaged_idx_is_an_error(server, load, content):
    entry = server.entry("mnist", mnist_files() | {"t10k-images-idx3-ubyte.gz": content})
    with pytest.raises(FileFormatError, match="t10k-images"):
        load(entry, "test")


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
