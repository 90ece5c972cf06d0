"""The part of the training data that validates: drawn by the seed for labels, with the share of each class, else the last."""

import warnings

import numpy as np
import pytest

from labdl import nn
from labdl.data import ArrayDataset
from labdl.errors import ConfigError
from labdl.train import Trainer, losses
from labdl.train.data_adapter import as_dataset
from labdl.train.validation_split import split_validation

X = np.arange(100, dtype="float32")[:, None]
CLASSES = np.repeat([0, 1, 2, 3], [40, 30, 20, 10])  # sorted, as in files
CASES = {
    "numbers of classes": ("cross_entropy", CLASSES),
    "classes as numbers": ("cross_entropy", CLASSES.astype("float32")),
    "one-hot": ("cross_entropy", np.eye(4, dtype="float32")[CLASSES]),
    "text": ("cross_entropy", np.array(["a", "b", "c", "d"])[CLASSES]),
    "objects": ("cross_entropy", np.array(["a", "b", "c", "d"], object)[CLASSES]),
    "a column": ("nll", CLASSES[:, None]),
    "two classes": ("binary_cross_entropy", (CLASSES > 1).astype("float32")[:, None]),
}


def split(y, loss, where=None, seed=0, share=0.2):
    return split_validation(as_dataset((X, y)), share, losses.loss(loss), seed, where)


@pytest.mark.parametrize("case", CASES)
def test_labels_are_drawn_with_the_share_of_each(case):
    loss, y = CASES[case]
    first, second, rows = split(y, loss)
    of = second.arrays[0][:, 0].astype(int)
    assert np.bincount(CLASSES[of]).tolist() == [8, 6, 4, 2] or case == "two classes"
    assert sorted([*rows, *of]) == list(range(100))
    assert (np.diff(rows) > 0).all(), "a part keeps the order of the samples"
    assert (first.arrays[0][:, 0] == rows).all()
    assert (split(y, loss)[2] == rows).all()
    assert (split(y, loss, seed=1)[2] != rows).any()


@pytest.mark.parametrize("y", [X[:, 0] / 3, np.arange(100), CLASSES])
@pytest.mark.parametrize("loss", ["mean_squared_error", "poisson_nll"])
def test_other_targets_are_the_last(loss, y):
    first, second, rows = split(y, loss)
    assert rows.tolist() == list(range(80))
    assert np.shares_memory(first.arrays[0], X)
    assert second.arrays[0][:, 0].tolist() == list(range(80, 100))
    assert split(y, loss, "shuffled")[2].tolist() != rows.tolist()


def test_last_is_that_of_keras_and_warns_of_classes():
    with pytest.warns(UserWarning, match="validation_split leaves no sample") as raised:
        _, second, rows = split(CLASSES, "cross_entropy", "last")
    assert [str(w.message).partition(":")[0] for w in raised] == [
        "validation_split leaves no sample of the classes 0, 1 for validation",
        "validation_split leaves no sample of the class 3 for training",
    ]
    assert rows.tolist() == list(range(80))
    assert set(second.arrays[1]) == {2, 3}
    with pytest.warns(UserWarning, match="no sample of the class 9 for validation"):
        split(np.append(CLASSES[1:], 9), "cross_entropy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        split(CLASSES, "cross_entropy")
    with pytest.raises(ConfigError, match="validation_from wants 'shuffled' or 'last', received 'first'"):
        split(CLASSES, "cross_entropy", "first")


def test_training_on_sorted_data_validates_on_all_classes(tmp_path):
    x = np.eye(4, dtype="float32")[CLASSES]
    weights = np.arange(100, dtype="float32")

    def fit(**options):
        model = nn.Sequential(nn.Linear(4)).build((None, 4), backend="torch", seed=0)
        subject = Trainer(model, optimizer={"name": "adam", "learning_rate": 0.1}, metrics=["accuracy"], seed=3)
        given = {"validation_split": 0.2, "batch_size": 20, "progress": False, **options}
        return subject, subject.fit(ArrayDataset(x, CLASSES), sample_weight=weights, **given)

    subject, history = fit(epochs=4)
    assert history["val_accuracy"][-1] == 1
    assert subject.progress.samples == 80
    fit(epochs=2, checkpoint=tmp_path)
    _, resumed = fit(epochs=4, checkpoint=tmp_path, resume=True)
    assert resumed == history
