"""Losses against PyTorch, the transducer loss against enumerated alignments, others against their papers' formulas."""

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from labdl import dispatch, ops
from labdl.ops.infix import neutral
from labdl.ops.operator import OPERATORS
from labdl.spec import Spec

REDUCTIONS = ["mean", "sum", "none"]
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(2, 5, 3))
P, Q = (ops.softmax(v) for v in (X, Y))
SHARE, SIGNS = rng.uniform(size=(5, 3)), np.sign(Y)
WEIGHT = rng.uniform(0.2, 2, 3)
CLASSES = np.array([0, 2, 1, 1, 2])
WIDE, WIDE_CLASSES = rng.normal(size=(4, 6, 3)), rng.integers(0, 3, (4, 6))


def spec(value):
    return Spec(value.shape, str(value.dtype)) if isinstance(value, np.ndarray) else value


def check(ours, theirs, arrays, options, torch_options=None, reductions=REDUCTIONS):
    """Value, dtype, shape rule, half precision, and the gradient that a framework finds for the composite."""
    dispatch.load("torch")
    entry = OPERATORS[ours.__name__]
    for reduction in reductions:
        options = {**options, "reduction": reduction}
        given = {**(options if torch_options is None else torch_options), "reduction": reduction}
        result = ours(*arrays, **options)
        tensors = [torch.tensor(a) for a in arrays]
        given = {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
        expected = theirs(*tensors, **given)
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, expected.numpy(), rtol=1e-9, atol=1e-9)
        abstract = ours(*map(spec, arrays), **{k: spec(v) for k, v in options.items()})
        assert abstract == Spec(result.shape, "float64")
        half = ours(
            *(a.astype("float16") if a.dtype == "float64" else a for a in arrays),
            **{k: v.astype("float16") if isinstance(v, np.ndarray) else v for k, v in options.items()},
        )
        assert half.dtype == np.float16
        np.testing.assert_allclose(half, result, rtol=0.02, atol=0.02)
        slopes = []
        ours_given = {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
        for function, keywords in ((neutral(entry.body), ours_given), (theirs, given)):
            x = tensors[0].clone().requires_grad_()
            function(x, *tensors[1:], **keywords).sum().backward()
            slopes.append(x.grad)
        np.testing.assert_allclose(*slopes, rtol=1e-7, atol=1e-7)


def last(function):
    """PyTorch's loss with the classes on the last axis."""

    def call(scores, target, **options):
        target = target.movedim(-1, 1) if target.ndim == scores.ndim and scores.ndim > 1 else target
        return function(scores.movedim(-1, 1) if scores.ndim > 1 else scores, target, **options)

    return call


def per_axis_none(function, axis=-1):
    """A loss that PyTorch has for two axes only, for more."""

    def call(scores, target, reduction="mean", **options):
        losses = function(scores.reshape(-1, scores.shape[-1]), target.reshape(-1), reduction="none", **options)
        losses = losses.reshape(target.shape)
        return {"mean": torch.mean, "sum": torch.sum, "none": lambda v: v}[reduction](losses)

    return call


ELEMENTWISE = [
    (ops.mean_squared_error, F.mse_loss, (X, Y), {}, None),
    (ops.mean_absolute_error, F.l1_loss, (X, Y), {}, None),
    (ops.huber_loss, F.huber_loss, (X, Y), {}, None),
    (ops.huber_loss, F.huber_loss, (X, Y), {"delta": 0.3}, None),
    (ops.smooth_l1_loss, F.smooth_l1_loss, (X, Y), {}, None),
    (ops.smooth_l1_loss, F.smooth_l1_loss, (X, Y), {"beta": 0.3}, None),
    (ops.smooth_l1_loss, F.smooth_l1_loss, (X, Y), {"beta": 0.0}, None),
    (ops.kl_divergence, F.kl_div, (np.log(P), Q), {}, None),
    (ops.kl_divergence, F.kl_div, (np.log(P), np.round(Q)), {}, None),
    (ops.kl_divergence, F.kl_div, (np.log(P), np.log(Q)), {"log_target": True}, None),
    (ops.poisson_nll_loss, F.poisson_nll_loss, (X, np.round(9 * SHARE)), {}, None),
    (
        ops.poisson_nll_loss,
        F.poisson_nll_loss,
        (SHARE + 0.1, np.round(9 * SHARE)),
        {"log_input": False, "full": True, "epsilon": 1e-3},
        {"log_input": False, "full": True, "eps": 1e-3},
    ),
    (ops.gaussian_nll_loss, F.gaussian_nll_loss, (X, Y, SHARE), {}, None),
    (
        ops.gaussian_nll_loss,
        F.gaussian_nll_loss,
        (X, Y, SHARE),
        {"full": True, "epsilon": 1e-3},
        {"full": True, "eps": 1e-3},
    ),
    (ops.binary_cross_entropy, F.binary_cross_entropy_with_logits, (9 * X, SHARE), {}, None),
    (ops.binary_cross_entropy, F.binary_cross_entropy_with_logits, (9 * X, SHARE), {"weight": WEIGHT}, None),
    (
        ops.binary_cross_entropy,
        F.binary_cross_entropy_with_logits,
        (9 * X, SHARE),
        {"weight": WEIGHT, "pos_weight": WEIGHT[::-1].copy()},
        None,
    ),
    (ops.binary_cross_entropy_probabilities, F.binary_cross_entropy, (P, SHARE), {}, None),
    (ops.binary_cross_entropy_probabilities, F.binary_cross_entropy, (P, SHARE), {"weight": WEIGHT}, None),
    (ops.multilabel_soft_margin_loss, F.multilabel_soft_margin_loss, (X, SHARE), {}, None),
    (ops.multilabel_soft_margin_loss, F.multilabel_soft_margin_loss, (X, SHARE), {"weight": WEIGHT}, None),
    (ops.soft_margin_loss, F.soft_margin_loss, (X, SIGNS), {}, None),
    (ops.hinge_embedding_loss, F.hinge_embedding_loss, (X, SIGNS), {}, None),
    (ops.hinge_embedding_loss, F.hinge_embedding_loss, (X, SIGNS), {"margin": 0.4}, None),
    (ops.margin_ranking_loss, F.margin_ranking_loss, (X[0], Y[0], SIGNS[0]), {"margin": 0.2}, None),
    (ops.cosine_embedding_loss, F.cosine_embedding_loss, (X, Y, SIGNS[:, 0]), {"margin": 0.2}, None),
    (ops.triplet_margin_loss, F.triplet_margin_loss, (X, Y, SHARE), {}, None),
    (ops.triplet_margin_loss, F.triplet_margin_loss, (X, Y, SHARE), {"margin": 3.0, "swap": True, "p": 1.0}, None),
    (
        ops.triplet_margin_loss,
        F.triplet_margin_loss,
        (X, Y, SHARE),
        {"margin": 3.0, "p": 3.0, "epsilon": 0.1},
        {"margin": 3.0, "p": 3.0, "eps": 0.1},
    ),
    (ops.triplet_margin_loss, F.triplet_margin_loss, (X, Y, SHARE), {"p": math.inf}, None),
    (ops.multi_margin_loss, F.multi_margin_loss, (X, CLASSES), {}, None),
    (ops.multi_margin_loss, F.multi_margin_loss, (X, CLASSES), {"p": 2, "margin": 0.5, "weight": WEIGHT}, None),
    (ops.multi_margin_loss, per_axis_none(F.multi_margin_loss), (WIDE, WIDE_CLASSES), {}, None),
    (
        ops.multilabel_margin_loss,
        F.multilabel_margin_loss,
        (X, np.array([[0, 1, -1], [2, -1, 1], [-1, 0, 1], [0, 1, 2], [1, -1, -1]])),
        {},
        None,
    ),
    (ops.cross_entropy, F.cross_entropy, (X, CLASSES), {}, None),
    (ops.cross_entropy, F.cross_entropy, (X, CLASSES), {"label_smoothing": 0.2}, None),
    (ops.cross_entropy, F.cross_entropy, (X, CLASSES), {"ignore_index": 2}, None),
    (
        ops.cross_entropy,
        F.cross_entropy,
        (X, CLASSES),
        {"label_smoothing": 0.2, "ignore_index": 2, "weight": WEIGHT},
        None,
    ),
    (ops.cross_entropy, F.cross_entropy, (X, Q), {}, None),
    (ops.cross_entropy, F.cross_entropy, (X, Q), {"label_smoothing": 0.2, "weight": WEIGHT}, None),
    (ops.cross_entropy, last(F.cross_entropy), (WIDE, WIDE_CLASSES), {"weight": WEIGHT}, None),
    (ops.cross_entropy, last(F.cross_entropy), (WIDE, np.where(WIDE_CLASSES, WIDE_CLASSES, -100)), {}, None),
    (ops.cross_entropy, F.cross_entropy, (X[0], np.array(2)), {}, None),
    (ops.nll_loss, F.nll_loss, (np.log(P), CLASSES), {}, None),
    (ops.nll_loss, F.nll_loss, (np.log(P), CLASSES), {"weight": WEIGHT, "ignore_index": 0}, None),
    (ops.nll_loss, last(F.nll_loss), (WIDE, WIDE_CLASSES), {"weight": WEIGHT}, None),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "arrays", "options", "torch_options"),
    ELEMENTWISE,
    ids=[f"{e[0].__name__}-{i}" for i, e in enumerate(ELEMENTWISE)],
)
@pytest.mark.filterwarnings("ignore:reduction")
def test_against_torch(ours, theirs, arrays, options, torch_options):
    check(ours, theirs, arrays, options, torch_options)


def test_kl_divergence_of_a_batch():
    expected = F.kl_div(torch.tensor(np.log(P)), torch.tensor(Q), reduction="batchmean")
    np.testing.assert_allclose(ops.kl_divergence(np.log(P), Q, reduction="batchmean"), expected)


def test_formulas():
    gap = X - Y
    np.testing.assert_allclose(ops.log_cosh_loss(X, Y, reduction="none"), np.log(np.cosh(gap)))
    hinge = np.maximum(0, 1 - SIGNS * X)
    np.testing.assert_allclose(ops.hinge_loss(X, SIGNS, reduction="none"), hinge)
    np.testing.assert_allclose(ops.squared_hinge_loss(X, SIGNS), np.mean(hinge**2))
    overlap = (P * SHARE).sum(-1)
    dice = 1 - (2 * overlap + 0.1) / (P.sum(-1) + SHARE.sum(-1) + 0.1)
    np.testing.assert_allclose(ops.dice_loss(P, SHARE, epsilon=0.1, reduction="none"), dice)
    assert ops.dice_loss(np.ones((2, 3, 3)), np.ones((2, 3, 3))) == 0
    np.testing.assert_allclose(ops.dice_loss(np.zeros((2, 3)), np.ones((2, 3))), 1, atol=1e-5)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.25, 2.0), (-1, 2.0), (0.6, 0), (0.25, 1.5)])
def test_focal_loss(alpha, gamma):
    """As Lin et al. define it, and the plain cross-entropy without its two factors."""
    target = (SHARE > 0.5).astype("float64")
    p = 1 / (1 + np.exp(-X))
    right = np.where(target == 1, p, 1 - p)
    weight = np.where(target == 1, alpha, 1 - alpha) if alpha >= 0 else 1.0
    expected = -weight * (1 - right) ** gamma * np.log(right)
    np.testing.assert_allclose(ops.focal_loss(X, target, alpha=alpha, gamma=gamma, reduction="none"), expected)
    np.testing.assert_allclose(ops.focal_loss(X, SHARE, alpha=-1, gamma=0), ops.binary_cross_entropy(X, SHARE))


@pytest.mark.filterwarnings("ignore:Mean of empty")
def test_losses_at_extremes():
    far = np.array([np.inf, 1e30, -np.inf])
    np.testing.assert_array_equal(ops.huber_loss(far, np.zeros(3), reduction="none"), [np.inf, 1e30, np.inf])
    np.testing.assert_array_equal(ops.log_cosh_loss(far, np.zeros(3), reduction="none")[[0, 2]], np.inf)
    np.testing.assert_allclose(
        ops.binary_cross_entropy(np.array([800.0, -800.0]), np.array([0.0, 0.0]), reduction="none"), [800, 0]
    )
    assert ops.binary_cross_entropy_probabilities(np.array([0.0, 1.0]), np.array([0.0, 1.0])) == 0
    assert ops.binary_cross_entropy_probabilities(np.array([0.0, 1.0]), np.array([1.0, 0.0])) == 100
    assert np.isnan(ops.cross_entropy(X, np.full(5, -100)))
    assert np.isnan(ops.mean_squared_error(np.zeros((0, 2)), np.zeros((0, 2))))
    assert ops.cross_entropy(np.zeros((0, 3)), np.zeros(0, "int64"), reduction="sum") == 0
    logits = np.array([[-np.inf, 0.0, 1.0]])
    np.testing.assert_allclose(ops.cross_entropy(logits, np.array([2])), np.log(1 + np.exp(-1)))


def test_targets_of_other_dtypes():
    labels = SHARE > 0.5
    np.testing.assert_allclose(
        ops.binary_cross_entropy(X, labels), ops.binary_cross_entropy(X, labels.astype("float64"))
    )
    np.testing.assert_allclose(ops.hinge_loss(X, SIGNS.astype("int32")), ops.hinge_loss(X, SIGNS))
    np.testing.assert_allclose(ops.cross_entropy(X, CLASSES.astype("uint8")), ops.cross_entropy(X, CLASSES))


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="wants reduction: one of mean, sum, none, received 'average'"):
        ops.mean_squared_error(X, Y, reduction="average")
    with pytest.raises(ValueError, match="same number of axes"):
        ops.mean_squared_error(X[:, :1], Y[:, 0])
    with pytest.raises(ValueError, match="class numbers of one axis less"):
        ops.cross_entropy(X, CLASSES[:, None, None])
    with pytest.raises(ValueError, match="integer class numbers"):
        ops.cross_entropy(X, CLASSES[:, None] * np.ones((1, 3), "int64"))
    with pytest.raises(ValueError, match="do not match"):
        ops.cross_entropy(X, CLASSES[:4])
    with pytest.raises(ValueError, match="one number for each of the 3 classes"):
        ops.cross_entropy(X, CLASSES, weight=np.ones(4))
    with pytest.raises(TypeError, match="mean_squared_error wants"):
        ops.mean_squared_error(CLASSES, CLASSES)


def test_shapes_with_unknown_sizes():
    batch = Spec((None, 3))
    assert ops.cross_entropy(batch, Spec((None,), "int64"), reduction="none") == Spec((None,))
    assert ops.cross_entropy(batch, Spec((8,), "int64"), reduction="none") == Spec((8,))
    assert ops.mean_squared_error(batch, batch, reduction="none") == batch
    assert ops.ctc_loss(
        Spec((9, None, 5)), Spec((None, 4), "int64"), Spec((None,), "int64"), Spec((None,), "int64")
    ) == Spec(())


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("blank", [0, 4])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_loss(reduction, blank, zero_infinity):
    """Lengths that differ, repeated labels, empty targets, and one target that does not fit."""
    steps, batch, classes, labels = 12, 6, 5, 4
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(steps, batch, classes)) * 2
    targets = rng.integers(1, classes, (batch, labels)) - (blank == 4)
    targets[1] = targets[1, 0]  # repetitions need a blank between them
    inputs, lengths = np.array([12, 9, 12, 5, 3, 1]), np.array([4, 4, 0, 3, 3, 1])
    expected = F.ctc_loss(
        F.log_softmax(torch.tensor(logits), -1),
        torch.tensor(targets),
        torch.tensor(inputs),
        torch.tensor(lengths),
        blank,
        reduction,
        zero_infinity,
    )
    padded = np.where(np.arange(labels) < lengths[:, None], targets, -7)
    options = {"reduction": reduction, "zero_infinity": zero_infinity}
    for given in (logits, ops.log_softmax(logits)):
        np.testing.assert_allclose(
            ops.ctc_loss(given, padded, inputs, lengths, blank, **options), expected.numpy(), rtol=1e-9
        )


def test_ctc_loss_of_impossible_targets():
    logits = np.zeros((3, 2, 4), "float32")
    targets, inputs, lengths = np.array([[1, 1, 2], [1, 2, 3]]), np.array([3, 3]), np.array([3, 3])
    np.testing.assert_allclose(
        ops.ctc_loss(logits, targets, inputs, lengths, reduction="none"), [np.inf, 3 * np.log(4)], rtol=1e-6
    )
    assert ops.ctc_loss(logits, targets, inputs, lengths, reduction="none", zero_infinity=True)[0] == 0
    sure = np.full((3, 1, 4), -np.inf)
    sure[[0, 1, 2], 0, [1, 2, 3]] = 0.0
    assert ops.ctc_loss(sure, targets[1:], inputs[1:], lengths[1:]) == 0
    assert ops.ctc_loss(sure, np.array([[2, 1, 3]]), inputs[1:], lengths[1:]) == np.inf


def test_ctc_gradient():
    dispatch.load("torch")
    logits = np.random.default_rng(2).normal(size=(7, 2, 4))
    targets, inputs, lengths = torch.tensor([[1, 1, 2], [3, 2, 0]]), torch.tensor([7, 5]), torch.tensor([3, 2])
    body = neutral(OPERATORS["ctc_loss"].body)
    slopes = []
    for function in (body, lambda x, *rest: F.ctc_loss(F.log_softmax(x, -1), *rest)):
        x = torch.tensor(logits, requires_grad=True)
        function(x, targets, inputs, lengths).backward()
        slopes.append(x.grad)
    np.testing.assert_allclose(*slopes, atol=1e-9)


def all_alignments(logs, target, steps, blank=0):
    """The transducer's loss by adding up every path: `steps` blanks, the last of them at the end, and the labels between."""
    labels, total = len(target), 0.0
    for where in itertools.combinations(range(steps + labels - 1), labels):
        t = u = 0
        log = 0.0
        for place in range(steps + labels):
            if place in where:
                log, u = log + logs[t, u, target[u]], u + 1
            else:
                log, t = log + logs[t, u, blank], t + 1
        total += math.exp(log)
    return -math.log(total)


@pytest.mark.parametrize("blank", [0, 3])
def test_rnnt_loss_against_all_alignments(blank):
    rng = np.random.default_rng(3)
    batch, steps, labels, classes = 6, 4, 3, 4
    logits = rng.normal(size=(batch, steps, labels + 1, classes)) * 2
    logs = ops.log_softmax(logits)
    targets = rng.integers(1, classes, (batch, labels)) - (blank == 3)
    inputs, lengths = np.array([4, 3, 1, 4, 2, 1]), np.array([3, 2, 3, 0, 1, 0])
    expected = [all_alignments(logs[n], targets[n, : lengths[n]], inputs[n], blank) for n in range(batch)]
    padded = np.where(np.arange(labels) < lengths[:, None], targets, -7)
    for given in (logits, logs):
        np.testing.assert_allclose(
            ops.rnnt_loss(given, padded, inputs, lengths, blank, reduction="none"), expected, rtol=1e-9
        )
    np.testing.assert_allclose(ops.rnnt_loss(logits, padded, inputs, lengths, blank), np.mean(expected))
    np.testing.assert_allclose(ops.rnnt_loss(logits, padded, inputs, lengths, blank, reduction="sum"), np.sum(expected))
    one = ops.rnnt_loss(logits[:, :, :1], padded[:, :0], inputs, lengths * 0, blank, reduction="none")
    np.testing.assert_allclose(one, [all_alignments(logs[n], [], inputs[n], blank) for n in range(batch)])


def test_rnnt_gradient_is_the_occupancy():
    """The gradient against central differences."""
    dispatch.load("torch")
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(2, 3, 3, 3))
    rest = np.array([[1, 2], [2, 0]]), np.array([3, 2]), np.array([2, 1])
    x = torch.tensor(logits, requires_grad=True)
    neutral(OPERATORS["rnnt_loss"].body)(x, *map(torch.tensor, rest)).backward()
    for at in [(0, 0, 0, 0), (0, 2, 1, 2), (1, 1, 1, 0), (1, 2, 0, 1), (1, 0, 0, 2)]:
        ends = []
        for step in (1e-5, -1e-5):
            moved = logits.copy()
            moved[at] += step
            ends.append(ops.rnnt_loss(moved, *rest))
        np.testing.assert_allclose(x.grad[at], (ends[0] - ends[1]) / 2e-5, atol=1e-8)


def test_long_sequences_stay_finite():
    rng = np.random.default_rng(5)
    logits = (rng.normal(size=(150, 2, 20)) * 5).astype("float32")
    targets, inputs, lengths = rng.integers(1, 20, (2, 40)), np.array([150, 120]), np.array([40, 30])
    expected = F.ctc_loss(
        F.log_softmax(torch.tensor(logits).double(), -1),
        torch.tensor(targets),
        torch.tensor(inputs),
        torch.tensor(lengths),
    )
    np.testing.assert_allclose(ops.ctc_loss(logits, targets, inputs, lengths), expected.numpy(), rtol=1e-5)
