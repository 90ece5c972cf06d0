"""Clauses 6.2.3.2 a) to e) and B.4: training."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from labdl import nn, standard, train
from labdl.conformance.row import array, close, close_states, equal_states, holds, raises, row
from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, GradientError, ModelError, UpdateError
from labdl.saving import load, load_parameters, save

_X = np.random.default_rng(0).standard_normal((24, 4)).astype("float32")
_Y = (_X[:, 0] > 0).astype("int64")
_RATE = 0.1


def _config(**more) -> dict[str, Any]:
    return {
        "optimizer": {"optimizer_method": "SGD", "base_learningrate": _RATE},
        "train_dataset": (_X, _Y),
        "epochs": 2,
        "batch_size": 8,
        "seed": 1,
        "compiled": False,
        **more,
    }


def _model(seed: int = 0) -> nn.Module:
    return nn.Linear(2).build((None, 4), seed=seed)


def _softmax(logits):
    parts = np.exp(logits - logits.max(1, keepdims=True))
    return parts / parts.sum(1, keepdims=True)


def _step(kernel, bias, x, y) -> tuple[np.ndarray, np.ndarray, float]:
    """A step of SGD on the cross-entropy of a linear layer, written out: the parameters and the loss before it."""
    shares = _softmax(x @ kernel + bias)
    loss = -np.log(shares[np.arange(len(y)), y]).mean()
    above = (shares - np.eye(2)[y]) / len(y)
    return kernel - _RATE * x.T @ above, bias - _RATE * above.sum(0), float(loss)


def _epochs(model: nn.Module, count: int) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Result of training, computed in NumPy: the parameters, and the mean loss of each epoch."""
    state, means = model.state_dict(), []
    kernel, bias = state["kernel:0"].astype("float64"), state["bias:0"].astype("float64")
    for epoch in range(count):
        losses = []
        for x, y in Loader(ArrayDataset(_X, _Y), 8, shuffle=True, seed=1).epoch(epoch):
            kernel, bias, loss = _step(kernel, bias, x, y)
            losses.append(loss)
        means.append(float(np.mean(losses)))
    return kernel, bias, means


@row(
    "6.2.3.2 a)",
    "Data, model and optimizer are joined",
    "two epochs against the formulas in NumPy, eager and in the mode of the framework",
)
def combine():
    for compiled in (False, None):
        model = _model()
        kernel, bias, means = _epochs(model, 2)
        history = standard.train(standard.construct_trainer(model, _config(compiled=compiled)))
        close(history["loss"], means)
        close(model.state_dict()["kernel:0"], kernel)
        close(model.state_dict()["bias:0"], bias)


class _Own(train.Trainer):
    """A trainer that overrides pre- and post-processing."""

    def preprocess(self, batch):
        x, y = batch
        return 2 * x, y

    def postprocess(self, output):
        return output + 1


@row(
    "6.2.3.2 b)",
    "A subclass changes what is before and behind the model",
    "preprocess and postprocess of a Trainer overridden: loss and metric against NumPy",
)
def subclass():
    model = nn.Linear(1).build((None, 4), seed=0)
    state, y = model.state_dict(), _X[:, :1]
    trainer = _Own(model, "mean_squared_error", "sgd", ["mean_absolute_error"], compiled=False)
    values = trainer.train_one_batch(_X, y)
    output = 2 * _X @ state["kernel:0"] + state["bias:0"]
    close(values["loss"], np.square(output - y).mean())
    close(values["mean_absolute_error"], np.abs(output + 1 - y).mean())


@row("6.2.3.2 c)", "Training with evaluation", "accuracy over the val_dataset after each epoch, against NumPy")
def evaluation():
    model = _model()
    history = standard.train(standard.construct_trainer(model, _config(val_dataset=(_X, _Y), metrics=["accuracy"])))
    state = model.state_dict()
    right = (_X @ state["kernel:0"] + state["bias:0"]).argmax(1) == _Y
    holds(len(history["val_accuracy"]) == 2, "each epoch is evaluated")
    close(history["val_accuracy"][-1], right.mean())


@row("6.2.3.2 d)", "A model is written to files and comes back", "save and load, outputs compared")
def serialization():
    model = nn.Sequential(nn.Linear(3), nn.Tanh()).build((None, 4), seed=0)
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "net")
        again = load(Path(folder) / "net")
    close(again(standard.initialize(_X)), array(model(standard.initialize(_X))), rtol=1e-6)


@row("6.2.3.2 e)", "Further steps before and after", "forward hooks that change what goes in and comes out")
def further_steps():
    model = _model()
    plain = array(model(standard.initialize(_X)))
    state = model.state_dict()
    model.register_forward_hook(lambda module, inputs: (inputs[0] * 2.0,), before=True)
    model.register_forward_hook(lambda module, inputs, output: output + 1.0)
    close(model(standard.initialize(_X)), 2 * (plain - state["bias:0"]) + state["bias:0"] + 1, rtol=1e-3)


@row(
    "B.4.1, table B.9",
    "A trainer from optimizer, train_dataset, epochs, val_dataset, metrics, loss, output_dir",
    "each of them in use; wrong settings; what is no model",
    interface="construct_trainer",
)
def construct_trainer():
    model = _model()
    with tempfile.TemporaryDirectory() as folder:
        config = _config(
            val_dataset=(_X, _Y), metrics=["accuracy"], loss="cross_entropy", output_dir=str(Path(folder) / "run")
        )
        trainer = standard.construct_trainer(model, config)
        standard.train(trainer)
        written = load_parameters(Path(folder) / "run" / "parameters.npz")
        equal_states(written, model.state_dict())
        holds((Path(folder) / "run" / "events.jsonl").exists(), "output_dir receives the recording")
    holds(isinstance(trainer, train.Trainer), "a Trainer comes back")
    optimizer = standard.construct_optimizer(model, {"optimizer_method": "Adam", "base_learningrate": 0.25})
    for given in ("Adam", train.Adam(0.25), optimizer):
        holds(
            standard.construct_trainer(model, {"optimizer": given}).optimizer.kind == "adam",
            f"optimizer={given!r} is taken",
        )
    for wrong, word in (
        ({"optimizers": "adam"}, "optimizers"),  # no such setting
        ({"epochs": 0}, "epochs"),
        ({"loss": "guess"}, "guess"),
        ({"metrics": ["luck"]}, "luck"),
        ({"optimizer": {"optimizer_method": "newton"}}, "newton"),
        (3, "int"),
        ({"optimizer": {"optimizer_method": "SGD", "base_learningrate": -1.0}}, "learning_rate"),
    ):
        with raises(ConfigError, word):
            standard.construct_trainer(model, wrong)  # type: ignore[arg-type]
    for wrong in (len, nn.Module()):
        with raises(ModelError):
            standard.construct_trainer(wrong, {})  # type: ignore[arg-type]


def _diverging_trainers(trainer_config: dict[str, Any]):
    """Trainers with gradients, and with an update, that are not finite."""
    spoilt = _X.copy()
    spoilt[0] = np.nan
    return (
        standard.construct_trainer(_model(), _config(train_dataset=(spoilt, _Y), **trainer_config)),
        standard.construct_trainer(
            nn.Linear(1).build((None, 4), seed=0),
            _config(
                train_dataset=(_X * 1e9, _X[:, :1]),
                loss="mean_absolute_error",
                **trainer_config,
                optimizer={"optimizer_method": "SGD", "base_learningrate": 3e38},
            ),
        ),
    )


@row(
    "B.4.2, table B.10",
    "A batch with the keys X and Y: one update, and the loss as a number",
    "against NumPy; arrays and tensors; NaN in the data, an update to infinity, keys missing",
    interface="train_one_batch",
)
def train_one_batch():
    model = _model()
    state = model.state_dict()
    trainer = standard.construct_trainer(model, _config())
    kernel, bias, loss = _step(state["kernel:0"], state["bias:0"], _X[:8], _Y[:8])
    found = standard.train_one_batch(trainer, {"X": _X[:8], "Y": _Y[:8]})
    holds(isinstance(found, float), f"the loss is a number, received {type(found).__name__}")
    close(found, loss)
    close(model.state_dict()["kernel:0"], kernel)
    close(model.state_dict()["bias:0"], bias)
    close(
        standard.train_one_batch(trainer, {"X": standard.initialize(_X[:8]), "Y": standard.initialize(_Y[:8])}),
        _step(kernel, bias, _X[:8], _Y[:8])[2],
    )
    gradient, update = _diverging_trainers({})
    with raises(GradientError):
        standard.train_one_batch(gradient, dict(zip("XY", gradient.settings.train_dataset[:8], strict=True)))
    with raises(UpdateError, "kernel:0"):
        standard.train_one_batch(update, dict(zip("XY", update.settings.train_dataset[:8], strict=True)))
    with raises(ConfigError, "Y"):
        standard.train_one_batch(trainer, {"X": _X})


@row(
    "B.4.3, table B.11",
    "An epoch by its number, and its loss",
    "two epochs against NumPy and against train; a gradient and an update that are not finite, a wrong number",
    interface="train_one_epoch",
)
def train_one_epoch():
    model = _model()
    kernel, _, means = _epochs(model, 2)
    trainer = standard.construct_trainer(model, _config())
    found = [standard.train_one_epoch(trainer, epoch) for epoch in (0, 1)]
    holds(all(isinstance(value, float) for value in found), "the losses are numbers")
    close(found, means)
    close(model.state_dict()["kernel:0"], kernel)
    gradient, update = _diverging_trainers({"shuffle": False})
    with raises(GradientError):
        standard.train_one_epoch(gradient, 0)
    with raises(UpdateError):
        standard.train_one_epoch(update, 0)
    with raises(ConfigError, "epoch"):
        standard.train_one_epoch(trainer, -1)


@row(
    "B.4.4",
    "All epochs, with evaluation and saving",
    "against train_one_epoch, and its schedule against the formula; a gradient and an update that are not finite, no data",
    interface="train",
)
def train_all():
    one, other = _model(), _model()
    config = _config(schedule="cosine_decay", metrics=["accuracy"])
    history = standard.train(standard.construct_trainer(one, config))
    trainer = standard.construct_trainer(other, config)
    losses = [standard.train_one_epoch(trainer, 0)]
    close(trainer.learning_rate, _RATE / 2 * (1 + np.cos(np.pi * 2 / 6)))  # that of the third of six steps
    close(history["loss"], [*losses, standard.train_one_epoch(trainer, 1)])
    close_states(other.state_dict(), one.state_dict())
    gradient, update = _diverging_trainers({"shuffle": False})
    with raises(GradientError):
        standard.train(gradient)
    with raises(UpdateError):
        standard.train(update)
    with raises(ConfigError, "train_dataset"):
        standard.train(standard.construct_trainer(_model(), {}))
