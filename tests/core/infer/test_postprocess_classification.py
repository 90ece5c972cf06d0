"""Classes and labels against SciPy, and the table of a report against scikit-learn."""

import numpy as np
import pytest
import scipy.special
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ModelError
from labdl.infer import Classification
from labdl.infer.classification_report import ClassCounts

rng = np.random.default_rng(0)
SCORES, TRUE = rng.normal(size=(60, 5)).astype("float32"), rng.integers(0, 5, 60)
LABELS = rng.integers(0, 2, (60, 5))
NAMES = ("ant", "bee", "cat", "dog", "eel")


def test_probabilities_are_those_of_a_softmax_the_largest_first():
    for scores in SCORES[:10]:
        found = Classification(names=NAMES)(scores)
        shares = scipy.special.softmax(scores.astype("float64"))
        np.testing.assert_array_equal(found.labels, np.argsort(-shares))
        np.testing.assert_allclose(found.probabilities, np.sort(shares)[::-1], rtol=1e-12)
        assert found.names == tuple(NAMES[i] for i in np.argsort(-shares))
        assert found.label == NAMES[shares.argmax()]
        first = Classification(top_k=2)(scores)
        np.testing.assert_array_equal(first.labels, found.labels[:2])
        assert first.names is None
        assert first.label == shares.argmax()


def test_probabilities_are_taken_as_they_are():
    found = Classification(from_logits=False, top_k=1)(np.array([0.2, 0.7, 0.1], "float32"))
    assert found.labels.tolist() == [1]
    assert found.probabilities[0] == pytest.approx(0.7)


def test_labels_of_several_are_those_above_the_threshold():
    for scores in SCORES:
        shares = scipy.special.expit(scores.astype("float64"))
        for threshold in (0.0, 0.4, 0.5, 1.0):
            found = Classification(multilabel=True, threshold=threshold, names=NAMES)(scores)
            assert set(found.labels) == set(np.flatnonzero(shares > threshold))
            assert (np.diff(found.probabilities) <= 0).all()
            assert len(found.names) == len(found.labels)
    assert Classification(multilabel=True, threshold=1.0)(SCORES[0]).label is None
    assert len(Classification(multilabel=True, threshold=0.0, top_k=2)(SCORES[0]).labels) == 2


@pytest.mark.parametrize(
    "output", [np.array([0.4], "float32"), np.array(0.4, "float32"), (np.array([0.4], "float32"),)]
)
def test_one_output_is_that_of_yes(output):
    share = scipy.special.expit(np.float32(0.4).astype("float64"))
    found = Classification(names=("no", "yes"))(output)
    assert found.label == "yes"
    np.testing.assert_allclose(found.probabilities, [share, 1 - share])
    sure = Classification(threshold=0.9)(output)
    assert sure.label == 0
    assert sure.labels.tolist() == [0, 1]


def test_names_must_be_as_many_as_classes():
    with pytest.raises(ModelError, match="2 names, the output has 5 classes"):
        Classification(names=("a", "b"))(SCORES[0])


# -- the report


def compared(counts, report, names):
    """The table against sklearn.metrics.classification_report as a dictionary."""
    table = counts.table
    for i, name in enumerate(names):
        row = report[name]
        assert [table[k][i] for k in ("precision", "recall", "f1", "support")] == pytest.approx(
            [row["precision"], row["recall"], row["f1-score"], row["support"]]
        )
    for kind in ("macro", "weighted"):
        row = report[f"{kind} avg"]
        values = counts.averages()[kind]
        assert [values[k] for k in ("precision", "recall", "f1")] == pytest.approx(
            [row["precision"], row["recall"], row["f1-score"]]
        )


@pytest.mark.sample(False)
@given(st.integers(2, 6), st.integers(1, 40), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_the_table_is_scikit_learns(classes, samples, seed):
    draws = np.random.default_rng(seed)
    scores, true = draws.normal(size=(samples, classes)), draws.integers(0, classes, samples)
    counts = ClassCounts()
    for part in np.array_split(np.arange(samples), 3):
        if part.size:
            counts.add(scores[part], true[part])
    chosen = scores.argmax(1)
    present = np.union1d(true, chosen)
    report = sk.classification_report(true, chosen, output_dict=True, zero_division=0)
    table = {k: v[present] for k, v in counts.table.items()}
    assert table["f1"] == pytest.approx([report[str(i)]["f1-score"] for i in present])
    compared(
        counts,
        {
            str(i): report.get(str(i), dict.fromkeys(("precision", "recall", "f1-score", "support"), 0.0))
            for i in range(classes)
        }
        | report,
        [str(i) for i in range(classes)],
    )
    assert counts.averages()["micro"]["f1"] == pytest.approx(sk.accuracy_score(true, chosen))
    np.testing.assert_array_equal(counts.confusion, sk.confusion_matrix(true, chosen, labels=np.arange(classes)))


def test_the_table_of_several_labels_is_scikit_learns():
    asked = Classification(multilabel=True, threshold=0.6, names=NAMES)
    counts = ClassCounts.of(asked, None, {})
    for part in (slice(0, 25), slice(25, None)):
        counts.add(SCORES[part], LABELS[part])
    chosen = scipy.special.expit(SCORES) > 0.6
    report = sk.classification_report(LABELS, chosen, output_dict=True, zero_division=0, target_names=NAMES)
    compared(counts, report, NAMES)
    assert counts.averages()["micro"]["precision"] == pytest.approx(report["micro avg"]["precision"])
    np.testing.assert_array_equal(counts.confusion, sk.multilabel_confusion_matrix(LABELS, chosen))
    other = ClassCounts.of(asked, None, {"threshold": 0.2})
    other.add(SCORES, LABELS)
    np.testing.assert_array_equal(other.table["support"], counts.table["support"])
    assert (other.table["recall"] >= counts.table["recall"]).all()


def test_lines_name_the_classes_that_occur():
    counts = ClassCounts(NAMES)
    counts.add(np.eye(5)[[0, 1, 1]], np.array([0, 1, 3]))
    lines = counts.lines()
    assert [line.split()[0] for line in lines] == ["class", "ant", "bee", "dog", "micro", "macro", "weighted"]
    assert lines[2].split() == ["bee", "0.5000", "1.0000", "0.6667", "1"]
    assert lines[-1].split()[-1] == "3"


@pytest.mark.parametrize(
    ("output", "target"),
    [
        (SCORES, rng.normal(size=(60, 5))),  # regression
        (SCORES[:, :1], rng.normal(size=60)),
        (SCORES[:, :1], rng.integers(0, 9, 60)),  # counts
        (SCORES, np.full(60, -100)),  # what does not count
        (rng.normal(size=(6, 4, 5)), rng.integers(0, 5, (6, 4))),  # a class for each token
        (rng.normal(size=(6, 5, 4, 4)), rng.integers(0, 5, (6, 4, 4))),
        ((SCORES, SCORES), TRUE),
        (SCORES, ["a"] * 60),
    ],
)
def test_regression_has_no_class_table(output, target):
    counts = ClassCounts()
    counts.add(output, target)
    assert not counts.has_counts
    counts.add(SCORES, TRUE)
    assert not counts.has_counts


def test_a_vocabulary_has_a_table_but_no_matrix():
    counts = ClassCounts()
    scores, true = np.zeros((3, 5000), "float32"), np.array([1, 2, 4999])
    scores[np.arange(3), [1, 7, 4999]] = 1
    counts.add(scores, true)
    assert counts.confusion is None
    assert counts.table["recall"][[1, 2, 4999]].tolist() == [1, 0, 1]
