"""Annex A.2: modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labdl.errors import ModelError
from labdl.nn import Module, Parameter


def check_model(model: Any, name: str) -> Module:
    """Return the model. Raises ModelError, the standard's error of a model's definition, unless it is one with a forward."""
    if not isinstance(model, Module):
        raise ModelError(f"{name} wants a labdl.nn.Module, received {type(model).__name__}")
    if type(model).forward is Module.forward and "forward" not in model.__dict__:
        raise ModelError(f"{type(model).__name__} has no forward: write `def forward(self, x): ...`")
    return model


def forward(module: Module, input, **parameters):
    """One forward computation of a module (A.2.2.1, table A.5).

    ``input`` is a tuple of tensors or a dictionary by the names of the module's own forward, and a single tensor is a tuple
    of one; ``parameters`` are passed to the forward by name. It is differentiable by the backend and by `backward`.
    """
    check_model(module, "forward")
    if isinstance(input, Mapping):
        own = inspect.signature(type(module).forward)
        try:
            bound = own.bind(module, **input, **parameters)
        except TypeError as error:
            wanted = ", ".join(list(own.parameters)[1:])
            raise ModelError(f"{type(module).__name__}.forward takes {wanted}: {error}") from None
        return module(*bound.args[1:], **bound.kwargs)
    return module(*(input if isinstance(input, tuple) else (input,)), **parameters)


def get_parameters(module: Module) -> Iterator[Parameter]:
    """The trainable parameters of a module, each once (A.2.2.2, table A.6).

    Each has its tensor in ``value`` and the sum of gradients of `backward` in ``gradient``. Buffers and frozen parameters are
    not included.
    """
    return (p for p in check_model(module, "get_parameters").parameters() if p.trainable)


def get_modules(module: Module) -> Iterator[Module]:
    """The module itself and all submodules, each once (A.2.2.3, table A.7).

    The table says "modules with trainable parameters"; as in the text above it and in PyTorch, others are included.
    """
    return check_model(module, "get_modules").modules()


def load_state_dict(module: Module, state_dict: Mapping[str, Any]) -> None:
    """Load the state of a module, its parameters and buffers (A.2.2.4, table A.8).

    Raises StateDictError, the standard's error of keys, when names or shapes are not all those of the module; then
    nothing was changed. `Module.state_dict` gives the state.
    """
    check_model(module, "load_state_dict").load_state_dict(state_dict)


def backward(module: Module, grad_input):
    """Gradients of the last forward of a module (A.2.2.5, table A.9).

    ``grad_input`` is the gradient of the module's output. The result (grad_output) is the gradient of its input; in training
    mode the gradients of the parameters are accumulated as well. Table A.9 swaps the two names, which contradicts the chain
    rule. Raises GradientError for a gradient of another shape.
    """
    return check_model(module, "backward").backward(grad_input)


def register_backward_function(module: Module, function: Callable) -> Callable:
    """Use ``function(grad_input, *inputs)`` as the backward of a module, in training as well (A.2.2.5).

    The standard gives no table; it returns the gradients of the inputs and, after them, may return a dictionary of those of the
    parameters by standard name, as `Module.register_backward_function` says.
    """
    return check_model(module, "register_backward_function").register_backward_function(function)
