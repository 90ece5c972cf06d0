"""Rectangles decoded out of pictures: the pixels of the whole picture, the rectangles of `RandomResizedCrop`, damage."""

import io

import numpy as np
import PIL.Image
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.data.codecs.image import decode_and_crop, decode_image
from labdl.errors import DataError


def photograph(height=150, width=203) -> np.ndarray:
    rows, columns = np.mgrid[:height, :width]
    waves = np.stack([np.sin(rows / 9), np.cos(columns / 13), np.sin((rows + columns) / 17)], -1)
    return (127 + 100 * waves + np.random.default_rng(0).normal(0, 5, (height, width, 3))).clip(0, 255).astype("uint8")


def jpeg(mode="RGB", orientation=1, **settings) -> bytes:
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    stream = io.BytesIO()
    PIL.Image.fromarray(photograph()).convert(mode).save(stream, "jpeg", quality=90, exif=exif, **settings)
    return stream.getvalue()


KINDS = {
    "420": {"subsampling": 2},
    "422": {"subsampling": 1},
    "444": {"subsampling": 0},
    "grey": {"mode": "L"},
    "cmyk": {"mode": "CMYK"},
    "progressive": {"progressive": True},
    "restarts": {"restart_marker_blocks": 5},
    **{f"orientation {n}": {"orientation": n} for n in range(2, 9)},
}
BOXES = [(0, 0, 1, 1), (0, 0, 16, 30), (15, 20, 33, 50), (16, 3, 64, 60), (31, 7, 100, 100), (100, 90, 50, 50)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fast", [False, True])
def test_a_rectangle_has_the_pixels_of_the_whole_picture(kind, fast):
    encoded = jpeg(**KINDS[kind])
    for mode in ("RGB", "L"):
        whole = decode_image(encoded, mode, fast=fast)
        for top, left, height, width in BOXES:
            crop = decode_and_crop(encoded, (top, left, height, width), mode, fast=fast)
            np.testing.assert_array_equal(crop, whole[top : top + height, left : left + width])


def test_a_large_rectangle_is_decoded_at_a_part_of_its_size():
    encoded, box = jpeg(), (10, 20, 128, 160)
    assert decode_and_crop(encoded, box, size=(40, 40)).shape == (128, 160, 3)
    for size, shape in (((100, 100), (128, 160)), ((80, 80), (64, 80)), ((40, 50), (32, 40)), ((8, 8), (16, 20))):
        crop = decode_and_crop(encoded, box, size=size, fast=True)
        assert crop.shape[:2] == shape
        factor = 128 // shape[0]
        top, left, bottom, right = (round(edge / factor) * factor for edge in (10, 20, 138, 180))
        rectangle = PIL.Image.fromarray(photograph()[top:bottom, left:right])
        expected = np.asarray(rectangle.resize(shape[::-1], PIL.Image.Resampling.BOX))
        assert np.abs(crop.astype(int) - expected).mean() < 5


def test_rows_below_the_rectangle_are_not_decoded():
    encoded = bytearray(jpeg())
    scan = encoded.index(b"\xff\xda")
    encoded[scan + (len(encoded) - scan) * 3 // 4 : -2] = b"\x55" * len(
        encoded[scan + (len(encoded) - scan) * 3 // 4 : -2]
    )
    whole = decode_image(jpeg())
    np.testing.assert_array_equal(decode_and_crop(bytes(encoded), (0, 0, 60, 100)), whole[:60, :100])


@pytest.mark.parametrize("part", [0.01, 0.3, 0.9])
def test_a_truncated_picture_is_refused(part):
    encoded = jpeg()
    with pytest.raises(DataError, match=r"leaf\.jpg cannot be decoded"):
        decode_and_crop(data.EncodedImage(encoded[: int(part * len(encoded))], "leaf.jpg"), (0, 0, 100, 100))


def test_a_rectangle_outside_and_a_picture_too_large_are_refused():
    for encoded in (jpeg(), data.EncodedImage(jpeg("CMYK"))):
        for box in ((0, 0, 151, 10), (-1, 0, 5, 5), (0, 200, 5, 5), (0, 0, 0, 5)):
            with pytest.raises(DataError, match="150 × 203 pixels, received the rectangle"):
                decode_and_crop(encoded, box)
    with pytest.raises(DataError, match="max_pixels=100"):
        T.DecodeAndRandomResizedCrop(24)(data.EncodedImage(jpeg(), max_pixels=100))


@pytest.mark.parametrize("kind", ["420", "orientation 6", "cmyk"])
def test_decode_and_random_resized_crop_is_that_of_the_decoded_picture(kind):
    encoded = jpeg(**KINDS[kind])
    image = decode_image(encoded)
    parts = {
        "mask": data.Mask(image[..., 0]),
        "boxes": data.BoundingBoxes([[10, 20, 90, 80]], canvas_size=image.canvas),
    }
    for seed in range(5):
        ours = T.DecodeAndRandomResizedCrop((24, 32))({"image": data.EncodedImage(encoded), **parts}, rng=seed)
        theirs = T.RandomResizedCrop((24, 32))({"image": image, **parts}, rng=seed)
        stored = T.DecodeAndRandomResizedCrop((24, 32))({"image": encoded, **parts}, rng=seed)
        np.testing.assert_array_equal(stored["image"], theirs["image"])
        for name, part in theirs.items():
            assert type(ours[name]) is type(part)
            np.testing.assert_array_equal(ours[name], part)


def test_decode_and_crop_takes_bytes_and_decoded_pictures():
    crop = T.DecodeAndCrop(5, 6, 20, 30)
    expected = decode_image(jpeg())[5:25, 6:36]
    for source in (jpeg(), data.EncodedImage(jpeg()), decode_image(jpeg()), np.asarray(decode_image(jpeg()))):
        np.testing.assert_array_equal(crop(source), expected)
    with pytest.raises(DataError, match="the picture has 150 × 203 pixels"):
        T.DecodeAndCrop(140, 0, 20, 30)(jpeg())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("pictures")
    for number in range(6):
        (root / str(number % 2)).mkdir(exist_ok=True)
        (root / str(number % 2) / f"{number}.jpg").write_bytes(jpeg(orientation=1 + number))
    return root


def test_a_fast_folder_decodes_what_a_random_crop_cuts_out(folder, monkeypatch):
    augment = [T.RandomResizedCrop(24, scale=(0.5, 1.0)), T.HorizontalFlip()]
    exact = data.ImageFolder(folder).split(0.5)[0].map(augment)
    train = data.ImageFolder(folder, fast=True).split(0.5)[0].map(augment)
    monkeypatch.setattr("labdl.data.folders.image_folder.decode_image", None)  # the whole picture
    samples = [train.read(i, epoch) for i in range(3) for epoch in (0, 1)]
    monkeypatch.undo()
    for sample, other in zip(samples, [exact.read(i, epoch) for i in range(3) for epoch in (0, 1)], strict=True):
        assert sample["label"] == other["label"]
        assert sample["image"].shape == (24, 24, 3)
        assert np.abs(sample["image"].astype(int) - other["image"]).mean() < 12


def test_a_folder_of_encoded_pictures(folder):
    pictures = data.ImageFolder(folder, decode=False)
    assert type(pictures[0]["image"]) is data.EncodedImage
    assert [p["image"].canvas for p in pictures.select([0, 3, 2])] == [(150, 203), (150, 203), (203, 150)]
    batch = next(iter(pictures.map(T.DecodeAndRandomResizedCrop(24)).loader(6, workers=2).epoch(0)))
    assert batch["image"].shape == (6, 3, 24, 24)


def test_an_error_names_the_file(folder):
    (folder / "1" / "9.jpg").write_bytes(jpeg()[:900])
    try:
        train = data.ImageFolder(folder, fast=True).map(T.RandomResizedCrop(24))
        with pytest.raises(DataError, match=r"1/9\.jpg"):
            train[6]
    finally:
        (folder / "1" / "9.jpg").unlink()
