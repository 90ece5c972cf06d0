"""A resumed training reads the samples of an uninterrupted one, also if a data set draws random numbers by itself."""

import random

import numpy as np
import pytest
from interrupted import equal, own_seeds

import labdl
from labdl import data, nn, train
from labdl.errors import FileFormatError
from labdl.train import Checkpoint, Step, Trainer

pytestmark = pytest.mark.sample(backends=1)

X, Y = np.random.default_rng(0).normal(size=(24, 4)).astype("float32"), np.arange(24) % 3


@pytest.fixture(autouse=True)
def seeds():
    states = random.getstate(), np.random.get_state()
    with own_seeds():
        yield
    random.setstate(states[0])
    np.random.set_state(states[1])


class GlobalNoise:
    """As people write it: the generators of the process."""

    def __len__(self):
        return len(X)

    def __getitem__(self, index):
        return X[index] + np.random.normal(size=4).astype("float32") * np.float32(random.random()), Y[index]


class SampleNoise:
    def __len__(self):
        return len(X)

    def __getitem__(self, index, rng):
        return X[index] + rng.normal(size=4).astype("float32"), Y[index]


class DatasetNoise(data.Dataset):
    inputs, targets = ("x",), ("label",)

    def __len__(self):
        return len(X)

    def __getitem__(self, index, rng):
        return {"x": X[index] + rng.normal(size=4).astype("float32"), "label": Y[index]}


def noise_of_function():
    return data.SampleDataset(lambda index, rng: (X[index] + rng.normal(size=4).astype("float32"), Y[index]), length=24)


SETS = {
    "global generators": GlobalNoise,
    "global generators, loader": lambda: data.Loader(GlobalNoise(), 8, shuffle=True, workers=0),
    "rng": SampleNoise,
    "rng, loader": lambda: data.Loader(data.SampleDataset(SampleNoise()), 8, shuffle=True, workers=2),
    "rng of a Dataset": DatasetNoise,
    "rng of a function": noise_of_function,
}


def trainer(backend):
    return Trainer(nn.Sequential(nn.Linear(3)), backend=backend.name, seed=1, optimizer=train.Adam(0.01))


def options(dataset):
    return {"epochs": 3} | ({} if isinstance(dataset, data.Loader) else {"batch_size": 8})


def start(seed):
    labdl.seed(seed)  # those of the process too


@pytest.mark.parametrize("kind", SETS)
def test_random_samples_of_a_resumed_training(kind, backend, tmp_path):
    start(3)
    whole, dataset = trainer(backend), SETS[kind]()
    losses = whole.fit(dataset, progress=False, **options(dataset))["loss"]
    start(3)
    events = trainer(backend).events(SETS[kind](), checkpoint=Checkpoint(tmp_path, every=4), **options(dataset))
    for event in events:
        if isinstance(event, Step) and event.step == 5:
            break
    events.close()
    start(77)
    again = trainer(backend)
    history = again.fit(SETS[kind](), progress=False, resume=tmp_path, **options(dataset))
    assert history["loss"] == losses
    assert equal(again.model.state_dict(), whole.model.state_dict())


def test_epochs_have_noise_of_their_own(backend):
    dataset = data.SampleDataset(SampleNoise())
    first, second, again = (dataset.read(3, epoch)[0] for epoch in (0, 1, 0))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, data.SampleDataset(SampleNoise(), seed=1).read(3, 0)[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.update(pos=100_000),
        lambda state: state.update(pos=-1),
        lambda state: state.update(key=np.zeros(624, "uint32")),
        lambda state: state.update(key=np.arange(3, dtype="uint32")),
        lambda state: state.update(gauss="a"),
        lambda state: state.clear(),
    ],
)
def test_a_generator_of_a_broken_file_is_refused(change, backend, tmp_path):
    subject = trainer(backend)
    subject.fit((X, Y), epochs=1, progress=False)
    values = subject.state_dict()
    change(values["training"]["features"]["generators"]["numpy"])
    start(5)
    expected = np.random.get_state()[1].copy()
    with pytest.raises(FileFormatError, match=r"features\.generators\.numpy is not the state of a generator MT19937"):
        subject.load_state_dict(values)
    np.testing.assert_array_equal(np.random.get_state()[1], expected)


def test_a_nan_does_not_set_the_generators_back(backend):
    """The last finite state is of the model: what the process has drawn since then, it does not draw again."""
    bad = X.copy()
    bad[20] = np.nan
    start(5)
    before = np.random.get_state()[1].copy()
    np.random.normal(size=700)

    with pytest.raises(labdl.errors.LabDLError):
        trainer(backend).fit((bad, Y), epochs=1, batch_size=8, progress=False)
    assert not np.array_equal(np.random.get_state()[1], before)
