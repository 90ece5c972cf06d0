"""Gradients of one module: `Module.backward` and user-defined backward functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from labdl import dispatch, ops
from labdl.errors import GradientError, ModelError
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
    module.__dict__["forward"] = _CustomBackward(module, function)


class _CustomBackward:
    """Replaces the forward of a module whose backward function the user has defined."""

    def __init__(self, module: Module, function: Callable):
        self.module, self.function = module, function
        former = module.forward
        self.original = former.original if isinstance(former, _CustomBackward) else former

    def __call__(self, *inputs):
        if any(isinstance(v, Spec) for v in inputs):
            return self.original(*inputs)
        # every parameter is an input of the differentiable function, under its name for the dictionary of gradients
        places = [(m, name, p) for m in self.module.modules() for name, p in m._parameters.items() if p.trainable]
        values = [p.value for _, _, p in places]
        names = {id(p): key for key, p in self.module.named_parameters()}
        keys, count = [names[id(p)] for _, _, p in places], len(inputs)

        def forward(*tensors):
            saved = [m.__dict__[name] for m, name, _ in places]
            for (m, name, _), value in zip(places, tensors[count:], strict=True):
                m.__dict__[name] = value
            try:
                return self.original(*tensors[:count])
            finally:
                for (m, name, _), value in zip(places, saved, strict=True):
                    m.__dict__[name] = value

        def pull(gradients, tensors):
            found = self.function(gradients if len(gradients) > 1 else gradients[0], *tensors[:count])
            found = list(found) if isinstance(found, tuple | list) else [found]
            own = found.pop() if found and isinstance(found[-1], dict) else {}
            unknown = [key for key in own if key not in keys]
            if len(found) != count or unknown:
                kind, more = (
                    type(self.module).__name__,
                    f" and {unknown[0]!r}, which is not a parameter" if unknown else "",
                )
                raise GradientError(
                    f"the backward function of {kind} gives {len(found)} gradient(s) for {count} input(s){more}"
                )
            return (*found, *(own.get(key) for key in keys))

        return dispatch.owner(*inputs).with_gradient(forward, pull)(*inputs, *values)
