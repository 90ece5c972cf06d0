"""Validation monitor: fixed samples, confusion and the samples of highest loss, from arrays; no framework is needed."""

import base64
import string

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import nn
from labdl.data import ArrayDataset
from labdl.runs.array_preview import class_map, curve
from labdl.train import Trainer
from labdl.train.data_adapter import as_dataset
from labdl.train.events import Confusion, Predictions, Samples, Worst, to_record
from labdl.train.monitor import validation
from labdl.train.monitor.predictions import infer_task
from labdl.train.monitor.sample_preview import preview, vocabulary
from labdl.train.monitor.validation import BYTES, ValidationMonitor

RNG = np.random.default_rng(0)


def context(loss="cross_entropy"):
    return Trainer(nn.Linear(2), loss).context


def monitor_validation(x, y, outputs, loss="cross_entropy", batch=7, train=None, **options):
    """The events of one validation by class."""
    data = ArrayDataset(x, y, **options) if isinstance(x, np.ndarray) else as_dataset((x, y))
    monitor = ValidationMonitor(context(loss), data if train is None else train, data, 0.01)
    monitor.reset()
    for at in range(0, len(y), batch):
        part = data[np.arange(at, min(at + batch, len(y)))]
        monitor.update(*part, outputs[at : at + batch], at)
    events = list(monitor.take_events(3, 30))
    for event in events:
        assert len(orjson.dumps(to_record(event))) < 64 * 1024
    return {type(e): e for e in events}


def softmax(values):
    e = np.exp(values - values.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# -- classes


LOGITS = RNG.normal(size=(50, 4)).astype("float32") * 3
CLASSES = RNG.integers(0, 4, 50)
IMAGES = RNG.random((50, 1, 8, 8), "float32")


def test_fixed_samples_with_targets_and_most_probable_classes():
    found = monitor_validation(IMAGES, CLASSES, LOGITS, classes=["a", "b", "c", "d"])
    assert list(found) == [Samples, Predictions, Confusion, Worst]
    samples = found[Samples]
    assert (samples.task, samples.classes) == ("classification", ("a", "b", "c", "d"))
    assert [s["index"] for s in samples.samples] == [0, 7, 14, 21, 28, 35, 42, 49]
    for s, output in zip(samples.samples, found[Predictions].outputs, strict=True):
        i = s["index"]
        assert s["target"] == {"class": CLASSES[i]}
        assert s["input"]["shape"] == [1, 8, 8]
        pixels = np.frombuffer(base64.b64decode(s["input"]["picture"]["data"]), np.uint8)
        assert np.abs(pixels / 255 - (IMAGES[i] - IMAGES[i].min()).ravel() / np.ptp(IMAGES[i])).max() < 0.01
        assert output["classes"] == np.argsort(-LOGITS[i]).tolist()
        assert output["scores"] == pytest.approx(np.sort(softmax(LOGITS[i]))[::-1], rel=1e-4)


@pytest.mark.parametrize("part", [100, 2**24])
@pytest.mark.parametrize("batch", [1, 7, 50, 64])
def test_confusion_and_worst_samples_do_not_depend_on_the_batch_size(batch, part, monkeypatch):
    monkeypatch.setattr(validation, "PART", part)  # bytes of outputs, 16 a sample
    found = monitor_validation(IMAGES, CLASSES, LOGITS, batch=batch)
    table = np.zeros((4, 4), int)
    np.add.at(table, (CLASSES, LOGITS.argmax(-1)), 1)
    assert found[Confusion].counts == tuple(map(tuple, table.tolist()))
    losses = -np.log(softmax(LOGITS.astype("float64"))[np.arange(50), CLASSES])
    worst = np.argsort(-losses)[:8]
    assert [s["index"] for s in found[Worst].samples] == worst.tolist()
    assert [s["loss"] for s in found[Worst].samples] == pytest.approx(losses[worst], rel=1e-5)
    assert [s["target"]["class"] for s in found[Worst].samples] == CLASSES[worst].tolist()
    assert (found[Worst].epoch, found[Worst].step) == (3, 30)


def test_scores_are_interpreted_as_by_the_loss():
    """A softmax before cross entropy is a mistake that must stay visible; a custom loss may take probabilities."""
    probabilities = softmax(LOGITS)
    expected = -np.log(probabilities[np.arange(50), CLASSES].astype("float64"))
    doubled = -np.log(softmax(probabilities)[np.arange(50), CLASSES].astype("float64"))
    for loss, output, losses in [
        ("cross_entropy", LOGITS, expected),
        ("cross_entropy", probabilities, doubled),
        ("nll", np.log(probabilities), expected),
        (lambda output, target: output, probabilities, expected),
        (lambda output, target: output, LOGITS, expected),
    ]:
        predictions = infer_task(context(loss), output, CLASSES).read(output, CLASSES)
        assert predictions.losses == pytest.approx(losses, rel=1e-3)


def test_losses_of_huge_logits_are_exact():
    output = np.array([[1e4, 0], [0, 1e4], [-1e30, 1e30]], "float32")
    predictions = infer_task(context(), output, np.zeros(3, int)).read(output, np.zeros(3, int))
    assert predictions.losses == pytest.approx([0, 1e4, 2e30])
    predictions = infer_task(context("binary_cross_entropy"), output[:, :1], np.ones((3, 1))).read(
        output[:, :1], np.zeros((3, 1))
    )
    assert predictions.losses == pytest.approx([1e4, np.log(2), 0])


def test_probabilities_as_targets():
    rows = np.eye(4, dtype="float32")[CLASSES]
    found = monitor_validation(IMAGES, rows, LOGITS)
    assert found[Samples].samples[0]["target"] == {"class": CLASSES[0]}
    assert found[Confusion].counts == monitor_validation(IMAGES, CLASSES, LOGITS)[Confusion].counts
    assert found[Worst].samples[0]["loss"] == monitor_validation(IMAGES, CLASSES, LOGITS)[Worst].samples[0]["loss"]


def test_ignored_targets_are_not_counted():
    some = np.where(np.arange(50) % 2, CLASSES, -100)
    found = monitor_validation(IMAGES, some, LOGITS)
    assert np.sum(found[Confusion].counts) == 25
    assert all(s["index"] % 2 for s in found[Worst].samples)


@pytest.mark.parametrize("shape", [(50,), (50, 1)])
@pytest.mark.parametrize("kind", ["int64", "float32"])
def test_binary_classification_with_logits(shape, kind):
    score, there = LOGITS[:, 0].reshape(shape), (CLASSES > 1).astype(kind).reshape(shape)
    found = monitor_validation(
        RNG.normal(size=(50, 6)).astype("float32"), there, score, "binary_cross_entropy", classes=["no", "yes"]
    )
    assert found[Samples].classes == ("no", "yes")
    assert found[Samples].samples[0]["target"] == {"class": int(CLASSES[0] > 1)}
    best = found[Predictions].outputs[0]
    p = 1 / (1 + np.exp(-LOGITS[0, 0]))
    assert best["scores"] == pytest.approx(sorted([p, 1 - p], reverse=True), rel=1e-4)
    table = np.zeros((2, 2), int)
    np.add.at(table, ((CLASSES > 1).astype(int), (LOGITS[:, 0] > 0).astype(int)), 1)
    assert found[Confusion].counts == tuple(map(tuple, table.tolist()))
    losses = np.logaddexp(0, -LOGITS[:, 0] * np.where(CLASSES > 1, 1, -1))
    assert found[Worst].samples[0]["loss"] == pytest.approx(losses.max(), rel=1e-5)


def test_binary_classification_with_probabilities():
    share = (1 / (1 + np.exp(-LOGITS[:, :1]))).astype("float32")
    loss = nn.BinaryCrossEntropyLoss(from_logits=False)
    found = monitor_validation(IMAGES, (CLASSES[:, None] > 1).astype("float32"), share, loss)
    assert sorted(found[Predictions].outputs[0]["scores"]) == pytest.approx(
        sorted([share[0, 0], 1 - share[0, 0]]), rel=1e-4
    )
    losses = np.logaddexp(0, -LOGITS[:, 0] * np.where(CLASSES > 1, 1, -1))
    assert found[Worst].samples[0]["loss"] == pytest.approx(losses.max(), rel=1e-3)


def test_multilabel_outputs_have_no_confusion():
    found = monitor_validation(IMAGES, (LOGITS > 1).astype("float32"), LOGITS, "binary_cross_entropy")
    assert found[Samples].task == "other"
    assert Confusion not in found
    assert Worst in found
    assert found[Predictions].outputs[0]["values"] == pytest.approx(1 / (1 + np.exp(-LOGITS[0])), rel=1e-4)


def test_segmentation_is_previewed_as_a_map():
    output, target = RNG.normal(size=(20, 10, 12, 3)).astype("float32"), RNG.integers(0, 3, (20, 10, 12))
    found = monitor_validation(RNG.random((20, 3, 10, 12), "float32"), target, output, classes=["sky", "road", "car"])
    picture = found[Samples].samples[0]["target"]["picture"]
    assert (picture["width"], picture["height"], picture["high"]) == (12, 10, 2.0)
    pixels = np.frombuffer(base64.b64decode(picture["data"]), np.uint8).reshape(10, 12)
    assert np.array_equal(np.round(pixels / 127.5), target[0])
    drawn = found[Predictions].outputs[0]["picture"]["data"]
    assert np.array_equal(
        np.round(np.frombuffer(base64.b64decode(drawn), np.uint8) / 127.5), output[0].argmax(-1).ravel()
    )
    assert np.sum(found[Confusion].counts) == target.size
    assert len(found[Worst].samples) == 8


def test_binary_masks():
    output, target = RNG.random((20, 1, 10, 12), "float32"), (RNG.random((20, 1, 10, 12)) > 0.5).astype("float32")
    found = monitor_validation(RNG.random((20, 3, 10, 12), "float32"), target, output, "dice")
    assert np.sum(found[Confusion].counts) == target.size
    assert found[Confusion].counts[1][1] == ((output > 0.5) & (target > 0.5)).sum()
    assert Worst not in found, "the Dice loss has no loss per sample"
    assert found[Predictions].outputs[0]["picture"]["width"] == 12


def test_many_classes_give_the_most_frequent_mistakes():
    true = np.arange(600) % 150
    chosen = np.where(true == 7, 8, np.where((true == 9) & (np.arange(600) > 300), 3, true))
    output = np.eye(150, dtype="float32")[chosen] * 9
    found = monitor_validation(RNG.normal(size=(600, 4)).astype("float32"), true, output, batch=128)
    assert found[Confusion].counts is None
    assert found[Confusion].pairs == ((7, 8, 4), (9, 3, 2))
    assert to_record(found[Confusion]) == {"epoch": 3, "step": 30, "pairs": [[7, 8, 4], [9, 3, 2]]}


def test_class_names_fall_back_to_the_training_data():
    train = ArrayDataset(IMAGES, CLASSES, classes=["a", "b", "c", "d"])
    assert monitor_validation(IMAGES, CLASSES, LOGITS, train=train)[Samples].classes == ("a", "b", "c", "d")
    assert monitor_validation(IMAGES, CLASSES, LOGITS, classes=["a", "b"])[Samples].classes is None, "too few"
    assert monitor_validation(IMAGES, CLASSES, LOGITS)[Samples].classes is None
    assert monitor_validation(IMAGES, CLASSES, LOGITS, classes=4)[Samples].classes is None, "a number of classes"


# -- regression and other tasks


def test_regression_ranks_by_squared_error():
    x, y = RNG.normal(size=(30, 100)).astype("float32"), RNG.normal(size=(30, 2)).astype("float32")
    output = y + RNG.normal(size=(30, 2)).astype("float32")
    for loss in ("mean_squared_error", "huber", lambda output, target: output):
        found = monitor_validation(x, y, output, loss)
        assert found[Samples].task == "regression"
        assert found[Samples].samples[0]["target"]["values"] == pytest.approx(y[0], rel=1e-4)
        assert found[Predictions].outputs[0]["values"] == pytest.approx(output[0], rel=1e-4)
        assert Confusion not in found
        losses = np.square(output - y).mean(1)
        assert found[Worst].samples[0]["index"] == losses.argmax()
        assert found[Worst].samples[0]["loss"] == pytest.approx(losses.max(), rel=1e-4)
        assert len(found[Samples].samples[0]["input"]["curve"][0]) == 100


def test_nan_output_ranks_as_worst():
    y = np.zeros((30, 2), "float32")
    output = y.copy()
    output[11] = np.nan
    found = monitor_validation(y, y, output, "mean_squared_error")
    assert found[Worst].samples[0]["index"] == 11
    assert orjson.loads(orjson.dumps(to_record(found[Worst])))["samples"][0]["loss"] is None


def test_several_outputs_give_no_events_and_several_inputs_preview_the_first():
    monitor = ValidationMonitor(context(), None, ArrayDataset(IMAGES, CLASSES), 0.01)
    monitor.reset()
    monitor.update(IMAGES, CLASSES, (LOGITS, LOGITS), 0)
    assert list(monitor.take_events(1, 1)) == []
    found = monitor_validation({"image": IMAGES, "age": CLASSES}, CLASSES, LOGITS)
    assert found[Samples].samples[0]["input"]["picture"]["width"] == 8
    assert found[Worst].samples[0]["input"]["picture"]["width"] == 8


def test_other_losses_give_samples_and_predictions_only():
    found = monitor_validation(IMAGES, LOGITS, LOGITS, "cosine_similarity")
    assert list(found) == [Samples, Predictions]
    assert found[Samples].task == "other"


def test_error_is_logged_once_and_disables_the_monitor(caplog):
    monitor = ValidationMonitor(context(), None, ArrayDataset(IMAGES, CLASSES), 0.01)
    monitor.reset()
    monitor.update(IMAGES[:7], CLASSES[:7], LOGITS[:7], 0)
    monitor.update(IMAGES[7:], CLASSES[7:], LOGITS[:3], 7)
    monitor.update(IMAGES[7:], CLASSES[7:], LOGITS[:3], 7)
    assert list(monitor.take_events(1, 1)) == []
    assert len(caplog.records) == 1
    assert caplog.records[0].getMessage().startswith("monitoring of validation predictions is disabled: ")
    assert not monitor.due(100, 100, 1e9)


# -- frequency


def monitored_epochs(epochs, seconds, cost, share=0.01):
    monitor, found, trained = ValidationMonitor(context(), None, ArrayDataset(IMAGES, CLASSES), share), [], 0.0
    for epoch in range(1, epochs + 1):
        trained += seconds
        if monitor.due(epoch, epochs, trained):
            found.append(epoch)
            monitor.count, monitor.cost, monitor.spent = monitor.count + 1, cost, monitor.spent + cost
            trained += cost
    return found, monitor.spent / trained


def test_every_epoch_of_a_short_training_and_about_a_hundred_of_a_long_one():
    assert monitored_epochs(60, 1.0, 0.001)[0] == list(range(1, 61))
    found, _ = monitored_epochs(10_000, 1.0, 0.001)
    assert found[0] == 1
    assert found[-1] == 10_000
    assert 95 <= len(found) <= 105


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 500), st.floats(0.01, 100), st.floats(1e-4, 10))
def test_first_and_last_epoch_and_others_within_the_share(epochs, seconds, cost):
    found, share = monitored_epochs(epochs, seconds, cost)
    assert found[0] == 1
    assert found[-1] == epochs
    trained = epochs * seconds + len(found) * cost
    assert share * trained <= max(validation.FREE, 0.01 * trained) + 2 * cost + 1e-9
    assert monitored_epochs(epochs, seconds, cost, share=0.0)[0] == []


def test_monitored_epochs_become_rarer_with_their_number():
    monitor = ValidationMonitor(context(), None, ArrayDataset(IMAGES, CLASSES), 0.01)
    monitor.count = 350
    assert [e for e in range(1, 33) if monitor.due(e, 100, 1e9)] == [8, 16, 24, 32]


# -- previews of samples


@pytest.mark.parametrize(
    ("sample", "form", "count"),
    [
        (RNG.random((3, 32, 32)), "picture", 3),
        (RNG.random((28, 28)), "picture", 1),
        (RNG.random((1, 4, 16, 16)), "picture", 1),
        (RNG.normal(size=1000), "curve", 1),
        (RNG.normal(size=(2, 5000)), "curve", 2),
        (RNG.normal(size=(300, 3)), "curve", 3),
        (RNG.normal(size=13), "values", 13),
        (RNG.integers(0, 9, 100), "values", 64),
        (np.array(3.0), "values", 1),
        (np.array(["a", "text"]), "text", 6),
        (np.array("short"), "text", 5),
        (np.array("x" * 5000), "text", 1000),
    ],
)
def test_form_of_a_preview(sample, form, count):
    found = preview(sample, 4096)
    assert set(found) == {form, "shape"}
    assert found["shape"] == list(sample.shape)
    assert (found["picture"]["colors"] if form == "picture" else len(found[form])) == count
    assert len(orjson.dumps(found)) < 8 * 1024
    if form == "curve":
        assert all(len(line) <= 256 for line in found["curve"])


def test_tokens_with_a_vocabulary_are_previewed_as_text():
    tokens = np.array([2, 0, 1, 99, -1])
    assert preview(tokens, 100)["values"] == [2, 0, 1, 99, -1]
    for words in (["the", "cat", "saw"], {"the": 0, "cat": 1, "saw": 2}, {0: "the", 1: "cat", 2: "saw"}):
        known = vocabulary(type("Data", (), {"vocabulary": words}))
        assert preview(tokens, 100, known)["text"] == "saw the cat"
    assert vocabulary(type("Data", (), {"vocabulary": {"a": 10**12}})) is None
    assert vocabulary(ArrayDataset(IMAGES)) is None


def test_curve_keeps_its_peaks_and_has_none_for_nan():
    line = np.zeros(10_000)
    line[[17, 5001]] = 5, -7
    line[2000:4000] = np.nan
    (found,) = curve(line)
    assert len(found) == 256
    assert (max(v for v in found if v is not None), min(v for v in found if v is not None)) == (5, -7)
    assert None in found


def test_class_map_has_fixed_grays_and_does_not_interpolate():
    small = class_map(np.array([[0, 4], [4, 0]]), 4096, 5)
    assert base64.b64decode(small["data"]) == bytes([0, 255, 255, 0])
    large = class_map(np.arange(300)[:, None] // 30 % 2 * np.ones((1, 300), int) * 9, 4096, 10)
    assert set(base64.b64decode(large["data"])) == {0, 255}
    assert len(base64.b64decode(large["data"])) <= 4096
    assert class_map(np.zeros((1, 5), int), 4096, 2) is None


@pytest.mark.sample(False)
@pytest.mark.slow
def test_size_of_events_is_bounded():
    big = RNG.random((20, 3, 200, 200), "float32")
    monitor_validation(big, RNG.integers(0, 5, (20, 200, 200)), RNG.normal(size=(20, 200, 200, 5)).astype("float32"))
    monitor_validation(
        RNG.normal(size=(20, 4, 5000)).astype("float32"),
        RNG.normal(size=(20, 4, 5000)).astype("float32"),
        RNG.normal(size=(20, 4, 5000)).astype("float32"),
        "mean_squared_error",
    )
    texts = np.array([string.ascii_letters * 100] * 20)
    monitor_validation(texts, CLASSES[:20], LOGITS[:20])
    names = [f"{'class' * 30} {n}" for n in range(1200)]
    found = monitor_validation(IMAGES[:20], CLASSES[:20], RNG.normal(size=(20, 1200)).astype("float32"), classes=names)
    assert found[Samples].classes is None
    assert BYTES < 64 * 1024
