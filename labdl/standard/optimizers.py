"""Annex B.3: optimizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labdl import dispatch
from labdl.errors import ConfigError, GradientError, ModelError, UpdateError
from labdl.nn import Module
from labdl.standard import validation
from labdl.standard.modules import check_model
from labdl.train import OPTIMIZERS, BoundOptimizer
from labdl.train import Optimizer as Rule
from labdl.train import optimizer as find_optimizer

_RATE = "base_learningrate"


def rule(config: Any, name: str = "optimizer_config") -> Rule:
    """The optimizer of an optimizer_config. Raises ConfigError for unknown names and invalid values."""
    config = {
        key: value
        for key, value in validation.read(config, name, needed=("optimizer_method",)).items()
        if value is not None
    }
    method = config.pop("optimizer_method", None)
    rate = _RATE in config
    if rate:
        if "learning_rate" in config or "lr" in config:
            raise ConfigError(f"{name}: {_RATE} is the learning_rate: give one of them")
        config["learning_rate"] = config.pop(_RATE)
    found = method.lower() if isinstance(method, str) else ""
    if found not in OPTIMIZERS:
        raise ConfigError(f"{name}: optimizer_method wants one of {', '.join(OPTIMIZERS)}, received {method!r}")
    try:
        return find_optimizer(found, **config)
    except ConfigError as error:
        if not rate or "learning_rate" not in str(error):
            raise
        raise ConfigError(f"{name}: {_RATE}: {error}") from None


class Optimizer:
    """An optimizer bound to a model; created by `construct_optimizer`."""

    def __init__(self, model: Module, rule: Rule):
        learned = {name: p for name, p in model.named_parameters() if p.trainable}
        if not learned:
            raise ModelError(
                f"{type(model).__name__} has no trainable parameters: unfreeze some, or give it layers with weights"
            )
        known = [name for name, p in model.named_parameters() if p.learnable]
        self.model, self.bound = model, BoundOptimizer(rule, dispatch.get(model.backend), learned, known)
        if self.bound.has_schedules:
            raise ConfigError(
                "the schedule of a group needs the length of a training: use labdl.Trainer, or set learning_rate"
            )

    @property
    def rule(self) -> Rule:
        """The optimizer's settings, with the current learning rate."""
        return self.bound.rule.replace({"learning_rate": self.bound.learning_rate})

    @property
    def learning_rate(self) -> float:
        return self.bound.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self.bound.learning_rate = value

    def step(self, gradients: Mapping[str, Any] | Sequence[Any] | None = None) -> Module:
        """Update the parameters of the model once, and return it (6.2.3.1 b).

        ``gradients`` are those accumulated by `labdl.standard.backward`, or native tensors by standard name or in the order
        of the parameters. A parameter without one is not updated. Raises GradientError if there are none or one is not
        finite, before any change, and UpdateError if the update made a parameter NaN or infinite.
        """
        bound = self.bound
        now = {name: p for name, p in self.model.named_parameters() if p.trainable}
        backend = dispatch.get(self.model.backend)
        if [id(p.value) for p in now.values()] != [
            id(v) for v in bound.variables
        ]:  # frozen, unfrozen, moved or replaced
            bound.rebind(now, backend)
        if gradients is None:
            gradients = {name: p.gradient for name, p in now.items()}
        named = dict(gradients if isinstance(gradients, Mapping) else zip(now, gradients, strict=True))
        there = {name: gradient for name, gradient in named.items() if gradient is not None}
        if not there:
            raise GradientError(
                "no parameter has a gradient: call forward and backward of the model in training mode first"
            )
        bad = backend.finite(list(there.values()))
        if bad is not None:
            raise GradientError(f"the gradient of {list(there)[bad]} is NaN or infinite: nothing was updated")
        bound.apply(named)
        bad = backend.finite(bound.variables)
        if bad is not None:
            raise UpdateError(f"the update made {bound.names[bad]} NaN or infinite: try a smaller learning rate")
        return self.model

    def zero_gradient(self) -> None:
        """Reset the gradients of the model."""
        self.model.zero_gradient()
        self.bound.zero_gradient()

    def state_dict(self) -> dict[str, Any]:
        return self.bound.state_dict()

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        self.bound.load_state_dict(values)


def construct_optimizer(model: Module, optimizer_config: Mapping[str, Any]) -> Optimizer:
    """An optimizer of a model, which is built (B.3.1, table B.6).

    ``optimizer_config`` has the ``optimizer_method``, such as "SGD", "Momentum" or "Adam" (capital or small letters), its
    ``base_learningrate``, and any setting of it: ``momentum``, ``weight_decay`` … A setting that is None is omitted.
    Raises ConfigError for unknown and invalid settings, ModelError for a model that is invalid, not built, or has no
    trainable parameters.
    """
    check_model(model, "construct_optimizer")._need_build()
    return Optimizer(model, rule(optimizer_config))


def update_learnable_parameter(model: Module, optimizer: Optimizer) -> Module:
    """Update the parameters of a model by the gradients accumulated by `backward` (B.3.2, table B.7).

    Returns the model, whose parameters have changed in place. Raises ModelError for a model that is not the optimizer's,
    GradientError if gradients are missing or not finite, UpdateError if an update gave NaN: see `Optimizer.step`.
    """
    return _of(model, optimizer, "update_learnable_parameter").step()


def zero_gradient(model: Module, optimizer: Optimizer) -> Module:
    """Reset the gradients of the learnable parameters of a model (B.3.3, table B.8).

    They are then None, as in PyTorch since version 2, which counts as 0 in later accumulation. Raises ModelError.
    """
    _of(model, optimizer, "zero_gradient").zero_gradient()
    return model


def _of(model: Module, optimizer: Optimizer, name: str) -> Optimizer:
    check_model(model, name)
    validation.check_instance(optimizer, Optimizer, name, "construct_optimizer")
    if optimizer.model is not model:
        raise ModelError(
            f"{name}: the optimizer belongs to another model, a {type(optimizer.model).__name__}: create one for "
            "this model"
        )
    return optimizer
