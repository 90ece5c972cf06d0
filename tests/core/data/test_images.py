"""Pictures: every format and color mode, orientation, damaged and hostile files, and folders of them."""

import io
import os
import struct
import zlib

import numpy as np
import PIL.Image
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.data.codecs.image import decode_image, encode_image, image_size
from labdl.errors import ConfigError, DataError, MissingFileError


def picture(height=24, width=36) -> np.ndarray:
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows * 7, columns * 5, 255 - rows * 3], -1).astype("uint8")


def saved(image: PIL.Image.Image, suffix: str, **settings) -> bytes:
    stream = io.BytesIO()
    image.save(stream, suffix, **settings)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["png", "bmp", "tiff", "gif", "jpeg", "webp"])
def test_each_format_is_written_and_read(name):
    image = picture()
    found = decode_image(encode_image(image, name, quality=95, subsampling="444"))
    assert type(found) is data.Image
    assert (found.shape, found.dtype) == (image.shape, np.uint8)
    difference = np.abs(found.astype(int) - image)
    assert difference.mean() < {"jpeg": 3, "webp": 6, "gif": 40}.get(name, 1e-9)
    assert image_size(encode_image(image, name)) == (24, 36)


def test_a_jpeg_is_decoded_as_pillow_does():
    jpeg = encode_image(picture(), "jpeg")
    expected = np.array(PIL.Image.open(io.BytesIO(jpeg)).convert("RGB"))
    np.testing.assert_allclose(decode_image(jpeg).astype(int), expected, atol=1)
    grey = decode_image(jpeg, "L")
    assert grey.shape == (24, 36, 1)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["jpeg", "png"])
def test_pictures_are_upright(orientation, name):
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    encoded = saved(PIL.Image.fromarray(picture()), name, exif=exif)
    from PIL import ImageOps

    expected = np.array(ImageOps.exif_transpose(PIL.Image.open(io.BytesIO(encoded))))
    found = decode_image(encoded)
    np.testing.assert_allclose(found.astype(int), expected, atol=2)
    assert image_size(encoded) == found.shape[:2]


def test_modes_of_color():
    image = PIL.Image.fromarray(picture())
    palette = saved(image.quantize(16), "png")
    assert decode_image(palette).shape == (24, 36, 3)
    assert decode_image(palette, "unchanged").max() < 16
    alpha = saved(image.convert("RGBA"), "png")
    assert decode_image(alpha).shape == (24, 36, 3)
    assert decode_image(alpha, "RGBA").shape == (24, 36, 4)
    assert decode_image(alpha, "unchanged").shape == (24, 36, 4)
    cmyk = saved(image.convert("CMYK"), "jpeg", quality=100)
    assert np.abs(decode_image(cmyk).astype(int) - picture()).mean() < 3
    bits = saved(PIL.Image.fromarray(picture()[..., 0] > 80), "png")
    assert set(np.unique(decode_image(bits, "L"))) == {0, 255}


def test_sixteen_bits_are_scaled_or_kept():
    values = np.linspace(0, 65535, 24 * 36).reshape(24, 36).astype("uint16")
    deep = encode_image(values, "png")
    np.testing.assert_array_equal(decode_image(deep, "unchanged")[..., 0], values)
    np.testing.assert_array_equal(decode_image(deep)[..., 1], np.round(values / 257).astype("uint8"))


def test_a_jpeg_may_be_decoded_smaller():
    jpeg = encode_image(picture(400, 600), "jpeg")
    small = decode_image(jpeg, min_size=(100, 100), fast=True)
    assert small.shape == (100, 150, 3)


def test_damaged_files_are_errors_in_a_sentence(tmp_path):
    whole = {name: encode_image(picture(), name) for name in ("jpeg", "png", "bmp", "gif", "webp", "tiff")}
    for name, encoded in whole.items():
        file = tmp_path / f"damaged.{name}"
        for content in (encoded[: len(encoded) // 3], b"", b"no picture at all", encoded[:12]):
            file.write_bytes(content)
            with pytest.raises(DataError, match=rf"^damaged\.{name} (is empty|cannot be decoded: )") as refused:
                decode_image(file)
            assert "object at" not in str(refused.value)
    with pytest.raises(
        DataError, match=r"^the picture cannot be decoded: it is no JPEG, PNG, .* or its beginning is damaged$"
    ):
        image_size(b"no picture at all")
    with pytest.raises(MissingFileError, match="there is no file"):
        decode_image(tmp_path / "nothing.png")


def test_a_decompression_bomb_is_refused_by_its_header():
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    with pytest.raises(DataError, match=r"is refused, max_pixels=178,956,970: Image size \(2500000000 pixels\)"):
        decode_image(bomb)
    with pytest.raises(DataError, match="more than max_pixels=100"):
        decode_image(encode_image(picture(), "jpeg"), max_pixels=100)


def test_wrong_settings_of_encoding():
    for call in (
        lambda: encode_image(picture(), "jp2"),
        lambda: encode_image(picture().astype("float32")),
        lambda: encode_image(picture(), "jpeg", quality=0),
    ):
        with pytest.raises(ConfigError, match="encode_image wants"):
            call()


@pytest.fixture
def flowers(tmp_path):
    for label, name in enumerate(("daisy", "rose", "tulip")):
        folder = tmp_path / "flowers" / name / "more"
        folder.mkdir(parents=True)
        for i in range(4):
            (folder / f"{i}.PNG").write_bytes(encode_image(np.full((4, 5, 3), label * 10 + i, "uint8")))
        (folder / "notes.txt").write_text("no picture")
    (tmp_path / "flowers" / ".cache").mkdir()
    return tmp_path / "flowers"


def test_a_folder_of_classes(flowers):
    pictures = data.ImageFolder(flowers)
    assert pictures.classes == ["daisy", "rose", "tulip"]
    assert len(pictures) == 12
    assert pictures[5]["label"] == 1
    assert pictures[5]["image"][0, 0, 0] == 11
    assert pictures.labels().tolist() == [0] * 4 + [1] * 4 + [2] * 4
    chosen = data.ImageFolder(flowers, classes=["tulip", "daisy"])
    assert (chosen[0]["label"], chosen[0]["image"][0, 0, 0]) == (0, 20)
    assert list(data.ImageFolder(flowers, labels=False)[0]) == ["image"]
    x, y = pictures.as_supervised()[3]
    assert (x.shape, y) == ((4, 5, 3), 0)


def test_faults_of_folders(flowers, tmp_path):
    with pytest.raises(MissingFileError, match="there is no folder"):
        data.ImageFolder(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no folder for each class"):
        data.ImageFolder(tmp_path / "empty")
    with pytest.raises(DataError, match="has no pictures"):
        data.ImageFolder(tmp_path / "empty", labels=False)
    with pytest.raises(ConfigError, match="did you mean 'rose'"):
        data.ImageFolder(flowers, classes=["rosa"])


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_out_of_a_folder_are_refused(flowers, tmp_path):
    (tmp_path / "secret.png").write_bytes(encode_image(picture()))
    (flowers / "rose" / "link.png").symlink_to(tmp_path / "secret.png")
    (flowers / "rose" / "again").symlink_to(flowers, target_is_directory=True)
    pictures = data.ImageFolder(flowers)
    assert len(pictures) == 13
    at = pictures.files.paths.index("rose/link.png")
    with pytest.raises(DataError, match=r"rose/link\.png is a link out of the folder: read it with follow_links=True"):
        pictures[at]
    assert data.ImageFolder(flowers, follow_links=True)[at]["image"].shape == (24, 36, 3)


def test_a_broken_picture_of_a_part_is_named_with_its_folder(flowers):
    (flowers / "tulip" / "torn.jpg").write_bytes(b"")
    pictures = data.ImageFolder(flowers)
    at = pictures.files.paths.index("tulip/torn.jpg")
    part = pictures.select([at]).map([T.ToFloat()])
    with pytest.raises(DataError, match=rf"^sample {at} of {pictures.name} \(tulip/torn.jpg\) cannot be read: .*empty"):
        list(part.loader(1, workers=0))
