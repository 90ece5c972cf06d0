"""Metrics of classes, ranks and numbers, compared with scikit-learn and SciPy."""

import numpy as np
import pytest
import scipy.special
import scipy.stats
import sklearn.metrics as sk
from metric_inputs import CLASSES, IS, LABEL_SCORES, LABELS, REAL, SCORES, SOFT, TRUE, YES, N

from labdl.train import metrics as M

pytestmark = pytest.mark.slow

# -- classification


def each_average(ours, theirs, **more):
    for average in ("micro", "macro", "weighted", None):
        yield ours(average=average or "none", **more), lambda t, o, average=average: theirs(t, o, average=average)


CLASSIFICATION = [
    (M.Precision, lambda t, o, **k: sk.precision_score(t, o, zero_division=0, **k)),
    (M.Recall, lambda t, o, **k: sk.recall_score(t, o, zero_division=0, **k)),
    (M.F1, lambda t, o, **k: sk.f1_score(t, o, zero_division=0, **k)),
    (M.FBeta, lambda t, o, **k: sk.fbeta_score(t, o, beta=2.0, zero_division=0, **k)),
    (M.Jaccard, lambda t, o, **k: sk.jaccard_score(t, o, zero_division=0, **k)),
]


@pytest.mark.parametrize(("ours", "theirs"), CLASSIFICATION, ids=lambda f: getattr(f, "__name__", ""))
def test_averages_match_scikit_learn(ours, theirs):
    chosen = SCORES.argmax(-1)
    for entry, reference in each_average(ours, theirs):
        np.testing.assert_allclose(entry(SCORES, CLASSES), reference(CLASSES, chosen), rtol=1e-12)
        np.testing.assert_allclose(entry(chosen, CLASSES), reference(CLASSES, chosen), rtol=1e-12)
    for entry, reference in each_average(ours, theirs, multilabel=True):
        np.testing.assert_allclose(entry(LABEL_SCORES, LABELS), reference(LABELS, LABEL_SCORES > 0), rtol=1e-12)
    for shape in ((N,), (N, 1)):
        value = ours()(YES.reshape(shape), IS.reshape(shape))
        assert value == pytest.approx(theirs(IS, YES > 0, average="binary"))
    assert ours(threshold=0.4)(YES, IS) == pytest.approx(theirs(IS, YES > 0.4, average="binary"))
    few, wide = CLASSES % 2, np.pad(SCORES[:, :2], ((0, 0), (0, 2)), constant_values=-9)
    assert ours()(wide, few) == pytest.approx(theirs(few, wide.argmax(-1), average="macro")), (
        "classes that do not occur"
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (M.Accuracy, sk.accuracy_score),
        (M.BalancedAccuracy, sk.balanced_accuracy_score),
        (M.CohenKappa, sk.cohen_kappa_score),
        (M.MatthewsCorrelation, sk.matthews_corrcoef),
        (M.HammingLoss, sk.hamming_loss),
        (M.ConfusionMatrix, sk.confusion_matrix),
    ],
    ids=lambda f: f.__name__,
)
def test_agreement_matches_scikit_learn(ours, theirs):
    np.testing.assert_allclose(ours()(SCORES, CLASSES), theirs(CLASSES, SCORES.argmax(-1)))
    np.testing.assert_allclose(ours()(YES, IS), theirs(IS, YES > 0))
    np.testing.assert_allclose(ours()(YES[:, None], IS), theirs(IS, YES > 0))
    np.testing.assert_allclose(ours()(SCORES, np.eye(4)[CLASSES]), theirs(CLASSES, SCORES.argmax(-1)))


def test_hamming_loss_of_labels_and_specificity():
    assert M.HammingLoss(multilabel=True)(LABEL_SCORES, LABELS) == sk.hamming_loss(LABELS, LABEL_SCORES > 0)
    chosen = SCORES.argmax(-1)
    of_classes = [sk.recall_score(c == CLASSES, chosen == c, pos_label=False) for c in range(4)]
    np.testing.assert_allclose(M.Specificity(average="none")(SCORES, CLASSES), of_classes)
    assert M.Specificity()(YES, IS) == pytest.approx(sk.recall_score(IS, YES > 0, pos_label=0))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_accuracy(k):
    assert M.TopKAccuracy(k=k)(SCORES, CLASSES) == pytest.approx(sk.top_k_accuracy_score(CLASSES, SCORES, k=k))
    wide = np.stack([SCORES, SCORES[::-1]], 1)
    expected = M.TopKAccuracy(k=k)(wide.reshape(-1, 4), np.repeat(CLASSES, 2))
    assert M.TopKAccuracy(k=k)(wide, np.stack([CLASSES, CLASSES], 1)) == expected


def test_counts_grow_with_new_classes():
    """With class numbers the number of classes is unknown at first."""
    entry = M.ConfusionMatrix()
    entry.update(np.array([0, 1]), np.array([0, 0]))
    entry.update(np.array([3]), np.array([1]))
    np.testing.assert_array_equal(entry.compute(), sk.confusion_matrix([0, 0, 1], [0, 1, 3], labels=range(4)))


def test_ranking_matches_scikit_learn():
    ties, soft_ties = np.round(YES), np.round(SOFT, 1)
    soft_ties = soft_ties / soft_ties.sum(-1, keepdims=True)
    for scores in (YES, ties):
        assert M.ROCAUC()(scores, IS) == pytest.approx(sk.roc_auc_score(IS, scores))
        assert M.AveragePrecision()(scores[:, None], IS) == pytest.approx(sk.average_precision_score(IS, scores))
    for average in ("macro", "weighted", None):
        name = average or "none"
        expected = sk.roc_auc_score(CLASSES, SOFT, multi_class="ovr", average=average)
        np.testing.assert_allclose(M.ROCAUC(average=name)(SCORES, CLASSES), expected)
        expected = sk.roc_auc_score(CLASSES, soft_ties, multi_class="ovr", average=average)
        np.testing.assert_allclose(M.ROCAUC(average=name, from_logits=False)(soft_ties, CLASSES), expected)
    for average in ("macro", "weighted", "micro", None):
        name = average or "none"
        expected = sk.average_precision_score(LABELS, LABEL_SCORES, average=average)
        np.testing.assert_allclose(M.AveragePrecision(average=name)(LABEL_SCORES, LABELS), expected)
        expected = sk.roc_auc_score(LABELS, LABEL_SCORES, average=average)
        np.testing.assert_allclose(M.ROCAUC(average=name)(LABEL_SCORES, LABELS), expected)
    assert M.ROCAUC()(SCORES, CLASSES % 3) == pytest.approx(
        np.mean([sk.roc_auc_score(c == CLASSES % 3, SOFT[:, c]) for c in range(3)])
    ), "a class without samples does not count"


def test_log_loss_and_perplexity():
    expected = sk.log_loss(CLASSES, SOFT)
    assert M.LogLoss()(SCORES, CLASSES) == pytest.approx(expected)
    assert M.LogLoss(from_logits=False)(SOFT, CLASSES) == pytest.approx(expected)
    assert M.LogLoss()(YES, IS) == pytest.approx(sk.log_loss(IS, scipy.special.expit(YES)))
    assert M.LogLoss(from_logits=False)(scipy.special.expit(YES)[:, None], IS) == pytest.approx(M.LogLoss()(YES, IS))
    assert M.Perplexity()(SCORES, CLASSES) == pytest.approx(np.exp(expected))
    some = np.where(np.arange(N) % 3, CLASSES, -100)
    kept = some >= 0
    assert M.Perplexity()(SCORES, some) == pytest.approx(
        np.exp(sk.log_loss(CLASSES[kept], SOFT[kept], labels=range(4)))
    )
    assert M.Perplexity()(np.zeros((2, 3, 7)), np.ones((2, 3), int)) == pytest.approx(7)


# -- regression


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (M.MeanAbsoluteError, sk.mean_absolute_error),
        (M.MeanSquaredError, sk.mean_squared_error),
        (M.MeanAbsolutePercentageError, sk.mean_absolute_percentage_error),
        (M.R2, sk.r2_score),
        (M.ExplainedVariance, sk.explained_variance_score),
        (M.RootMeanSquaredError, lambda t, o: np.sqrt(np.mean((t - o) ** 2))),
        (M.PearsonCorrelation, lambda t, o: np.mean([scipy.stats.pearsonr(*c)[0] for c in zip(t.T, o.T, strict=True)])),
        (
            M.SpearmanCorrelation,
            lambda t, o: np.mean([scipy.stats.spearmanr(*c)[0] for c in zip(t.T, o.T, strict=True)]),
        ),
    ],
)
def test_regression_matches_scikit_learn_and_scipy(ours, theirs):
    for output, target in ((REAL, TRUE), (np.round(REAL), np.round(TRUE) + 5), (REAL[:, :1], TRUE[:, :1])):
        assert ours()(output, target) == pytest.approx(theirs(target, output))
        assert ours()(output[:, 0], target[:, 0]) == pytest.approx(theirs(target[:, :1], output[:, :1]))


def test_r2_of_columns_constants_and_large_numbers():
    np.testing.assert_allclose(M.R2(average="none")(REAL, TRUE), sk.r2_score(TRUE, REAL, multioutput="raw_values"))
    same = np.ones((4, 1))
    assert M.R2()(same, same) == sk.r2_score(same, same) == 1
    assert M.R2()(2 * same, same) == sk.r2_score(same, 2 * same) == 0
    far = M.R2()
    for start in range(0, N, 5):
        far.update(REAL[start : start + 5] + 1e6, TRUE[start : start + 5] + 1e6)
    assert far.compute() == pytest.approx(sk.r2_score(TRUE, REAL), rel=1e-6), "numerically stable"


CONSTANTS = [0.1, -0.3, 1 / 3, 1e8 + 0.1, 1e-30, 0.0]


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("sizes", [(10,), (3, 4, 1, 2), (1000,)])
def test_constant_target_has_no_spread(constant, sizes):
    """The rounding of a mean is no spread; scikit-learn's score is 1 where a constant target is met, else 0."""
    draws = np.random.default_rng(0)
    for metric in (M.R2(), M.ExplainedVariance()):
        scores = []
        for output in (lambda n: np.full(n, constant), lambda n: constant + draws.normal(size=n)):
            metric.reset()
            for n in sizes:
                metric.update(output(n), np.full(n, constant))
            scores.append(metric.compute())
        assert scores == [1.0, 0.0]


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("metric", [M.PearsonCorrelation, M.SpearmanCorrelation])
def test_correlation_with_a_constant_is_nan(metric, constant):
    values = np.random.default_rng(0).normal(size=50)
    for pair in ((values, np.full(50, constant)), (np.full(50, constant), values)):
        assert np.isnan(metric()(*pair))
    columns = metric(average="none")(np.stack([values, values], 1), np.stack([values, np.full(50, constant)], 1))
    assert columns[0] == pytest.approx(1)
    assert np.isnan(columns[1])


@pytest.mark.parametrize("shift", [0, 1e3, 1e6])
def test_small_spread_counts(shift):
    target = shift + np.random.default_rng(0).normal(size=100) * 1e-3
    assert M.R2()(target, target) == pytest.approx(1)
    assert M.PearsonCorrelation()(target, target) == pytest.approx(1)
    assert M.R2()(np.full(100, target.mean()), target) == pytest.approx(0, abs=1e-6)
