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
    "the first step of each by a gradient that is known, against its closed form in float64",
)
def all_optimizers():
    try_names(" ".join(_FIRST_STEPS), train.OPTIMIZERS, "optimizer")
    for name, change in _FIRST_STEPS.items():
        model = nn.Linear(3).build((None, 3), seed=0)
        start = model.state_dict()["kernel:0"].astype("float64")
        optimizer = standard.construct_optimizer(model, {"optimizer_method": name, "base_learningrate": _RATE})
        optimizer.step({"kernel:0": standard.initialize(_GRADIENT)})
        expected = start - _RATE * change(start, _GRADIENT.astype("float64"))
        close(model.state_dict()["kernel:0"], expected, rtol=0, atol=1e-6)


_RATE = 0.1
_HALF = np.random.default_rng(2).standard_normal((3, 3)).astype("float32")
_GRADIENT = _HALF + _HALF.T  # symmetric: frameworks store kernels in two layouts


def _nadam(p, g):
    """The step of NAdam (Dozat, 2016) as in torch.optim.NAdam: the momentum of this step and of the next one."""
    now, following = (0.9 * (1 - 0.5 * 0.96 ** (step * 0.004)) for step in (1, 2))
    return ((1 - now) * g / (1 - now) + following * 0.1 * g / (1 - now * following)) / (abs(g) + 1e-8)


def _lamb(p, g):
    step = g / (abs(g) + 1e-6) + 0.01 * p
    return step * np.linalg.norm(p) / np.linalg.norm(step)


# the change of a parameter for a learning rate of 1, by the first step with the default settings
_FIRST_STEPS = {
    "sgd": lambda p, g: g,
    "momentum": lambda p, g: g,
    "nesterov": lambda p, g: 1.9 * g,
    "adagrad": lambda p, g: g / (abs(g) + 1e-10),
    "rmsprop": lambda p, g: g / (np.sqrt(0.01 * g**2) + 1e-8),
    "adadelta": lambda p, g: g * np.sqrt(1e-6) / np.sqrt(0.1 * g**2 + 1e-6),
    "adam": lambda p, g: g / (abs(g) + 1e-8),
    "adamw": lambda p, g: g / (abs(g) + 1e-8) + 0.01 * p,
    "nadam": _nadam,
    "lamb": _lamb,
}


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
