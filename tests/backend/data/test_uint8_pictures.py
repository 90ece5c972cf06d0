"""Pictures that reach the model as uint8 and are normalized there train as pictures that are normalized before."""

import numpy as np
import pytest

import labdl
from labdl import data, nn, ops
from labdl.data import transforms as T
from labdl.train import SGD, Trainer

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 32)
PICTURES = [(data.Image(RNG.integers(0, 200, (8, 8, 3)).astype("uint8")), int(label)) for label in LABELS]


class Normalized(nn.Module):
    """A model of uint8 pictures, normalized on its device."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model((ops.astype(x, "float32") / 255 - 0.5) / 0.25)


@pytest.mark.sample(backends=1)
def test_pictures_are_normalized_by_the_model(backend):
    layers = [lambda: nn.Sequential(nn.Conv2d(4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3)) for _ in range(2)]
    plain = layers[0]().build((None, 3, 8, 8), backend=backend.name, seed=1)
    inner = layers[1]()
    normalized = Normalized(inner).build(labdl.Spec((None, 3, 8, 8), "uint8"), backend=backend.name)
    inner.load_state_dict(plain.state_dict())
    samples = data.SampleDataset(PICTURES, name="pictures")
    floats = samples.map([T.ToFloat(), T.Normalize(mean=[0.5] * 3, std=[0.25] * 3)])
    options = {"epochs": 3, "batch_size": 8, "shuffle": False, "progress": False}
    wanted = Trainer(plain, "cross_entropy", SGD(0.1), backend=backend.name).fit(floats, **options)
    t = Trainer(normalized, "cross_entropy", SGD(0.1), backend=backend.name)
    history = t.fit(samples, **options)
    np.testing.assert_allclose(history["loss"], wanted["loss"], rtol=1e-4)
    batch = next(iter(samples.loader(8)))
    assert t.state.conversion(*batch)[0].dtype == np.uint8
