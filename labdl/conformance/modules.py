"""Clauses 6.2.1.2 a) to f) and A.2: modules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labdl import nn, ops, standard
from labdl.conformance.row import array, close, close_states, equal_states, holds, raises, row
from labdl.errors import ModelError, StateDictError


class Net(nn.Module):
    """Two linear layers: (tanh(x · A + a) · B + b) times a factor."""

    def __init__(self, outputs: int = 2):
        self.first = nn.Linear(4)
        self.second = nn.Linear(outputs)

    def forward(self, x, factor=1.0):
        return self.second(ops.tanh(self.first(x))) * factor


X = np.random.default_rng(0).standard_normal((5, 3)).astype("float32")


def build_network(outputs: int = 2) -> tuple[Net, dict[str, np.ndarray]]:
    """Build the network from a seed; returns it and its parameters."""
    model = Net(outputs)
    model.build(X.shape, seed=0)
    return model, model.state_dict()


def compute_outputs(state: dict[str, np.ndarray], x: np.ndarray = X) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of the network, computed in NumPy, and the values between the layers."""
    hidden = np.tanh(x @ state["first/kernel:0"] + state["first/bias:0"])
    return hidden @ state["second/kernel:0"] + state["second/bias:0"], hidden


def gradients(state: dict[str, np.ndarray], above: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Gradients of the input and of the parameters, computed in NumPy."""
    hidden = compute_outputs(state)[1]
    inner = above @ state["second/kernel:0"].T * (1 - hidden**2)
    return inner @ state["first/kernel:0"].T, {
        "first/kernel:0": X.T @ inner,
        "first/bias:0": inner.sum(0),
        "second/kernel:0": hidden.T @ above,
        "second/bias:0": above.sum(0),
    }


@row("6.2.1.2 a)", "Forward: outputs from inputs", "a network of two layers against NumPy")
def forward_of_a_model():
    model, state = build_network()
    close(model(standard.initialize(X)), compute_outputs(state)[0])


@row(
    "6.2.1.2 b)",
    "Backward: gradients of input and weights from that of the output",
    "the same network against the chain rule in NumPy",
)
def backward_of_a_model():
    model, state = build_network()
    above = np.random.default_rng(1).standard_normal((5, 2)).astype("float32")
    model.train()(standard.initialize(X))
    inner, own = gradients(state, above)
    close(model.backward(standard.initialize(above)), inner)
    close_states({name: parameter.gradient for name, parameter in model.named_parameters()}, own)


@row("6.2.1.2 c)", "The trainable parameters, which are the weights", "named_parameters with a frozen part")
def trainable_parameters():
    model, _ = build_network()
    model.freeze("first/*")
    names = [name for name, p in model.named_parameters() if p.trainable]
    holds(names == ["second/kernel:0", "second/bias:0"], f"the trainable parameters are {names}")


def _trainer(seed: int):
    rng = np.random.default_rng(2)
    data = (rng.standard_normal((12, 3)).astype("float32"), rng.integers(0, 2, 12))
    model = Net().build((None, 3), seed=seed)
    return standard.construct_trainer(
        model, {"optimizer": "adam", "train_dataset": data, "seed": 0, "compiled": False, "batch_size": 4}
    )


@row("6.2.1.2 d)", "The state of a training can be had", "parameters, slots and steps in Trainer.state_dict")
def training_state():
    trainer = _trainer(0)
    standard.train_one_epoch(trainer, 0)
    state = trainer.state_dict()
    holds(set(state["parameters"]) == set(trainer.model.state_dict()), "the state has all parameters")
    holds(int(state["optimizer"]["step"]) == 3, f"3 steps were made, the state says {state['optimizer']['step']}")
    holds("first/kernel:0/mean" in state["optimizer"], "the state has what the optimizer remembers")


@row(
    "6.2.1.2 e)",
    "A training goes on from a state",
    "interrupted after an epoch and gone on with, against one that was not",
)
def training_goes_on():
    whole, first, second = _trainer(0), _trainer(0), _trainer(5)
    for epoch in (0, 1):
        standard.train_one_epoch(whole, epoch)
    standard.train_one_epoch(first, 0)
    second.load_state_dict(first.state_dict())
    standard.train_one_epoch(second, 1)
    equal_states(second.model.state_dict(), whole.model.state_dict())


@row("6.2.1.2 f)", "A sub-module by its name", "get_module; a name that there is none of")
def submodule():
    model, _ = build_network()
    holds(model.get_module("second") is model.second, "the name gives the layer")
    with raises(ModelError, "third"):
        model.get_module("third")


@row(
    "A.2.2.1, table A.5",
    "A forward computation from a tuple or a dictionary",
    "both, further parameters; a wrong name, no forward",
    interface="forward",
)
def forward():
    model, state = build_network()
    x, expected = standard.initialize(X), compute_outputs(state)[0]
    close(standard.forward(model, (x,)), expected)
    close(standard.forward(model, {"x": x}), expected)
    close(standard.forward(model, (x,), factor=2.0), 2 * expected)
    with raises(ModelError, "takes x, factor"):
        standard.forward(model, {"z": x})
    with raises(ModelError, "no forward"):
        standard.forward(nn.Module(), (x,))
    with raises(ModelError):
        standard.forward(len, (x,))  # type: ignore[arg-type]


@row(
    "A.2.2.2, table A.6",
    "An iterator over the trainable parameters",
    "each once, without buffers and frozen ones",
    interface="get_parameters",
)
def get_parameters():
    model = nn.Sequential(nn.Linear(3), nn.BatchNorm()).build((None, 2))
    found = standard.get_parameters(model)
    holds(isinstance(found, Iterator), "an iterator comes back")
    holds(
        sorted(array(p.value).shape for p in found) == [(2, 3), (3,), (3,), (3,)],
        "kernel, bias, gamma and beta are learned",
    )
    model.freeze("0/*")
    holds(len(list(standard.get_parameters(model))) == 2, "frozen parameters are not given")


@row(
    "A.2.2.3, table A.7",
    "An iterator over a module and its sub-modules, each once",
    "a model that uses a layer twice",
    interface="get_modules",
)
def get_modules():
    shared = nn.Linear(3)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    found = standard.get_modules(model)
    holds(isinstance(found, Iterator), "an iterator comes back")
    found = list(found)
    holds(
        found[0] is model and sum(m is shared for m in found) == 1 and len(found) == 3,
        "model, layer and activation, each once",
    )


@row(
    "A.2.2.4, table A.8",
    "Parameters and buffers from a dictionary",
    "a network with running statistics; names missing, unexpected, of another shape",
    interface="load_state_dict",
)
def load_state_dict():
    one, other = (nn.Sequential(nn.Linear(3), nn.BatchNorm()).build((None, 2), seed=n) for n in (0, 1))
    one.train()(standard.initialize(X[:, :2]))
    standard.load_state_dict(other, one.state_dict())
    equal_states(other.state_dict(), one.state_dict())
    state, before = one.state_dict(), other.state_dict()
    for change, word in (
        ({"0/kernel:0": None}, "missing 0/kernel:0"),
        ({"more:0": np.zeros(1)}, "unexpected more:0"),
        ({"0/kernel:0": np.zeros((9, 9))}, "shape"),
    ):
        wrong = {k: v for k, v in ({n: v + 1 for n, v in state.items()} | change).items() if v is not None}
        with raises(StateDictError, word):
            standard.load_state_dict(other, wrong)
    equal_states(other.state_dict(), before)


@row(
    "A.2.2.5, table A.9",
    "A backward computation, made from the forward",
    "against the chain rule; in evaluation; adding up",
    interface="backward",
)
def backward():
    model, state = build_network()
    above = np.random.default_rng(1).standard_normal((5, 2)).astype("float32")
    inner, own = gradients(state, above)
    standard.forward(model.eval(), (standard.initialize(X),))
    close(standard.backward(model, standard.initialize(above)), inner)
    holds(all(p.gradient is None for p in model.parameters()), "in evaluation the parameters get no gradients")
    model.train()
    for _ in range(2):
        standard.backward(model, standard.initialize(above))
    close_states({name: p.gradient for name, p in model.named_parameters()}, {name: 2 * g for name, g in own.items()})


@row(
    "A.2.2.5",
    "A backward that is written by hand",
    "a gradient of our own for a layer inside of a model",
    interface="register_backward_function",
)
def register_backward_function():
    model, state = build_network()
    standard.register_backward_function(model.second, lambda gradient, x: ops.ones_like(x) * 2.0)
    standard.forward(model.train(), (standard.initialize(X),))
    found = standard.backward(model, standard.initialize(np.ones((5, 2), "float32")))
    hidden = compute_outputs(state)[1]
    close(found, 2 * (1 - hidden**2) @ state["first/kernel:0"].T)
