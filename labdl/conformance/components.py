"""The draft's 5 d), 6.3 and 6.4: layers, losses, initial values, optimizers, metrics, and modules that change."""

from __future__ import annotations

import numpy as np

from labdl import nn, standard, train
from labdl.conformance.row import Missing, array, close, equal, holds, row, there
from labdl.nn.schema import LAYERS

_LAYERS = [
    ("convolution", "Conv1d Conv2d Conv3d ConvTranspose2d DepthwiseConv2d SeparableConv2d"),
    ("pooling", "MaxPool2d AvgPool2d AdaptiveAvgPool2d GlobalAvgPool"),
    ("fully connected", "Linear"),
    ("recurrence", "RNN LSTM GRU"),
    ("normalization", "BatchNorm LayerNorm GroupNorm"),
    ("attention", "MultiHeadAttention TransformerEncoderLayer"),
    ("activation", "ReLU Tanh Softmax"),
]


def _tensors(arrays) -> list:
    return [standard.initialize(a) for a in arrays]


def try_layers(names: str) -> None:
    """Compare each layer's example on this framework with NumPy, in evaluation mode and with the same seed."""
    for name in names.split():
        example = there(nn, name).layer_example
        rng = np.random.default_rng(0)
        arrays = [sample.draw(rng) for sample in example.inputs]
        results = []
        for backend, given in ((None, _tensors(arrays)), ("numpy", arrays)):
            layer = LAYERS[name](**example.params).build(*(a.shape for a in arrays), backend=backend, seed=1).eval()
            found = layer(*given)
            results.append(list(found) if isinstance(found, tuple) else [found])
        for ours, reference in zip(*results, strict=True):
            close(ours, reference, rtol=1e-3)


for _kind, _names in _LAYERS:
    row("draft 6.4.2", f"Layers of {_kind}: {_names.replace(' ', ', ')}", "their examples against NumPy", name=_kind)(
        lambda names=_names: try_layers(names)
    )

_LOGITS = np.random.default_rng(0).standard_normal((6, 3)).astype("float32")
_CLASSES = np.array([0, 1, 2, 2, 1, 0])


@row("draft 6.4.2", "Losses: cross-entropy, mean squared error", "against NumPy")
def losses():
    shares = np.exp(_LOGITS) / np.exp(_LOGITS).sum(1, keepdims=True)
    close(LAYERS["CrossEntropyLoss"]()(*_tensors([_LOGITS, _CLASSES])), -np.log(shares[np.arange(6), _CLASSES]).mean())
    other = _LOGITS[::-1].copy()
    close(LAYERS["MeanSquaredErrorLoss"]()(*_tensors([_LOGITS, other])), np.square(_LOGITS - other).mean())


@row("draft 6.4.2", "Initial values: normal and truncated normal", "mean, deviation and range of 40,000 weights")
def initial_values():
    for name, bound in (("normal(std=0.5)", None), ("truncated_normal(std=0.5)", 1.0)):
        values = array(nn.Linear(200, kernel_init=name).build((None, 200), seed=0).get_parameter("kernel:0").value)
        holds(abs(values.mean()) < 0.02, f"{name} has the mean 0, received {values.mean():.3f}")
        if bound is None:
            close(values.std(), 0.5, rtol=0.05)
        else:
            holds(abs(values).max() <= bound + 1e-6, f"{name} stays within {bound}")


@row(
    "draft 6.3.3",
    "Layers are added, removed and replaced, and unbuilt ones are found",
    "add_module, remove_module, unbuilt",
)
def changing_layers():
    model = nn.Sequential(nn.Linear(4), nn.ReLU()).build((None, 3))
    model.add_module("2", nn.Linear(2))
    holds("2" in model.unbuilt, f"the new layer waits to be built, said is {model.unbuilt}")
    x = _tensors([np.ones((5, 3), "float32")])[0]
    holds(array(model(x)).shape == (5, 2), "the new layer computes")
    model.remove_module("2")
    holds(array(model(x)).shape == (5, 4), "the removed layer does not")


@row("draft 6.3.3", "Parameters are switched between learning and resting", "freeze while a trainer trains")
def switching_parameters():
    model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), seed=0)
    trainer = standard.construct_trainer(model, {"optimizer": "sgd", "compiled": False})
    batch = {"X": np.ones((4, 3), "float32"), "Y": np.array([0, 1, 1, 1])}
    model.freeze("0/*")
    before = model.state_dict()
    standard.train_one_batch(trainer, batch)
    equal(model.state_dict()["0/kernel:0"], before["0/kernel:0"])
    holds(not np.array_equal(model.state_dict()["1/kernel:0"], before["1/kernel:0"]), "the other layer learns")
    model.unfreeze("0/*")
    standard.train_one_batch(trainer, batch)
    holds(not np.array_equal(model.state_dict()["0/kernel:0"], before["0/kernel:0"]), "the layer learns again")


@row(
    "draft 6.3.5",
    "Losses and gradients of each batch can be read",
    "the loss of a batch, then gradients after backward, against NumPy",
)
def reading_gradients():
    model = nn.Linear(2).build((None, 3), seed=0)
    x, state = np.ones((4, 3), "float32"), model.state_dict()
    trainer = standard.construct_trainer(model, {"loss": "mean_squared_error", "optimizer": "sgd", "compiled": False})
    loss = standard.train_one_batch(trainer, {"X": x, "Y": np.zeros((4, 2), "float32")})
    close(loss, np.square(x @ state["kernel:0"] + state["bias:0"]).mean())
    standard.forward(model.train(), (standard.initialize(x),))
    standard.backward(model, standard.initialize(np.ones((4, 2), "float32")))
    close(model.get_parameter("kernel:0").gradient, x.T @ np.ones((4, 2)))


def try_names(names: str, known, what: str) -> None:
    missing = [name for name in names.split() if name not in known]
    if missing:
        raise Missing(f"there is no {what} {', '.join(missing)}")


@row(
    "draft 5 d)",
    "Optimizers: SGD, Momentum, Nesterov, Adagrad, RMSprop, Adadelta, Adam, AdamW, NAdam, LAMB",
    "each makes a loss smaller",
)
def all_optimizers():
    names = "sgd momentum nesterov adagrad rmsprop adadelta adam adamw nadam lamb"
    try_names(names, train.OPTIMIZERS, "optimizer")
    for name in names.split():
        model = nn.Linear(3).build((None, 3), seed=0)
        trainer = standard.construct_trainer(model, {"optimizer": name, "compiled": False})
        found = [standard.train_one_batch(trainer, {"X": _LOGITS, "Y": _CLASSES}) for _ in range(3)]
        holds(found[-1] < found[0], f"{name} makes the loss smaller, it went from {found[0]:.4f} to {found[-1]:.4f}")


@row(
    "6.2.3.2 c)",
    "Metrics of an evaluation: accuracy, precision, recall, F1",
    "their means over classes, against counts in NumPy",
)
def metrics():
    predicted, target = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 1])
    right = np.array([((predicted == c) & (target == c)).sum() for c in (0, 1)])
    precision, recall = (right / np.bincount(labels) for labels in (predicted, target))
    expected = {
        "accuracy": 0.8,
        "precision": precision.mean(),
        "recall": recall.mean(),
        "f1": (2 * precision * recall / (precision + recall)).mean(),
    }
    try_names(" ".join(expected), train.METRICS, "metric")
    close([train.METRICS[name]()(np.eye(2)[predicted], target) for name in expected], list(expected.values()))
