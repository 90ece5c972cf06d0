"""Metrics: exact over any split into batches, and equal to scikit-learn, SciPy, or what is worked out by hand."""

import copy
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.ndimage
import scipy.special
import scipy.stats
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ConfigError, ModelError
from labdl.train import metrics as M
from labdl.train import objectives
from labdl.train.metrics import METRICS, Metric, metric
from labdl.train.metrics.metric import spelled
from labdl.train.metrics.text import common_length, edit_distance

N = 24
rng = np.random.default_rng(0)
SCORES, CLASSES = rng.normal(size=(N, 4)), rng.integers(0, 4, N)
SOFT = scipy.special.softmax(SCORES, -1)
YES, IS = rng.normal(size=N), rng.integers(0, 2, N)
LABEL_SCORES, LABELS = rng.normal(size=(N, 3)), rng.integers(0, 2, (N, 3))
REAL, TRUE = rng.normal(size=(2, N, 2))
TRUE = TRUE + 0.7 * REAL
PIXELS, MASKS = rng.normal(size=(N, 3, 5, 4)), rng.integers(0, 3, (N, 5, 4))
CLEAN = rng.normal(size=(N, 30))
NOISY = 2 * CLEAN + 0.3 * rng.normal(size=(N, 30))
IMAGES = rng.uniform(size=(N, 2, 13, 14))
BLURRED = np.clip(IMAGES + 0.1 * rng.normal(size=IMAGES.shape), 0, 1)
POINTS = rng.uniform(0, 100, (N, 17, 2))
SEEN = np.concatenate([POINTS, rng.integers(0, 2, (N, 17, 1))], -1)
GUESSED = POINTS + 6 * rng.normal(size=POINTS.shape)
TOKENS, TRUE_TOKENS = rng.integers(0, 4, (2, N, 9))
WORDS = ["a", "b", "c", "d"]
TEXTS, TRUE_TEXTS = ([" ".join(WORDS[t] for t in row) for row in side] for side in (TOKENS, TRUE_TOKENS))


def detections():
    """Boxes near objects and elsewhere, of three classes, in images of up to 6; rows of class -1 fill up."""
    draws = np.random.default_rng(3)
    low = draws.uniform(0, 50, (N, 6, 2))
    objects = np.concatenate([low, low + draws.uniform(5, 30, (N, 6, 2)), draws.integers(-1, 3, (N, 6, 1))], -1)
    near = objects[:, draws.integers(0, 6, 10), :4] + draws.normal(size=(N, 10, 4)) * 2
    kinds, others = objects[:, draws.integers(0, 6, 10), 4:], draws.integers(-1, 3, (N, 10, 1))
    kinds = np.where(draws.random((N, 10, 1)) < 0.8, kinds, others)
    kinds = np.where(kinds < 0, draws.integers(-1, 3, kinds.shape), kinds)
    return np.concatenate([near, draws.random((N, 10, 1)), kinds], -1), objects


BOXES, OBJECTS = detections()

# for each metric inputs that it is tried with, and settings beside its own
INPUTS = {
    **dict.fromkeys(
        ["accuracy", "precision", "recall", "specificity", "f1", "f_beta", "jaccard", "balanced_accuracy", "cohen_kappa",
         "matthews_correlation", "hamming_loss", "confusion_matrix", "top_k_accuracy", "roc_auc", "average_precision",
         "log_loss", "perplexity"], (SCORES, CLASSES)),
    **dict.fromkeys(
        ["mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "mean_absolute_percentage_error", "r2",
         "pearson_correlation", "spearman_correlation"], (REAL, TRUE)),
    **dict.fromkeys(["mean_iou", "pixel_accuracy", "dice"], (np.moveaxis(PIXELS, 1, -1), MASKS)),
    **dict.fromkeys(["mean_average_precision", "box_recall"], (BOXES, OBJECTS)),
    **dict.fromkeys(["pck", "normalised_mean_error", "object_keypoint_similarity"], (GUESSED, SEEN)),
    **dict.fromkeys(["bleu", "rouge_l", "word_error_rate", "character_error_rate", "edit_distance", "exact_match"],
                    (TEXTS, TRUE_TEXTS)),
    "signal_to_noise": (NOISY, CLEAN), "psnr": (BLURRED, IMAGES), "ssim": (BLURRED, IMAGES),
}  # fmt: skip
VARIANTS = {
    "top_k_accuracy": {"k": 2}, "f_beta": {"beta": 0.5, "average": "weighted"}, "precision": {"average": "none"},
    "recall": {"average": "micro"}, "roc_auc": {"average": "weighted"}, "r2": {"average": "none"},
    "mean_iou": {"ignore_index": 1}, "dice": {"average": "none"}, "bleu": {"n": 2, "smooth": True},
    "mean_average_precision": {"iou_thresholds": (0.5,), "max_detections": 2}, "pck": {"pair": (0, 3)},
    "edit_distance": {"normalised": True}, "signal_to_noise": {"scale_invariant": False},
    "log_loss": {"from_logits": False}, "box_recall": {"max_detections": 1},
}  # fmt: skip


def made(name):
    """The metric with its defaults, and with other settings."""
    plain = METRICS[name]()
    return [plain, METRICS[name](**VARIANTS[name])] if name in VARIANTS else [plain]


def test_every_metric_is_tried():
    assert set(INPUTS) == set(METRICS)
    assert set(VARIANTS) <= set(METRICS)
    assert all(cls.__doc__.partition("\n")[0].endswith((".", ":", ")")) for cls in METRICS.values())


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_split_into_batches_gives_the_same(name, data):
    output, target = INPUTS[name]
    cuts = sorted(data.draw(st.sets(st.integers(1, N - 1), max_size=N - 1)))
    ends = list(zip([0, *cuts], [*cuts, N], strict=True))
    for entry in made(name):
        whole = entry(output, target)
        assert not entry.started, "a call remembers nothing"
        for start, end in ends:
            entry.update(output[start:end], target[start:end])
        np.testing.assert_allclose(entry.compute(), whole, rtol=1e-9, atol=1e-12)
        parts = [entry.fresh() for _ in ends]
        for part, (start, end) in zip(parts, ends, strict=True):
            part.update(output[start:end], target[start:end])
        total = entry.fresh()
        for part in parts:
            before = copy.deepcopy(part.compute())
            total.merge(part)
            np.testing.assert_array_equal(part.compute(), before)
        np.testing.assert_allclose(total.compute(), whole, rtol=1e-9, atol=1e-12)
        entry.reset()
        with pytest.raises(ModelError, match=f"{type(entry).__name__} has seen no batch"):
            entry.compute()


@pytest.mark.parametrize("name", METRICS)
def test_a_value_is_a_number_or_says_that_it_is_not(name):
    for entry in made(name):
        value = entry(*INPUTS[name])
        assert entry.scalar == isinstance(value, float), (entry, value)
        assert np.isfinite(value).all()


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
def test_averages_are_scikit_learns(ours, theirs):
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


@pytest.mark.parametrize(("ours", "theirs"), [
    (M.Accuracy, sk.accuracy_score), (M.BalancedAccuracy, sk.balanced_accuracy_score), (M.CohenKappa, sk.cohen_kappa_score),
    (M.MatthewsCorrelation, sk.matthews_corrcoef), (M.HammingLoss, sk.hamming_loss), (M.ConfusionMatrix, sk.confusion_matrix),
], ids=lambda f: f.__name__)  # fmt: skip
def test_agreement_is_scikit_learns(ours, theirs):
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


def test_counts_of_classes_grow_with_what_is_seen():
    """Class numbers say nothing of how many classes there are."""
    entry = M.ConfusionMatrix()
    entry.update(np.array([0, 1]), np.array([0, 0]))
    entry.update(np.array([3]), np.array([1]))
    np.testing.assert_array_equal(entry.compute(), sk.confusion_matrix([0, 0, 1], [0, 1, 3], labels=range(4)))


def test_ranking_is_scikit_learns():
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


@pytest.mark.parametrize(("ours", "theirs"), [
    (M.MeanAbsoluteError, sk.mean_absolute_error), (M.MeanSquaredError, sk.mean_squared_error),
    (M.MeanAbsolutePercentageError, sk.mean_absolute_percentage_error), (M.R2, sk.r2_score),
    (M.RootMeanSquaredError, lambda t, o: np.sqrt(np.mean((t - o) ** 2))),
    (M.PearsonCorrelation, lambda t, o: np.mean([scipy.stats.pearsonr(*c)[0] for c in zip(t.T, o.T, strict=True)])),
    (M.SpearmanCorrelation, lambda t, o: np.mean([scipy.stats.spearmanr(*c)[0] for c in zip(t.T, o.T, strict=True)])),
])  # fmt: skip
def test_regression_is_scikit_learns_and_scipys(ours, theirs):
    for output, target in ((REAL, TRUE), (np.round(REAL), np.round(TRUE) + 5), (REAL[:, :1], TRUE[:, :1])):
        assert ours()(output, target) == pytest.approx(theirs(target, output))
        assert ours()(output[:, 0], target[:, 0]) == pytest.approx(theirs(target[:, :1], output[:, :1]))


def test_r2_of_columns_of_constants_and_of_numbers_far_from_zero():
    np.testing.assert_allclose(M.R2(average="none")(REAL, TRUE), sk.r2_score(TRUE, REAL, multioutput="raw_values"))
    same = np.ones((4, 1))
    assert M.R2()(same, same) == sk.r2_score(same, same) == 1
    assert M.R2()(2 * same, same) == sk.r2_score(same, 2 * same) == 0
    far = M.R2()
    for start in range(0, N, 5):
        far.update(REAL[start : start + 5] + 1e6, TRUE[start : start + 5] + 1e6)
    assert far.compute() == pytest.approx(sk.r2_score(TRUE, REAL), rel=1e-6), "no digits are lost"


# -- masks, boxes, keypoints


def test_masks_are_scikit_learns_on_pixels():
    chosen = PIXELS.argmax(1)
    assert M.PixelAccuracy(axis=1)(PIXELS, MASKS) == pytest.approx(sk.accuracy_score(MASKS.ravel(), chosen.ravel()))
    for average in ("micro", "macro", "weighted", None):
        for entry, theirs in ((M.MeanIoU, sk.jaccard_score), (M.Dice, sk.f1_score)):
            expected = theirs(MASKS.ravel(), chosen.ravel(), average=average)
            np.testing.assert_allclose(entry(average=average or "none", axis=1)(PIXELS, MASKS), expected)
            np.testing.assert_allclose(entry(average=average or "none")(chosen, MASKS), expected)
    kept = MASKS != 2
    expected = sk.accuracy_score(MASKS[kept], chosen[kept])
    assert M.PixelAccuracy(axis=1, ignore_index=2)(PIXELS, MASKS) == pytest.approx(expected)
    void = np.where(kept, MASKS, 255)
    assert M.PixelAccuracy(axis=1, ignore_index=255)(PIXELS, void) == pytest.approx(expected)
    two = (MASKS > 0).astype(int)
    expected = sk.jaccard_score(two.ravel(), (PIXELS[:, 0] > 0).ravel(), average="macro")
    assert M.MeanIoU()(PIXELS[:, :1].squeeze(1), two) == pytest.approx(expected)


def coco(detected, objects, levels, limit):
    """Average precisions and recalls by the rules of the COCO challenge, one detection after the other."""
    precisions, recalls = [], []
    for kind in sorted({int(k) for k in objects[..., 4].ravel() if k >= 0}):
        for level in levels:
            rows, wanted = [], 0
            for boxes, true in zip(detected, objects, strict=True):
                true = true[true[:, 4] == kind]
                wanted += len(true)
                boxes = boxes[boxes[:, 5] == kind]
                taken = set()
                for box in boxes[np.argsort(-boxes[:, 4], kind="stable")][:limit]:
                    best, place = min(level, 1 - 1e-10), None
                    for i, other in enumerate(true):
                        sides = np.clip(np.minimum(box[2:4], other[2:4]) - np.maximum(box[:2], other[:2]), 0, None)
                        shared = sides.prod()
                        union = (box[2:4] - box[:2]).prod() + (other[2:4] - other[:2]).prod() - shared
                        if i not in taken and shared / union >= best:
                            best, place = shared / union, i
                    taken |= {place} - {None}
                    rows.append((box[4], place is not None))
            found = np.array([hit for _, hit in sorted(rows, key=lambda r: -r[0])], bool)
            hits = np.cumsum(found)
            curve = hits / np.arange(1, len(hits) + 1)
            precisions.append(np.mean([max(curve[hits / wanted >= r], default=0) for r in np.linspace(0, 1, 101)]))
            recalls.append(hits[-1] / wanted if len(hits) else 0.0)
    return np.mean(precisions), np.mean(recalls)


@pytest.mark.parametrize(("levels", "limit"), [(None, 100), ((0.5,), 100), ((0.5, 0.9), 2), ((0.3,), 1)])
def test_boxes_by_the_rules_of_coco(levels, limit):
    chosen = {"max_detections": limit, **({"iou_thresholds": levels} if levels else {})}
    precision, recall = coco(BOXES, OBJECTS, levels or M.MeanAveragePrecision().iou_thresholds, limit)
    assert 0.01 < precision < recall < 0.99
    assert M.MeanAveragePrecision(**chosen)(BOXES, OBJECTS) == pytest.approx(precision, rel=1e-12)
    assert M.BoxRecall(**chosen)(BOXES, OBJECTS) == pytest.approx(recall, rel=1e-12)


def test_boxes_by_hand():
    """Two objects; the best box finds one, the next finds nothing, the third finds the other."""
    objects = np.array([[[0, 0, 10, 10, 0], [20, 20, 30, 30, 0], [0, 0, 0, 0, -1]]])
    boxes = np.array(
        [[[20, 20, 30, 30, 0.5, 0], [0, 0, 10, 10, 0.9, 0], [50, 50, 60, 60, 0.7, 0], [0, 0, 10, 10, 0.8, -1]]]
    )
    # precision 1 up to a recall of 1/2 (51 of 101 recalls), 2/3 beyond
    assert M.MeanAveragePrecision()(boxes, objects) == pytest.approx((51 + 50 * 2 / 3) / 101)
    assert M.BoxRecall()(boxes, objects) == 1
    assert M.MeanAveragePrecision()(objects[..., [0, 1, 2, 3, 3, 4]], objects) == 1
    assert M.MeanAveragePrecision()(boxes[:, :0], objects) == 0
    assert M.BoxRecall()(boxes[:, :0], objects) == 0
    assert np.isnan(M.MeanAveragePrecision()(boxes, objects[:, :0]))


def test_keypoints_by_hand():
    true = np.array([[[0, 0, 1], [10, 0, 1], [0, 20, 1], [99, 99, 0]]], float)
    guess = np.array([[[0, 3], [10, 5], [0, 20], [0, 0]]], float)
    assert M.PCK(threshold=0.2)(guess, true) == pytest.approx(2 / 3)  # 3, 5 and 0 of a side of 20
    assert M.PCK(threshold=0.25)(guess, true) == 1
    assert M.PCK(threshold=0.3, pair=(0, 1))(guess, true) == pytest.approx(2 / 3)
    assert M.NormalisedMeanError()(guess, true) == pytest.approx(8 / 3 / 20)
    assert M.NormalisedMeanError(pair=(0, 1))(guess, true) == pytest.approx(8 / 3 / 10)
    sigmas = (0.1, 0.2, 0.3, 0.4)
    near = [np.exp(-(d**2) / (2 * 200 * (2 * s) ** 2)) for d, s in zip((3, 5, 0), sigmas, strict=False)]
    assert M.ObjectKeypointSimilarity(sigmas=sigmas)(guess, true) == pytest.approx(np.mean(near))
    assert M.ObjectKeypointSimilarity()(POINTS, SEEN) == pytest.approx(1)


# -- texts


def test_texts_by_hand():
    said, true = ["the cat sat on mat", "hello"], ["the cat sat on the mat", "hello world"]
    assert M.WordErrorRate()(said, true) == pytest.approx(2 / 8)
    assert M.CharacterErrorRate()(["kitten"], ["sitting"]) == pytest.approx(3 / 7)
    assert M.EditDistance()(["kitten", "same"], ["sitting", "same"]) == 1.5
    assert M.EditDistance(normalised=True)(["kitten", "same"], ["sitting", "same"]) == pytest.approx(3 / 7 / 2)
    assert M.ExactMatch()(["a  b", "c", "d"], ["a b", "c", "e"]) == pytest.approx(2 / 3)
    # Lin (2004): "police kill the gunman" has 3, then 2 words in the order of the true sentence of 4 words
    assert M.RougeL()(["police kill the gunman"], ["police killed the gunman"]) == pytest.approx(0.75)
    assert M.RougeL()(["the gunman kill police"], ["police killed the gunman"]) == pytest.approx(0.5)


def test_bleu_by_hand():
    """Papineni et al. (2002): "the" seven times has a clipped precision of 2 / 7."""
    seven, cat = ["the the the the the the the"], ["the cat is on the mat"]
    assert M.BLEU(n=1)(seven, cat) == pytest.approx(2 / 7)
    assert M.BLEU()(seven, cat) == 0
    assert M.BLEU(n=2, smooth=True)(seven, cat) == pytest.approx(np.sqrt(2 / 7 * 1 / 7))
    assert M.BLEU()(cat, cat) == 1
    short = ["the cat is on"]
    assert M.BLEU()(short, cat) == pytest.approx(np.exp(1 - 6 / 4))
    # counts of both sentences are added before they are divided
    expected = np.sqrt((5 / 6) * (3 / 4)) * 1.0
    assert M.BLEU(n=2)(["a b c", "d e f"], ["a b c", "d e x"]) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=9), st.lists(st.integers(0, 3), max_size=9))
def test_distances_of_sequences_by_recursion(a, b):
    edits, common = {}, {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not i or not j:
                edits[i, j], common[i, j] = i + j, 0
                continue
            same = a[i - 1] == b[j - 1]
            edits[i, j] = min(edits[i - 1, j] + 1, edits[i, j - 1] + 1, edits[i - 1, j - 1] + (not same))
            common[i, j] = common[i - 1, j - 1] + 1 if same else max(common[i - 1, j], common[i, j - 1])
    assert (edit_distance(a, b), common_length(a, b)) == (edits[len(a), len(b)], common[len(a), len(b)])


def test_forms_of_texts():
    """Strings, lists of tokens, padded numbers and scores of classes mean the same."""
    padded = np.pad(TOKENS, ((0, 0), (0, 3)), constant_values=-1)
    scores = np.eye(4)[TOKENS] + 0.1 * rng.normal(size=(N, 9, 4))
    for name in ("bleu", "rouge_l", "word_error_rate", "exact_match"):
        expected = METRICS[name]()(TEXTS, TRUE_TEXTS)
        for output, target in (([t.split() for t in TEXTS], [t.split() for t in TRUE_TEXTS]), (padded, TRUE_TOKENS),
                               (scores, TRUE_TOKENS)):  # fmt: skip
            assert METRICS[name]()(output, target) == pytest.approx(expected)
    assert M.WordErrorRate(padding=0)(np.array([[1, 2, 0, 0]]), np.array([[1, 2, 3, 0]])) == pytest.approx(1 / 3)


# -- signals


def test_signals_by_their_formulas():
    offset = NOISY + 3
    ratios = []
    for x, y in zip(offset, CLEAN, strict=True):
        x, y = x - x.mean(), y - y.mean()
        fit = (x @ y) / (y @ y) * y
        ratios.append(10 * np.log10((fit @ fit) / ((x - fit) @ (x - fit))))
    assert M.SignalToNoise()(offset, CLEAN) == pytest.approx(np.mean(ratios))
    assert M.SignalToNoise()(5 * offset, CLEAN) == pytest.approx(np.mean(ratios))
    assert M.SignalToNoise(scale_invariant=False)(1.1 * CLEAN, CLEAN) == pytest.approx(20)
    assert M.PSNR(peak=255)(np.full((2, 3, 4), 10.0), np.zeros((2, 3, 4))) == pytest.approx(20 * np.log10(25.5))


@pytest.mark.parametrize("peak", [1.0, 255.0])
def test_ssim_in_windows_of_scipy(peak):
    """The formula of Wang et al. (2004), with SciPy's Gaussian filter cut where windows leave the image."""
    x, y = BLURRED * peak, IMAGES * peak

    def blurred(v):
        return scipy.ndimage.gaussian_filter(v, (0, 0, 1.5, 1.5), truncate=3.5)[:, :, 5:-5, 5:-5]

    mx, my = blurred(x), blurred(y)
    vx, vy, vxy = blurred(x * x) - mx**2, blurred(y * y) - my**2, blurred(x * y) - mx * my
    a, b = (0.01 * peak) ** 2, (0.03 * peak) ** 2
    expected = np.mean((2 * mx * my + a) * (2 * vxy + b) / ((mx**2 + my**2 + a) * (vx + vy + b)))
    assert M.SSIM(peak=peak)(x, y) == pytest.approx(expected)
    last = [np.moveaxis(v, 1, -1) for v in (x, y)]
    assert M.SSIM(peak=peak, data_format="channels_last")(*last) == pytest.approx(expected)
    assert M.SSIM()(IMAGES, IMAGES) == pytest.approx(1)


# -- what does not fit, names, registry


@pytest.mark.parametrize(("entry", "output", "target", "sentence"), [
    (M.Accuracy(), SCORES, CLASSES[:5], r"Accuracy wants scores \(..., classes\) .* received \(24, 4\) and \(5,\)"),
    (M.Precision(), SCORES, CLASSES + 2, "targets have classes from 2 to 5, outputs have room for 4"),
    (M.Recall(), SCORES, CLASSES + 0.5, "class numbers as targets, received numbers that are not whole"),
    (M.F1(multilabel=True), YES, IS, r"F1\(multilabel=True\) wants scores and targets \(..., labels\)"),
    (M.TopKAccuracy(), SCORES, SCORES, r"TopKAccuracy wants scores"),
    (M.ROCAUC(), SCORES, CLASSES[:3], "ROCAUC wants scores"),
    (M.LogLoss(), SCORES, CLASSES[:3], "LogLoss wants"),
    (M.Perplexity(), SCORES, CLASSES[:3], "Perplexity wants"),
    (M.MeanSquaredError(), YES, YES[:, None], r"one shape, received \(24,\) and \(24, 1\)"),
    (M.R2(), YES, YES[:, None], "R2 wants output and target of one shape"),
    (M.MeanIoU(), PIXELS, MASKS, r"axis=1 is for channels first"),
    (M.MeanAveragePrecision(), BOXES[..., :5], OBJECTS, r"detections \(N, boxes, 6\)"),
    (M.PCK(), POINTS, POINTS[:, :5], r"keypoints \(N, points, 2\)"),
    (M.PCK(pair=(0, 40)), POINTS, POINTS, "names a keypoint that does not exist: there are 17"),
    (M.ObjectKeypointSimilarity(), POINTS[:, :5], POINTS[:, :5], "17 sigmas, received 5 keypoints"),
    (M.BLEU(), ["a", "b"], ["a"], "as many texts as targets, in two lists, received 2 and 1"),
    (M.BLEU(), "ab", "ab", "in two lists"),
    (M.WordErrorRate(), REAL, TRUE, "whole numbers"),
    (M.SignalToNoise(), YES, YES, r"signals \(N, ..., samples\)"),
    (M.SSIM(), IMAGES[:, 0], IMAGES[:, 0], "SSIM wants 4 axes"),
    (M.SSIM(), IMAGES[..., :5], IMAGES[..., :5], r"images of at least that size, received \(13, 5\)"),
])  # fmt: skip
def test_what_does_not_fit(entry, output, target, sentence):
    with pytest.raises(ModelError, match=sentence):
        entry.update(output, target)
    assert not entry.started


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: M.TopKAccuracy(k=0), "TopKAccuracy: k wants an integer at least 1, received 0"),
    (lambda: M.Precision(average="mean"), 'Precision: average wants "micro", .*, received \'mean\''),
    (lambda: M.MeanAveragePrecision(iou_thresholds=(1.5,)), "MeanAveragePrecision: iou_thresholds wants"),
])  # fmt: skip
def test_settings_are_checked(make, sentence):
    with pytest.raises(ConfigError, match=sentence):
        make()


def test_names():
    assert [spelled(cls) for cls in (M.TopKAccuracy, M.ROCAUC, M.MeanIoU, M.F1, M.RougeL)] == [
        "top_k_accuracy", "roc_auc", "mean_iou", "f1", "rouge_l"]  # fmt: skip
    found = objectives.metrics(["accuracy", M.TopKAccuracy(k=2), M.TopKAccuracy(k=3), np.mean])
    assert list(found) == ["accuracy", "top_k_accuracy", "top_k_accuracy_2", "mean"]
    assert found["top_k_accuracy_2"] == M.TopKAccuracy(k=3)
    with pytest.raises(ConfigError, match=r"metrics wants any of accuracy, .* received 'best'"):
        objectives.metrics(["best"])
    with pytest.raises(ConfigError, match="ConfusionMatrix gives several numbers, a curve wants one"):
        objectives.metrics(["confusion_matrix"])
    with pytest.raises(ModelError, match="F1 merges with its like, received Recall"):
        M.F1().merge(M.Recall())


def test_a_metric_of_ones_own():
    @metric
    class Largest(Metric):
        """The largest output."""

        scale: float = 1.0
        join = staticmethod(lambda a, b: (max(a[0], b[0]),))

        def statistics(self, output, target):
            return (float(np.max(output)),)

        def value(self, largest):
            return self.scale * largest

    try:
        (entry,) = objectives.metrics(["largest"]).values()
        for start in range(0, N, 7):
            entry.update(YES[start : start + 7], None)
        assert entry.compute() == YES.max()
        assert Largest(scale=2.0)(YES, None) == 2 * YES.max()
    finally:
        METRICS.pop("largest")


def test_metrics_load_no_framework():
    heavy = ("torch", "tensorflow", "paddle", "mindspore", "sklearn", "scipy")
    code = f"import sys, labdl.train.metrics; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_no_warning_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in METRICS:
            for entry in made(name):
                entry(*INPUTS[name])
