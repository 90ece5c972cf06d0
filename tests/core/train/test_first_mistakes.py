"""Mistakes of a first hour: an error names what came, what was wanted and what to write."""

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import ConfigError, ModelError
from labdl.spec import Spec
from labdl.train import Trainer

X = np.zeros((8, 4), "float32")
Y = np.arange(8) % 3
IDS = np.arange(40).reshape(8, 5) % 12


def net(*shape):
    model = nn.Sequential(nn.Flatten(), nn.Linear(10))
    return model.build((None, *shape), backend="torch", seed=0) if shape else model


def test_pair_of_data_sets():
    pair = labdl.data.digits()
    for given in (pair, list(pair)):
        with pytest.raises(
            ConfigError, match=r"received 2 in a \w+, .*: write train, test = .*fit\(train, validation=test\)"
        ):
            Trainer(net()).fit(given, progress=False)
    train, test = pair
    Trainer(net(), seed=0).fit(train, validation=test, progress=False)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ([{"a": "accuracy"}], r"the dictionary \{'a': 'accuracy'\}, which wants the name of a metric"),
        ([{"name": None}], "wants the name of a metric"),
        ({"a": "accuracy"}, r"the metric a_accuracy is of the output a, .*: .*write metrics=\['accuracy'\]"),
    ],
)
def test_metrics_in_dictionaries(metrics, message):
    with pytest.raises(ConfigError, match=message) as caught:
        Trainer(net(4), metrics=metrics).fit(X, Y, progress=False)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("names", [("a", "b"), ("a",)])
def test_inputs_in_a_dictionary(names):
    inputs = dict.fromkeys(names, X)
    for model in (net(), net(4)):
        subject = Trainer(model)
        for call in (lambda s=subject: s.fit(inputs, Y, progress=False), lambda s=subject: s.evaluate(inputs, Y)):
            with pytest.raises(
                (ConfigError, ModelError), match=r"a dictionary with 'a'.*, the forward of the model takes 'x'"
            ):
                call()
    with pytest.raises(ConfigError, match="the forward of the model takes 'x'"):
        Trainer(net(4)).train_one_batch(inputs, Y)


class Pair(nn.Module):
    def setup(self, numbers, ids):
        self.table = nn.EmbeddingBag(20, 4)
        self.head = nn.Linear(3)

    def forward(self, numbers, ids):
        return self.head(numbers + self.table(ids))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (IDS, r"indices from 0 to 11, the layer 0 \(Embedding\) has rows for 0 to 9: give it size=12"),
        (IDS - 3, "indices from -3 to 8, .*: number the tokens from 0"),
    ],
)
def test_index_beyond_an_embedding(ids, message, monkeypatch):
    model = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(3))
    subject = Trainer(model.build(Spec((None, 5), "int64"), backend="torch", seed=0))
    monkeypatch.setattr("labdl.train.trainer.train_step", lambda *_: pytest.fail("a step was trained"))
    for call in (
        lambda: subject.fit(ids, Y, progress=False),
        lambda: subject.evaluate(ids, Y),
        lambda: subject.train_one_batch(ids, Y),
        lambda: subject.fit(labdl.data.IterableDataset(list(zip(ids, Y, strict=True))), batch_size=8, progress=False),
    ):
        with pytest.raises(ConfigError, match=message):
            call()


def test_index_of_one_of_several_inputs():
    subject = Trainer(Pair().build((None, 4), Spec((None, 5), "int64"), backend="torch", seed=0))
    subject.fit((X, IDS), Y, progress=False)
    with pytest.raises(
        ConfigError, match=r"indices from 0 to 50, the layer table \(EmbeddingBag\) has rows for 0 to 19"
    ):
        subject.fit((X, IDS + IDS.max() * np.eye(8, 5, dtype=int) * 4), Y, progress=False)


def test_wrong_shape_in_a_call_names_the_layer():
    model = nn.Sequential(nn.Linear(4), nn.Sequential(nn.ReLU(), nn.Linear(3))).build(
        (None, 4), backend="torch", seed=0
    )
    with pytest.raises(ValueError, match=r"layer 0 \(Linear\): linear: matmul of \(2, 5\) and \(4, 4\)"):
        model(np.zeros((2, 5), "float32"))
    inner = nn.Sequential(nn.Flatten(), nn.Sequential(nn.ReLU(), nn.Linear(3))).build(
        (None, 2, 2), backend="torch", seed=0
    )
    with pytest.raises(ValueError, match=r"layer 1/1 \(Linear\): linear: matmul of \(2, 6\)"):
        inner(np.zeros((2, 2, 3), "float32"))
    with pytest.raises(ConfigError, match=r"samples of shape \(5,\), the model was built for \(4,\)"):
        Trainer(model).evaluate(np.zeros((2, 5), "float32"), np.zeros(2, int))
