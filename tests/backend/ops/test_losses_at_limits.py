"""Losses where a formula meets infinity or 0 / 0: classes without a chance, boxes without an area, certain answers."""

import math

import numpy as np
import pytest
from cases import native

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2)

INF = math.inf


@pytest.fixture
def evaluate(backend):
    """The value and the gradients of a loss of arrays."""

    def run(loss, *arrays):
        tensors = [native(np.asarray(a, "float32"), backend.name) for a in arrays]
        value, found = backend.gradients(loss, tensors)
        return labdl.to_numpy(value).item(), [labdl.to_numpy(g) for g in found]

    return run


LOGITS, SLOPES = [[0.0, -INF, 1.0]], [[-0.7310586, 0.0, 0.7310586]]


def test_an_impossible_class_counts_nothing_beside_a_share_of_zero(evaluate):
    value, (slopes, of_target) = evaluate(ops.cross_entropy, LOGITS, [[1.0, 0.0, 0.0]])
    assert value == pytest.approx(1.3132616, rel=1e-5)
    np.testing.assert_allclose(slopes, SLOPES, rtol=1e-5)
    assert np.isfinite(of_target).all()
    assert evaluate(ops.cross_entropy, LOGITS, [[0.5, 0.5, 0.0]])[0] == INF


@pytest.mark.parametrize("loss", [ops.cross_entropy, ops.nll_loss])
def test_an_impossible_class_counts_nothing_beside_a_weight_of_zero(loss, evaluate, backend):
    classes, weight = (native(np.array(v), backend.name) for v in ([0, 1], np.array([1, 0, 1], "float32")))
    rows = np.repeat(LOGITS, 2, 0)
    if loss is ops.nll_loss:
        rows = ops.log_softmax(rows)
    for options in ({"weight": weight}, {"weight": weight, "reduction": "sum"}):
        value, (slopes,) = evaluate(lambda x, options=options: loss(x, classes, **options), rows)
        assert value == pytest.approx(1.3132616, rel=1e-5)
        np.testing.assert_allclose(slopes[1], 0, atol=1e-12)
        assert np.isfinite(slopes).all()
    losses = loss(backend.tensor(rows.astype("float32")), classes, weight=weight, reduction="none")
    np.testing.assert_allclose(labdl.to_numpy(losses), [1.3132616, 0], rtol=1e-5)


def test_weights_of_probabilities_and_label_smoothing(evaluate, backend):
    weight = native(np.array([1, 0, 1], "float32"), backend.name)
    value, (slopes,) = evaluate(
        lambda x: ops.cross_entropy(x, native(np.array([[0.5, 0.5, 0]], "float32"), backend.name), weight=weight),
        LOGITS,
    )
    assert value == pytest.approx(0.6566308, rel=1e-5)
    np.testing.assert_allclose(slopes, np.multiply(SLOPES, 0.5), rtol=1e-5)
    classes = native(np.array([0]), backend.name)
    value, (slopes,) = evaluate(lambda x: ops.cross_entropy(x, classes, 0.1, weight=weight), LOGITS)
    assert math.isfinite(value)
    assert np.isfinite(slopes).all()


def test_divergence_from_an_impossible_class(evaluate):
    logs = np.array([[math.log(0.5), -INF, math.log(0.5)]])
    value, (slopes, _) = evaluate(lambda x, t: ops.kl_divergence(x, t, reduction="sum"), logs, [[0.5, 0.0, 0.5]])
    assert value == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(slopes, [[-0.5, 0, -0.5]])


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9, 1.0, 1.5, 2.0])
def test_focal_loss_of_certain_answers(gamma, evaluate):
    logits = np.array([0.0, 5.0, 20.0, 80.0, 100.0, 1000.0])
    logits, targets = np.concatenate([logits, -logits, -logits]), np.repeat([1.0, 0.0, 1.0], 6)
    value, (slopes, _) = evaluate(lambda x, t: ops.focal_loss(x, t, gamma=gamma, reduction="sum"), logits, targets)
    signed = np.where(
        targets == 1, logits, -logits
    )  # wrong = sigmoid(-signed), loss = softplus(-signed) * wrong ** gamma
    wrong, loss = np.exp(-np.logaddexp(0, signed)), np.logaddexp(0, -signed)
    share = np.where(targets == 1, 0.25, 0.75)
    expected = -share * wrong**gamma * (wrong + gamma * loss * (1 - wrong)) * np.where(targets == 1, 1, -1)
    np.testing.assert_allclose(slopes, expected, rtol=1e-4, atol=1e-7)
    assert value == pytest.approx(np.sum(share * loss * wrong**gamma), rel=1e-5)


BOXES = {
    "flat": ([0, 1, 2, 1], [0, 0, 2, 2]),
    "thin": ([1, 0, 1, 2], [0, 0, 2, 2]),
    "flat pair": ([0, 1, 2, 1], [0, 1, 2, 1]),
    "points": ([1, 1, 1, 1], [1, 1, 1, 1]),
    "a point": ([1, 1, 1, 1], [0, 0, 2, 2]),
    "a point for a target": ([0, 0, 2, 2], [1, 1, 1, 1]),
    "equal": ([0, 0, 2, 2], [0, 0, 2, 2]),
    "beside": ([0, 0, 1, 1], [1, 0, 2, 1]),
    "corner": ([0, 0, 1, 1], [1, 1, 2, 2]),
}


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("boxes", BOXES.values(), ids=BOXES)
@pytest.mark.parametrize("name", ["generalized", "distance", "complete"])
def test_losses_of_boxes_without_an_area_or_with_common_edges(name, boxes, evaluate):
    loss = getattr(ops, f"{name}_box_iou_loss")
    value, slopes = evaluate(loss, *([b] for b in boxes))
    assert 0 <= value <= 2.01
    assert np.isfinite(slopes).all()
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor([b], dtype=torch.float64) for b in boxes]
    _, expected = labdl.backends.get("torch").gradients(loss, tensors)
    for ours, theirs in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-4, atol=1e-6)


def test_complete_iou_of_a_flat_box_opens_it(evaluate):
    """The two-argument arc tangent has the slope -1/2 by the height, where that of the ratio is NaN."""
    _, (slopes, _) = evaluate(ops.complete_box_iou_loss, *([b] for b in BOXES["flat"]))
    np.testing.assert_allclose(slopes, [[0, 0.2 / math.pi, 0, -0.2 / math.pi]], atol=1e-6)


@pytest.mark.parametrize("sides", [(2.0, -1.0), (-2.0, 1.0), (-2.0, -1.0)])
def test_complete_iou_of_corners_in_the_wrong_order(sides, evaluate):
    """The arc tangent of width by height, as for others."""
    width, height = sides
    value, (slopes, _) = evaluate(ops.complete_box_iou, [[0, 0, width, height]], [[0, 0, 3, 1]])
    assert math.isfinite(value)
    assert np.isfinite(slopes).all()
