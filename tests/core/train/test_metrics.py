"""All metrics: exact over any split into batches, errors, settings and names."""

import copy
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_inputs import (
    BOXES,
    CLASSES,
    IMAGES,
    INPUTS,
    IS,
    MASKS,
    OBJECTS,
    PANOPTIC,
    PIXELS,
    POINTS,
    REAL,
    SCORES,
    TOKENS,
    TRUE,
    TRUE_PANOPTIC,
    TRUE_TOKENS,
    VARIANTS,
    YES,
    N,
    made,
    numbers_in,
)

from labdl.errors import ConfigError, ModelError
from labdl.train import losses
from labdl.train import metrics as M
from labdl.train.metrics import METRICS, Metric, metric
from labdl.train.metrics.metric import snake_case

pytestmark = pytest.mark.slow


def test_every_metric_has_a_case():
    assert set(INPUTS) == set(METRICS)
    assert set(VARIANTS) <= set(METRICS)
    assert all(cls.__doc__.partition("\n")[0].endswith((".", ":", ")")) for cls in METRICS.values())


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_value_does_not_depend_on_the_batches(name, data):
    output, target = INPUTS[name]
    cuts = sorted(data.draw(st.sets(st.integers(1, N - 1), max_size=N - 1)))
    ends = list(zip([0, *cuts], [*cuts, N], strict=True))
    for entry in made(name):
        whole = entry(output, target)
        assert not entry.has_data, "a call does not accumulate"
        for start, end in ends:
            entry.update(output[start:end], target[start:end])
        np.testing.assert_allclose(numbers_in(entry.compute()), numbers_in(whole), rtol=1e-9, atol=1e-12)
        parts = [entry.fresh() for _ in ends]
        for part, (start, end) in zip(parts, ends, strict=True):
            part.update(output[start:end], target[start:end])
        total = entry.fresh()
        for part in parts:
            before = copy.deepcopy(part.compute())
            total.merge(part)
            np.testing.assert_array_equal(numbers_in(part.compute()), numbers_in(before))
        np.testing.assert_allclose(numbers_in(total.compute()), numbers_in(whole), rtol=1e-9, atol=1e-12)
        entry.reset()
        with pytest.raises(ModelError, match=f"{type(entry).__name__} has seen no batch"):
            entry.compute()


@pytest.mark.parametrize("name", METRICS)
def test_scalar_says_whether_the_value_is_a_number(name):
    for entry in made(name):
        value = entry(*INPUTS[name])
        assert entry.scalar == isinstance(value, float), (entry, value)
        infinite = np.isinf(numbers_in(value)).sum()
        assert not np.isnan(numbers_in(value)).any()
        assert infinite == (4 if name == "roc_curve" else 0), "the first threshold of a ROC curve is above all scores"


# -- what does not fit, names, registry


@pytest.mark.parametrize(
    ("entry", "output", "target", "sentence"),
    [
        (M.Accuracy(), SCORES, CLASSES[:5], r"Accuracy wants scores \(..., classes\) .* received \(24, 4\) and \(5,\)"),
        (M.Precision(), SCORES, CLASSES + 2, "targets have classes from 2 to 5, outputs have room for 4"),
        (M.Recall(), SCORES, CLASSES + 0.5, "class numbers as targets, received numbers that are not integers"),
        (M.F1(multilabel=True), YES, IS, r"F1\(multilabel=True\) wants scores and targets \(..., labels\)"),
        (M.TopKAccuracy(), SCORES, SCORES, r"TopKAccuracy wants scores"),
        (M.ROCAUC(), SCORES, CLASSES[:3], "ROCAUC wants scores"),
        (M.LogLoss(), SCORES, CLASSES[:3], "LogLoss wants"),
        (M.Perplexity(), SCORES, CLASSES[:3], "Perplexity wants"),
        (M.MeanSquaredError(), YES, YES[:, None], r"the same shape, received \(24,\) and \(24, 1\)"),
        (M.R2(), YES, YES[:, None], "R2 wants output and target of the same shape"),
        (M.MeanIoU(), PIXELS, MASKS, r"axis=1 is for channels first"),
        (M.MeanAveragePrecision(), BOXES[..., :5], OBJECTS, r"detections \(N, boxes, 6\)"),
        (M.PCK(), POINTS, POINTS[:, :5], r"keypoints \(N, points, 2\)"),
        (M.PCK(pair=(0, 40)), POINTS, POINTS, "has a keypoint out of range: there are 17"),
        (M.ObjectKeypointSimilarity(), POINTS[:, :5], POINTS[:, :5], "17 sigmas, received 5 keypoints"),
        (M.BLEU(), ["a", "b"], ["a"], "as many texts as targets, in two lists, received 2 and 1"),
        (M.BLEU(), "ab", "ab", "in two lists"),
        (M.WordErrorRate(), REAL, TRUE, "wants integers"),
        (M.SignalToNoise(), YES, YES, r"signals \(N, ..., samples\)"),
        (M.CHRF(), ["a", "b"], ["a"], "as many texts as targets, in two lists, .* received 2 and 1"),
        (M.CHRF(), "ab", "ab", "in two lists"),
        (M.CHRF(), TOKENS, TRUE_TOKENS, "a target as a string or a list of strings"),
        (M.NDCG(), SCORES, SCORES[:, :3], r"NDCG wants scores \(N, items\) with relevances of the same shape"),
        (M.NDCG(), SCORES * np.nan, CLASSES, "NDCG wants scores to sort by, received NaN"),
        (M.MeanReciprocalRank(), YES, IS, r"MeanReciprocalRank wants scores \(N, items\)"),
        (M.ROCCurve(), SCORES, CLASSES[:3], "ROCCurve wants scores"),
        (M.ExpectedCalibrationError(), SCORES, CLASSES[:3], "ExpectedCalibrationError wants"),
        (M.ExpectedCalibrationError(), YES, IS + 1, "one output wants targets 0 and 1"),
        (M.ExpectedCalibrationError(from_logits=False), YES, IS, "wants probabilities from 0 to 1"),
        (M.PanopticQuality(), MASKS, MASKS, r"PanopticQuality wants integers \(N, ..., 2\)"),
        (M.PanopticQuality(), PANOPTIC[:3], TRUE_PANOPTIC[:2], "output and target of the same shape"),
        (M.PanopticQuality(ignore_index=7), PANOPTIC, TRUE_PANOPTIC, "wants classes from 0, or 7 for pixels"),
        (M.SSIM(), IMAGES[:, 0], IMAGES[:, 0], "SSIM wants 4 axes"),
        (M.NDCG(), SCORES, SCORES * np.nan, "NDCG wants relevances, received NaN"),
        (M.MeanReciprocalRank(), SCORES, SCORES * np.nan, "MeanReciprocalRank wants relevances, received NaN"),
        *(
            (cls(), output, target, f"{cls.__name__} wants scores to sort by, received NaN")
            for cls in (M.ROCAUC, M.AveragePrecision, M.ROCCurve, M.PrecisionRecallCurve)
            for output, target in ((SCORES * np.nan, CLASSES), (YES * np.nan, IS), (SCORES + np.inf, CLASSES))
        ),
        *(
            (cls(), SCORES + number, CLASSES, f"{cls.__name__} wants finite logits, received NaN or infinity")
            for cls in (M.ExpectedCalibrationError, M.MaximumCalibrationError)
            for number in (np.nan, np.inf)
        ),
        (M.ExpectedCalibrationError(), YES * np.nan, IS, "wants finite logits, received NaN or infinity"),
        (M.ROCAUC(), YES, IS + 6, "ROCAUC of scores with targets of the same shape wants targets 0 and 1, or -1 and 1"),
        (M.ROCCurve(), YES, -100 * IS, "ROCCurve of scores with targets of the same shape wants targets 0 and 1"),
        (M.SSIM(), IMAGES[..., :5], IMAGES[..., :5], r"images of at least that size, received \(13, 5\)"),
    ],
)
def test_invalid_inputs_raise(entry, output, target, sentence):
    with pytest.raises(ModelError, match=sentence):
        entry.update(output, target)
    assert not entry.has_data


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: M.TopKAccuracy(k=0), "TopKAccuracy: k wants an integer at least 1, received 0"),
        (lambda: M.Precision(average="mean"), "Precision: average wants \"micro\", .*, received 'mean'"),
        (lambda: M.MeanAveragePrecision(iou_thresholds=(1.5,)), "MeanAveragePrecision: iou_thresholds wants"),
    ],
)
def test_invalid_settings_raise(make, sentence):
    with pytest.raises(ConfigError, match=sentence):
        make()


def test_names():
    assert [snake_case(cls) for cls in (M.TopKAccuracy, M.ROCAUC, M.MeanIoU, M.F1, M.RougeL, M.CHRF, M.ROCCurve)] == [
        "top_k_accuracy",
        "roc_auc",
        "mean_iou",
        "f1",
        "rouge_l",
        "chrf",
        "roc_curve",
    ]
    short = losses.metrics(["mrr", "ece", "mce", "pq", "auc"])
    assert list(short)[:3] == ["mean_reciprocal_rank", "expected_calibration_error", "maximum_calibration_error"]
    assert list(short)[3:] == ["panoptic_quality", "roc_auc"]
    found = losses.metrics(["accuracy", M.TopKAccuracy(k=2), M.TopKAccuracy(k=3), np.mean])
    assert list(found) == ["accuracy", "top_k_accuracy", "top_k_accuracy_2", "mean"]
    assert found["top_k_accuracy_2"] == M.TopKAccuracy(k=3)
    with pytest.raises(ConfigError, match=r"metrics wants any of accuracy, .* received 'best'"):
        losses.metrics(["best"])
    with pytest.raises(ConfigError, match="ConfusionMatrix gives several numbers, a curve wants one"):
        losses.metrics(["confusion_matrix"])
    with pytest.raises(ModelError, match="F1 merges with metrics of the same class, received Recall"):
        M.F1().merge(M.Recall())


def test_custom_metric():
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
        (entry,) = losses.metrics(["largest"]).values()
        for start in range(0, N, 7):
            entry.update(YES[start : start + 7], None)
        assert entry.compute() == YES.max()
        assert Largest(scale=2.0)(YES, None) == 2 * YES.max()
    finally:
        METRICS.pop("largest")


@pytest.mark.sample(False)
def test_metrics_import_no_framework():
    heavy = ("torch", "tensorflow", "paddle", "mindspore", "sklearn", "scipy")
    code = f"import sys, labdl.train.metrics; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_metrics_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in METRICS:
            for entry in made(name):
                entry(*INPUTS[name])


BY_CLASS = [name for name, (_, target) in INPUTS.items() if target is CLASSES and name != "accuracy"]


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("number", [4, 7, -1, -100, 1.5, np.nan])
@pytest.mark.parametrize("name", [*BY_CLASS, "ndcg"])
def test_class_numbers_out_of_range_raise(name, number):
    """Accuracy counts them as wrong, in one comparison at each step of a training; Perplexity leaves its ignore_index out."""
    target = np.where(np.arange(N) == 5, number, CLASSES)
    target = target if number != number or number % 1 else target.astype("int64")
    if (name, number) == ("perplexity", -100):
        assert METRICS[name]()(SCORES, target) > 0
        return
    with pytest.raises(ModelError, match=r"targets have classes from|received numbers that are not integers"):
        METRICS[name]().update(SCORES, target)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint16", "int16", "int64", "uint64", "float16", "float32"])
@pytest.mark.parametrize("cls", [M.ROCAUC, M.AveragePrecision, M.ROCCurve, M.PrecisionRecallCurve])
def test_scores_of_any_dtype(cls, dtype):
    scores = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 5, 30)
    scores = scores - 130 + 2 if dtype == "int8" else scores
    target = np.random.default_rng(1).integers(0, 2, 30)
    value, expected = (cls()(s, target) for s in (scores.astype(dtype), scores.astype("float64")))
    np.testing.assert_allclose(numbers_in(value), numbers_in(expected))


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_keeps_no_view_of_its_inputs(name):
    """Loaders and loops reuse their buffers."""
    output, target = INPUTS[name]
    if isinstance(output, list):
        return
    for dtype in ("float64", "float32"):
        for entry in made(name):
            output, target = (a.astype(dtype) if a.dtype.kind == "f" else a for a in INPUTS[name])
            expected = entry(output, target)
            ours = [a.copy() for a in (output, target)]
            entry.update(*ours)
            for a in ours:
                a[...] = a[::-1].copy()
            np.testing.assert_allclose(numbers_in(entry.compute()), numbers_in(expected), rtol=1e-6)


EMPTY = {
    "of no images": (M.PanopticQuality(), np.zeros((0, 2, 2, 2), int), 0.0),
    "of no pixels": (M.PanopticQuality(), np.zeros((2, 0, 2, 2), int), 0.0),
    "of no items": (M.NDCG(), np.zeros((2, 0)), 0.0),
    "of no queries": (M.NDCG(), np.zeros((0, 3)), np.nan),
    "of neither": (M.NDCG(), np.zeros((0, 0)), np.nan),
    "rank of no items": (M.MeanReciprocalRank(), np.zeros((2, 0)), 0.0),
    "rank of no queries": (M.MeanReciprocalRank(), np.zeros((0, 3)), np.nan),
    "area of no labels": (M.ROCAUC(), np.zeros((2, 0)), 0.0),
    "area of no samples": (M.ROCAUC(), np.zeros((0, 3)), 0.0),
}


@pytest.mark.parametrize("case", EMPTY)
def test_empty_inputs_have_a_value(case):
    entry, empty, expected = EMPTY[case]
    np.testing.assert_equal(entry(empty, empty), expected)
