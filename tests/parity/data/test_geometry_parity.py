"""Operations of pictures that torchvision does not have, against TensorFlow and Paddle."""

import numpy as np
import pytest

from labdl.data import transforms as T
from labdl.data.parts import Image
from labdl.data.vision import glimpses, gradients, similarity, suppression

paddle = pytest.importorskip("paddle")
tf = pytest.importorskip("tensorflow")

RNG = np.random.default_rng(3)
PICTURE = RNG.random((37, 53, 3)).astype("float32")


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(9, 14), (1, 1), (50, 20)])
def test_crop_and_resize(method, size):
    boxes = np.array([[0.1, 0.2, 0.7, 0.9], [-0.3, 0.1, 1.2, 0.5], [0.8, 0.9, 0.2, 0.3], [0, 0, 1, 1]], "float32")
    expected = tf.image.crop_and_resize(PICTURE[None], boxes, [0] * 4, size, method, 0.25).numpy()
    result = glimpses.crop_and_resize(PICTURE, boxes, size, method=method, extrapolation_value=0.25)
    wrong = np.abs(result - expected) > 2e-5
    assert wrong.mean() <= (0.03 if method == "nearest" else 0.002)  # a position at .5, or at the border, in float32


@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.3, -0.6), (-1.0, 1.0)])
@pytest.mark.parametrize("size", [(10, 12), (9, 7)])
@pytest.mark.parametrize(("centered", "normalized"), [(True, True), (False, True), (True, False), (False, False)])
def test_extract_glimpse(offset, size, centered, normalized):
    offset = offset if normalized else (offset[0] * 12 + 13, offset[1] * 10 + 11)
    expected = tf.image.extract_glimpse(
        PICTURE[None], size, [offset], centered=centered, normalized=normalized, noise="zero"
    ).numpy()[0]
    result = glimpses.extract_glimpse(PICTURE, size, offset, centered=centered, normalized=normalized)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("size", [(30, 30), (80, 60), (20, 90)])
def test_sizes_with_margins(size):
    result = T.ResizeWithPad(size, antialias=False)(Image(PICTURE))
    np.testing.assert_allclose(result, tf.image.resize_with_pad(PICTURE, *size).numpy(), atol=2e-5)
    result = T.ResizeWithCropOrPad(size)(Image(PICTURE))
    np.testing.assert_array_equal(result, tf.image.resize_with_crop_or_pad(PICTURE, *size).numpy())


def test_pad_to_bounding_box_and_rot90():
    result = T.PadToBoundingBox(3, 5, 60, 70)(Image(PICTURE))
    np.testing.assert_array_equal(result, tf.image.pad_to_bounding_box(PICTURE, 3, 5, 60, 70).numpy())
    for k in range(5):
        np.testing.assert_array_equal(T.Rot90(k)(Image(PICTURE)), tf.image.rot90(PICTURE, k).numpy())


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(("size", "stride", "rate"), [((4, 6), (3, 5), 1), ((3, 3), (7, 7), 2), ((5, 5), (5, 5), 1)])
def test_extract_patches(size, stride, rate, padding):
    expected = tf.image.extract_patches(
        PICTURE[None], [1, *size, 1], [1, *stride, 1], [1, rate, rate, 1], padding.upper()
    ).numpy()[0]
    result = T.ExtractPatches(size, stride=stride, rate=rate, padding=padding)(Image(PICTURE))
    np.testing.assert_array_equal(result, expected)


def test_gradients():
    batch = RNG.random((2, 12, 15, 3)).astype("float32")
    for result, expected in zip(
        gradients.image_gradients(batch), tf.image.image_gradients(tf.constant(batch)), strict=True
    ):
        np.testing.assert_allclose(result, expected.numpy(), atol=1e-6)
    np.testing.assert_allclose(gradients.sobel(batch), tf.image.sobel_edges(tf.constant(batch)).numpy(), atol=1e-5)
    np.testing.assert_allclose(
        gradients.total_variation(batch), tf.image.total_variation(tf.constant(batch)).numpy(), rtol=1e-5
    )


def test_similarity():
    one = RNG.random((2, 181, 190, 3)).astype("float32")
    other = np.clip(one + RNG.normal(0, 0.1, one.shape), 0, 1).astype("float32")
    np.testing.assert_allclose(similarity.psnr(one, other, 1.0), tf.image.psnr(one, other, 1.0).numpy(), rtol=1e-5)
    np.testing.assert_allclose(similarity.ssim(one, other, 1.0), tf.image.ssim(one, other, 1.0).numpy(), atol=1e-5)
    expected = tf.image.ssim_multiscale(one, other, 1.0).numpy()
    np.testing.assert_allclose(similarity.ssim_multiscale(one, other, 1.0), expected, atol=2e-5)


def test_generate_proposals():
    scores = RNG.random((1, 3, 8, 9)).astype("float32")
    deltas = RNG.normal(0, 0.3, (1, 12, 8, 9)).astype("float32")
    low = RNG.uniform(0, 100, (8, 9, 3, 2))
    anchors = np.concatenate([low, low + RNG.uniform(5, 60, low.shape)], -1).astype("float32")
    variances = np.full((8, 9, 3, 4), 0.8, "float32")
    boxes, values, _ = paddle.vision.ops.generate_proposals(
        *map(paddle.to_tensor, (scores, deltas, np.array([[120.0, 140.0]], "float32"), anchors, variances)),
        pre_nms_top_n=150,
        post_nms_top_n=60,
        nms_thresh=0.6,
        min_size=4.0,
        return_rois_num=True,
    )
    result, result_scores = suppression.generate_proposals(
        scores[0],
        deltas[0],
        anchors,
        (120, 140),
        variances=variances,
        pre_nms_top_n=150,
        post_nms_top_n=60,
        nms_thresh=0.6,
        min_size=4.0,
    )
    np.testing.assert_allclose(result_scores, values.numpy()[:, 0], atol=1e-6)
    np.testing.assert_allclose(result, boxes.numpy(), atol=1e-3)
