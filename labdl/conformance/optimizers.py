"""Clauses 6.2.3.1 and B.3: optimizers, against their formulas in NumPy."""

from __future__ import annotations

import numpy as np

from labdl import nn, standard
from labdl.conformance.modules import X, build_network, gradients
from labdl.conformance.row import close, close_states, equal, equal_states, holds, raises, row
from labdl.errors import ConfigError, GradientError, ModelError, UpdateError

_ABOVE = np.random.default_rng(1).standard_normal((5, 2)).astype("float32")


def _train(config: dict, steps: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Parameters of the network after some steps, and at the start."""
    model, state = build_network()
    optimizer = standard.construct_optimizer(model, config)
    for _ in range(steps):
        _with_gradients(model)
        standard.update_learnable_parameter(model, optimizer)
        standard.zero_gradient(model, optimizer)
    return model.state_dict(), state


def _with_gradients(model) -> None:
    standard.forward(model.train(), (standard.initialize(X),))
    standard.backward(model, standard.initialize(_ABOVE))


def _written_out(state: dict[str, np.ndarray], steps: int, update) -> dict[str, np.ndarray]:
    state = {name: value.astype("float64") for name, value in state.items()}
    memory: dict[str, dict[str, np.ndarray]] = {name: {} for name in state}
    for step in range(1, steps + 1):
        found = gradients(state, _ABOVE)[1]
        for name in state:
            state[name] = update(state[name], found[name], memory[name], step)
    return state


def _gradient_step(state: dict[str, np.ndarray], rate: float) -> dict[str, np.ndarray]:
    """Parameters after one step of gradient descent."""
    own = gradients(state, _ABOVE)[1]
    return {name: value - rate * own[name] for name, value in state.items()}


def _sgd(value, gradient, memory, step):
    return value - 0.1 * gradient


def _momentum(value, gradient, memory, step):
    memory["v"] = 0.9 * memory.get("v", 0.0) + gradient + 0.01 * value
    return value - 0.1 * memory["v"]


def _adam(value, gradient, memory, step):
    memory["m"] = 0.9 * memory.get("m", 0.0) + 0.1 * gradient
    memory["s"] = 0.999 * memory.get("s", 0.0) + 0.001 * gradient**2
    mean, square = memory["m"] / (1 - 0.9**step), memory["s"] / (1 - 0.999**step)
    return value - 0.1 * mean / (np.sqrt(square) + 1e-8)


_RULES = {
    "SGD": ({"optimizer_method": "SGD", "base_learningrate": 0.1}, _sgd),
    "Momentum": (
        {"optimizer_method": "Momentum", "base_learningrate": 0.1, "momentum": 0.9, "weight_decay": 0.01},
        _momentum,
    ),
    "Adam": ({"optimizer_method": "Adam", "base_learningrate": 0.1}, _adam),
}
for _name, (_config, _update) in _RULES.items():

    @row(
        "6.2.3.1", f"Parameters are updated by {_name}", "5 steps of a network against the formula in NumPy", name=_name
    )
    def _rule(config=_config, update=_update):
        actual, state = _train(config, 5)
        close_states(actual, _written_out(state, 5, update), rtol=1e-3, atol=1e-4)


@row(
    "6.2.3.1",
    "The learning rate is changed while training goes on",
    "learning_rate of an optimizer at work",
)
def learning_rate():
    model, state = build_network()
    optimizer = standard.construct_optimizer(model, _RULES["SGD"][0])
    optimizer.learning_rate = 0.5
    _with_gradients(model)
    optimizer.step()
    close_states(model.state_dict(), _gradient_step(state, 0.5))


@row(
    "6.2.3.1 a)",
    "A class made from a model and settings such as the learning rate",
    "construct_optimizer by names in capital and small letters",
)
def optimizer_class():
    model, _ = build_network()
    for name in ("adam", "RMSprop", "AdamW"):
        optimizer = standard.construct_optimizer(model, {"optimizer_method": name, "base_learningrate": 0.25})
        holds(
            optimizer.learning_rate == 0.25 and type(optimizer.rule).__name__.lower() == name.lower(), f"{name} is made"
        )


@row(
    "6.2.3.1 b)",
    "step() updates by the gradients it is given and gives the model with its new parameters",
    "step with gradients by name",
)
def step():
    model, state = build_network()
    optimizer = standard.construct_optimizer(model, _RULES["SGD"][0])
    found = optimizer.step({"first/bias:0": standard.initialize(np.ones(4, "float32"))})
    holds(found is model, "step gives the model")
    close(model.state_dict()["first/bias:0"], state["first/bias:0"] - 0.1)
    equal(model.state_dict()["first/kernel:0"], state["first/kernel:0"])


@row(
    "B.3.1, table B.6",
    "An optimizer from optimizer_method, base_learningrate, momentum, weight_decay",
    "its settings; wrong settings; no model, one that is not built, one without parameters",
    interface="construct_optimizer",
)
def construct_optimizer():
    model, _ = build_network()
    rule = standard.construct_optimizer(model, _RULES["Momentum"][0]).rule
    holds((rule.learning_rate, rule.momentum, rule.weight_decay) == (0.1, 0.9, 0.01), f"the settings are {rule}")  # type: ignore[attr-defined]
    for wrong, word in (
        ({}, "optimizer_method"),
        ({"optimizer_method": "newton"}, "newton"),
        ({"optimizer_method": "SGD", "base_learningrate": -1.0}, "learning_rate"),
        ({"optimizer_method": "SGD", "momentum": 2.0}, "momentum"),
        ({"optimizer_method": "SGD", "speed": 1}, "speed"),
        ("SGD", "str"),
    ):
        with raises(ConfigError, word):
            standard.construct_optimizer(model, wrong)  # type: ignore[arg-type]
    for wrong in (len, nn.Linear(3), nn.ReLU().build((None, 3)), nn.Module()):
        with raises(ModelError):
            standard.construct_optimizer(wrong, _RULES["SGD"][0])  # type: ignore[arg-type]


@row(
    "B.3.2, table B.7",
    "The learnable parameters are updated",
    "by gradients against NumPy; without gradients, with NaN, to infinity; another model",
    interface="update_learnable_parameter",
)
def update_learnable_parameter():
    model, state = build_network()
    optimizer = standard.construct_optimizer(model, _RULES["SGD"][0])
    with raises(GradientError, "no parameter has a gradient"):
        standard.update_learnable_parameter(model, optimizer)
    _with_gradients(model)
    holds(standard.update_learnable_parameter(model, optimizer) is model, "the model comes back")
    close_states(model.state_dict(), _gradient_step(state, 0.1))
    before = model.state_dict()
    model.get_parameter("second/bias:0").gradient = standard.initialize([np.nan, 0.0])
    with raises(GradientError, "second/bias:0"):
        standard.update_learnable_parameter(model, optimizer)
    equal_states(model.state_dict(), before)
    model.get_parameter("second/bias:0").gradient = standard.initialize([3e38, 0.0])
    optimizer.learning_rate = 1e30
    with raises(UpdateError, "second/bias:0"):
        standard.update_learnable_parameter(model, optimizer)
    with raises(ModelError, "another model"):
        standard.update_learnable_parameter(build_network()[0], optimizer)


@row(
    "B.3.3, table B.8",
    "The gradients of the learnable parameters are cleared",
    "gradients before and after; what is no model",
    interface="zero_gradient",
)
def zero_gradient():
    model, _ = build_network()
    optimizer = standard.construct_optimizer(model, _RULES["SGD"][0])
    _with_gradients(model)
    holds(all(p.gradient is not None for p in model.parameters()), "backward leaves gradients")
    holds(standard.zero_gradient(model, optimizer) is model, "the model comes back")
    holds(all(p.gradient is None for p in model.parameters()), "no gradient is left")
    with raises(ModelError):
        standard.zero_gradient(len, optimizer)  # type: ignore[arg-type]
