"""Metrics of masks, boxes, keypoints, texts and signals, compared with scikit-learn, COCO or values by hand."""

import numpy as np
import pytest
import scipy.ndimage
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_inputs import (
    BLURRED,
    BOXES,
    CLEAN,
    IMAGES,
    MASKS,
    NOISY,
    OBJECTS,
    PIXELS,
    POINTS,
    SEEN,
    TEXTS,
    TOKENS,
    TRUE_TEXTS,
    TRUE_TOKENS,
    N,
    rng,
)

from labdl.train import metrics as M
from labdl.train.metrics import METRICS
from labdl.train.metrics.text import edit_distance
from labdl.train.metrics.text_overlap import common_length

pytestmark = pytest.mark.slow

# -- masks, boxes, keypoints


def test_masks_match_scikit_learn_on_pixels():
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
    """Average precisions and recalls by the rules of the COCO challenge, detection by detection."""
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
def test_boxes_match_coco(levels, limit):
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
    assert M.NormalizedMeanError()(guess, true) == pytest.approx(8 / 3 / 20)
    assert M.NormalizedMeanError(pair=(0, 1))(guess, true) == pytest.approx(8 / 3 / 10)
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
    assert M.EditDistance(normalized=True)(["kitten", "same"], ["sitting", "same"]) == pytest.approx(3 / 7 / 2)
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
def test_edit_distance_matches_recursion(a, b):
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


def test_forms_of_text():
    """Strings, lists of tokens, padded integers and class scores are equivalent."""
    padded = np.pad(TOKENS, ((0, 0), (0, 3)), constant_values=-1)
    scores = np.eye(4)[TOKENS] + 0.1 * rng.normal(size=(N, 9, 4))
    for name in ("bleu", "rouge_l", "word_error_rate", "exact_match"):
        expected = METRICS[name]()(TEXTS, TRUE_TEXTS)
        for output, target in (
            ([t.split() for t in TEXTS], [t.split() for t in TRUE_TEXTS]),
            (padded, TRUE_TOKENS),
            (scores, TRUE_TOKENS),
        ):
            assert METRICS[name]()(output, target) == pytest.approx(expected)
    assert M.WordErrorRate(padding=0)(np.array([[1, 2, 0, 0]]), np.array([[1, 2, 3, 0]])) == pytest.approx(1 / 3)


# -- signals


def test_signals_match_their_formulas():
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
def test_ssim_matches_scipy(peak):
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
