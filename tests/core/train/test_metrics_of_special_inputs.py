"""Metrics of NaN, of no samples, of one class and of absent classes: no good score by accident, and any split is the whole."""

import numpy as np
import pytest
from metric_inputs import BOXES, INPUTS, IS, LABEL_SCORES, LABELS, OBJECTS, YES, made, numbers_in

from labdl.errors import ModelError
from labdl.train.metrics import METRICS

FLOAT = [
    (name, metric)
    for name, (output, _) in INPUTS.items()
    if name in METRICS and getattr(output, "dtype", None) is not None and output.dtype.kind == "f"
    for metric in made(name)
]
FLOAT += [(f"{name} of two classes", METRICS[name]()) for name in METRICS if METRICS[name].task == "classification"]
FLOAT += [
    (f"{name} of labels", METRICS[name](multilabel=True)) for name in METRICS if hasattr(METRICS[name], "multilabel")
]
IDS = [f"{name}-{i}" for i, (name, _) in enumerate(FLOAT)]

# shares of samples, pixels or classes that are right; the best five of two classes are refused
SHARES = [
    (name, metric)
    for name, metric in FLOAT
    if name.partition(" ")[0] in ("accuracy", "top_k_accuracy", "hamming_loss", "pixel_accuracy", "recall", "mean_iou")
    and name != "top_k_accuracy of two classes"
]


def inputs_of(name):
    if name.endswith("labels"):
        return LABEL_SCORES, LABELS
    return (YES, IS) if name.endswith("two classes") else INPUTS[name]


def value_of(metric, output, target):
    """The numbers of a metric; NaN where it refuses the inputs with a sentence."""
    try:
        with np.errstate(all="ignore"):
            return numbers_in(metric(output, target)).astype("float64")
    except ModelError:
        return np.array([np.nan])


@pytest.mark.parametrize(("name", "metric"), FLOAT, ids=IDS)
def test_nan_is_no_good_score(name, metric):
    output, target = inputs_of(name)
    values = value_of(metric, np.full_like(output, np.nan), target)
    if metric.higher_is_better is None:
        assert not np.nansum(values[np.isfinite(values)]) or values.size > 1
    elif metric.higher_is_better:
        assert not (values > 0).any(), values
    else:
        assert not (values < 1).any(), values


@pytest.mark.parametrize(("name", "metric"), SHARES)
def test_samples_of_nan_do_not_improve_a_score(name, metric):
    """Those that were right before are wrong with NaN."""
    output, target = inputs_of(name)
    output = output.copy()
    before = value_of(metric, output, target)
    assert not np.isnan(before).any()
    output[::3] = np.nan
    after = value_of(metric, output, target)
    assert (after >= before).all() if metric.higher_is_better is False else (after <= before).all()
    output[1::3, ...] = -np.inf if output.ndim == 1 else output[1::3]  # infinite scores have an order
    assert np.isfinite(value_of(metric, output, target)).all()


@pytest.mark.parametrize(("name", "metric"), FLOAT, ids=IDS)
def test_no_samples_are_no_good_score(name, metric):
    output, target = inputs_of(name)
    values = value_of(metric, output[:0], target[:0])
    if metric.higher_is_better is not None:
        assert (np.isnan(values) | (values == 0)).all(), values


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(("name", "metric"), FLOAT, ids=IDS)
@pytest.mark.filterwarnings("ignore")
def test_split_with_nan_an_empty_batch_and_single_samples_gives_the_whole(name, metric):
    output, target = inputs_of(name)
    output = output.copy()
    output[5] = np.nan

    def compute_in_parts():
        split = metric.fresh()
        for part in (slice(0, 1), slice(1, 1), slice(1, 6), slice(6, 7), slice(7, None)):
            split.update(output[part], target[part])
        return split.compute()

    try:
        whole = metric(output, target)
    except ModelError:  # those that refuse NaN
        with pytest.raises(ModelError):
            compute_in_parts()
    else:
        np.testing.assert_allclose(numbers_in(compute_in_parts()), numbers_in(whole), rtol=1e-9, atol=1e-12)


def test_scores_of_nan_of_boxes_are_no_detections():
    for name in ("mean_average_precision", "box_recall"):
        boxes = BOXES.copy()
        boxes[..., 4] = np.nan
        assert METRICS[name]()(boxes, OBJECTS) == 0
        half = BOXES.copy()
        half[::2, :, 4] = np.nan
        none = half.copy()
        none[::2, :, 5] = -1
        none[::2, :, 4] = 0
        assert METRICS[name]()(half, OBJECTS) == METRICS[name]()(none, OBJECTS)


@pytest.mark.parametrize("name", ["accuracy", "precision", "recall", "f1", "mean_iou", "balanced_accuracy"])
def test_one_class_and_absent_classes(name):
    metric = METRICS[name]()
    scores = np.eye(4)[np.zeros(6, int)]
    assert metric(scores, np.zeros(6, int)) == 1
    assert metric(scores, np.ones(6, int)) == 0


def test_correlation_of_ranks_is_nan_where_one_is_missing():
    output, target = INPUTS["spearman_correlation"]
    output = output.copy()
    output[3, 0] = np.nan
    assert np.isnan(METRICS["spearman_correlation"](average="none")(output, target)).tolist() == [True, False]


@pytest.mark.parametrize(
    "name", [name for name in INPUTS if name in METRICS and METRICS[name].task == "classification"]
)
@pytest.mark.parametrize("wrong", [99, -7, np.nan, 0.5, "cat"])
def test_targets_that_are_no_class(name, wrong):
    output, target = INPUTS[name]
    if name == "ndcg" or not isinstance(target, np.ndarray) or target.dtype.kind != "i":
        return
    bad = np.full(target.shape, wrong) if isinstance(wrong, str) else target.astype(type(wrong))
    bad.reshape(-1)[0] = wrong
    with pytest.raises(ModelError, match=r"class numbers as targets|targets have classes from"):
        METRICS[name]()(output, bad)
