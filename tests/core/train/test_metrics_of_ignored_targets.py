"""Targets that count nowhere in metrics of classes: those of `ignore_index`, by default of the loss of the training."""

import numpy as np
import pytest
from sklearn import metrics as reference
from tests.core.metric_inputs import numbers_in

from labdl import nn
from labdl.errors import ModelError
from labdl.train import METRICS, Trainer
from labdl.train import metrics as M

RNG = np.random.default_rng(3)
SCORES, TARGETS = RNG.normal(size=(40, 4)), RNG.integers(0, 4, 40)
VOID = np.where(RNG.random(40) < 0.3, -100, TARGETS)
KEPT = VOID != -100
OF_SEGMENTS = ("panoptic_quality", "entity_f1")  # whose samples are segments of a picture or a text
NAMES = [name for name, cls in METRICS.items() if hasattr(cls, "ignore_index") and name not in OF_SEGMENTS]


def made(name, **settings):
    return METRICS[name](**settings)


def equal(value, expected):
    np.testing.assert_allclose(numbers_in(value), numbers_in(expected), rtol=1e-12)


@pytest.mark.parametrize("ignored", [-100, -1, 255])
@pytest.mark.parametrize("name", NAMES)
def test_ignored_targets_are_left_out_of_any_split(name, ignored):
    target = np.where(KEPT, TARGETS, ignored)
    metric, expected = made(name, ignore_index=ignored), made(name)(SCORES[KEPT], TARGETS[KEPT])
    equal(metric(SCORES, target), expected)
    for part in np.split(np.arange(40), [1, 2, 9, 30]):
        metric.update(SCORES[part], target[part])
    metric.update(SCORES[~KEPT], target[~KEPT])  # a batch of which nothing counts
    equal(metric.compute(), expected)
    sequences = made(name, ignore_index=ignored)(SCORES.reshape(8, 5, 4), target.reshape(8, 5))
    equal(sequences, expected)


@pytest.mark.parametrize("name", NAMES)
def test_ignored_targets_that_nobody_announced_raise(name):
    if name == "perplexity":
        return
    with pytest.raises(ModelError, match=r"targets have classes from -100 .*ignore_index="):
        made(name).update(SCORES, VOID)


@pytest.mark.parametrize(
    ("metric", "function"),
    [
        (M.Precision, reference.precision_score),
        (M.Recall, reference.recall_score),
        (M.F1, reference.f1_score),
        (M.Jaccard, reference.jaccard_score),
    ],
)
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_a_class_that_is_ignored_is_in_no_average(metric, function, average):
    counted = TARGETS != 2
    expected = function(
        TARGETS[counted], SCORES.argmax(-1)[counted], labels=[0, 1, 3], average=average, zero_division=0
    )
    assert metric(average=average, ignore_index=2)(SCORES, TARGETS) == pytest.approx(expected)


def test_micro_specificity_without_a_class():
    chosen, counted = SCORES.argmax(-1), TARGETS != 2
    true, chosen = TARGETS[counted], chosen[counted]
    negatives = [(true != k) for k in (0, 1, 3)]
    right = sum(np.sum(n & (chosen != k)) for n, k in zip(negatives, (0, 1, 3), strict=True))
    value = M.Specificity(average="micro", ignore_index=2)(SCORES, TARGETS)
    assert value == pytest.approx(right / np.sum(negatives))


def test_ignored_labels_and_single_scores():
    scores, labels = RNG.normal(size=(30, 3)), RNG.integers(0, 2, (30, 3))
    void = RNG.random((30, 3)) < 0.3
    target = np.where(void, -1, labels)
    for column in range(3):
        kept = ~void[:, column]
        expected = reference.f1_score(labels[kept, column], scores[kept, column] > 0)
        assert M.F1(average="none", multilabel=True, ignore_index=-1)(scores, target)[column] == pytest.approx(expected)
        single = M.F1(ignore_index=-1)
        assert single(scores[:, column], target[:, column]) == pytest.approx(expected)
        assert single(scores[:, [column]], target[:, [column]]) == pytest.approx(expected)
    expected = np.mean((scores > 0)[~void] != labels[~void])
    assert M.HammingLoss(multilabel=True, ignore_index=-1)(scores, target) == pytest.approx(expected)


def test_numbers_of_unsigned_integers():
    target = np.where(KEPT, TARGETS, 255).astype("uint8")
    equal(M.Accuracy(ignore_index=255)(SCORES, target), M.Accuracy()(SCORES[KEPT], TARGETS[KEPT]))
    equal(M.Accuracy(ignore_index=-100)(SCORES, TARGETS.astype("uint8")), M.Accuracy()(SCORES, TARGETS))


X = RNG.normal(size=(40, 6)).astype("float32")


@pytest.mark.parametrize(
    ("loss", "target"),
    [
        ("cross_entropy", VOID),
        (nn.CrossEntropyLoss(ignore_index=7), np.where(KEPT, TARGETS, 7)),
        (nn.CrossEntropyLoss(ignore_index=0), np.where(KEPT, np.maximum(TARGETS, 1), 0)),
    ],
)
def test_metrics_leave_out_what_the_loss_of_the_training_ignores(loss, target):
    names = ["accuracy", "f1", "roc_auc", "perplexity"]
    trainer = Trainer(nn.Sequential(nn.Linear(4)), loss, metrics=names, backend="torch", seed=1)
    history = trainer.fit(X, target, validation=(X, target), epochs=2, batch_size=8, progress=False)
    values = trainer.evaluate(X, target, batch_size=7)
    assert history["val_accuracy"][-1] == values["accuracy"]
    scores = np.asarray(trainer.model(X).detach())
    assert values["accuracy"] == pytest.approx(np.mean(scores.argmax(-1)[KEPT] == target[KEPT]))
    assert np.log(values["perplexity"]) == pytest.approx(values["loss"], rel=1e-5)
    whole = trainer.evaluate(X, target, batch_size=40)
    assert {name: values[name] for name in names} == pytest.approx({name: whole[name] for name in names})
    assert trainer.test(X, target)["accuracy"] == pytest.approx(values["accuracy"])
    rows = trainer.report().tables()[-1][1]
    assert sum(int(row[-1]) for row in rows[1:]) == KEPT.sum()  # the support of the classes


def test_class_weights_and_losses_by_output_say_what_is_ignored():
    trainer = Trainer(nn.Sequential(nn.Linear(4)), metrics=["accuracy"], backend="torch")
    trainer.fit(X, VOID, class_weight={0: 2.0}, progress=False)
    assert trainer.evaluate(X, VOID)["accuracy"] == pytest.approx(
        np.mean(np.asarray(trainer.model(X).detach()).argmax(-1)[KEPT] == TARGETS[KEPT])
    )

    class Two(nn.Module):
        def __init__(self):
            self.a, self.b = nn.Linear(4), nn.Linear(4)

        def forward(self, x):
            return {"a": self.a(x), "b": self.b(x)}

    losses = {"a": nn.CrossEntropyLoss(ignore_index=-7), "b": "cross_entropy"}
    targets = {"a": np.where(KEPT, TARGETS, -7), "b": TARGETS}
    trainer = Trainer(Two(), losses, metrics={"a": "accuracy", "b": "accuracy"}, backend="torch")
    values = trainer.evaluate(X, targets)
    outputs = {name: np.asarray(value.detach()).argmax(-1) for name, value in trainer.model(X).items()}
    assert values["a_accuracy"] == pytest.approx(np.mean(outputs["a"][KEPT] == TARGETS[KEPT]))
    assert values["b_accuracy"] == pytest.approx(np.mean(outputs["b"] == TARGETS))
