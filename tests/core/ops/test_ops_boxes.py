"""Operators on boxes against cases computed by hand, the papers' formulas, and loops like torchvision's kernels."""

import math

import numpy as np
import pytest

from labdl import dispatch, ops
from labdl.ops.infix import neutral
from labdl.ops.operator import OPERATORS
from labdl.spec import Spec


def random_boxes(rng, *shape, size=10.0):
    corners = np.sort(rng.uniform(0, size, (*shape, 2, 2)), axis=-2)
    return corners.reshape(*shape, 4)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_area_and_formats():
    boxes = np.array([[1.0, 2, 4, 7], [0, 0, 1, 1]])
    np.testing.assert_array_equal(ops.box_area(boxes), [15, 1])
    forms = {
        "xyxy": boxes,
        "xywh": np.array([[1.0, 2, 3, 5], [0, 0, 1, 1]]),
        "cxcywh": np.array([[2.5, 4.5, 3, 5], [0.5, 0.5, 1, 1]]),
    }
    for source, given in forms.items():
        for target, wanted in forms.items():
            np.testing.assert_array_equal(ops.box_convert(given, source, target), wanted)
    with pytest.raises(ValueError, match="one of xyxy, xywh, cxcywh, received 'yxyx'"):
        ops.box_convert(boxes, "xyxy", "yxyx")
    with pytest.raises(ValueError, match="four coordinates"):
        ops.box_area(np.zeros((2, 5)))


def test_clip_boxes():
    boxes = np.array([[[-3.0, -2, 40, 30], [2, 3, 4, 5], [50, 60, 70, 80]]])
    np.testing.assert_array_equal(ops.clip_boxes(boxes, (20, 30)), [[[0, 0, 30, 20], [2, 3, 4, 5], [30, 20, 30, 20]]])


def one_pair(a, b):
    """IoU, generalized, distance and complete IoU as the papers write them."""
    area = lambda r: (r[2] - r[0]) * (r[3] - r[1])  # noqa: E731
    inner = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    union = area(a) + area(b) - inner
    around = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
    iou = inner / union
    distance = ((a[0] + a[2] - b[0] - b[2]) / 2) ** 2 + ((a[1] + a[3] - b[1] - b[3]) / 2) ** 2
    diagonal = (around[2] - around[0]) ** 2 + (around[3] - around[1]) ** 2
    v = 4 / math.pi**2 * (math.atan((b[2] - b[0]) / (b[3] - b[1])) - math.atan((a[2] - a[0]) / (a[3] - a[1]))) ** 2
    alpha = v / (1 - iou + v)
    giou, diou = iou - (area(around) - union) / area(around), iou - distance / diagonal
    return iou, giou, diou, diou - alpha * v


MEASURES = ["box_iou", "generalized_box_iou", "distance_box_iou", "complete_box_iou"]


@pytest.mark.parametrize(("place", "name"), list(enumerate(MEASURES)))
def test_pairs(place, name, rng):
    first, second = random_boxes(rng, 2, 7), random_boxes(rng, 2, 5)
    measure = getattr(ops, name)
    expected = [[[one_pair(a, b)[place] for b in second[n]] for a in first[n]] for n in range(2)]
    np.testing.assert_allclose(measure(first, second), expected, atol=1e-6)
    np.testing.assert_allclose(measure(first[0], second[0]), expected[0], atol=1e-6)
    assert measure(first[0], second[0, :0]).shape == (7, 0)
    half = measure((first * 60).astype("float16"), (second * 60).astype("float16"))  # areas beyond float16
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, expected, atol=0.02)


def test_pairs_by_hand():
    a, b, c = [0.0, 0, 2, 2], [1.0, 1, 3, 3], [4.0, 0, 6, 2]
    boxes = np.array([a, b, c])
    np.testing.assert_allclose(ops.box_iou(boxes, boxes), [[1, 1 / 7, 0], [1 / 7, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(ops.generalized_box_iou(boxes[:1], boxes), [[1, 1 / 7 - 2 / 9, -4 / 12]])
    np.testing.assert_allclose(ops.distance_box_iou(boxes[:1], boxes), [[1, 1 / 7 - 2 / 18, -16 / 40]], atol=1e-6)
    np.testing.assert_allclose(ops.complete_box_iou(boxes[:1], boxes), [[1, 1 / 7 - 2 / 18, -16 / 40]], atol=1e-6)
    assert np.isnan(ops.box_iou(np.zeros((1, 4)), np.zeros((1, 4)))).all()


@pytest.mark.parametrize(("place", "name"), list(enumerate(MEASURES))[1:])
def test_box_losses(place, name, rng):
    first, second = random_boxes(rng, 3, 6), random_boxes(rng, 3, 6)
    loss = getattr(ops, name + "_loss")
    expected = np.array(
        [[1 - one_pair(a, b)[place] for a, b in zip(p, q, strict=True)] for p, q in zip(first, second, strict=True)]
    )
    np.testing.assert_allclose(loss(first, second, reduction="none"), expected, atol=1e-5)
    np.testing.assert_allclose(loss(first, second), expected.mean(), atol=1e-5)
    np.testing.assert_allclose(loss(first, second, reduction="sum"), expected.sum(), atol=1e-4)
    same = np.array([[1.0, 1, 1, 1], [0, 0, 0, 0]])
    assert np.isfinite(loss(same[:1], same[:1])).all() or place == 3  # no area: the aspect ratio alone is unknown


def test_complete_iou_loss_holds_its_trade_off_constant(rng):
    torch = pytest.importorskip("torch")
    dispatch.load("torch")
    first, second = (torch.tensor(random_boxes(rng, 6)) for _ in range(2))
    slopes = []

    def reference(p, q):
        def sides(r):
            return r[:, 2] - r[:, 0], r[:, 3] - r[:, 1]

        low, high = torch.maximum(p[:, :2], q[:, :2]), torch.minimum(p[:, 2:], q[:, 2:])
        inner = (high - low).clamp(min=0).prod(-1)
        iou = inner / (sides(p)[0] * sides(p)[1] + sides(q)[0] * sides(q)[1] - inner)
        around = torch.maximum(p[:, 2:], q[:, 2:]) - torch.minimum(p[:, :2], q[:, :2])
        centers = (p[:, :2] + p[:, 2:] - q[:, :2] - q[:, 2:]) / 2
        v = 4 / math.pi**2 * (torch.atan(sides(q)[0] / sides(q)[1]) - torch.atan(sides(p)[0] / sides(p)[1])) ** 2
        with torch.no_grad():
            alpha = v / (1 - iou + v)
        return (1 - iou + centers.square().sum(-1) / around.square().sum(-1) + alpha * v).sum()

    for function in (neutral(OPERATORS["complete_box_iou_loss"].body), reference):
        x = first.clone().requires_grad_()
        (function(x, second, reduction="sum") if not slopes else function(x, second)).backward()
        slopes.append(x.grad)
    np.testing.assert_allclose(*slopes, atol=1e-5)


def greedy(boxes, scores, threshold, classes=None):
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if not any(
            one_pair(boxes[i], boxes[j])[0] > threshold and (classes is None or classes[i] == classes[j]) for j in kept
        ):
            kept.append(i)
    return kept


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 0.5, 0.9])
def test_nms(threshold, rng):
    boxes, scores, classes = random_boxes(rng, 60), rng.uniform(size=60), rng.integers(0, 3, 60)
    boxes[:40, 2:] = boxes[:40, :2] + 4 + rng.uniform(size=(40, 2))  # long chains of overlapping boxes
    scores[10:20] = scores[10]  # the first of equal scores comes first
    kept = ops.nms(boxes, scores, threshold)
    assert kept.dtype == np.int64
    assert kept.tolist() == greedy(boxes, scores, threshold)
    assert ops.batched_nms(boxes, scores, classes, threshold).tolist() == greedy(boxes, scores, threshold, classes)


def test_nms_by_hand():
    row = np.arange(6.0)
    chain = np.stack([row, row * 0, row + 2, row * 0 + 1], axis=-1)  # each overlaps the next by a third
    assert ops.nms(chain, np.arange(6.0), 0.3).tolist() == [5, 3, 1]
    assert ops.nms(chain, -np.arange(6.0), 0.3).tolist() == [0, 2, 4]
    assert ops.nms(chain, np.arange(6.0), 0.34).tolist() == [5, 4, 3, 2, 1, 0]
    assert ops.nms(np.zeros((0, 4)), np.zeros(0), 0.5).shape == (0,)
    assert ops.nms(Spec((9, 4)), Spec((9,)), 0.5) == Spec((None,), "int64")
    with pytest.raises(ValueError, match="want one score each"):
        ops.nms(chain, np.zeros(5), 0.5)


def roi_align_loop(x, boxes, numbers, size, scale, ratio, aligned):
    """Line by line what torchvision's CPU kernel does."""
    _, channels, height, width = x.shape
    result = np.zeros((len(boxes), channels, *size))
    for k, (box, n) in enumerate(zip(boxes, numbers, strict=True)):
        x1, y1, x2, y2 = box * scale - (0.5 if aligned else 0)
        w, h = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1), max(y2 - y1, 1))
        bin_h, bin_w = h / size[0], w / size[1]
        grid_h = ratio if ratio > 0 else math.ceil(h / size[0])
        grid_w = ratio if ratio > 0 else math.ceil(w / size[1])
        for i in range(size[0]):
            for j in range(size[1]):
                total = np.zeros(channels)
                for a in range(grid_h):
                    for b in range(grid_w):
                        y, z = y1 + i * bin_h + (a + 0.5) * bin_h / grid_h, x1 + j * bin_w + (b + 0.5) * bin_w / grid_w
                        if y < -1 or y > height or z < -1 or z > width:
                            continue
                        y, z = max(y, 0), max(z, 0)
                        top, left = min(int(y), height - 1), min(int(z), width - 1)
                        low, right = min(top + 1, height - 1), min(left + 1, width - 1)
                        dy, dz = (y - top if top < height - 1 else 0), (z - left if left < width - 1 else 0)
                        f = x[n]
                        total += (1 - dy) * (1 - dz) * f[:, top, left] + (1 - dy) * dz * f[:, top, right]
                        total += dy * (1 - dz) * f[:, low, left] + dy * dz * f[:, low, right]
                result[k, :, i, j] = total / max(grid_h * grid_w, 1)
    return result


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [1, 2, 3, -1, 0])
def test_roi_align(aligned, ratio, rng):
    x = rng.normal(size=(3, 2, 7, 9))
    boxes = np.concatenate(
        [random_boxes(rng, 5, size=16.0), [[-6, -5, 3, 30], [4, 4, 4, 4], [40, 40, 50, 50], [0, 0, 18, 14]]]
    )
    numbers = rng.integers(0, 3, len(boxes))
    options = {"spatial_scale": 0.5, "sampling_ratio": ratio, "aligned": aligned}
    result = ops.roi_align(x, boxes, numbers, (3, 2), **options)
    expected = roi_align_loop(x, boxes, numbers, (3, 2), 0.5, ratio, aligned)
    np.testing.assert_allclose(result, expected, atol=1e-12)
    last = ops.roi_align(np.moveaxis(x, 1, -1), boxes, numbers, (3, 2), data_format="channels_last", **options)
    np.testing.assert_allclose(np.moveaxis(last, -1, 1), result)
    assert ops.roi_align(x, boxes[:0], numbers[:0], 2, **options).shape == (0, 2, 2, 2)
    assert ops.roi_align(x.astype("float16"), boxes.astype("float32"), numbers, 2, **options).dtype == np.float16


def test_roi_align_of_a_ramp():
    """Bilinear interpolation is exact on a plane: a bin's mean is its value at the center."""
    y, z = np.mgrid[:8, :8].astype("float64")
    x = (2 * y + 3 * z + 1)[None, None]
    result = ops.roi_align(x, np.array([[1.0, 2, 5, 6]]), np.array([0]), 2, sampling_ratio=2)
    np.testing.assert_allclose(
        result[0, 0], [[2 * 3 + 3 * 2 + 1, 2 * 3 + 3 * 4 + 1], [2 * 5 + 3 * 2 + 1, 2 * 5 + 3 * 4 + 1]]
    )


def test_roi_align_gradient(rng):
    """Linear in x: the gradient is the transpose; for the boxes against central differences."""
    torch = pytest.importorskip("torch")
    dispatch.load("torch")
    x, boxes, numbers = rng.normal(size=(2, 1, 5, 6)), random_boxes(rng, 3, size=5.0), np.array([0, 1, 1])
    body = neutral(OPERATORS["roi_align"].body)
    tx, tb = torch.tensor(x, requires_grad=True), torch.tensor(boxes, requires_grad=True)
    weights = rng.normal(size=(3, 1, 2, 2))
    (body(tx, tb, torch.tensor(numbers), 2, sampling_ratio=2) * torch.tensor(weights)).sum().backward()

    def value(x, boxes):
        return np.sum(weights * ops.roi_align(x, boxes, numbers, 2, sampling_ratio=2))

    for leaf, grad, call in ((x, tx.grad, lambda v: value(v, boxes)), (boxes, tb.grad, lambda v: value(x, v))):
        for at in list(np.ndindex(leaf.shape))[::3]:
            step = np.zeros_like(leaf)
            step[at] = 1e-6
            np.testing.assert_allclose(grad[at], (call(leaf + step) - call(leaf - step)) / 2e-6, atol=1e-6)


def away(v):
    return math.floor(abs(v) + 0.5) * (1 if v >= 0 else -1)


def roi_pool_loop(x, boxes, numbers, size, scale):
    _, channels, height, width = x.shape
    result = np.zeros((len(boxes), channels, *size))
    for k, (box, n) in enumerate(zip(boxes, numbers, strict=True)):
        x1, y1, x2, y2 = (away(v * scale) for v in box)
        bin_h, bin_w = max(y2 - y1 + 1, 1) / size[0], max(x2 - x1 + 1, 1) / size[1]
        for i in range(size[0]):
            for j in range(size[1]):
                top, low = (min(max(v + y1, 0), height) for v in (math.floor(i * bin_h), math.ceil((i + 1) * bin_h)))
                left, right = (min(max(v + x1, 0), width) for v in (math.floor(j * bin_w), math.ceil((j + 1) * bin_w)))
                if top < low and left < right:
                    result[k, :, i, j] = x[n][:, top:low, left:right].max((1, 2))
    return result


def test_roi_pool(rng):
    x = rng.normal(size=(3, 2, 7, 9)) - 3
    boxes = np.concatenate(
        [random_boxes(rng, 5, size=16.0), [[-6, -5, 3, 30], [4, 4, 4, 4], [40, 40, 50, 50], [1, 1, 18, 14]]]
    )
    numbers = rng.integers(0, 3, len(boxes))
    result = ops.roi_pool(x, boxes, numbers, (3, 2), spatial_scale=0.5)
    np.testing.assert_array_equal(result, roi_pool_loop(x, boxes, numbers, (3, 2), 0.5))
    last = ops.roi_pool(np.moveaxis(x, 1, -1), boxes, numbers, (3, 2), spatial_scale=0.5, data_format="channels_last")
    np.testing.assert_array_equal(np.moveaxis(last, -1, 1), result)


def test_roi_shapes():
    x = Spec((None, 16, 20, 30), "float16")
    for name in ("roi_align", "roi_pool"):
        assert getattr(ops, name)(x, Spec((None, 4)), Spec((None,), "int64"), (3, 2)) == Spec(
            (None, 16, 3, 2), "float16"
        )
        with pytest.raises(ValueError, match="one picture's number each"):
            getattr(ops, name)(x, Spec((5, 4)), Spec((4,), "int64"), 2)
