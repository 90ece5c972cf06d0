"""Gradients in MindSpore."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportAssignmentType=false, reportAttributeAccessIssue=false

import mindspore
from mindspore.graph.api import _pynative_executor

from labdl.backends.mindspore.threads import exclusive


def clear_gradients(variables) -> None:
    """MindSpore stores none."""


@exclusive
def gradients(function, values):
    """MindSpore has one tape, which would record what other threads compute."""
    if not len(values):
        return function(), ()
    differentiate = mindspore.value_and_grad(function, tuple(range(len(values))))
    try:
        result, grads = differentiate(*values)
    except BaseException:
        _pynative_executor.clear_res()  # otherwise MindSpore would include later calls in the gradient
        raise
    return result, grads if isinstance(grads, tuple) else (grads,)  # for one value MindSpore returns no tuple


def is_trainable(variable) -> bool:
    return variable.requires_grad


def set_trainable(variable, flag: bool) -> None:
    variable.requires_grad = flag


class _WithGradient(mindspore.nn.Cell):
    def __init__(self, forward, pull):
        super().__init__()
        self.run, self.pull = forward, pull

    def construct(self, *tensors):
        return self.run(*tensors)

    def bprop(self, *given):
        *tensors, _, gradients = given
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        found = self.pull(gradients, tensors)
        return tuple(mindspore.ops.zeros_like(t) if g is None else g for g, t in zip(found, tensors, strict=True))


def with_gradient(forward, pull):
    return _WithGradient(forward, pull)
