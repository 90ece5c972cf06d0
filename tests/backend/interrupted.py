"""Helpers for tests of interrupted trainings: a training with all kinds of state, and bitwise comparison."""

from contextlib import contextmanager

import numpy as np

import labdl
from labdl import dispatch, nn, ops, train
from labdl.train import Step, Trainer

EPOCHS, BATCH = 3, 16  # of 70 samples: 5 steps an epoch, the last with 6 samples


class Net(nn.Module):
    """A model with weights, running statistics and dropout."""

    def __init__(self):
        self.conv = nn.Conv2d(3, padding="same")
        self.norm = nn.BatchNorm()
        self.flatten = nn.Flatten()
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(4)

    def forward(self, x):
        return self.head(self.drop(self.flatten(ops.relu(self.norm(self.conv(x))))))


DATA = np.random.default_rng(0).normal(size=(70, 1, 6, 6)).astype("float32"), np.arange(70) % 4


@contextmanager
def own_seeds():
    """A context that restores the seed on exit."""
    before = dispatch.current_seed(), dispatch.portable()
    yield
    dispatch._seed, dispatch._portable = before


RECIPES = {
    "sgd": lambda: {"optimizer": train.SGD(0.05, momentum=0.9), "schedule": train.OneCycle()},
    "adam": lambda: {"optimizer": train.Adam(0.01), "schedule": "cosine"},
    "adamw": lambda: {
        "optimizer": train.AdamW(0.01, groups=[("*/bias:0", {"weight_decay": 0.0})]),
        "schedule": train.LinearWarmup(steps=8, then=train.CosineDecay()),
    },
    "rmsprop": lambda: {
        "optimizer": train.RMSprop(0.01),
        "schedule": train.ReduceOnPlateau(patience=0, threshold=0.5, factor=0.5),
    },
    "nadam": lambda: {"optimizer": train.NAdam(0.01)},
}


def trainer(backend, recipe="adam", seed=1, model=None, **options):
    settings = {"metrics": ["accuracy", "roc_auc"], **RECIPES[recipe](), **options}
    return Trainer(model or Net(), backend=backend.name, seed=seed, **settings)


def fit(subject, epochs=EPOCHS, **options):
    return subject.fit(DATA, validation=DATA, epochs=epochs, batch_size=BATCH, progress=False, **options)


def stopped_after(step, subject, epochs=EPOCHS, **options):
    """Train up to a step and interrupt the training."""
    events = subject.events(DATA, validation=DATA, epochs=epochs, batch_size=BATCH, **options)
    for event in events:
        if isinstance(event, Step) and event.step == step:
            break
    events.close()


def uninterrupted(backend):
    """The final state of an uninterrupted training."""
    with own_seeds():
        labdl.seed(3)
        subject = trainer(backend)
        fit(subject)
        return subject.state_dict()  # includes the random state of this context


def comparable(state):
    """The state without the monitored value of a checkpoint."""
    state = state if isinstance(state, dict) else state.state_dict()
    return {**state, "training": {**state["training"], "monitored": None}}


def equal(ours, theirs):
    """Compare nested states, arrays bitwise."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        return all(equal(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list | tuple):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(map(equal, ours, theirs))
    if isinstance(ours, np.ndarray):
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    return ours == theirs or (ours != ours and theirs != theirs)


def plain(backend, **options):
    """A training without random numbers; with SGD, because Adam amplifies rounding errors."""
    model = nn.Sequential(nn.Conv2d(3, padding="same"), nn.ReLU(), nn.Flatten(), nn.Linear(4))
    return trainer(backend, model=model, optimizer=train.SGD(0.05, momentum=0.9), metrics=["accuracy"], **options)
