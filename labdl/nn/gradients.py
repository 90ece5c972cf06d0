"""Gradients of one module: `Module.backward` and user-defined backward functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from labdl import dispatch, ops
from labdl.errors import GradientError, ModelError
from labdl.nn.hooks import Hooks, set_forward
from labdl.spec import Spec, show

if TYPE_CHECKING:
    from labdl.nn.module import Module


def backward(module: Module, gradient, inputs: tuple):
    """See `Module.backward`. The forward runs again with new dropout masks; running statistics are restored."""
    inputs, options = (inputs, {}) if inputs else module.__dict__.get("_called", ((), {}))
    if not inputs:
        raise ModelError(
            f"{type(module).__name__}.backward wants a forward call before it, or the inputs: backward(gradient, x)"
        )
    backend = dispatch.get(module.backend)
    inputs = tuple(
        backend.tensor(v) if v is not None and dispatch.owner(v).name == "numpy" != backend.name else v for v in inputs
    )
    moving = [i for i, v in enumerate(inputs) if v is not None and "float" in backend.spec_of(v).dtype]
    learned = [p for p in module.parameters() if p.trainable] if module.training else []
    buffers = [(p, backend.to_numpy(p.value).copy()) for p in module.parameters() if not p.learnable]

    def weighted_sum(*values):
        given = list(inputs)
        for at, value in zip(moving, values, strict=False):
            given[at] = value
        outputs = module(*given, **options)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        given = gradient if isinstance(gradient, tuple) else (gradient,) * (1 if gradient is not None else len(outputs))
        _check(module, outputs, given, backend)
        parts = [ops.sum(o if g is None else ops.multiply(o, g)) for o, g in zip(outputs, given, strict=True)]
        return sum(parts[1:], parts[0])

    _, found = backend.gradients(weighted_sum, [*(inputs[i] for i in moving), *(p.value for p in learned)])
    for parameter, value in zip(learned, found[len(moving) :], strict=True):
        parameter.gradient = value if parameter.gradient is None else ops.add(parameter.gradient, value)
    for parameter, value in buffers:
        backend.assign(parameter.value, value)
    results: list = [None] * len(inputs)
    for at, value in zip(moving, found, strict=False):
        results[at] = value
    return results[0] if len(results) == 1 else tuple(results)


def _check(module, outputs, given, backend) -> None:
    wanted = [tuple(o.shape) for o in outputs]
    received = [w if g is None else tuple(g.shape) for g, w in zip(given, wanted, strict=False)]
    if len(given) != len(outputs) or received != wanted:
        raise GradientError(
            f"{type(module).__name__}.backward wants gradients of shape {' and '.join(map(show, wanted))}, "
            f"received {' and '.join(show(tuple(g.shape)) for g in given if g is not None)}"
        )


def replace(module: Module, function: Callable) -> None:
    """See `Module.register_backward_function`."""
    former = module.__dict__.get("forward")
    hooks = former if isinstance(former, Hooks) else None  # hooks stay around it: they see what goes in and comes out
    custom = _CustomBackward(module, hooks.forward if hooks else module.forward, function)
    if hooks:
        hooks.replace_forward(custom)
    else:
        set_forward(module, custom)


class _CustomBackward:
    """Replaces the forward of a module whose backward function the user has defined."""

    def __init__(self, module: Module, forward: Callable, function: Callable):
        self.module, self.function = module, function
        self.original = forward.original if isinstance(forward, _CustomBackward) else forward

    def __call__(self, *inputs, **options):
        if any(isinstance(v, Spec) for v in (*inputs, *options.values())):
            return self.original(*inputs, **options)
        inputs, arguments = self._arrange(inputs, options)
        at = [i for i, v in enumerate(inputs) if dispatch.owner_of_type(type(v)) is not None]
        # every parameter is an input of the differentiable function, under its name for the dictionary of gradients
        places = [(m, name, p) for m in self.module.modules() for name, p in m._parameters.items() if p.trainable]
        values = [p.value for _, _, p in places]
        names = {id(p): key for key, p in self.module.named_parameters()}
        keys, count = [names[id(p)] for _, _, p in places], len(at)
        backend = dispatch.owner(*inputs)

        def fill(tensors):
            whole = list(inputs)
            for place, tensor in zip(at, tensors, strict=False):
                whole[place] = tensor
            return whole

        def forward(*tensors):
            saved = [m.__dict__[name] for m, name, _ in places]
            for (m, name, _), value in zip(places, tensors[count:], strict=True):
                m.__dict__[name] = value
            try:
                return arguments(fill(tensors))
            finally:
                for (m, name, _), value in zip(places, saved, strict=True):
                    m.__dict__[name] = value

        def pull(gradients, tensors):
            found = self.function(gradients if len(gradients) > 1 else gradients[0], *fill(tensors[:count]))
            found = list(found) if isinstance(found, tuple | list) else [found]
            own = found.pop() if found and isinstance(found[-1], dict) else {}
            unknown = [key for key in own if key not in keys]
            if len(found) != len(inputs) or unknown:
                kind, more = (
                    type(self.module).__name__,
                    f" and {unknown[0]!r}, which is not a parameter" if unknown else "",
                )
                raise GradientError(
                    f"the backward function of {kind} gives {len(found)} gradient(s) for {len(inputs)} input(s){more}"
                )
            found = [*(found[place] for place in at), *(own.get(key) for key in keys)]
            return tuple(
                None if gradient is None else self._convert(backend, gradient, tensor, key)
                for gradient, tensor, key in zip(found, tensors, [None] * count + keys, strict=True)
            )

        return backend.with_gradient(forward, pull)(*(inputs[place] for place in at), *values)

    def _arrange(self, inputs: tuple, options: dict):
        """All inputs in the order of the forward's arguments, and the forward as a function of a list of them."""
        named = [name for name, v in options.items() if dispatch.owner_of_type(type(v)) is not None]
        if len(named) > 1:
            order = list(inspect.signature(self.original).parameters)
            named.sort(key=lambda name: order.index(name) if name in order else len(order))
        settings, first = {k: v for k, v in options.items() if k not in named}, len(inputs)

        def call(values):
            return self.original(*values[:first], **dict(zip(named, values[first:], strict=True)), **settings)

        return (*inputs, *(options[name] for name in named)), call

    def _convert(self, backend, gradient, tensor, key: str | None):
        """A gradient as a tensor of the backend, with the shape and the floating-point dtype of what it is for."""
        if not isinstance(gradient, backend.tensor_types()):
            array = np.asarray(gradient)
            if array.dtype.kind not in "biufc":
                raise GradientError(
                    f"the backward function of {type(self.module).__name__} gives tensors or arrays of numbers, "
                    f"received {gradient!r:.80} for {'an input' if key is None else repr(key)}"
                )
            gradient = backend.tensor(array)
        self._check_shape(gradient, tensor, key)
        own, wanted = (backend.spec_of(t).dtype for t in (gradient, tensor))
        return ops.astype(gradient, wanted) if own != wanted and "float" in own and "float" in wanted else gradient

    def _check_shape(self, gradient, tensor, key: str | None) -> None:
        """Frameworks differ in which gradients of another shape they accept. ``key`` names the parameter, if it is one."""
        received, wanted = (tuple(n if n is None or n >= 0 else None for n in t.shape) for t in (gradient, tensor))
        pairs = zip(received, wanted, strict=False)
        if len(received) != len(wanted) or any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise GradientError(
                f"the backward function of {type(self.module).__name__} gives a gradient of shape {show(received)} "
                f"for {'an input' if key is None else repr(key)} of shape {show(wanted)}"
            )
