"""Geometric transforms move boxes, masks and key points with the picture; objects that leave take their labels along."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.data import transforms as T
from labdl.data.parts import BoundingBoxes, Image, KeyPoints, Mask, Video
from labdl.errors import ConfigError, DataError

MOVING = {
    "Resize": T.Resize((60, 90)),
    "ResizeShortestSize": T.ResizeShortestSize((40, 70)),
    "RandomResize": T.RandomResize(40, 90),
    "RandomSizeResize": T.RandomSizeResize((50, (64, 80))),
    "ScaleJitter": T.ScaleJitter((64, 64), scale_range=(0.8, 2.0)),
    "ResizeWithPad": T.ResizeWithPad((90, 90)),
    "ResizeWithCropOrPad": T.ResizeWithCropOrPad((70, 60)),
    "CenterCrop": T.CenterCrop((44, 60)),
    "RandomCrop": T.RandomCrop((44, 60), padding=6),
    "RandomResizedCrop": T.RandomResizedCrop((64, 64), scale=(0.5, 1.0)),
    "IoUCrop": T.IoUCrop(),
    "ZoomOut": T.ZoomOut(),
    "Pad": T.Pad((3, 4, 5, 6)),
    "PadToSize": T.PadToSize((60, 80)),
    "PadToBoundingBox": T.PadToBoundingBox(5, 6, 70, 90),
    "HorizontalFlip": T.HorizontalFlip(p=1.0),
    "VerticalFlip": T.VerticalFlip(p=1.0),
    "Rot90": T.Rot90(),
    "Rotate": T.Rotate((-40.0, 40.0)),
    "RotateExpand": T.Rotate((-180.0, 180.0), expand=True, interpolation="bilinear"),
    "Affine": T.Affine((-20.0, 20.0), ((-0.1, 0.1), (-0.1, 0.1)), (0.8, 1.2), ((-8.0, 8.0), 3.0)),
    "Perspective": T.Perspective(0.3),
    "Elastic": T.Elastic(alpha=60.0, sigma=6.0),
}


def _sample(top, left, height, width):
    """A dark picture with a bright rectangle, its box, mask and the pixels at its corners and centre."""
    picture = np.zeros((50, 70, 3), "uint8")
    mask = np.zeros((50, 70), "uint8")
    inside = slice(top, top + height), slice(left, left + width)
    picture[inside], mask[inside] = 250, 1
    points = [[left + 2, top + 2], [left + width - 3, top + height - 3], [left + width // 2, top + height // 2]]
    box = [[left, top, left + width, top + height]]
    return {
        "image": Image(picture),
        "boxes": BoundingBoxes(box, canvas_size=(50, 70)),
        "mask": Mask(mask),
        "masks": Mask(mask[None]),
        "keypoints": KeyPoints([points], canvas_size=(50, 70)),
        "labels": np.array([3]),
    }


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("name", MOVING)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 20), st.integers(0, 40), st.integers(12, 28), st.integers(12, 28), st.integers(0, 999))
def test_labels_stay_on_their_object(name, top, left, height, width, seed):
    result = MOVING[name](_sample(top, left, height, width), rng=seed)
    image, mask = np.asarray(result["image"])[..., 0], np.asarray(result["mask"])
    canvas = image.shape
    assert mask.shape == canvas
    assert result["boxes"].canvas_size == canvas
    assert result["keypoints"].canvas_size == canvas
    np.testing.assert_array_equal(result["masks"][0], mask)
    # the mask is where the picture is bright, but for a border of a pixel or two
    assert ((image > 125) != (mask > 0)).sum() <= 2.5 * (
        np.abs(np.diff(mask.astype(int), axis=0)).sum() + np.abs(np.diff(mask.astype(int), axis=1)).sum()
    ) + 8
    rows, columns = np.nonzero(mask)
    x0, y0, x1, y1 = np.asarray(result["boxes"])[0]
    slack = 3.0 if name == "Elastic" else 1.01
    if len(rows) and (name != "IoUCrop" or x1 > x0):
        assert x0 - slack <= columns.min()
        assert columns.max() + 1 <= x1 + slack
        assert y0 - slack <= rows.min()
        assert rows.max() + 1 <= y1 + slack
    for x, y in np.rint(np.asarray(result["keypoints"])[0]).astype(int):
        if 1 <= x < canvas[1] - 1 and 1 <= y < canvas[0] - 1:
            near = (
                mask[max(y - 3, 0) : y + 4, max(x - 3, 0) : x + 4]
                if name == "Elastic"
                else mask[y - 1 : y + 2, x - 1 : x + 2]
            )
            assert near.any(), (x, y)


def test_removed_boxes_take_their_rows_along():
    sample = {
        "image": Image(np.zeros((4, 20, 3), "uint8")),
        "target": {
            "boxes": BoundingBoxes([[0, 0, 0, 4], [1, 1, 4, 4], [2, 2, 2.5, 4], [5, 0, 9, 3]], canvas_size=(4, 20)),
            "labels": np.arange(4),
            "names": ["a", "b", "c", "d"],
            "masks": Mask(np.zeros((4, 4, 20), "uint8")),
            "mask": Mask(np.zeros((4, 20), "uint8")),
            "keypoints": KeyPoints(np.zeros((4, 2, 2)), canvas_size=(4, 20)),
        },
    }
    result = T.SanitizeBoundingBoxes()(sample)
    target = result["target"]
    assert result["image"].shape == (4, 20, 3)
    assert target["boxes"].shape == (2, 4)
    assert target["boxes"].canvas_size == (4, 20)
    np.testing.assert_array_equal(target["labels"], [1, 3])
    assert target["names"] == ["b", "d"]
    assert target["masks"].shape == (2, 4, 20)
    assert target["mask"].shape == (4, 20)
    assert target["keypoints"].shape == (2, 2, 2)


def test_objects_without_points_in_the_picture_are_removed():
    points = KeyPoints(
        [[[1, 1, 2], [50, 1, 2]], [[-3, 1, 2], [50, 1, 2]], [[2, 2, 0], [3, 3, 1]]], canvas_size=(10, 10)
    )
    result = T.SanitizeKeypoints()({"points": points, "labels": np.arange(3)})
    np.testing.assert_array_equal(result["labels"], [0, 2])
    np.testing.assert_array_equal(result["points"][..., 2], [[2, 0], [0, 1]])
    alone = T.SanitizeKeypoints()({"points": KeyPoints([[1, 1], [11, 1]], canvas_size=(10, 10))})
    np.testing.assert_array_equal(alone["points"], [[1, 1]])


@pytest.mark.parametrize("name", [n for n in MOVING if n != "IoUCrop"])
def test_frames_of_a_clip_move_alike(name):
    frame = _sample(10, 20, 20, 25)["image"]
    clip = MOVING[name](Video(np.stack([frame] * 3), fps=5), rng=4)
    assert clip.fps == 5
    np.testing.assert_array_equal(clip[0], clip[2])
    np.testing.assert_array_equal(clip[0], MOVING[name](frame, rng=4))


def test_transpose_returns_a_plain_array():
    result = T.Transpose()({"image": Image(np.zeros((4, 6, 3), "uint8"))})["image"]
    assert type(result) is np.ndarray
    assert result.shape == (3, 4, 6)


def test_bounding_box_augment_changes_only_boxes():
    sample = _sample(10, 20, 20, 25)
    noise = np.random.default_rng(0).integers(0, 255, (50, 70, 3), "uint8")
    sample["image"] = Image(noise)
    result = np.asarray(T.BoundingBoxAugment(T.HorizontalFlip(p=1.0), ratio=1.0)(sample, rng=0)["image"])
    np.testing.assert_array_equal(result[10:30, 20:45], noise[10:30, 20:45][:, ::-1])
    result[10:30, 20:45] = noise[10:30, 20:45]
    np.testing.assert_array_equal(result, noise)


def test_random_crops_have_the_bounds_of_their_settings():
    rng = np.random.default_rng(0)
    transform = T.RandomResizedCrop(32, scale=(0.2, 0.5), ratio=(0.5, 2.0))
    image = Image(np.zeros((100, 150, 3), "uint8"))
    for _ in range(200):
        top, left, height, width = transform.get_params(rng, image)["box"]
        assert 0.18 <= height * width / 15000 <= 0.53
        assert 0.48 <= width / height <= 2.1
        assert top + height <= 100
        assert left + width <= 150


@pytest.mark.parametrize(
    ("create", "words"),
    [
        (lambda: T.Resize(size=None), "size or max_size"),
        (lambda: T.Resize(size=0), "at least 1"),
        (lambda: T.RandomResizedCrop(8, scale=(1.0, 0.5)), "low, high"),
        (lambda: T.Rotate((30.0, -30.0)), "low, high"),
        (lambda: T.Transpose((0, 0, 1)), "0, 1 and 2"),
        (lambda: T.PermuteChannels((0, 2)), "each of 0 to 1"),
        (lambda: T.ZoomOut(side_range=(0.5, 2.0)), "side_range"),
        (lambda: T.Perspective(startpoints=((0, 0), (1, 0), (1, 1), (0, 1))), "startpoints and endpoints"),
        (lambda: T.IoUCrop(sampler_options=(0.5,)), "option of 1"),
    ],
)
def test_wrong_settings(create, words):
    with pytest.raises(ConfigError, match=words):
        create()


def test_pictures_that_are_too_small():
    small = Image(np.zeros((10, 10, 3), "uint8"))
    for transform in (T.RandomCrop(20), T.FiveCrop(20), T.ExtractPatches(20)):
        with pytest.raises(DataError, match=f"{type(transform).__name__} wants a picture of at least 20 × 20"):
            transform(small)
    with pytest.raises(DataError, match="fits into 5 × 5"):
        T.PadToSize(5)(small)
    assert T.RandomCrop(20, pad_if_needed=True)(small).shape == (20, 20, 3)
