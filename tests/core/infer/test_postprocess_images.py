"""Boxes, masks and key points against plain loops, PyTorch's own interpolation, and the public decodings."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ConfigError, FileFormatError, ModelError
from labdl.infer import Detection, Keypoints, Segmentation, box_affine, mask_from_run_lengths, run_lengths
from labdl.train.metrics import PCK, MeanAveragePrecision, MeanIoU

# -- detection


def overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    shared = max(width, 0) * max(height, 0)
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def detected(boxes, scores, threshold, iou_threshold, most, agnostic=False):
    """Greedy suppression, candidate by candidate."""
    rows = [(s, k, box) for box, row in zip(boxes, scores, strict=True) for k, s in enumerate(row) if s > threshold]
    kept = []
    for score, kind, box in sorted(rows, key=lambda row: -row[0]):
        if all((not agnostic and kind != k) or overlap(box, b) <= iou_threshold for _, k, b in kept):
            kept.append((score, kind, box))
    return kept[:most]


def scene(seed, n=25, classes=3):
    draws = np.random.default_rng(seed)
    low = draws.uniform(0, 60, (n, 2))
    return np.concatenate([low, low + draws.uniform(5, 40, (n, 2))], 1), draws.uniform(size=(n, classes))


@given(st.integers(0, 10**6), st.floats(0.05, 0.9), st.floats(0.1, 0.9), st.integers(1, 40), st.booleans())
@settings(max_examples=60, deadline=None)
def test_detections_are_those_of_greedy_suppression(seed, threshold, iou_threshold, most, agnostic):
    boxes, scores = scene(seed)
    asked = Detection(threshold=threshold, iou_threshold=iou_threshold, max_detections=most, class_agnostic=agnostic)
    found = asked((boxes, scores))
    expected = detected(boxes, scores, threshold, iou_threshold, most, agnostic)
    assert found.labels.tolist() == [kind for _, kind, _ in expected]
    np.testing.assert_allclose(found.scores, [score for score, _, _ in expected])
    np.testing.assert_allclose(found.boxes, np.reshape([box for _, _, box in expected], (-1, 4)))


def test_boxes_scores_and_classes_may_come_apart_and_by_name():
    boxes, scores = scene(1)
    labels = scores.argmax(1)
    whole = Detection(best_class_only=True)((boxes, scores))
    for output in ((boxes, scores.max(1), labels), {"scores": scores.max(1), "labels": labels, "boxes": boxes}):
        apart = Detection()(output)
        np.testing.assert_array_equal(apart.labels, whole.labels)
        np.testing.assert_array_equal(apart.boxes, whole.boxes)


def test_formats_and_activations_give_the_same_objects():
    boxes, scores = scene(2)
    expected = Detection(threshold=0.3)((boxes, scores))
    centers = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)
    corners = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], 1)
    logits = np.log(scores / (1 - scores))
    for form, other in (("cxcywh", centers), ("xywh", corners)):
        found = Detection(threshold=0.3, box_format=form, activation="sigmoid")((other, logits))
        np.testing.assert_allclose(found.boxes, expected.boxes, atol=1e-9)
        np.testing.assert_allclose(found.scores, expected.scores)


def test_a_background_is_never_found_and_classes_keep_their_numbers():
    boxes, scores = scene(3, classes=4)
    soft = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    for background in (0, 3, -1):
        found = Detection(activation="softmax", background=background)((boxes, scores))
        masked = soft.copy()
        masked[:, background] = 0
        expected = detected(boxes, masked, 0.05, 0.5, 100)
        assert found.labels.tolist() == [kind for _, kind, _ in expected]
        assert background % 4 not in found.labels
    with pytest.raises(ModelError, match="4 classes and none numbered 4"):
        Detection(background=4)((boxes, scores))


def test_boxes_return_to_the_picture_that_was_stretched():
    boxes = np.array([[10.0, 20, 30, 60], [50, 10, 200, 90]])
    found = Detection(image_size=(100, 100), original_size=(50, 300))((boxes, np.array([[0.9], [0.8]])))
    np.testing.assert_allclose(found.boxes, [[30, 10, 90, 30], [150, 5, 300, 45]])
    shares = Detection(image_size=(100, 100), original_size=(50, 300), normalized=True)
    np.testing.assert_allclose(shares((boxes / 100, np.array([[0.9], [0.8]]))).boxes, found.boxes)
    kept = Detection(image_size=(100, 100))((boxes, np.array([[0.9], [0.8]])))
    np.testing.assert_allclose(kept.boxes[1], [50, 10, 100, 90])


@pytest.mark.parametrize("original", [(480, 640), (700, 300), (64, 64)])
def test_boxes_return_from_a_letterbox(original):
    """The way there: shrink by one factor, then equal margins on both sides."""
    height, width = 128, 160
    rows, columns = original
    factor = min(height / rows, width / columns)
    left, top = (width - columns * factor) / 2, (height - rows * factor) / 2
    true = np.array([[0.1 * columns, 0.2 * rows, 0.6 * columns, 0.9 * rows]])
    seen = true * factor + np.array([left, top, left, top])
    asked = Detection(image_size=(height, width), original_size=original, resize="letterbox")
    np.testing.assert_allclose(asked((seen, np.array([[0.9]]))).boxes, true)


def test_the_best_candidates_alone_go_to_the_suppression():
    boxes, scores = scene(4)
    found = Detection(candidates=5, iou_threshold=1.0)((boxes, scores))
    np.testing.assert_allclose(found.scores, np.sort(scores.ravel())[::-1][:5])


def test_nothing_found_is_an_empty_result():
    boxes, scores = scene(5)
    found = Detection(threshold=1.0, names=("a", "b", "c"))((boxes, scores))
    assert len(found) == 0
    assert found.boxes.shape == (0, 4)
    assert found.names == ()
    assert len(Detection()((np.zeros((0, 4)), np.zeros((0, 3))))) == 0
    assert Detection().for_metrics([found, found]).shape == (2, 0, 6)


def test_names_go_with_the_classes():
    boxes, scores = scene(6)
    found = Detection(names=("a", "b", "c"))((boxes, scores))
    assert found.names == tuple("abc"[i] for i in found.labels)
    with pytest.raises(ModelError, match="2 names, the output has a class 2"):
        Detection(names=("a", "b"))((boxes, scores))


def test_invalid_boxes_raise():
    for output in (np.zeros((5, 4)), (np.zeros((5, 3)), np.zeros((5, 2))), (np.zeros((5, 4)), np.zeros((4, 2)))):
        with pytest.raises(ModelError, match=r"Detection wants boxes \(n, 4\)"):
            Detection()(output)


def test_results_are_what_metrics_take():
    """Two pictures, one with a box exactly right, one with half of its objects: worked out by hand."""
    asked = Detection()
    one = asked((np.array([[0.0, 0, 10, 10]]), np.array([[0.9, 0.0]])))
    two = asked((np.array([[0.0, 0, 10, 10], [20, 20, 30, 30]]), np.array([[0.8, 0.0], [0.0, 0.7]])))
    rows = asked.for_metrics([one, two])
    assert rows.shape == (2, 2, 6)
    assert rows[0, 1].tolist() == [-1] * 6
    objects = np.array([[[0, 0, 10, 10, 0], [-1] * 5], [[0, 0, 10, 10, 0], [20, 20, 30, 30, 1]]], "float64")
    assert MeanAveragePrecision()(rows, objects) == pytest.approx(1.0)
    objects[1, 1] = [40, 40, 50, 50, 1]
    assert MeanAveragePrecision()(rows, objects) == pytest.approx(0.5)


# -- segmentation

SCORES = np.random.default_rng(0).normal(size=(4, 6, 5)).astype("float32")


def test_each_pixel_has_the_class_of_its_largest_score():
    found = Segmentation(areas=True)(SCORES)
    np.testing.assert_array_equal(found.mask, SCORES.argmax(0))
    assert found.areas.tolist() == [int((SCORES.argmax(0) == k).sum()) for k in range(4)]
    assert found.run_lengths is None
    last = Segmentation(data_format="channels_last")(np.moveaxis(SCORES, 0, -1))
    np.testing.assert_array_equal(last.mask, found.mask)
    whole = Segmentation(areas=True, names=("a", "b", "c", "d", "e"))(SCORES.argmax(0))
    np.testing.assert_array_equal(whole.mask, found.mask)
    assert whole.areas.tolist() == [*found.areas.tolist(), 0]


@pytest.mark.parametrize("size", [(12, 10), (9, 7), (3, 2)])
def test_masks_have_the_size_of_the_picture(size):
    larger = torch.nn.functional.interpolate(torch.tensor(SCORES)[None], size, mode="bilinear", align_corners=False)
    found = Segmentation(original_size=size)(SCORES)
    np.testing.assert_array_equal(found.mask, larger[0].argmax(0).numpy())
    classes = torch.tensor(SCORES.argmax(0)[None, None].astype("float32"))
    nearest = torch.nn.functional.interpolate(classes, size, mode="nearest")[0, 0].numpy()
    np.testing.assert_array_equal(Segmentation(original_size=size, interpolation="nearest")(SCORES).mask, nearest)
    np.testing.assert_array_equal(Segmentation(original_size=size)(SCORES.argmax(0)).mask, nearest)


def test_one_score_a_pixel_is_that_of_yes():
    plane = SCORES[0]
    for output in (plane, plane[None]):
        np.testing.assert_array_equal(Segmentation()(output).mask, plane > 0)
    shares = 1 / (1 + np.exp(-plane.astype("float64")))
    found = Segmentation(from_logits=False, threshold=0.7, original_size=(12, 10))(shares)
    larger = torch.nn.functional.interpolate(torch.tensor(shares)[None, None], (12, 10), mode="bilinear")[0, 0].numpy()
    np.testing.assert_array_equal(found.mask, larger > 0.7)
    small = Segmentation(from_logits=False, threshold=0.7, original_size=(12, 10), interpolation="nearest")(shares)
    np.testing.assert_array_equal(small.mask, (shares > 0.7).repeat(2, 0).repeat(2, 1))


def test_run_lengths_are_cocos():
    """The example of a column that is read first: 0 1 / 1 1 is 0 1 1 1 column by column."""
    assert run_lengths(np.array([[0, 1], [1, 1]])) == {"size": [2, 2], "counts": [1, 3]}
    assert run_lengths(np.ones((2, 3))) == {"size": [2, 3], "counts": [0, 6]}
    assert run_lengths(np.zeros((2, 3))) == {"size": [2, 3], "counts": [6]}
    found = Segmentation(run_lengths=True)(SCORES)
    assert set(found.run_lengths) == set(np.unique(found.mask)) - {0}
    for kind, lengths in found.run_lengths.items():
        np.testing.assert_array_equal(mask_from_run_lengths(lengths), found.mask == kind)
    everything = Segmentation(run_lengths=True, background=None)(SCORES)
    assert set(everything.run_lengths) == set(np.unique(found.mask))


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**31))
@settings(max_examples=80, deadline=None)
def test_run_lengths_lead_back_to_the_mask(height, width, seed):
    mask = np.random.default_rng(seed).random((height, width)) < 0.5
    lengths = run_lengths(mask)
    pixels = [mask[y, x] for x in range(width) for y in range(height)]
    assert sum(lengths["counts"]) == len(pixels)
    assert [i % 2 == 1 for i, n in enumerate(lengths["counts"]) for _ in range(n)] == pixels
    np.testing.assert_array_equal(mask_from_run_lengths(lengths), mask)


def test_run_lengths_that_do_not_fit_are_refused():
    for counts in ([5], [3, -1, 2], []):
        with pytest.raises(FileFormatError, match="do not match a mask of 2 × 2"):
            mask_from_run_lengths({"size": [2, 2], "counts": counts})


def test_masks_of_one_size_are_what_metrics_take():
    asked = Segmentation()
    masks = asked.for_metrics([asked(SCORES), asked(SCORES)])
    assert MeanIoU()(masks, np.stack([SCORES.argmax(0)] * 2)) == 1.0
    with pytest.raises(ModelError, match="batch_size=1"):
        asked.for_metrics([asked(SCORES), asked(SCORES[:, :4])])


# -- key points


def decoded(maps):
    """The public decoding of Simple Baselines and HRNet, point by point."""
    points = []
    for plane in maps:
        height, width = plane.shape
        at = int(plane.argmax())
        x, y = float(at % width), float(at // width)
        if plane.max() <= 0:
            points.append((0.0, 0.0))
            continue
        px, py = math.floor(x + 0.5), math.floor(y + 0.5)
        if 1 < px < width - 1 and 1 < py < height - 1:
            x += 0.25 * np.sign(plane[py, px + 1] - plane[py, px - 1])
            y += 0.25 * np.sign(plane[py + 1, px] - plane[py - 1, px])
        points.append((x, y))
    return np.array(points)


@given(st.integers(1, 6), st.integers(3, 9), st.integers(3, 9), st.integers(0, 2**31))
@settings(max_examples=100, deadline=None)
def test_points_are_those_of_the_public_decoding(count, height, width, seed):
    maps = np.random.default_rng(seed).normal(size=(count, height, width)).astype("float32")
    maps[0] = -np.abs(maps[0])
    found = Keypoints()(maps)
    np.testing.assert_array_equal(found.points, decoded(maps))
    np.testing.assert_array_equal(found.scores, maps.max((1, 2)))
    np.testing.assert_array_equal(found.visible, maps.max((1, 2)) > 0)


def test_a_quarter_comes_nearer_to_the_true_place():
    """A bell of which the true center lies between cells."""
    y, x = np.mgrid[:16, :12]
    maps = np.stack([np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 4) for cx, cy in ((5.3, 7.7), (6.4, 4.2))])
    exact = np.array([[5.3, 7.7], [6.4, 4.2]])
    plain, better = (np.abs(Keypoints(offset=o)(maps).points - exact).max() for o in ("none", "quarter"))
    assert better < plain
    np.testing.assert_array_equal(Keypoints()(maps).points, [[5.25, 7.75], [6.25, 4.25]])


def test_points_lie_in_the_picture_that_the_map_shows():
    maps = np.zeros((1, 8, 6), "float32")
    maps[0, 4, 3] = 1
    affine = box_affine((100, 50, 160, 130), (8, 6))
    found = Keypoints(offset="none", affine=affine, names=("nose",), threshold=0.5)(maps)
    np.testing.assert_allclose(found.points, [[130, 90]])
    assert found.visible.tolist() == [True]
    assert found.names == ("nose",)
    turned = Keypoints(offset="none", affine=[[0, -1, 10], [1, 0, 20]])(maps)
    np.testing.assert_allclose(turned.points, [[6, 23]])
    with pytest.raises(ConfigError, match=r"affine wants a matrix \(2, 3\)"):
        Keypoints(affine=np.eye(3))


def test_coordinates_are_taken_as_they_are():
    points = np.random.default_rng(1).uniform(size=(5, 2)).astype("float32")
    for output in (points, points.ravel()):
        found = Keypoints(affine=[[10, 0, 0], [0, 20, 0]])(output)
        np.testing.assert_allclose(found.points, points * [10, 20], rtol=1e-6)
        assert found.scores.tolist() == [1.0] * 5
    scored = Keypoints(threshold=0.5)(np.concatenate([points, np.linspace(0, 1, 5)[:, None]], 1))
    assert scored.visible.tolist() == [False, False, False, True, True]
    with pytest.raises(ModelError, match="coordinates"):
        Keypoints()(np.zeros((5, 4)))
    rows = Keypoints().for_metrics([Keypoints()(points)])
    assert PCK()(rows, points[None]) == 1.0
