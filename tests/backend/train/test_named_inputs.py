"""Batches that are dictionaries: their entries reach the arguments of the forward by name, the others are the targets."""

import numpy as np
import pytest

from labdl import Spec, data, nn, ops
from labdl.errors import ConfigError
from labdl.train import SGD, Trainer

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]

RNG = np.random.default_rng(0)
TOKENS, MASK = RNG.integers(0, 9, (24, 5)), RNG.integers(0, 2, (24, 5)).astype("float32")
LABEL, SIZE = RNG.integers(0, 3, 24), RNG.normal(size=(24, 1)).astype("float32")


class Reader(nn.Module):
    """The order of its arguments is not that of the entries, and one of them is optional."""

    def __init__(self):
        self.words, self.label = nn.Embedding(9, 4), nn.Linear(3)

    def forward(self, mask, scale=None, tokens=None):
        weighted = self.words(tokens) * ops.expand_dims(mask, -1)
        return self.label(ops.mean(weighted if scale is None else weighted * scale, axis=1))


class TwoHeads(nn.Module):
    def __init__(self):
        self.label, self.size = nn.Linear(3), nn.Linear(1)

    def forward(self, mask):
        return {"label": self.label(mask), "size": self.size(mask)}


class Samples(data.Dataset):
    """Dictionaries that also name where they come from."""

    def __init__(self, **columns):
        self.columns = columns

    def __len__(self):
        return 24

    def __getitem__(self, index):
        return {"path": f"{index}.txt", **{name: column[index] for name, column in self.columns.items()}}


def trainer(backend, model=Reader, **settings):
    return Trainer(model(), backend=backend.name, seed=1, optimizer=SGD(0.1), **settings)


SOURCES = {
    "samples": lambda: Samples(tokens=TOKENS, label=LABEL, mask=MASK),
    "list": lambda: [*map(Samples(label=LABEL, mask=MASK, tokens=TOKENS).__getitem__, range(24))],
    "stream": lambda: data.IterableDataset(Samples(mask=MASK, tokens=TOKENS, label=LABEL)),
    "loader": lambda: Samples(tokens=TOKENS, label=LABEL, mask=MASK).loader(8),
    "inputs by name": lambda: ({"tokens": TOKENS, "mask": MASK}, LABEL),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_training_is_that_of_inputs_by_place(backend, source):
    reference = trainer(backend, metrics=["accuracy"])
    reference.model.build(mask=(None, 5), tokens=Spec((None, 5), "int64"), backend=backend.name, seed=1)
    options = {} if source == "loader" else {"batch_size": 8}
    expected = reference.fit((MASK, TOKENS), LABEL, epochs=2, batch_size=8, shuffle=False, progress=False)
    subject = trainer(backend, metrics=["accuracy"])
    if source not in ("loader", "stream"):
        options["shuffle"] = False
    history = subject.fit(SOURCES[source](), epochs=2, validation=SOURCES[source](), progress=False, **options)
    np.testing.assert_allclose(history["loss"], expected["loss"], rtol=1e-6)
    np.testing.assert_allclose(history["accuracy"], expected["accuracy"], rtol=1e-6)
    for name, value in reference.model.state_dict().items():
        np.testing.assert_allclose(subject.model.state_dict()[name], value, rtol=1e-6, err_msg=name)
    assert subject.evaluate(SOURCES[source]())["loss"] == history["val_loss"][-1]


def test_several_targets(backend):
    subject = trainer(backend, TwoHeads, loss={"label": "cross_entropy", "size": "mse"}, metrics={"label": "accuracy"})
    history = subject.fit(Samples(mask=MASK, label=LABEL, size=SIZE), batch_size=8, epochs=2, progress=False)
    reference = trainer(backend, TwoHeads, loss={"label": "cross_entropy", "size": "mse"})
    expected = reference.fit(MASK, {"label": LABEL, "size": SIZE}, batch_size=8, epochs=2, progress=False)
    np.testing.assert_allclose(history["loss"], expected["loss"], rtol=1e-6)


def test_a_single_batch_builds_the_model(backend):
    subject = trainer(backend)
    first = subject.train_one_batch({"label": LABEL, "tokens": TOKENS, "mask": MASK})["loss"]
    assert subject.train_one_batch({"label": LABEL, "tokens": TOKENS, "mask": MASK})["loss"] < first


def test_entries_that_do_not_fit(backend):
    with pytest.raises(
        ConfigError, match="dictionary of path, picture, label, the forward of the model has the arguments mask"
    ):
        trainer(backend).fit(Samples(picture=MASK, label=LABEL), progress=False)
