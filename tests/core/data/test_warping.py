"""Pictures read at other positions, and made smaller, against formulas written out with NumPy and against Pillow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from labdl.data.vision.resampling import resize
from labdl.data.vision.warping import ArrayMaps, MatrixMaps, affine_matrix, perspective_matrix, warp

DTYPES = ("uint8", "uint16", "int64", "float32", "float64")


def _picture(dtype, channels, size=(23, 31), seed=0):
    values = np.random.default_rng(seed).random((*size, channels))
    return values.astype(dtype) if dtype.startswith("float") else (values * 200).astype(dtype)


def _bilinear(image, x, y, fill):
    """In float64, pixel by pixel."""
    height, width, _ = image.shape
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    total = np.zeros((*x.shape, image.shape[2]))
    for down in (0, 1):
        for right in (0, 1):
            rows, columns = top + down, left + right
            inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
            values = np.where(
                inside[..., None], image[rows.clip(0, height - 1), columns.clip(0, width - 1)].astype("float64"), fill
            )
            weight = np.where(down, y - top, 1 - (y - top)) * np.where(right, x - left, 1 - (x - left))
            total += weight[..., None] * values
    return total


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_warp_is_the_bilinear_formula(dtype, channels):
    image, rng = _picture(dtype, channels), np.random.default_rng(1)
    x, y = rng.uniform(-60, 80, (40, 700)), rng.uniform(-60, 80, (40, 700))  # more than one block, mostly outside
    x[:, ::2], y[:, ::2] = rng.uniform(-1.5, 31.5, (40, 350)), rng.uniform(-1.5, 23.5, (40, 350))
    fill = 0.25 if dtype.startswith("float") else 7
    result = warp(image, ArrayMaps(x, y), fill=fill)
    assert result.dtype == image.dtype
    whole = image.dtype.kind in "ui"
    np.testing.assert_allclose(result, _bilinear(image, x, y, fill), rtol=0, atol=0.51 if whole else 2e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 3, 7])
def test_warp_takes_the_nearest_pixel(dtype, channels):
    image, rng = _picture(dtype, channels), np.random.default_rng(2)
    x, y = rng.uniform(-4, 36, (20, 300)), rng.uniform(-4, 28, (20, 300))
    rows, columns = np.rint(y).astype(int), np.rint(x).astype(int)
    inside = (rows >= 0) & (rows < 23) & (columns >= 0) & (columns < 31)
    expected = np.where(inside[..., None], image[rows.clip(0, 22), columns.clip(0, 30)], np.array(1, dtype))
    result = warp(image, ArrayMaps(x, y), interpolation="nearest", fill=1)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "matrix",
    [
        affine_matrix(17, (3, 4), 1.1, (5, 0), (15, 11)),
        perspective_matrix(
            np.array([[0, 0], [30, 0], [30, 22], [0, 22]]), np.array([[2, 1], [28, 3], [29, 20], [1, 21]])
        ),
    ],
)
def test_maps_of_a_matrix_are_its_inverse(matrix):
    maps = MatrixMaps(matrix, (23, 31))
    x, y = maps.rows(5, 12)
    points = matrix @ np.stack([(x + 0.5).ravel(), (y + 0.5).ravel(), np.ones(x.size)])
    rows, columns = np.mgrid[5:12, 0:31]
    np.testing.assert_allclose(points[0] / points[2], columns.ravel() + 0.5, atol=1e-9)
    np.testing.assert_allclose(points[1] / points[2], rows.ravel() + 0.5, atol=1e-9)


@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 2, 3, 4, 5]))
@settings(max_examples=150, deadline=None)
def test_smaller_pictures_are_those_of_pillow(height, width, rows, columns, channels):
    """Within one level, as Pillow rounds between the two axes; a rare number is rounded twice the other way, and two off."""
    image = _picture("uint8", channels, (height, width), seed=height * 71 + width)
    result = resize(image, (rows, columns))
    assert result.shape == (rows, columns, channels)
    for c in range(channels):
        expected = np.array(Image.fromarray(image[..., c]).resize((columns, rows), Image.Resampling.BILINEAR))
        apart = np.abs(result[..., c].astype(int) - expected)
        assert apart.max() <= 2
        assert (apart == 2).sum() <= 1 + apart.size // 1000


@pytest.mark.parametrize("channels", [1, 3, 6])
def test_smaller_pictures_of_fractions_are_those_of_pillow(channels):
    image = _picture("float32", channels, (61, 53))
    result = resize(image, (19, 40))
    for c in range(channels):
        plane = Image.fromarray(np.ascontiguousarray(image[..., c]))
        expected = np.array(plane.resize((40, 19), Image.Resampling.BILINEAR))
        np.testing.assert_allclose(result[..., c], expected, atol=1e-6)


def test_a_view_of_a_picture_is_resized_as_its_copy():
    image = _picture("uint8", 3, (90, 80))
    for view in (image[5:60, 7:71], image[:, ::-1], image[::2]):
        np.testing.assert_array_equal(resize(view, (20, 30)), resize(view.copy(), (20, 30)))
