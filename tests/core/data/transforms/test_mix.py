"""Transforms of several samples: pictures, labels and objects together."""

from pathlib import Path

import numpy as np
import pytest
from samples import vision_sample

from labdl.data import ArrayDataset
from labdl.data import transforms as T
from labdl.data.parts import BoundingBoxes, Image, Mask
from labdl.data.transforms.image.mix import blend_pictures
from labdl.errors import ConfigError, DataError

ORACLES = np.load(Path(__file__).parents[3] / "oracles/transforms/torchvision.npz")


def test_blend_is_torchvisions():
    image = np.ascontiguousarray(ORACLES["x:f32"].transpose(1, 2, 0))
    flipped = np.ascontiguousarray(image[:, ::-1])
    expected = ORACLES["y:mixup/f32"].transpose(1, 2, 0)
    np.testing.assert_allclose(blend_pictures(flipped, image, 0.3), expected, atol=2e-5)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16"])
def test_label_is_the_share_of_the_picture(dtype):
    black, white = np.zeros((8, 8, 3), dtype), np.full((8, 8, 3), 200 if dtype == "uint8" else 1, dtype)
    for seed in range(10):
        image, row = T.MixUp(num_classes=2)([(white, 1), (black, 0)], rng=seed)
        assert image.dtype == dtype
        np.testing.assert_allclose(image.mean(dtype="float64") / white.max(), row[1], atol=0.004)
        assert row.sum() == pytest.approx(1)
        image, row = T.CutMix(num_classes=2)([(white, 1), (black, 0)], rng=seed)
        np.testing.assert_allclose((image > 0).mean(), row[1], atol=1e-6)


@pytest.mark.parametrize("mix", [T.MixUp, T.CutMix])
def test_p_is_the_share_of_mixed_samples_and_all_have_rows_for_labels(mix):
    pictures = np.repeat(np.arange(1000, dtype="float32"), 64).reshape(1000, 8, 8, 1)
    mapped = ArrayDataset(pictures, np.arange(1000)).map([mix(num_classes=1000, alpha=1000.0, p=0.5)])
    samples = [mapped[i] for i in range(1000)]
    assert {row.shape for _, row in samples} == {(1000,)}
    mixed = [not (image == i).all() for i, (image, _) in enumerate(samples)]
    assert abs(sum(mixed) - 500) < 60
    assert mixed == [row.max() < 1 for _, row in samples]
    called = [mix(num_classes=2, p=0.5)([(np.ones((2, 2, 1)), 1), (np.zeros((2, 2, 1)), 0)], rng=s) for s in range(20)]
    assert {row.shape for _, row in called} == {(2,)}


def test_mixup_joins_objects():
    sample = vision_sample()
    result = T.MixUp(num_classes=3)([sample, T.HorizontalFlip(p=1.0)(sample)], rng=0)
    assert result["boxes"].shape == (4, 4)
    assert result["labels"].tolist() == [1, 2, 1, 2]
    assert result["masks"].shape == (4, 48, 64)


def test_errors_say_what_to_do():
    image = np.zeros((8, 8, 3), "uint8")
    with pytest.raises(ConfigError, match="num_classes"):
        T.MixUp()([(image, 1), (image, 0)], rng=0)
    with pytest.raises(DataError, match="Resize"):
        T.MixUp(num_classes=2)([(image, 1), (image[:4], 0)], rng=0)
    with pytest.raises(DataError, match="Mosaic"):
        T.CutMix(num_classes=3)([vision_sample()] * 2, rng=0)


def object_sample(number: int) -> dict:
    """One bright object of its own color on black."""
    image, mask = np.zeros((40, 60, 3), "uint8"), np.zeros((1, 40, 60), "uint8")
    image[10:30, 20:50] = 60 * number
    mask[0, 10:30, 20:50] = 1
    boxes = BoundingBoxes([[20, 10, 50, 30]], canvas_size=(40, 60))
    return {"image": Image(image), "boxes": boxes, "masks": Mask(mask), "labels": np.array([number])}


def test_mosaic_boxes_lie_on_their_objects():
    for seed in range(20):
        result = T.Mosaic(size=(80, 120), fill=0.0)([object_sample(i) for i in (1, 2, 3, 4)], rng=seed)
        assert result["image"].shape == (80, 120, 3)
        for box, number, mask in zip(result["boxes"].array, result["labels"], result["masks"].array, strict=True):
            ys, xs = np.nonzero(result["image"].array[..., 0] == 60 * number)
            np.testing.assert_allclose(box, [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1], atol=1)
            assert np.array_equal(mask > 0, result["image"].array[..., 0] == 60 * number)


def test_pasted_objects_cover_others():
    below, above = object_sample(1), T.HorizontalFlip(p=1.0)(object_sample(3))
    result = T.CopyPaste(share=1.0)([below, above], rng=0)
    assert result["labels"].tolist() == [1, 3]
    for box, number, mask in zip(result["boxes"].array, result["labels"], result["masks"].array, strict=True):
        inside = result["image"].array[..., 0] == 60 * number
        assert np.array_equal(mask > 0, inside)
        ys, xs = np.nonzero(inside)
        assert box.tolist() == [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]
    covered = T.CopyPaste(share=1.0)([object_sample(1), object_sample(2)], rng=0)
    assert covered["labels"].tolist() == [2]
    assert len(covered["boxes"]) == len(covered["masks"]) == 1
