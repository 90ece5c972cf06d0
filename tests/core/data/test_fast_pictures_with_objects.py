"""Pictures with boxes, masks and key points whose first crop or resize decodes them: the same objects at the same places."""

import functools
import io
import json

import numpy as np
import PIL.Image
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.data.codecs.image import encode_image

HEIGHT, WIDTH = 300, 400
BOXES = [[40, 50, 180, 140], [220, 30, 370, 250]]  # left, top, right, bottom
COLORS = [[230, 40, 40], [40, 200, 80]]


@functools.cache
def jpeg(orientation=1) -> bytes:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    picture = np.stack([60 + rows // 8, 70 + columns // 8, 90 + (rows + columns) // 16], -1).astype("uint8")
    for (left, top, right, bottom), color in zip(BOXES, COLORS, strict=True):
        picture[top:bottom, left:right] = color
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    stream = io.BytesIO()
    PIL.Image.fromarray(picture).save(stream, "jpeg", quality=95, exif=exif)
    return stream.getvalue()


def mask() -> np.ndarray:
    classes = np.zeros((HEIGHT, WIDTH), "uint8")
    for number, (left, top, right, bottom) in enumerate(BOXES, 1):
        classes[top:bottom, left:right] = number
    return classes


def coco(root, orientation=1):
    (root / "one.jpg").write_bytes(jpeg(orientation))
    objects = [
        {
            "id": at,
            "image_id": 1,
            "category_id": at,
            "bbox": [left, top, right - left, bottom - top],
            "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
            "keypoints": [left, top, 2, right - 1, bottom - 1, 1],
        }
        for at, (left, top, right, bottom) in enumerate(BOXES)
    ]
    content = {
        "images": [{"id": 1, "file_name": "one.jpg", "height": HEIGHT, "width": WIDTH}],
        "categories": [{"id": 0, "name": "red"}, {"id": 1, "name": "green"}],
        "annotations": objects,
    }
    (root / "instances.json").write_text(json.dumps(content))
    return lambda fast: data.CocoDetection(root, root / "instances.json", masks=True, keypoints=True, fast=fast)


def voc(root):
    for folder in ("JPEGImages", "Annotations", "SegmentationClass"):
        (root / folder).mkdir()
    (root / "JPEGImages" / "one.jpg").write_bytes(jpeg())
    (root / "SegmentationClass" / "one.png").write_bytes(encode_image(mask()))
    names = ("xmin", "ymin", "xmax", "ymax")
    objects = "".join(
        "<object><name>car</name><bndbox>"
        + "".join(f"<{n}>{v + (n in ('xmin', 'ymin'))}</{n}>" for n, v in zip(names, box, strict=True))
        + "</bndbox></object>"
        for box in BOXES
    )
    objects = objects.replace("car", "bus", 1)
    (root / "Annotations" / "one.xml").write_text(f"<annotation>{objects}</annotation>")
    return lambda fast: data.VOCDetection(root, classes=["bus", "car"], fast=fast)


def voc_masks(root):
    voc(root)
    return lambda fast: data.VOCSegmentation(root, fast=fast)


def yolo(root):
    for folder in ("images", "labels"):
        (root / folder).mkdir()
    (root / "images" / "one.jpg").write_bytes(jpeg())
    shares = np.array(BOXES) / [WIDTH, HEIGHT, WIDTH, HEIGHT]
    lines = [f"{n} {l} {t} {r} {t} {r} {b} {l} {b}" for n, (l, t, r, b) in enumerate(shares)]  # noqa: E741
    (root / "labels" / "one.txt").write_text("\n".join(lines))
    return lambda fast: data.YOLODetection(root, fast=fast)


def masks(root):
    for folder in ("images", "masks"):
        (root / folder).mkdir()
    (root / "images" / "one.jpg").write_bytes(jpeg())
    (root / "masks" / "one.png").write_bytes(encode_image(mask()))
    return lambda fast: data.SegmentationFolder(root / "images", root / "masks", fast=fast)


def files(root):
    (root / "one.jpg").write_bytes(jpeg())
    return lambda fast: data.FileDataset([root / "one.jpg"], labels=[3], fast=fast)


def manifest(root):
    (root / "one.jpg").write_bytes(jpeg())
    (root / "list.csv").write_text("path,label\none.jpg,3\n")
    return lambda fast: data.ManifestDataset(root / "list.csv", fast=fast)


SETS = {f.__name__: f for f in (coco, voc, voc_masks, yolo, masks, files, manifest)}
FIRST = {
    "RandomResizedCrop": T.RandomResizedCrop(64, scale=(0.3, 1.0)),
    "ResizedCrop beyond the picture": T.ResizedCrop(-40, -20, 250, 300, (64, 80)),
    "Resize": T.Resize((72, 96)),
    "CenterCrop": T.CenterCrop(200),
    "RandomCrop with padding": T.RandomCrop((290, 390), padding=20),
}


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("name", SETS)
def test_objects_are_those_of_the_exact_mode(tmp_path, name, first):
    make = SETS[name](tmp_path)
    exact, fast = (make(fast).map([FIRST[first], T.HorizontalFlip()], seed=3) for fast in (False, True))
    assert type(fast._read_from[0]["image"]) is data.EncodedImage
    for epoch in range(4):
        ours, theirs = fast.read(0, epoch), exact.read(0, epoch)
        assert list(ours) == list(theirs)
        assert type(ours["image"]) is data.Image
        assert ours["image"].shape == theirs["image"].shape
        for part in set(ours) - {"image"}:
            np.testing.assert_array_equal(ours[part], theirs[part])
            assert getattr(ours[part], "metadata", None) == getattr(theirs[part], "metadata", None)
        difference = np.abs(ours["image"].astype(int) - theirs["image"]).max(-1)
        # at most a border of a pixel along the edges of the objects differs
        assert np.mean(difference > 16) < 0.08
        check_boxes(ours)


def check_boxes(sample) -> None:
    """The colors of the objects fill their boxes, but for a border of two pixels."""
    for box, number in zip(sample.get("boxes", ()), sample.get("labels", ()), strict=True):
        left, top, right, bottom = np.asarray(box)
        inner = sample["image"][int(top) + 3 : int(bottom) - 2, int(left) + 3 : int(right) - 2]
        if inner.size:
            assert np.abs(np.asarray(inner, int) - COLORS[number]).max() < 40


def test_a_crop_that_keeps_the_sample_leaves_a_picture(tmp_path):
    keep = T.IoUCrop(sampler_options=(1.0,))
    exact, fast = (coco(tmp_path)(fast).map([keep, T.Resize(64)]) for fast in (False, True))
    assert type(fast[0]["image"]) is data.Image
    assert np.abs(fast[0]["image"].astype(int) - exact[0]["image"]).max() < 10
    crop = [T.IoUCrop(sampler_options=(0.3, 1.0)), T.SanitizeBoundingBoxes()]
    for epoch in range(6):
        ours, theirs = (coco(tmp_path)(fast).map(crop).read(0, epoch) for fast in (True, False))
        np.testing.assert_array_equal(ours["boxes"], theirs["boxes"])
        assert ours["image"].shape == theirs["image"].shape


def test_a_picture_whose_annotations_were_drawn_before_it_was_turned(tmp_path):
    """It is decoded as stored, and its objects lie where they were drawn."""
    make = coco(tmp_path, orientation=6)
    sample = make(True).map(T.Resize((HEIGHT, WIDTH)))[0]
    assert sample["image"].canvas == (HEIGHT, WIDTH)
    check_boxes(sample)


def test_other_first_transforms_and_settings_decode_the_whole_picture(tmp_path):
    make = files(tmp_path)
    assert make(True).map(T.HorizontalFlip())[0]["image"].shape == (HEIGHT, WIDTH, 3)
    for settings in ({"mode": "RGBA"}, {"min_size": (10, 10)}, {"upright": False}):
        other = data.FileDataset([tmp_path / "one.jpg"], fast=True, **settings)
        assert other.as_bytes() is None
    grey = data.FileDataset([tmp_path / "one.jpg"], fast=True, mode="L").map(T.Resize(50))
    assert grey[0]["image"].shape == (50, 66, 1)


def test_several_data_sets_as_one_leave_their_pictures_encoded(tmp_path):
    make = files(tmp_path)
    for joined in (make(True).concat(make(False)), make(True).interleave(make(True))):
        train = joined.map(T.CenterCrop(100))
        assert train._read_from is not joined
        assert [train[i]["image"].shape for i in range(2)] == [(100, 100, 3)] * 2


@T.transform
class HalfResize(T.Resize):
    """Resize and halve the values."""

    size: int = 50

    def apply_to_image(self, image, params):
        return super().apply_to_image(image, params) // 2


def test_a_subclass_with_pixels_of_its_own_receives_them(tmp_path):
    make = files(tmp_path)
    image = make(True).map(HalfResize())[0]["image"]
    assert image.max() < 128
    assert np.abs(image.astype(int) - make(False).map(HalfResize())[0]["image"]).max() < 8


def test_encoded_pictures_are_decoded_by_what_crops_or_resizes_them():
    encoded, image = data.EncodedImage(jpeg(6)), T.Decode()(jpeg(6))
    assert image.canvas == (WIDTH, HEIGHT)
    for transform in (T.Decode(), T.Crop(5, 6, 20, 30), T.Resize(40), T.CenterCrop(500), T.Pad(3)):
        np.testing.assert_array_equal(transform(encoded), transform(image))
    for several in (T.FiveCrop(50), T.TenCrop(60)):
        for ours, theirs in zip(several(encoded), several(image), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert T.Decode("L")(jpeg()).shape == (HEIGHT, WIDTH, 1)
