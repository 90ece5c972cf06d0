"""Geometric transforms against torchvision.

Differences on purpose: key points are centers of pixels in every transform here (torchvision: in flips, crops and pads),
so that they stay on their object; border pixels are blended once with a fill (torchvision multiplies them by their part
of the picture twice); boxes of an expanded rotation are placed as the picture; elastic keeps fractions of coordinates.
Key points outside of the picture stay where they are until SanitizeKeypoints.
"""

import numpy as np
import pytest
from torchvision_cases import CANVAS, array, cases_of, part, read

from labdl.data import transforms as T
from labdl.data.boxes import convert_boxes
from labdl.data.parts import BoundingBoxes, Image, KeyPoints, Mask
from labdl.data.vision.warping import warp

GENERATOR = np.random.default_rng(0)


def _values(values, *names):
    return {name: _tuples(values[name]) for name in names if values.get(name) is not None}


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _check_image(result, expected, *, allowed=0.0, levels=1, tolerance=2e-5):
    """Within a gray level or a tolerance, but for a part of the positions."""
    expected = np.moveaxis(expected, -3, -1)
    result = np.asarray(result)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    if result.dtype == np.uint8:
        wrong = np.abs(result.astype(int) - expected) > levels
    else:
        wrong = np.abs(result - expected) > tolerance * max(1, np.abs(expected).max())
    assert wrong.mean() <= allowed, (wrong.mean(), np.argwhere(wrong)[:5])


def _apply(transform, leaf, params=None):
    if params is None:
        params = transform.get_params(GENERATOR, leaf if leaf.canvas else part("u8"))
    return transform.apply_to(leaf, params)


def _as_torchvision(transform, points):
    """Points as torchvision moves them where it counts them from the corner of the picture."""
    shifted = KeyPoints(points.array - 0.5, canvas_size=CANVAS)
    return np.asarray(_apply(transform, shifted)) + 0.5


def _check_boxes(result, case, expected, tolerance=1e-4):
    assert isinstance(result, BoundingBoxes)
    assert result.canvas_size == tuple(case["canvas_size"])
    np.testing.assert_allclose(result, expected, atol=tolerance)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", cases_of("resize"))
def test_resize(name):
    case, expected = read(name)
    values = case["parameters"]
    size = values["size"]
    settings = _values(values, "interpolation", "max_size", "antialias")
    transform = T.Resize(size=size[0] if size and len(size) == 1 else _tuples(size), **settings)
    leaf = part(case["input"])
    if isinstance(leaf, KeyPoints):
        np.testing.assert_allclose(_as_torchvision(transform, leaf), expected, atol=1e-4)
    elif isinstance(leaf, BoundingBoxes):
        _check_boxes(_apply(transform, leaf), case, expected)
    elif isinstance(leaf, Mask):
        np.testing.assert_array_equal(_apply(transform, leaf), expected)
    else:
        _check_image(_apply(transform, leaf), expected)


@pytest.mark.parametrize("name", cases_of("resized_crop"))
def test_resized_crop(name):
    case, expected = read(name)
    transform = T.ResizedCrop(
        **_values(case["parameters"], "top", "left", "height", "width", "size", "interpolation", "antialias")
    )
    leaf = part(case["input"])
    if isinstance(leaf, KeyPoints):
        np.testing.assert_allclose(_as_torchvision(transform, leaf), expected, atol=1e-4)
    elif isinstance(leaf, BoundingBoxes):
        _check_boxes(_apply(transform, leaf), case, expected)
    elif isinstance(leaf, Mask):
        np.testing.assert_array_equal(_apply(transform, leaf), expected)
    else:
        _check_image(_apply(transform, leaf), expected)


REGIONS = {
    "crop": lambda v: T.Crop(**v),
    "center_crop": lambda v: T.CenterCrop(tuple(v["output_size"])),
    "pad": lambda v: T.Pad(**{k: _tuples(x) for k, x in v.items() if k != "padding"}, padding=_padding(v["padding"])),
    "horizontal_flip": lambda v: T.HorizontalFlip(p=1.0),
    "vertical_flip": lambda v: T.VerticalFlip(p=1.0),
}


def _padding(value):
    return value[0] if len(value) == 1 else tuple(value)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(
    "name", [c for c in cases_of(*REGIONS) if "cxcywhr" not in c.values[0]]
)  # rotated boxes are not a format here
def test_regions_are_equal(name):
    case, expected = read(name)
    transform = REGIONS[case["op"]](case["parameters"])
    leaf = part(case["input"])
    result = _apply(transform, leaf)
    if isinstance(leaf, BoundingBoxes):
        _check_boxes(result, case, expected)
    elif isinstance(leaf, Image):
        _check_image(result, expected, levels=0, tolerance=0)
    else:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", cases_of("five_crop", "ten_crop"))
def test_crops_of_corners(name):
    case, expected = read(name)
    size = tuple(case["parameters"]["size"])
    transform = T.FiveCrop(size) if case["op"] == "five_crop" else T.TenCrop(size)
    results = transform(part(case["input"]))
    assert all(isinstance(r, Image) for r in results)
    _check_image(np.stack(results), expected, levels=0, tolerance=0)


def _rotate(values):
    settings = _values(values, "interpolation", "expand", "center", "fill")
    return T.Rotate(degrees=values["angle"], **settings)


def _affine(values):
    height, width = CANVAS
    x, y = values["translate"]
    settings = _values(values, "scale", "shear", "interpolation", "center", "fill")
    return T.Affine(degrees=values["angle"], translate=(x / width, y / height), **settings)


def _perspective(values):
    return T.Perspective(**_values(values, "startpoints", "endpoints", "interpolation", "fill"))


def _elastic(values):
    return T.Elastic(**_values(values, "interpolation", "fill"))


WARPS = {"rotate": _rotate, "affine": _affine, "perspective": _perspective, "elastic": _elastic}


def _expected_blend(expected, fill, cover):
    """torchvision's border pixels, blended once: it has v × cover² + fill × (1 - cover)."""
    fill = np.reshape(np.asarray(fill, "float64"), (-1, 1, 1))
    blended = np.where(cover > 0, (expected - fill * (1 - cover)) / np.maximum(cover, 1e-9) + fill * (1 - cover), fill)
    return blended


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", [c for c in cases_of(*WARPS) if "cxcywhr" not in c.values[0]])
def test_warps(name):
    case, expected = read(name)
    values = case["parameters"]
    transform = WARPS[case["op"]](values)
    leaf = part(case["input"])
    params = None
    if case["op"] == "elastic":
        distances = array("displacement")[0] * (np.array(CANVAS[::-1]) / 2)
        params = transform.bending(CANVAS, distances)
    if isinstance(leaf, KeyPoints | BoundingBoxes):
        _check_moved(transform, leaf, params, case, expected)
        return
    result = _apply(transform, leaf, params)
    if isinstance(leaf, Mask):
        assert (np.asarray(result) != expected).mean() <= 0.02
        return
    nearest = getattr(transform, "interpolation", "") == "nearest"
    if "fill" in values and values["fill"] is not None and not nearest:
        maps = (params or transform.get_params(GENERATOR, leaf))["maps"]
        cover = warp(np.ones((*CANVAS, 1)), maps)[..., 0]
        clear = (cover == 0) | (cover > 0.05)  # the division below is by its square
        blended = _expected_blend(expected.astype("float64"), values["fill"], cover)
        difference = np.abs(np.moveaxis(np.asarray(result, "float64"), -1, 0) - blended)
        limit = 1 + 1.5 / np.maximum(cover, 0.05) if result.dtype == np.uint8 else 5e-5 / np.maximum(cover, 0.05) ** 2
        assert (difference <= limit)[:, clear].all()
        inside = cover > 0.999999
        assert (difference[:, inside] <= (1 if result.dtype == np.uint8 else 5e-5)).all()
        return
    _check_image(result, expected, allowed=0.02 if nearest else 0.0, tolerance=5e-5)


def _check_moved(transform, leaf, params, case, expected):
    values = case["parameters"]
    elastic = case["op"] == "elastic"
    shift = np.zeros(2)
    if values.get("expand"):
        width, height = CANVAS[1], CANVAS[0]
        angle = np.radians(values["angle"])
        sin, cos = abs(np.sin(angle)), abs(np.cos(angle))
        around = np.array([width * cos + height * sin, width * sin + height * cos])
        shift = (np.array(case["canvas_size"][::-1]) - around) / 2
    if isinstance(leaf, KeyPoints):
        moved = KeyPoints(leaf.array - 0.5, canvas_size=CANVAS)
        result = np.asarray(_apply(transform, moved, params)) + 0.5
        fraction = leaf.array % 1 if elastic else 0
        np.testing.assert_allclose(result, expected + shift + fraction, atol=2e-4)
        return
    if elastic:
        # torchvision moves the next pixel after a corner
        corners = convert_boxes(leaf.array, leaf.format, "xyxy")
        pixels = np.minimum(np.ceil(corners), np.array([CANVAS[1] - 1, CANVAS[0] - 1] * 2))
        leaf = BoundingBoxes(convert_boxes(pixels, "xyxy", leaf.format), format=leaf.format, canvas_size=CANVAS)
    result = _apply(transform, leaf, params)
    assert result.canvas_size == tuple(case["canvas_size"])
    corners = convert_boxes(result.array, leaf.format, "xyxy")
    wanted = convert_boxes(expected, leaf.format, "xyxy") + np.tile(shift, 2)
    height, width = case["canvas_size"]
    if shift.any():
        # boxes at the border of the canvas were cut before they were moved
        inner = (wanted > shift.max() + 1e-3) & (wanted < np.array([width, height] * 2) - shift.max() - 1e-3)
        corners, wanted = corners[inner], wanted[inner]
    np.testing.assert_allclose(corners, wanted, atol=5e-4)


@pytest.mark.parametrize("name", cases_of("permute_channels"))
def test_permute_channels(name):
    case, expected = read(name)
    result = T.PermuteChannels(tuple(case["parameters"]["permutation"]))(part(case["input"]))
    _check_image(result, expected, levels=0, tolerance=0)


@pytest.mark.parametrize("name", [c for c in cases_of("convert_bounding_box_format") if "cxcywhr" not in c.values[0]])
def test_convert_bounding_box_format(name):
    case, expected = read(name)
    target = case["parameters"]["new_format"].lower()
    result = T.ConvertBoundingBoxFormat(target)(part(case["input"]))
    assert result.format == target
    np.testing.assert_allclose(result, expected, atol=1e-5)


@pytest.mark.parametrize("name", cases_of("clamp_bounding_boxes"))
def test_clamp_bounding_boxes(name):
    case, expected = read(name)
    np.testing.assert_array_equal(T.ClampBoundingBoxes()(part(case["input"])), expected)


@pytest.mark.parametrize("name", cases_of("clamp_keypoints"))
def test_clamp_keypoints(name):
    case, expected = read(name)
    np.testing.assert_array_equal(T.ClampKeypoints()(part(case["input"])), expected)


@pytest.mark.parametrize("name", cases_of("sanitize_bounding_boxes"))
def test_sanitize_bounding_boxes(name):
    case, expected = read(name)
    settings = _values(case["parameters"], "min_size", "min_area")
    sample = {"boxes": T.ClampBoundingBoxes()(part(case["input"])), "labels": np.arange(4)}
    result = T.SanitizeBoundingBoxes(**settings)(sample)
    if name.endswith("_kept"):
        np.testing.assert_array_equal(result["labels"], np.flatnonzero(expected))
    else:
        np.testing.assert_array_equal(result["boxes"], expected)


@pytest.mark.parametrize("name", cases_of("uniform_temporal_subsample"))
def test_uniform_temporal_subsample(name):
    from labdl.data.parts import Video

    _, expected = read(name)
    frames = Video(np.arange(13, dtype=expected.dtype)[:, None, None, None] * np.ones((1, 2, 2, 1), expected.dtype))
    result = T.UniformTemporalSubsample(5)(frames)
    np.testing.assert_array_equal(np.moveaxis(result, -1, 1), expected)
