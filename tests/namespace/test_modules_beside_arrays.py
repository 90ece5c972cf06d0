"""Modules in a process that has asked for an array namespace, which changes attributes of the framework's tensors."""

import numpy as np

import labdl
from labdl import nn


def test_models_build_move_and_train(xp, backend):
    x = np.random.default_rng(0).normal(size=(8, 3, 6, 6)).astype("float32")
    model = nn.Sequential(
        nn.Conv2d(4, kernel_size=3),
        nn.BatchNorm(),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(5),
        nn.LayerNorm(),
        nn.Linear(2),
    ).build((None, 3, 6, 6), backend=backend.name, seed=0)
    model.to(backend.name)
    trainer = labdl.Trainer(model, optimizer="adam", compiled=False)
    losses = [trainer.train_one_batch(x, np.arange(8) % 2) for _ in range(3)]
    assert len(losses) == 3
    assert labdl.predict(model, x).shape == (8, 2)


class Last(nn.Module):
    def __init__(self):
        self.recurrence, self.head = nn.GRU(4), nn.Linear(2)

    def forward(self, x):
        outputs, _ = self.recurrence(x)
        return self.head(outputs)


def test_recurrent_layers_train_with_frozen_parts(xp, backend):
    model = Last().build((None, 5, 3), backend=backend.name, seed=0)
    model.get_parameter(next(iter(model.state_dict()))).trainable = False
    trainer = labdl.Trainer(model, loss="mse", optimizer="sgd", compiled=False)
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    shape = labdl.predict(model, x).shape
    trainer.train_one_batch(x, np.zeros(shape, "float32"))
