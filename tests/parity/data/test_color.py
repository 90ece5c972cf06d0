"""Colour spaces, standardization and levels against TensorFlow, Pillow and formulas."""

import cv2
import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest
import tensorflow as tf

from labdl.data import transforms as T
from labdl.data.parts import Image

PICTURE = np.random.default_rng(0).integers(0, 256, (37, 53, 3), dtype="uint8")
SHARES = PICTURE / np.float32(255)


@pytest.mark.parametrize("space", ["HSV", "YUV", "YIQ"])
def test_color_spaces(space):
    there, back = getattr(tf.image, f"rgb_to_{space.lower()}"), getattr(tf.image, f"{space.lower()}_to_rgb")
    converted = T.ConvertColor("RGB", space)(SHARES)
    tolerance = 5e-5 if space == "YIQ" else 1e-5  # TensorFlow rounds one coefficient of YIQ to 0.2115
    np.testing.assert_allclose(converted, there(SHARES).numpy(), atol=tolerance)
    np.testing.assert_allclose(T.ConvertColor("RGB", space)(PICTURE), converted, atol=1e-6)
    np.testing.assert_allclose(T.ConvertColor(space, "RGB")(converted), back(converted).numpy(), atol=4 * tolerance)


def test_lab():
    """CIE 1976 of sRGB under daylight (D65), by its definition."""
    linear = np.where(SHARES <= 0.04045, SHARES / 12.92, ((SHARES + 0.055) / 1.055) ** 2.4)
    xyz = (
        linear
        @ np.array([[0.412453, 0.35758, 0.180423], [0.212671, 0.71516, 0.072169], [0.019334, 0.119193, 0.950227]]).T
    )
    ratio = xyz / [0.950456, 1.0, 1.088754]
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    expected = np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)
    converted = T.ConvertColor("RGB", "Lab")(SHARES)
    np.testing.assert_allclose(converted, expected, atol=2e-3)
    np.testing.assert_allclose(T.ConvertColor("Lab", "RGB")(converted), SHARES, atol=1e-5)


@pytest.mark.parametrize("image", [PICTURE, SHARES, np.full((5, 4, 3), 7, "uint8")], ids=["uint8", "float32", "even"])
def test_per_image_standardization(image):
    expected = tf.image.per_image_standardization(image).numpy()
    np.testing.assert_allclose(T.PerImageStandardize()(image), expected, atol=2e-5)


@pytest.mark.parametrize("quality", [20, 80])
def test_jpeg_quality(quality):
    expected = tf.image.adjust_jpeg_quality(PICTURE, quality, dct_method="INTEGER_ACCURATE").numpy()
    assert np.abs(T.JPEGQuality(quality)(PICTURE).astype("int64") - expected).max() <= 2


def test_rescale():
    expected = tf.keras.layers.Rescaling(1 / 127.5, offset=-1)(PICTURE).numpy()
    np.testing.assert_allclose(T.Rescale(1 / 127.5, -1.0)(PICTURE), expected, atol=1e-6)


def test_pillow():
    pillow = PIL.Image.fromarray(PICTURE)
    for transform, function in (
        (T.Equalize(), PIL.ImageOps.equalize),
        (T.Posterize(3), lambda p: PIL.ImageOps.posterize(p, 3)),
        (T.Solarize(100.0), lambda p: PIL.ImageOps.solarize(p, 100)),
        (T.Invert(), PIL.ImageOps.invert),
    ):
        assert np.array_equal(transform(PICTURE), np.asarray(function(pillow))), transform
    assert np.array_equal(np.asarray(T.ToPIL()(Image(PICTURE))), PICTURE)
    assert np.array_equal(T.ToImage()(pillow), PICTURE)


def test_clahe_of_grey_pictures():
    grey = cv2.cvtColor(PICTURE, cv2.COLOR_RGB2GRAY)
    assert np.array_equal(T.CLAHE(2.0, (4, 3))(grey), cv2.createCLAHE(2.0, (3, 4)).apply(grey))
    assert T.CLAHE()(np.clip(PICTURE // 8 + 100, 0, 255)).std() > (PICTURE // 8).std()


def test_normalize_takes_uint8_in_one_pass():
    settings = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
    two = T.Compose([T.ToFloat(), T.Normalize(**settings)])(PICTURE)
    np.testing.assert_allclose(T.Normalize(**settings)(PICTURE), two, atol=1e-6)
    padded = T.NormalizePad(**settings)(PICTURE)
    assert np.array_equal(padded[..., :3], T.Normalize(**settings)(PICTURE))
    assert not padded[..., 3].any()
