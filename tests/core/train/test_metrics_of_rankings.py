"""Curves, ranked items and calibration, compared with scikit-learn or values by hand."""

import numpy as np
import pytest
import scipy.special
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_inputs import CLASSES, IS, LABEL_SCORES, LABELS, SCORES, SOFT, YES, N
from sklearn.calibration import calibration_curve

from labdl.infer.classification_report import text
from labdl.train import metrics as M

pytestmark = pytest.mark.slow

# few distinct scores, so that there are ties
PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: {true for _, true in rows} == {False, True}
)


def assert_same_points(ours, theirs):
    assert len(ours) == len(theirs) == 3
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("drop", [True, False])
@settings(max_examples=80, deadline=None)
@given(rows=PAIRS)
def test_curves_match_scikit_learn(drop, rows):
    scores, true = (np.array(side) for side in zip(*rows, strict=True))
    scores = scores / 4
    ours = M.ROCCurve(drop_intermediate=drop)(scores, true)
    assert_same_points(ours, sk.roc_curve(true, scores, drop_intermediate=drop))
    assert sk.auc(*ours[:2]) == pytest.approx(M.ROCAUC()(scores, true))
    ours = M.PrecisionRecallCurve(drop_intermediate=drop)(scores, true)
    assert_same_points(ours, sk.precision_recall_curve(true, scores, drop_intermediate=drop))
    area = -np.sum(np.diff(ours.recall) * ours.precision[:-1])
    assert area == pytest.approx(M.AveragePrecision()(scores, true))


@pytest.mark.parametrize(
    ("ours", "theirs"), [(M.ROCCurve, sk.roc_curve), (M.PrecisionRecallCurve, sk.precision_recall_curve)]
)
def test_each_class_and_label_has_a_curve(ours, theirs):
    for c, points in enumerate(ours()(SCORES, CLASSES)):
        assert_same_points(points, theirs(c == CLASSES, np.log(SOFT[:, c])))
    for c, points in enumerate(ours(from_logits=False)(SOFT, CLASSES)):
        assert_same_points(points, theirs(c == CLASSES, SOFT[:, c]))
    for c, points in enumerate(ours()(LABEL_SCORES, LABELS)):
        assert_same_points(points, theirs(LABELS[:, c], LABEL_SCORES[:, c]))
    assert_same_points(ours()(YES[:, None], IS), theirs(IS, YES))


def test_curves_of_one_kind_of_samples():
    all_true, nothing = np.ones(3, int), np.zeros(3, int)
    points = M.ROCCurve()(YES[:3], all_true)
    assert np.isnan(points.false_positive_rate).all()
    assert points.true_positive_rate[-1] == 1
    assert np.isnan(M.ROCCurve()(YES[:3], nothing).true_positive_rate).all()
    points = M.PrecisionRecallCurve()(YES[:3], nothing)
    assert np.isnan(points.recall[:-1]).all()
    assert (points.precision[:-1] == 0).all()


def test_a_report_shows_curves():
    shown = text({"roc_curve": M.ROCCurve()(YES, IS), "curves": M.PrecisionRecallCurve()(SCORES, CLASSES)}, None)
    assert shown.startswith("roc_curve\n  false_positive_rate [0.")
    assert shown.count("precision [") == 4


# -- ranked items


@st.composite
def queries(draw):
    items = draw(st.integers(2, 6))
    rows = st.lists(st.integers(-2, 2), min_size=items, max_size=items)
    relevances = st.lists(st.integers(0, 3), min_size=items, max_size=items)
    count = draw(st.integers(1, 5))
    sides = [draw(st.lists(each, min_size=count, max_size=count)) for each in (rows, relevances)]
    return tuple(np.array(side, "float64") for side in sides)


@settings(max_examples=100, deadline=None)
@given(queries(), st.sampled_from([None, 1, 2, 9]))
def test_ndcg_matches_scikit_learn(rows, k):
    scores, relevances = rows
    assert M.NDCG(k=k)(scores, relevances) == pytest.approx(sk.ndcg_score(relevances, scores, k=k), abs=1e-12)
    expected = sk.ndcg_score(2**relevances - 1, scores, k=k)
    assert M.NDCG(k=k, gain="exponential")(scores, relevances) == pytest.approx(expected, abs=1e-12)
    padded = [np.pad(v, ((0, 0), (1, 2)), constant_values=c) for v, c in ((scores, 9), (relevances, -1))]
    assert M.NDCG(k=k)(*padded) == pytest.approx(sk.ndcg_score(relevances, scores, k=k), abs=1e-12)


def test_ndcg_by_hand():
    """Gains 3, 2, 3, 0, 1, 2 in the order of the scores: a DCG of 6.861, at best 7.141 (Wikipedia)."""
    gains = np.array([[3, 2, 3, 0, 1, 2]])
    assert M.NDCG()(-np.arange(6.0)[None], gains) == pytest.approx(0.9608, abs=5e-5)
    assert M.NDCG()(np.arange(6.0)[None], np.zeros((1, 6))) == 0


@settings(max_examples=100, deadline=None)
@given(queries())
def test_reciprocal_rank_matches_scikit_learn_for_one_relevant_item(rows):
    scores, relevances = rows
    places = relevances.argmax(-1)
    one = np.eye(scores.shape[1])[places]
    expected = sk.label_ranking_average_precision_score(one, scores)
    assert M.MeanReciprocalRank()(scores, one) == pytest.approx(expected)
    assert M.MeanReciprocalRank()(scores, places) == pytest.approx(expected)


def test_reciprocal_rank_by_hand():
    """The example of Voorhees' measure: ranks 3, 2 and 1 give 11 / 18."""
    scores = np.array([[3, 2, 1.0], [3, 2, 1], [3, 2, 1]])
    relevant = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 0]])
    assert M.MeanReciprocalRank()(scores, relevant) == pytest.approx(11 / 18)
    assert M.MeanReciprocalRank(k=2)(scores, relevant) == pytest.approx(1.5 / 3)
    assert M.MeanReciprocalRank()(scores, 0 * relevant) == 0
    assert M.MeanReciprocalRank()(np.ones((1, 4)), np.array([[0, 1, 1, 0]])) == pytest.approx(1 / 3), "equal scores"
    assert M.MeanReciprocalRank()(scores, relevant - (relevant == 0) * (scores == 3)) == pytest.approx(
        (1 / 2 + 1 + 1) / 3
    )


# -- calibration


def gaps(confidences, right, bins):
    """Differences in the bins that have samples, and the number of samples in each."""
    accuracy, confidence = calibration_curve(right, confidences, n_bins=bins)
    at = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidences)
    return np.abs(accuracy - confidence), np.unique(at, return_counts=True)[1]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_calibration_of_one_output_matches_scikit_learn(rows, bins):
    probabilities, true = (np.array(side) for side in zip(*rows, strict=True))
    if len(set(true.tolist())) < 2:
        true = np.append(true, ~true[:1])
        probabilities = np.append(probabilities, 0.5)
    each, counts = gaps(probabilities, true, bins)
    options = {"bins": bins, "from_logits": False}
    expected = M.ExpectedCalibrationError(**options)(probabilities, true)
    assert expected == pytest.approx(np.average(each, weights=counts), abs=1e-12)
    assert M.MaximumCalibrationError(**options)(probabilities[:, None], true) == pytest.approx(each.max(), abs=1e-12)


def test_calibration_of_classes_and_logits():
    each, counts = gaps(SOFT.max(-1), SOFT.argmax(-1) == CLASSES, 15)
    for scores, from_logits in ((SCORES, None), (SCORES + 5, True), (SOFT, False)):
        expected = M.ExpectedCalibrationError(from_logits=from_logits)(scores, CLASSES)
        assert expected == pytest.approx(np.average(each, weights=counts))
        assert M.MaximumCalibrationError(from_logits=from_logits)(scores, CLASSES) == pytest.approx(each.max())
    certain = M.ExpectedCalibrationError()(1000 * np.eye(4)[CLASSES], CLASSES)
    assert certain == 0
    assert M.ExpectedCalibrationError()(YES, IS) == pytest.approx(
        M.ExpectedCalibrationError(from_logits=False)(scipy.special.expit(YES), IS)
    )
    # ten samples of confidence 0.75, of which five are right; N of 1, all right
    scores = np.concatenate([np.full(10, 0.75), np.ones(N)])
    right = np.concatenate([np.arange(10) % 2, np.ones(N, int)])
    assert M.ExpectedCalibrationError(from_logits=False)(scores, right) == pytest.approx(0.25 * 10 / (10 + N))
    assert M.MaximumCalibrationError(from_logits=False)(scores, right) == pytest.approx(0.25)
