"""Annotations of pictures: every format gives the same objects, damaged files are errors in a sentence."""

import json

import numpy as np
import pytest

from labdl import data
from labdl.data.annotations.run_length import decode_run_length, draw_polygons
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

HEIGHT, WIDTH = 20, 30
BOXES = [[2, 3, 12, 9], [15, 4, 25, 18]]  # left, top, right, bottom


def picture() -> bytes:
    image = np.zeros((HEIGHT, WIDTH, 3), "uint8")
    for left, top, right, bottom in BOXES:
        image[top:bottom, left:right] = 200
    return encode_image(image)


def check(sample):
    """The boxes lie on the objects of the picture."""
    assert sample["boxes"].tolist() == BOXES
    assert sample["boxes"].canvas_size == (HEIGHT, WIDTH)
    for left, top, right, bottom in sample["boxes"].astype(int):
        assert (sample["image"][top:bottom, left:right] == 200).all()
        assert sample["image"][max(top - 1, 0), left, 0] == 0
    assert sample["labels"].tolist() == [1, 0]


@pytest.fixture
def coco(tmp_path):
    (tmp_path / "one.png").write_bytes(picture())
    (tmp_path / "two.png").write_bytes(picture())
    mask = np.zeros((HEIGHT, WIDTH), "uint8")
    mask[4:18, 15:25] = 1
    runs = np.diff(np.flatnonzero(np.diff(mask.T.reshape(-1), prepend=0)), prepend=0)
    runs = [*runs.tolist(), HEIGHT * WIDTH - int(runs.sum())]
    objects = [
        {
            "bbox": [2, 3, 10, 6],
            "category_id": 7,
            "segmentation": [[2, 3, 12, 3, 12, 9, 2, 9]],
            "keypoints": [3, 4, 2, 11, 4, 1],
        },
        {
            "bbox": [15, 4, 10, 14],
            "category_id": 3,
            "segmentation": {"size": [HEIGHT, WIDTH], "counts": runs},
            "iscrowd": 0,
        },
    ]
    content = {
        "images": [{"id": 2, "file_name": "two.png"}, {"id": 1, "file_name": "one.png"}],
        "categories": [{"id": 7, "name": "dog", "keypoints": ["left_eye", "right_eye"]}, {"id": 3, "name": "cat"}],
        "annotations": [{"id": i, "image_id": 1, **o} for i, o in enumerate(objects)]
        + [{"id": 9, "image_id": 2, "bbox": [0, 0, 5, 5], "category_id": 3, "iscrowd": 1}],
    }
    (tmp_path / "instances.json").write_text(json.dumps(content))
    return tmp_path, content


def test_coco(coco):
    folder, _ = coco
    d = data.CocoDetection(folder, folder / "instances.json", masks=True, keypoints=True)
    assert d.classes == ["cat", "dog"]
    sample = d[0]
    check(sample)
    for mask, (left, top, right, bottom) in zip(sample["masks"], BOXES, strict=True):
        expected = np.zeros((HEIGHT, WIDTH))
        expected[top:bottom, left:right] = 1
        np.testing.assert_array_equal(mask, expected)
    assert sample["keypoints"].tolist() == [[[3, 4, 2], [11, 4, 1]], [[0, 0, 0], [0, 0, 0]]]
    assert sample["keypoints"].swaps == ((0, 1),)
    assert d[1]["boxes"].shape == (0, 4)
    assert d[1]["masks"].shape == (0, HEIGHT, WIDTH)
    assert data.CocoDetection(folder, folder / "instances.json", crowds=True)[1]["iscrowd"].tolist() == [True]
    x, (boxes, labels) = d.as_supervised()[0]
    assert (x.shape, boxes.shape, labels.shape) == ((HEIGHT, WIDTH, 3), (2, 4), (2,))


def test_run_lengths_of_the_coco_tools():
    """Text of pycocotools for a mask of 3 × 4 with the middle two columns set."""
    mask = decode_run_length({"size": [3, 4], "counts": "363"}, (3, 4))
    np.testing.assert_array_equal(mask, [[0, 1, 1, 0]] * 3)
    for bad in (
        {"size": [3, 4], "counts": [1, 2]},
        {"size": [4, 3], "counts": [12]},
        {"size": [3, 4], "counts": "\x01"},
        5,
    ):
        with pytest.raises(DataError, match="run lengths"):
            decode_run_length(bad, (3, 4))
    with pytest.raises(DataError, match="at least 3 points"):
        draw_polygons([[1, 2, 3]], (4, 4))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda c: c.pop("images"), FileFormatError, "is no COCO file"),
        (
            lambda c: c["annotations"].append({"id": 5, "image_id": 77, "category_id": 3}),
            FileFormatError,
            "the image 77",
        ),
        (lambda c: c["annotations"][0].update(bbox=[1, 2]), DataError, "annotations of one.png are damaged"),
        (lambda c: c["images"][1].update(file_name="../secret.png"), DataError, "is not below"),
        (lambda c: c["images"][1].update(file_name="gone.png"), MissingFileError, "there is no file"),
        (lambda c: c["images"].__setitem__(0, 3), FileFormatError, "wants lists"),
    ],
)
def test_faults_of_coco_files(coco, change, error, message):
    folder, content = coco
    (folder.parent / "secret.png").write_bytes(picture())
    change(content)
    (folder / "bad.json").write_text(json.dumps(content))
    with pytest.raises(error, match=message):
        data.CocoDetection(folder, folder / "bad.json")[0]
    (folder / "bad.json").write_text("[" * 5000)
    with pytest.raises(FileFormatError, match=r"bad\.json is no JSON"):
        data.CocoDetection(folder, folder / "bad.json")


@pytest.fixture
def voc(tmp_path):
    for name in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "JPEGImages" / "a.png").write_bytes(picture())
    objects = "".join(
        f"<object><name>{name}</name><difficult>{d}</difficult><bndbox><xmin>{left + 1}</xmin><ymin>{top + 1}</ymin>"
        f"<xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>"
        for name, d, (left, top, right, bottom) in zip(("dog", "cat"), (0, 1), BOXES, strict=True)
    )
    (tmp_path / "Annotations" / "a.xml").write_text(f"<annotation>{objects}</annotation>")
    (tmp_path / "ImageSets" / "Main" / "train.txt").write_text("a\n")
    return tmp_path


def test_voc(voc):
    for split in (None, "train"):
        d = data.VOCDetection(voc, split=split, classes=["cat", "dog"])
        assert len(d) == 1
        check(d[0])
        assert d[0]["difficult"].tolist() == [False, True]
    with pytest.raises(ConfigError, match="has the splits train, not 'test'"):
        data.VOCDetection(voc, split="test")
    with pytest.raises(DataError, match="has the class 'dog', which is not in classes"):
        data.VOCDetection(voc, classes=["cat"])[0]


@pytest.mark.parametrize(
    "text",
    [
        "<annotation><object>",
        '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;&x;">]><annotation>&z;</annotation>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotation>&x;</annotation>',
        "<annotation><object><name>cat</name></object></annotation>",
    ],
)
def test_hostile_xml_is_refused(voc, text):
    (voc / "Annotations" / "a.xml").write_text(text)
    with pytest.raises(DataError, match=r"^sample|a\.xml"):
        data.VOCDetection(voc, classes=["cat", "dog"])[0]


def test_yolo(tmp_path):
    for name in ("images", "labels"):
        (tmp_path / name).mkdir()
    (tmp_path / "images" / "a.png").write_bytes(picture())
    (tmp_path / "images" / "b.png").write_bytes(picture())
    lines = []
    for label, (left, top, right, bottom) in zip((1, 0), BOXES, strict=True):
        box = ((left + right) / 2 / WIDTH, (top + bottom) / 2 / HEIGHT, (right - left) / WIDTH, (bottom - top) / HEIGHT)
        lines.append(f"{label} {' '.join(map(str, box))}")
    (tmp_path / "labels" / "a.txt").write_text("\n".join(lines))
    (tmp_path / "data.yaml").write_text("names: {0: cat, 1: dog}\n")
    d = data.YOLODetection(tmp_path)
    assert d.classes == ["cat", "dog"]
    sample = d[0]
    np.testing.assert_allclose(sample["boxes"], BOXES, atol=1e-4)
    assert sample["labels"].tolist() == [1, 0]
    assert len(d[1]["boxes"]) == 0
    left, top, right, bottom = BOXES[0]
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    (tmp_path / "labels" / "b.txt").write_text("1 " + " ".join(f"{x / WIDTH} {y / HEIGHT}" for x, y in corners))
    polygon = d[1]
    np.testing.assert_allclose(polygon["boxes"], BOXES[:1], atol=1e-4)
    assert polygon["masks"][0].sum() == (right - left) * (bottom - top)
    for line in ("1 0.5", "x 0 0 1 1", "5 0.5 0.5 1 1", "1 0.5 0.5 7 1", "1 nan 0.5 1 1"):
        (tmp_path / "labels" / "a.txt").write_text(line)
        with pytest.raises(DataError, match=r"a\.txt, line 1"):
            d[0]


def test_masks_of_classes(tmp_path):
    for name in ("images", "masks"):
        (tmp_path / name).mkdir()
    (tmp_path / "images" / "a.png").write_bytes(picture())
    classes = np.zeros((HEIGHT, WIDTH), "uint8")
    classes[3:9, 2:12] = 2
    (tmp_path / "masks" / "a.png").write_bytes(encode_image(classes))
    d = data.SegmentationFolder(tmp_path / "images", tmp_path / "masks", classes=["none", "cat", "dog"])
    sample = d[0]
    assert type(sample["mask"]) is data.Mask
    np.testing.assert_array_equal(sample["mask"], classes)
    (tmp_path / "masks" / "a.png").write_bytes(encode_image(classes[:5]))
    with pytest.raises(DataError, match=r"a\.png has the size \(5, 30\)"):
        d[0]
    (tmp_path / "masks" / "a.png").unlink()
    with pytest.raises(MissingFileError, match="there is no picture a"):
        d[0]
