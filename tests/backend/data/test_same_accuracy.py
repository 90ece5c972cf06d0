"""A folder of pictures with augmentations trains alike on every backend: step by step as a network written in NumPy."""

import numpy as np
import pytest

import labdl
from labdl import data, nn
from labdl.data import transforms as T
from labdl.data.codecs.image import encode_image

pytestmark = pytest.mark.sample(False)

EPOCHS, BATCH, RATE, SEED = 8, 32, 0.3, 3
AUGMENT = [
    T.RandomCrop(8, padding=1),
    T.Rotate(degrees=(-5, 5)),
    T.AdjustBrightness(factor=(0.7, 1.3)),
    T.ToFloat(),
    T.Normalize(mean=(0.3,), std=(0.35,)),
]
PREPARE = AUGMENT[-2:]
LAST_LOSS, ACCURACY = 0.6766, 0.8967  # mean of the last epoch, and share of the test pictures, of the NumPy network


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """PNG files of handwritten digits, a folder for each class: 600 for training, 300 for testing."""
    root = tmp_path_factory.mktemp("pictures")
    for part, digits, count in zip(("train", "test"), data.digits(), (600, 300), strict=True):
        for i, (picture, label) in enumerate(zip(*digits[:count], strict=True)):
            file = root / part / str(label) / f"{i:03}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(encode_image((picture[0] * 255).round().astype("uint8")))
    train, test = (data.ImageFolder(root / part, mode="L") for part in ("train", "test"))
    return train.map(AUGMENT, seed=1), test.map(PREPARE)


class Reference:
    """Linear, ReLU, Linear with cross-entropy and plain gradient descent, float64."""

    def __init__(self, state):
        self.w, self.b, self.v, self.c = (np.array(a, "float64") for a in state.values())

    def outputs(self, x):
        self.x = x.reshape(len(x), -1).astype("float64")
        self.h = np.maximum(self.x @ self.w + self.b, 0)
        return self.h @ self.v + self.c

    def step(self, x, y):
        z = self.outputs(x)
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y]).mean()
        p[np.arange(len(y)), y] -= 1
        p /= len(y)
        back = (p @ self.v.T) * (self.h > 0)
        for value, gradient in (
            (self.v, self.h.T @ p),
            (self.c, p.sum(0)),
            (self.w, self.x.T @ back),
            (self.b, back.sum(0)),
        ):
            value -= RATE * gradient
        return loss


@pytest.fixture(scope="module")
def reference(pictures):
    """Losses of all steps, and the accuracy on the test part, of batches read in the calling thread."""
    train, test = pictures
    network = Reference(model("numpy").state_dict())
    loader = data.Loader(train.as_supervised(), BATCH, shuffle=True, seed=SEED, workers=0)
    losses = [network.step(x, y) for epoch in range(EPOCHS) for x, y in loader.epoch(epoch)]
    x, y = next(iter(test.as_supervised().loader(len(test), workers=0)))
    return np.array(losses), float((network.outputs(x).argmax(1) == y).mean())


def model(backend):
    layers = nn.Sequential(nn.Flatten(), nn.Linear(64), nn.ReLU(), nn.Linear(10))
    return layers.build((None, 1, 8, 8), backend=backend, seed=0)


def test_reference_learns_the_digits(reference):
    losses, accuracy = reference
    assert losses[:5].mean() > 2
    assert (losses[-19:].mean(), accuracy) == (pytest.approx(LAST_LOSS, abs=0.02), pytest.approx(ACCURACY, abs=0.01))


def test_losses_and_accuracy_are_those_of_numpy(pictures, reference, backend):
    train, test = pictures
    trainer = labdl.Trainer(
        model(backend.name), loss="cross_entropy", optimizer=labdl.train.SGD(RATE), metrics=["accuracy"], seed=SEED
    )
    losses, accuracy = [], 0.0
    for event in trainer.events(train, validation=test, epochs=EPOCHS, batch_size=BATCH):
        if type(event).__name__ == "Step":
            losses.append(float(event.values["loss"]))
        elif type(event).__name__ == "Epoch":
            accuracy = event.values["val_accuracy"]
    np.testing.assert_allclose(losses, reference[0], rtol=0, atol=2e-4)
    assert accuracy == pytest.approx(reference[1], abs=1e-6)
