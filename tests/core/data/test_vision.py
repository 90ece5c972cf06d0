"""Functions of labdl.data.vision against torchvision, and their promises."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent / "transforms"))
from torchvision_cases import array, cases_of, read

from labdl.data.boxes import clip_boxes
from labdl.data.vision import box_overlap, drawing, glimpses, gradients, resampling, similarity, suppression
from labdl.data.vision.roi import roi_align
from labdl.errors import DataError

PAIRS = ("box_iou", "generalized_box_iou", "distance_box_iou", "complete_box_iou")


@pytest.mark.parametrize("name", cases_of(*(f"ops.{p}" for p in PAIRS)))
def test_overlap_of_pairs(name):
    case, expected = read(name)
    function = getattr(box_overlap, case["op"].partition(".")[2])
    np.testing.assert_allclose(function(array("boxes_a"), array("boxes_b")), expected, atol=1e-5)


@pytest.mark.parametrize("name", cases_of("ops.box_area", "ops.clip_boxes_to_image", "ops.remove_small_boxes"))
def test_boxes(name):
    case, expected = read(name)
    boxes = array("boxes_a")
    results = {
        "ops.box_area": lambda: box_overlap.box_area(boxes),
        "ops.clip_boxes_to_image": lambda: clip_boxes(boxes, tuple(case["parameters"]["size"])),
        "ops.remove_small_boxes": lambda: box_overlap.find_large_boxes(boxes, case["parameters"]["min_size"]),
    }
    np.testing.assert_allclose(results[case["op"]](), expected, rtol=1e-6)


def test_masks_to_boxes():
    _, expected = read("ops/masks_to_boxes")
    np.testing.assert_array_equal(box_overlap.masks_to_boxes(array("mask") > 0), expected)
    assert not box_overlap.masks_to_boxes(np.zeros((1, 4, 5))).any()


@pytest.mark.parametrize("name", cases_of("ops.nms", "ops.batched_nms"))
def test_suppression(name):
    case, expected = read(name)
    boxes, scores, threshold = array("boxes_a"), array("scores_a"), case["parameters"]["iou_threshold"]
    if case["op"] == "ops.nms":
        result = suppression.nms(boxes, scores, threshold)
    else:
        result = suppression.batched_nms(boxes, scores, array("classes_a"), threshold)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", cases_of("ops.roi_align"))
def test_roi_align(name):
    case, expected = read(name)
    values = {k: v for k, v in case["parameters"].items() if k in ("spatial_scale", "sampling_ratio", "aligned")}
    features = array("features")
    features = features[0] if features.ndim == 4 else features
    result = roi_align(features, array("boxes_a"), tuple(case["parameters"]["output_size"]), **values)
    np.testing.assert_allclose(result, expected, atol=2e-5 * np.abs(expected).max())


def test_soft_suppression_lowers_scores_by_overlap():
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 10], [20, 20, 30, 30]], "float32")
    scores = np.array([0.9, 0.8, 0.7])
    at, values = suppression.soft_nms(boxes, scores)
    np.testing.assert_array_equal(at, [0, 2, 1])
    np.testing.assert_allclose(values, [0.9, 0.7, 0.8 * np.exp(-2)])
    at, _ = suppression.soft_nms(boxes, scores, method="linear")
    np.testing.assert_array_equal(at, [0, 2])


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(0, 1))
def test_suppression_keeps_no_two_that_overlap(seed, count, threshold):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 20, (count, 2))
    boxes = np.concatenate([low, low + rng.uniform(1, 20, (count, 2))], 1)
    scores = rng.random(count)
    kept = suppression.nms(boxes, scores, threshold)
    assert kept[0] == scores.argmax()
    overlap = box_overlap.box_iou(boxes[kept], boxes[kept]) - np.eye(len(kept))
    assert overlap.max() <= threshold + 1e-12


def test_gradients_and_variation():
    image = np.arange(24, dtype="uint8").reshape(4, 6, 1)
    down, right = gradients.image_gradients(image)
    assert (down[:-1] == 6).all()
    assert (right[:, :-1] == 1).all()
    assert not down[-1].any()
    assert not right[:, -1].any()
    assert gradients.total_variation(image) == 6 * 18 + 20
    edges = gradients.sobel(image)
    assert edges.shape == (4, 6, 1, 2)
    np.testing.assert_array_equal(edges[1, 2, 0], [48, 8])


def test_equal_pictures_are_most_similar():
    image = array("u8").transpose(1, 2, 0)
    assert similarity.ssim(image, image, 255) == pytest.approx(1)
    assert similarity.ssim_multiscale(image, image, 255, filter_size=2) == pytest.approx(1)
    assert np.isinf(similarity.psnr(image, image, 255))
    noisy = np.clip(image.astype(int) + 10, 0, 255)
    assert similarity.ssim(image, noisy, 255) < 1
    assert similarity.psnr(np.zeros((4, 4, 1)), np.full((4, 4, 1), 0.1), 1.0) == pytest.approx(20)
    with pytest.raises(DataError, match="smaller filter_size"):
        similarity.ssim_multiscale(image, image, 255)


def test_glimpse_is_filled_beyond_the_picture():
    image = np.arange(16, dtype="float32").reshape(4, 4, 1)
    np.testing.assert_array_equal(glimpses.extract_glimpse(image, (2, 2), (0, 0))[..., 0], [[5, 6], [9, 10]])
    window = glimpses.extract_glimpse(image, (4, 4), (-1, -1), fill=-1)
    np.testing.assert_array_equal(window[..., 0], [[-1, -1, -1, -1], [-1, -1, -1, -1], [-1, -1, 0, 1], [-1, -1, 4, 5]])


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "float32", "float64"])
@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic", "lanczos"])
def test_channels_are_resized_alone(channels, dtype, interpolation):
    image = (np.random.default_rng(0).random((9, 11, channels)) * 200).astype(dtype)
    for size in ((5, 6), (14, 20), (6, 15)):
        result = resampling.resize(image, size, interpolation=interpolation)
        assert result.shape == (*size, channels)
        assert result.dtype == image.dtype
        alone = resampling.resize(image[:, :, -1:], size, interpolation=interpolation)
        # OpenCV computes one channel by other instructions
        levels = 1 if result.dtype.kind in "ui" else 1e-3
        np.testing.assert_allclose(result[:, :, -1:].astype("float64"), alone.astype("float64"), rtol=0, atol=levels)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_drawings_leave_the_picture_alone(dtype):
    image = np.zeros((30, 40, 3), dtype)
    boxes = drawing.draw_boxes(image, np.array([[4, 5, 20, 25]]), labels=["cat"], colors="#ff0000")
    full = 255 if dtype == "uint8" else 1
    assert tuple(boxes[5, 10]) == (full, 0, 0)
    assert not boxes[28, 35].any()
    mask = np.zeros((1, 30, 40), bool)
    mask[0, 3:6, 7:9] = True
    painted = drawing.draw_masks(image, mask, alpha=1.0, colors=(0, 255, 0))
    assert tuple(painted[4, 8]) == (0, full, 0)
    assert (painted.any(-1) == mask[0]).all()
    points = drawing.draw_keypoints(image, np.array([[[10, 10, 1], [30, 20, 0]]]), colors="blue", radius=1)
    assert tuple(points[10, 10]) == (0, 0, full)
    assert not points[20, 30].any()
    assert not image.any()
